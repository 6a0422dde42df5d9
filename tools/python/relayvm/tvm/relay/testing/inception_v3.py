"""Inception v3 (Szegedy and others, "Rethinking the Inception architecture for computer vision")."""
from .. import Function, analysis, concatenate, nn, var
from . import layers
from .init import create_workload


def _conv(data, name, channels, kernel=(1, 1), stride=1, pad=(0, 0)):
    return layers.conv_norm_relu(data, name, channels, kernel, epsilon=2e-5, strides=(stride, stride), padding=pad)


def _chain(data, name, parts):
    """Convolutions one after the other: of (channels, kernel, stride, padding)."""
    for number, part in enumerate(parts):
        data = _conv(data, f"{name}_conv{number}", *part)
    return data


def _pool(data, kind, stride=1):
    pool = nn.max_pool2d if kind == "max" else nn.avg_pool2d
    return pool(data, pool_size=(3, 3), strides=(stride, stride), padding=(1, 1) if stride == 1 else (0, 0))


def _mixed(data, name, branches, kind="avg", projected=None, stride=1):
    """Branches side by side; a branch whose last part is a list of parts forks into these. kind: of the pool; projected: its channels."""
    results = []
    for number, (*parts, last) in enumerate(branches):
        x = _chain(data, f"{name}_branch{number}", parts)
        forks = last if isinstance(last, list) else [last]
        results += [_conv(x, f"{name}_branch{number}_out{i}", *fork) for i, fork in enumerate(forks)]
    pooled = _pool(data, kind, stride)
    results.append(pooled if projected is None else _conv(pooled, f"{name}_pool", projected))
    return concatenate(results, axis=1)


def _row(channels, length):
    return channels, (1, length), 1, (0, length // 2)


def _column(channels, length):
    return channels, (length, 1), 1, (length // 2, 0)


def _small(data, name, projected):
    three = (96, (3, 3), 1, (1, 1))
    return _mixed(data, name, [[(64,)], [(48,), (64, (5, 5), 1, (2, 2))], [(64,), three, three]], projected=projected)


def _seven(data, name, width):
    return _mixed(data, name, [[(192,)], [(width,), _row(width, 7), _column(192, 7)],
                               [(width,), _column(width, 7), _row(width, 7), _column(width, 7), _row(192, 7)]], projected=192)


def _fork(data, name, kind):
    fork = [_row(384, 3), _column(384, 3)]
    return _mixed(data, name, [[(320,)], [(384,), fork], [(448,), (384, (3, 3), 1, (1, 1)), fork]], kind, projected=192)


def get_net(batch_size, num_classes, image_shape, dtype):
    """The network as a function."""
    x = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _chain(x, "stem", [(32, (3, 3), 2), (32, (3, 3)), (64, (3, 3), 1, (1, 1))])
    x = _pool(x, "max", 2)
    x = _chain(x, "stem2", [(80,), (192, (3, 3))])
    x = _pool(x, "max", 2)
    for number, projected in enumerate((32, 64, 64)):
        x = _small(x, f"mixed{number}", projected)
    x = _mixed(x, "mixed3", [[(384, (3, 3), 2)], [(64,), (96, (3, 3), 1, (1, 1)), (96, (3, 3), 2)]], "max", stride=2)
    for number, width in enumerate((128, 160, 160, 192), start=4):
        x = _seven(x, f"mixed{number}", width)
    x = _mixed(x, "mixed8", [[(192,), (320, (3, 3), 2)], [(192,), _row(192, 7), _column(192, 7), (192, (3, 3), 2)]], "max", stride=2)
    x = _fork(_fork(x, "mixed9", "avg"), "mixed10", "max")
    x = nn.batch_flatten(nn.avg_pool2d(x, pool_size=(8, 8), strides=(1, 1)))
    x = nn.softmax(layers.dense_add_bias(x, units=num_classes, name="fc1"))
    return Function(analysis.free_vars(x), x)


def get_workload(batch_size=1, num_classes=1000, image_shape=(3, 299, 299), dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
