"""Three dense layers: of MNIST's pictures."""
from .. import Function, analysis, nn, var
from .init import create_workload
from .layers import dense_add_bias


def get_net(batch_size, num_classes=10, image_shape=(1, 28, 28), dtype="float32"):
    """The network as a function."""
    x = nn.batch_flatten(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for number, units in enumerate((128, 64), start=1):
        x = nn.relu(dense_add_bias(x, units=units, name=f"fc{number}"))
    x = nn.softmax(dense_add_bias(x, units=num_classes, name="fc3"))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size, num_classes=10, image_shape=(1, 28, 28), dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
