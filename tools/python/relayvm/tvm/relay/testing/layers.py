"""Layers of networks: operators with their weights as new variables, name_weight, name_bias ..."""
from .. import nn, var


def conv2d(data, weight=None, **kwargs):
    """nn.conv2d of a name."""
    name = kwargs.pop("name")
    return nn.conv2d(data, var(f"{name}_weight") if weight is None else weight, **kwargs)


def conv3d(data, weight=None, **kwargs):
    """nn.conv3d of a name."""
    name = kwargs.pop("name")
    return nn.conv3d(data, var(f"{name}_weight") if weight is None else weight, **kwargs)


def conv2d_transpose(data, weight=None, **kwargs):
    """nn.conv2d_transpose of a name."""
    name = kwargs.pop("name")
    return nn.conv2d_transpose(data, var(f"{name}_weight") if weight is None else weight, **kwargs)


def dense_add_bias(data, weight=None, bias=None, units=None, **kwargs):
    """nn.dense and nn.bias_add of a name."""
    name = kwargs.pop("name")
    product = nn.dense(data, var(f"{name}_weight") if weight is None else weight, units=units, **kwargs)
    return nn.bias_add(product, var(f"{name}_bias") if bias is None else bias, axis=-1)


def batch_norm_infer(data, gamma=None, beta=None, moving_mean=None, moving_var=None, **kwargs):
    """The first result of nn.batch_norm of a name."""
    name = kwargs.pop("name")
    given = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    return nn.batch_norm(data, *(var(f"{name}_{key}") if value is None else value for key, value in given.items()), **kwargs)[0]


def conv_kernel_layout(data_layout, is_depthwise=False):
    """The layout of kernels beside a layout of data."""
    known = {"NCHW": "OIHW", "NCDHW": "OIDHW", "NHWC": "HWOI" if is_depthwise else "HWIO", "NDHWC": "DHWOI" if is_depthwise else "DHWIO"}
    if data_layout not in known:
        raise ValueError(f"conv_kernel_layout: expected one of {', '.join(known)}, found {data_layout}")
    return known[data_layout]


def conv_bias_relu(data, name, channels, kernel, **kwargs):
    """A convolution, nn.bias_add and nn.relu."""
    conv = conv2d(data, channels=channels, kernel_size=kernel, name=name, **kwargs)
    axis = kwargs.get("data_layout", "NCHW").index("C")
    return nn.relu(nn.bias_add(conv, var(f"{name}_bias"), axis=axis))


def conv_norm_relu(data, name, channels, kernel, epsilon=1e-5, suffixes=("_conv", "_bn"), scale=True, **kwargs):
    """A convolution, nn.batch_norm and nn.relu. suffixes: of the name, for the convolution and the norm."""
    conv = conv2d(data, channels=channels, kernel_size=kernel, name=name + suffixes[0], **kwargs)
    axis = kwargs.get("data_layout", "NCHW").index("C")
    return nn.relu(batch_norm_infer(conv, axis=axis, epsilon=epsilon, scale=scale, name=name + suffixes[1]))


__all__ = ["batch_norm_infer", "conv2d", "conv2d_transpose", "conv3d", "conv_bias_relu", "conv_kernel_layout", "conv_norm_relu", "dense_add_bias"]
