"""The generator of DCGAN (Radford and others, "Unsupervised representation learning with deep convolutional GANs")."""
from .. import Function, analysis, nn, reshape, tanh, var
from . import layers
from .init import create_workload


def _deconv2d(data, name, channels, layout):
    """A transposed convolution that doubles height and width."""
    kernel_layout = "IOHW" if layout == "NCHW" else "HWOI"
    return layers.conv2d_transpose(data, channels=channels, kernel_size=(4, 4), strides=(2, 2), padding=(1, 1), data_layout=layout,
                                   kernel_layout=kernel_layout, name=f"{name}_deconv")


def get_net(batch_size, random_len=100, oshape=(3, 64, 64), ngf=128, code=None, layout="NCHW", dtype="float32"):
    """The network as a function of a random vector."""
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"dcgan: expected the layout NCHW or NHWC, found {layout}")
    code = var("data", dtype=dtype, shape=(batch_size, random_len)) if code is None else code
    x = nn.relu(layers.dense_add_bias(code, units=4 * 4 * ngf * 8, name="dense"))
    x = reshape(x, newshape=(-1, ngf * 8, 4, 4) if layout == "NCHW" else (-1, 4, 4, ngf * 8))
    axis = layout.index("C")
    for number, factor in enumerate((4, 2, 1), start=2):
        x = _deconv2d(x, f"g{number}", ngf * factor, layout)
        x = nn.relu(layers.batch_norm_infer(x, axis=axis, epsilon=1e-5, scale=False, name=f"g{number}_batch_norm"))
    x = tanh(_deconv2d(x, "g5", oshape[0 if layout == "NCHW" else -1], layout))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size, oshape=(3, 64, 64), ngf=128, random_len=100, layout="NCHW", dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, random_len, oshape, ngf, layout=layout, dtype=dtype))
