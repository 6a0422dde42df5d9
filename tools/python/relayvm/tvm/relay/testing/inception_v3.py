"""Inception v3 (Szegedy and others, "Rethinking the Inception architecture for computer vision")."""
import functools
import itertools

from .. import Function, analysis, concatenate, nn, var
from . import layers
from .init import create_workload


def _conv(data, name, channels, kernel=(1, 1), stride=1, pad=(0, 0)):
    return Conv(data, channels, kernel, (stride, stride), pad, name)


def _numbered(name, number):
    return f"{name}_{number}" if number else name


def _chain(data, name, parts):
    """Convolutions one after the other: of (channels, kernel, stride, padding)."""
    for number, part in enumerate(parts):
        data = _conv(data, _numbered(name, number), *part)
    return data


def _pool(data, kind, stride=1):
    return Pooling(data, (3, 3), (stride, stride), (1, 1) if stride == 1 else (0, 0), kind, "")


def _mixed(data, name, branches, kind="avg", projected=None, stride=1):
    """Branches side by side; a branch whose last part is a list of parts forks into these. kind: of the pool; projected: its channels."""
    results, towers = [], itertools.count()
    for parts in branches:
        tower = name if len(parts) == 1 else f"{name}_{_numbered('tower', next(towers))}"
        forks = parts[-1] if isinstance(parts[-1], list) else []
        x = _chain(data, f"{tower}_conv", parts[:-1] if forks else parts)
        results += [_conv(x, _numbered(f"{tower}_mixed_conv", i), *fork) for i, fork in enumerate(forks)] or [x]
    pooled = _pool(data, kind, stride)
    results.append(pooled if projected is None else _conv(pooled, f"{name}_{_numbered('tower', next(towers))}_conv", projected))
    return concatenate(results, axis=1)


def _row(channels, length):
    return channels, (1, length), 1, (0, length // 2)


def _column(channels, length):
    return channels, (length, 1), 1, (length // 2, 0)


def Conv(data, num_filter, kernel=(1, 1), stride=(1, 1), pad=(0, 0), name=None, suffix=""):  # noqa: N802 (TVM's name)
    """A convolution, a norm and a relu."""
    return layers.conv_norm_relu(data, f"{name}{suffix}", num_filter, tuple(kernel), 2e-5, ("_conv1", "_bn"), False, strides=tuple(stride),
                                 padding=tuple(pad))


def Pooling(data, kernel, stride, pad, pool_type, name):  # noqa: N802
    """A pool of a kind: "max" or "avg"."""
    pool = {"max": nn.max_pool2d, "avg": functools.partial(nn.avg_pool2d, count_include_pad=True)}[pool_type]
    return pool(data, pool_size=kernel, strides=stride, padding=pad)


def Inception7A(data, num_1x1, num_3x3_red, num_3x3_1, num_3x3_2, num_5x5_red, num_5x5, pool, proj, name):  # noqa: N802
    """Branches of 1x1, 5x5, 3x3 twice, and a pool. Numbers are of channels."""
    same = (1, 1)
    return _mixed(data, name, [[(num_1x1,)], [(num_5x5_red,), (num_5x5, (5, 5), 1, (2, 2))],
                               [(num_3x3_red,), (num_3x3_1, (3, 3), 1, same), (num_3x3_2, (3, 3), 1, same)]], pool, proj)


def Inception7B(data, num_3x3, num_d3x3_red, num_d3x3_1, num_d3x3_2, pool, name):  # noqa: N802
    """Branches of 3x3, 3x3 twice, and a pool, which halve height and width."""
    return _mixed(data, name, [[(num_3x3, (3, 3), 2)], [(num_d3x3_red,), (num_d3x3_1, (3, 3), 1, (1, 1)), (num_d3x3_2, (3, 3), 2)]], pool, stride=2)


def Inception7C(data, num_1x1, num_d7_red, num_d7_1, num_d7_2, num_q7_red, num_q7_1, num_q7_2, num_q7_3, num_q7_4, pool, proj, name):  # noqa: N802
    """Branches of 1x1, 7 once and twice, and a pool."""
    return _mixed(data, name, [[(num_1x1,)], [(num_d7_red,), _row(num_d7_1, 7), _column(num_d7_2, 7)],
                               [(num_q7_red,), _column(num_q7_1, 7), _row(num_q7_2, 7), _column(num_q7_3, 7), _row(num_q7_4, 7)]], pool, proj)


def Inception7D(data, num_3x3_red, num_3x3, num_d7_3x3_red, num_d7_1, num_d7_2, num_d7_3x3, pool, name):  # noqa: N802
    """Branches of 3x3, 7 and 3x3, and a pool, which halve height and width."""
    return _mixed(data, name, [[(num_3x3_red,), (num_3x3, (3, 3), 2)],
                               [(num_d7_3x3_red,), _row(num_d7_1, 7), _column(num_d7_2, 7), (num_d7_3x3, (3, 3), 2)]], pool, stride=2)


def Inception7E(data, num_1x1, num_d3_red, num_d3_1, num_d3_2, num_3x3_d3_red, num_3x3, num_3x3_d3_1, num_3x3_d3_2, pool, proj, name):  # noqa: N802
    """Branches of 1x1, forks of 3 after 1x1 and after 3x3, and a pool."""
    return _mixed(data, name, [[(num_1x1,)], [(num_d3_red,), [_row(num_d3_1, 3), _column(num_d3_2, 3)]],
                               [(num_3x3_d3_red,), (num_3x3, (3, 3), 1, (1, 1)), [_row(num_3x3_d3_1, 3), _column(num_3x3_d3_2, 3)]]], pool, proj)


def get_net(batch_size, num_classes, image_shape, dtype):
    """The network as a function."""
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _chain(x, "conv", [(32, (3, 3), 2), (32, (3, 3)), (64, (3, 3), 1, (1, 1))])
    x = _pool(x, "max", 2)
    x = _conv(_conv(x, "conv_3", 80), "conv_4", 192, (3, 3))
    x = _pool(x, "max", 2)
    for number, projected in enumerate((32, 64, 64)):
        x = Inception7A(x, 64, 64, 96, 96, 48, 64, "avg", projected, _numbered("mixed", number))
    x = Inception7B(x, 384, 64, 96, 96, "max", "mixed_3")
    for number, width in enumerate((128, 160, 160, 192), start=4):
        x = Inception7C(x, 192, width, width, 192, width, width, width, width, 192, "avg", 192, f"mixed_{number}")
    x = Inception7D(x, 192, 320, 192, 192, 192, 192, "max", "mixed_8")
    for name, pool in (("mixed_9", "avg"), ("mixed_10", "max")):
        x = Inception7E(x, 320, 384, 384, 384, 448, 384, 384, 384, pool, 192, name)
    x = nn.batch_flatten(nn.avg_pool2d(x, pool_size=(8, 8), strides=(1, 1), count_include_pad=True))
    x = nn.softmax(layers.dense_add_bias(x, bias=var("fc2_bias"), units=num_classes, name="fc1"))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size=1, num_classes=1000, image_shape=(3, 299, 299), dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
