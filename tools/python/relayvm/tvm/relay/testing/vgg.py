"""VGG (Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition")."""
from .. import Function, analysis, nn, var
from . import layers as _layers
from .init import create_workload

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_FILTERS = (64, 128, 256, 512, 512)


def get_feature(internal_layer, layers, filters, batch_norm=False):  # noqa: A002 (TVM's name of the parameter)
    """Convolutions of stages, each of which ends with a pool. layers: how many there are in each; filters: their channels."""
    x = internal_layer
    for stage, (count, channels) in enumerate(zip(layers, filters), start=1):
        for number in range(1, count + 1):
            name = f"conv{stage}_{number}"
            x = nn.bias_add(_layers.conv2d(x, kernel_size=(3, 3), padding=(1, 1), channels=channels, name=name), var(f"{name}_bias"))
            if batch_norm:
                x = _layers.batch_norm_infer(x, name=f"bn{stage}_{number}")
            x = nn.relu(x)
        x = nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    return x


def get_classifier(input_data, num_classes):
    """The dense layers at the end."""
    x = nn.batch_flatten(input_data)
    for name in ("fc6", "fc7"):
        x = nn.dropout(nn.relu(_layers.dense_add_bias(x, units=4096, name=name)), rate=0.5)
    return _layers.dense_add_bias(x, units=num_classes, name="fc8")


def get_net(batch_size, image_shape, num_classes, dtype, num_layers=11, batch_norm=False):
    """The network as a function."""
    if num_layers not in _LAYERS:
        raise ValueError(f"vgg: expected one of {', '.join(map(str, _LAYERS))} layers, found {num_layers}")
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = get_feature(x, _LAYERS[num_layers], _FILTERS, batch_norm)
    x = nn.softmax(get_classifier(x, num_classes))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size, num_classes=1000, image_shape=(3, 224, 224), dtype="float32", num_layers=11, batch_norm=False):
    """(module, weights)."""
    return create_workload(get_net(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm))
