"""ResNet with norms first (He and others, "Identity mappings in deep residual networks")."""
from .. import Function, add, analysis, nn, var
from . import layers
from .init import create_workload

_UNITS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3), 269: (3, 30, 48, 8)}


class _Network:
    """What the parts share: the layout, and so the axis of channels."""

    def __init__(self, layout):
        self.layout, self.kernel_layout, self.axis = layout, layers.conv_kernel_layout(layout), layout.index("C")

    def conv(self, data, name, channels, kernel, stride=1):
        size, pad = (kernel, kernel), (kernel // 2, kernel // 2)
        return layers.conv2d(data, channels=channels, kernel_size=size, strides=(stride, stride), padding=pad, data_layout=self.layout,
                             kernel_layout=self.kernel_layout, name=name)

    def norm(self, data, name, **options):
        return layers.batch_norm_infer(data, axis=self.axis, epsilon=2e-5, name=name, **options)

    def unit(self, data, name, channels, stride, is_first, is_bottleneck):
        """A residual unit. Only the first of a stage changes channels and size."""
        inner = channels // 4
        parts = [(inner, 1, stride), (inner, 3, 1), (channels, 1, 1)] if is_bottleneck else [(channels, 3, stride), (channels, 3, 1)]
        x = shortcut = data
        for number, (width, kernel, by) in enumerate(parts, start=1):
            x = nn.relu(self.norm(x, f"{name}_bn{number}"))
            if number == 1 and is_first:
                shortcut = self.conv(x, f"{name}_sc", channels, 1, stride)
            x = self.conv(x, f"{name}_conv{number}", width, kernel, by)
        return add(x, shortcut)


def residual_unit(data, num_filter, stride, dim_match, name, bottle_neck=True, data_layout="NCHW", kernel_layout="IOHW"):
    """A residual unit. stride: of height and width. dim_match: whether channels and size stay. Kernels have the layout that goes with the data's."""
    stride = stride[0] if isinstance(stride, (list, tuple)) else stride
    return _Network(data_layout).unit(data, name, num_filter, stride, not dim_match, bottle_neck)


def resnet(units, num_stages, filter_list, num_classes, data_shape, bottle_neck=True, layout="NCHW", dtype="float32"):
    """The network as a function. filter_list: the channels of the first convolution and of each stage."""
    net = _Network(layout)
    height = data_shape[layout.index("H")]
    x = net.norm(var("data", shape=data_shape, dtype=dtype), "bn_data", scale=False)
    if height <= 32:  # as CIFAR's pictures
        x = net.conv(x, "conv0", filter_list[0], 3)
    else:
        x = nn.relu(net.norm(net.conv(x, "conv0", filter_list[0], 7, 2), "bn0"))
        x = nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1), layout=layout)
    for stage in range(num_stages):
        for number in range(units[stage]):
            stride = 2 if number == 0 and stage > 0 else 1
            x = net.unit(x, f"stage{stage + 1}_unit{number + 1}", filter_list[stage + 1], stride, number == 0, bottle_neck)
    x = nn.relu(net.norm(x, "bn1"))
    x = nn.batch_flatten(nn.global_avg_pool2d(x, layout=layout))
    x = nn.softmax(layers.dense_add_bias(x, units=num_classes, name="fc1"))
    return Function(analysis.free_vars(x), x)


def get_net(batch_size, num_classes, num_layers=50, image_shape=(3, 224, 224), layout="NCHW", dtype="float32", **kwargs):
    """The network with a number of layers, as a function."""
    data_shape = (batch_size, *image_shape)
    is_wide = num_layers >= (164 if data_shape[layout.index("H")] <= 32 else 50)
    if data_shape[layout.index("H")] <= 32:
        each = (num_layers - 2) // (9 if is_wide else 6)
        units, filters = [each] * 3, [16, 64, 128, 256] if is_wide else [16, 16, 32, 64]
    else:
        if num_layers not in _UNITS:
            raise ValueError(f"resnet: expected one of {', '.join(map(str, _UNITS))} layers, found {num_layers}")
        units, filters = _UNITS[num_layers], [64, 256, 512, 1024, 2048] if is_wide else [64, 64, 128, 256, 512]
    return resnet(units, len(units), filters, num_classes, data_shape, is_wide, layout, dtype)


def get_workload(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 224, 224), layout="NCHW", dtype="float32", **kwargs):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype, **kwargs))
