"""SqueezeNet (Iandola and others, "AlexNet-level accuracy with 50x fewer parameters")."""
import itertools

from .. import Function, analysis, concatenate, nn, var
from . import layers
from .init import create_workload

# Of a version: kernel and channels of the first convolution, its padding; then squeezed channels, None for a pool.
_VERSIONS = {"1.0": (96, 7, 3, [None, 16, 16, 32, None, 32, 48, 48, 64, None, 64]),
             "1.1": (64, 3, 1, [None, 16, 16, None, 32, 32, None, 48, 48, 64, 64])}


def _fire(data, name, squeezed):
    x = layers.conv_bias_relu(data, f"{name}_input_conv", squeezed, (1, 1))
    expanded = [layers.conv_bias_relu(x, f"{name}_{side}_conv", squeezed * 4, (k, k), padding=(k // 2, k // 2))
                for side, k in (("left", 1), ("right", 3))]
    return concatenate(expanded, axis=1)


def get_net(batch_size, image_shape, num_classes, version, dtype):
    """The network as a function."""
    if version not in _VERSIONS:
        raise ValueError(f"squeezenet: expected the version 1.0 or 1.1, found {version}")
    channels, kernel, padding, parts = _VERSIONS[version]
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = layers.conv_bias_relu(x, "conv1", channels, (kernel, kernel), strides=(2, 2), padding=(padding, padding))
    numbers = itertools.count(1)
    for squeezed in parts:
        x = nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2)) if squeezed is None else _fire(x, f"fire{next(numbers)}", squeezed)
    x = layers.conv_bias_relu(nn.dropout(x, rate=0.5), "conv_final", num_classes, (1, 1))
    x = nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(x)))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size=1, num_classes=1000, version="1.0", image_shape=(3, 224, 224), dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, image_shape, num_classes, version, dtype))
