"""ResNet of videos: convolutions over time, height and width."""
from .. import Function, add, analysis, nn, var
from . import layers
from .init import create_workload
from .resnet import _UNITS


class _Network:
    def __init__(self, layout):
        self.layout, self.kernel_layout, self.axis = layout, layers.conv_kernel_layout(layout), layout.index("C")

    def conv(self, data, name, channels, kernel, stride=(1, 1, 1)):
        return layers.conv3d(data, channels=channels, kernel_size=kernel, strides=stride, padding=tuple(k // 2 for k in kernel),
                             data_layout=self.layout, kernel_layout=self.kernel_layout, name=name)

    def norm(self, data, name, **options):
        return layers.batch_norm_infer(data, axis=self.axis, epsilon=2e-5, name=name, **options)

    def unit(self, data, name, channels, stride, is_first, is_bottleneck):
        small, whole = (1, 1, 1), (3, 3, 3)
        inner = channels // 4
        parts = [(inner, small, small), (inner, whole, stride), (channels, small, small)] if is_bottleneck else \
            [(channels, whole, stride), (channels, whole, small)]
        x = shortcut = data
        for number, (width, kernel, by) in enumerate(parts, start=1):
            x = nn.relu(self.norm(x, f"{name}_bn{number}"))
            if number == 1 and is_first:
                shortcut = self.conv(x, f"{name}_sc", channels, small, stride)
            x = self.conv(x, f"{name}_conv{number}", width, kernel, by)
        return add(x, shortcut)


def residual_unit(data, num_filter, stride, dim_match, name, bottle_neck=True, data_layout="NCDHW", kernel_layout="OIDHW"):
    """A residual unit. stride: of depth, height and width. dim_match: whether channels and size stay."""
    return _Network(data_layout).unit(data, name, num_filter, tuple(stride), not dim_match, bottle_neck)


def get_net(batch_size, num_classes, num_layers=50, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32", **kwargs):
    """The network with a number of layers, as a function."""
    if num_layers not in _UNITS:
        raise ValueError(f"resnet_3d: expected one of {', '.join(map(str, _UNITS))} layers, found {num_layers}")
    units, is_wide = _UNITS[num_layers], num_layers >= 50
    filters = [64, 256, 512, 1024, 2048] if is_wide else [64, 64, 128, 256, 512]
    return resnet(units, len(units), filters, num_classes, (batch_size, *image_shape), is_wide, layout, dtype)


def resnet(units, num_stages, filter_list, num_classes, data_shape, bottle_neck=True, layout="NCDHW", dtype="float32"):
    """The network as a function. filter_list: the channels of the first convolution and of each stage."""
    net = _Network(layout)
    x = net.norm(var("data", shape=data_shape, dtype=dtype), "bn_data", scale=False)
    x = nn.relu(net.norm(net.conv(x, "conv0", filter_list[0], (3, 7, 7), (1, 2, 2)), "bn0"))
    for stage in range(num_stages):
        for number in range(units[stage]):
            stride = (2, 2, 2) if number == 0 and stage > 0 else (1, 1, 1)
            x = net.unit(x, f"stage{stage + 1}_unit{number + 1}", filter_list[stage + 1], stride, number == 0, bottle_neck)
    x = nn.relu(net.norm(x, "bn1"))
    x = nn.batch_flatten(nn.global_avg_pool3d(x, layout=layout))
    x = nn.softmax(layers.dense_add_bias(x, units=num_classes, name="fc1"))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size=1, num_classes=1000, num_layers=18, image_shape=(3, 16, 112, 112), layout="NCDHW", dtype="float32", **kwargs):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype, **kwargs))
