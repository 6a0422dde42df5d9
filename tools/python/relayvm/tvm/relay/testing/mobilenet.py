"""MobileNet (Howard and others, "Efficient convolutional neural networks for mobile vision applications")."""
from .. import Function, analysis, nn, var
from . import layers
from .init import create_workload

# Channels and stride of each block: a convolution of each channel, and one of 1x1.
_BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]


def conv_block(data, name, channels, kernel_size=(3, 3), strides=(1, 1), padding=(1, 1), epsilon=1e-5, layout="NCHW"):
    """A convolution, a norm and a relu."""
    return layers.conv_norm_relu(data, name, channels, kernel_size, epsilon=epsilon, strides=strides, padding=padding, data_layout=layout,
                                 kernel_layout=layers.conv_kernel_layout(layout))


def separable_conv_block(data, name, depthwise_channels, pointwise_channels, kernel_size=(3, 3), downsample=False, padding=(1, 1), epsilon=1e-5,
                         layout="NCHW", dtype="float32"):
    """A convolution of each channel and one of 1x1, each with a norm and a relu."""
    strides = (2, 2) if downsample else (1, 1)
    x = layers.conv_norm_relu(data, name, depthwise_channels, kernel_size, epsilon, ("", "_bn1"), strides=strides, padding=padding,
                              groups=depthwise_channels, data_layout=layout, kernel_layout=layers.conv_kernel_layout(layout, True))
    return layers.conv_norm_relu(x, name, pointwise_channels, (1, 1), epsilon, ("_conv2", "_bn2"), data_layout=layout,
                                 kernel_layout=layers.conv_kernel_layout(layout))


def mobile_net(num_classes=1000, data_shape=(1, 3, 224, 224), dtype="float32", alpha=1.0, is_shallow=False, layout="NCHW"):
    """The network as a function. alpha: of the channels. is_shallow: without the five blocks that are alike."""
    x = var("data", shape=data_shape, dtype=dtype)
    channels = int(32 * alpha)
    x = conv_block(x, "conv_block_1", channels, strides=(2, 2), layout=layout)
    blocks = _BLOCKS[:6] + _BLOCKS[11:] if is_shallow else _BLOCKS
    for number, (width, stride) in enumerate(blocks, start=1):
        x = separable_conv_block(x, f"separable_conv_block_{number}", channels, int(width * alpha), downsample=stride == 2, layout=layout)
        channels = int(width * alpha)
    x = nn.batch_flatten(nn.global_avg_pool2d(x, layout=layout))
    x = nn.softmax(nn.bias_add(nn.dense(x, var("fc_weight", shape=(num_classes, channels), dtype=dtype), units=num_classes), var("fc_bias")))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size=1, num_classes=1000, image_shape=(3, 224, 224), dtype="float32", layout="NCHW"):
    """(module, weights)."""
    return create_workload(mobile_net(num_classes, (batch_size, *image_shape), dtype, layout=layout))
