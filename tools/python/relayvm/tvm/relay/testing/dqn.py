"""The network that plays Atari (Mnih and others, "Human-level control through deep reinforcement learning")."""
from .. import Function, analysis, nn, var
from . import layers
from .init import create_workload


def get_net(batch_size, num_actions=18, image_shape=(4, 84, 84), dtype="float32", layout="NCHW"):
    """The network as a function."""
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    kernel_layout = layers.conv_kernel_layout(layout)
    for number, (channels, kernel, stride) in enumerate([(32, 8, 4), (64, 4, 2), (64, 3, 1)], start=1):
        x = layers.conv_bias_relu(x, f"conv{number}", channels, (kernel, kernel), strides=(stride, stride), padding=(0, 0), data_layout=layout,
                                  kernel_layout=kernel_layout)
    x = nn.relu(layers.dense_add_bias(nn.batch_flatten(x), units=512, name="dense1"))
    x = layers.dense_add_bias(x, units=num_actions, name="dense2")
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size, num_actions=18, image_shape=(4, 84, 84), dtype="float32", layout="NCHW"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_actions, image_shape, dtype, layout))
