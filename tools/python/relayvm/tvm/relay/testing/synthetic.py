"""A small network with a bit of all: products, convolutions, sums, a norm."""
from .. import Function, TensorType, analysis, nn, reshape, reshape_like, var
from . import layers
from .init import create_workload


def _both(x, data, number, wtype):
    """Rows of x by a matrix, and x convolved, one after the other: their sum."""
    channels, width = data.type_annotation.shape[1], data.type_annotation.shape[3]
    rows = nn.relu(nn.dense(reshape(x, (-1, width)), var(f"dense{number}_weight", TensorType((width, width), wtype))))
    weight = var(f"conv{number}_weight", TensorType((channels, channels, 3, 3), wtype))
    return reshape_like(rows, data) + nn.softmax(nn.conv2d(x, weight, kernel_size=(3, 3), padding=(1, 1)))


def get_net(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """The network as a function."""
    data = var("data", TensorType(input_shape, dtype))
    x = nn.bias_add(_both(data, data, "", wtype or dtype), var("bias", TensorType((input_shape[1],), wtype or dtype)))
    x = _both(layers.batch_norm_infer(x, name="batch_norm"), data, "2", wtype or dtype)
    return Function(analysis.free_vars(x), x)


def get_workload(input_shape=(1, 3, 24, 12), dtype="float32", wtype=None):
    """(module, weights)."""
    return create_workload(get_net(input_shape, dtype, wtype))
