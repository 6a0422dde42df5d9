"""DenseNet (after Huang and others, "Densely connected convolutional networks"), as TVM has it: a layer reads the one before it alone, and a
block gives what all of its layers gave."""
from .. import Function, analysis, concatenate, nn, var
from . import layers
from .init import create_workload

# First channels, channels that a layer adds, layers of each block.
_SIZES = {121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)), 201: (64, 32, (6, 12, 48, 32))}
_BOTTLENECK = 4


def _norm_relu_conv(data, norm, conv, channels, kernel):
    x = nn.relu(layers.batch_norm_infer(data, name=norm))
    return layers.conv2d(x, channels=channels, kernel_size=(kernel, kernel), padding=(kernel // 2, kernel // 2), name=conv)


def _block(data, block, count, growth):
    given = []
    for layer in range(count):
        x = _norm_relu_conv(data, f"batch_1_{block}_{layer}", f"conv2d_1_{block}_{layer}", _BOTTLENECK * growth, 1)
        data = _norm_relu_conv(x, f"batch_2_{block}_{layer}", f"conv2d_2_{block}_{layer}", growth, 3)
        given.append(data)
    return concatenate(given, axis=1)


def _get_net(batch_size, size, classes, image_shape, dtype):
    if size not in _SIZES:
        raise ValueError(f"densenet: expected one of {', '.join(map(str, _SIZES))}, found {size}")
    channels, growth, blocks = _SIZES[size]
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = layers.conv2d(x, channels=channels, kernel_size=(7, 7), strides=(2, 2), padding=(3, 3), name="conv1")
    x = nn.max_pool2d(nn.relu(layers.batch_norm_infer(x, name="batch1")), pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for number, count in enumerate(blocks):
        x = _block(x, number, count, growth)
        channels += count * growth
        if number < len(blocks) - 1:
            channels //= 2
            x = nn.avg_pool2d(_norm_relu_conv(x, f"batch_t_{number}", f"conv_t_{number}", channels, 1), pool_size=(2, 2), strides=(2, 2))
    x = nn.relu(layers.batch_norm_infer(x, name="batch2"))
    x = layers.dense_add_bias(nn.batch_flatten(nn.avg_pool2d(x, pool_size=(7, 7))), units=classes, name="dense")
    return Function(analysis.free_vars(x), x)


def get_workload(densenet_size=121, classes=1000, batch_size=4, image_shape=(3, 224, 224), dtype="float32"):
    """(module, weights)."""
    return create_workload(_get_net(batch_size, densenet_size, classes, image_shape, dtype))
