"""A small network with a bit of all: convolutions, sums, a product."""
from .. import Function, TensorType, nn, reshape, var
from .init import create_workload


def get_net(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """The network as a function: dense layers over rows, a convolution, and their sum."""
    wtype = wtype or dtype
    channels, width = input_shape[1], input_shape[3]
    data = var("data", TensorType(input_shape, dtype))
    dense_weight = var("dense_weight", TensorType((width, width), wtype))
    conv_weight = var("conv_weight", TensorType((channels, channels, 3, 3), wtype))
    rows = nn.dense(reshape(data, (-1, width)), dense_weight)
    left = nn.relu(reshape(rows, input_shape))
    right = nn.relu(nn.conv2d(data, conv_weight, channels=channels, kernel_size=(3, 3), padding=(1, 1)))
    return Function([data, dense_weight, conv_weight], left + right)


def get_workload(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """(module, weights)."""
    return create_workload(get_net(input_shape, dtype, wtype))
