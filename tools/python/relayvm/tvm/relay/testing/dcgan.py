"""The generator of DCGAN (Radford and others, "Unsupervised representation learning with deep convolutional GANs")."""
from .. import Function, analysis, nn, reshape, tanh, var
from . import layers
from .init import create_workload


def _deconv2d(data, name, channels, layout):
    """A transposed convolution that doubles height and width."""
    kernel_layout = "IOHW" if layout == "NCHW" else "HWOI"
    return layers.conv2d_transpose(data, channels=channels, kernel_size=(4, 4), strides=(2, 2), padding=(1, 1), data_layout=layout,
                                   kernel_layout=kernel_layout, name=f"{name}_deconv")


def deconv2d(data, ishape, oshape, kshape, layout, name, stride=(2, 2)):
    """A transposed convolution that makes `oshape` (channels, height, width) of `ishape`."""
    (in_height, in_width), (height, width) = (s[-2:] if layout == "NCHW" else s[:2] for s in (ishape, oshape))
    before = [(step * (i - 1) + k - o) // 2 for step, i, k, o in zip(stride, (in_height, in_width), kshape, (height, width))]
    more = [o - (step * (i - 1) + k - 2 * pad) for step, i, k, o, pad in zip(stride, (in_height, in_width), kshape, (height, width), before)]
    channels = oshape[0] if layout == "NCHW" else oshape[-1]
    return layers.conv2d_transpose(data, kernel_size=kshape, strides=stride, channels=channels, padding=tuple(before), output_padding=tuple(more),
                                   data_layout=layout, kernel_layout="IOHW" if layout == "NCHW" else "HWOI", name=name)


def deconv2d_bn_relu(data, prefix, **kwargs):
    """`deconv2d`, a norm and a relu."""
    x = deconv2d(data, name=f"{prefix}_deconv", **kwargs)
    return nn.relu(layers.batch_norm_infer(x, axis=kwargs["layout"].index("C"), epsilon=1e-5, scale=False, name=f"{prefix}_batch_norm"))


def get_net(batch_size, random_len=100, oshape=(3, 64, 64), ngf=128, code=None, layout="NCHW", dtype="float32"):
    """The network as a function of a random vector."""
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"dcgan: expected the layout NCHW or NHWC, found {layout}")
    code = var("data", dtype=dtype, shape=(batch_size, random_len)) if code is None else code
    x = nn.relu(nn.dense(code, var("dense_weight"), units=4 * 4 * ngf * 8))
    x = reshape(x, newshape=(-1, ngf * 8, 4, 4) if layout == "NCHW" else (-1, 4, 4, ngf * 8))
    axis = layout.index("C")
    for number, factor in enumerate((4, 2, 1), start=2):
        x = _deconv2d(x, f"g{number}", ngf * factor, layout)
        x = nn.relu(layers.batch_norm_infer(x, axis=axis, epsilon=1e-5, scale=False, name=f"g{number}_batch_norm"))
    x = tanh(_deconv2d(x, "g5", oshape[0], layout))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size, oshape=(3, 64, 64), ngf=128, random_len=100, layout="NCHW", dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, random_len, oshape, ngf, layout=layout, dtype=dtype))
