"""Gradients of operators: for each, what its operands get of what its result gets. `register_gradient` adds others.

A gradient is a function of the call and of an expression, what the result gets; it gives a list, what each operand gets. Where the result
or an operand is a tuple, so is what it gets.
"""
import math

from .. import relay
from ..relay import Op, Tuple, TupleGetItem

__all__ = []

_KEY = "FPrimalGradient"


def register_gradient(op_name, fgradient=None, level=10):
    """Says what the gradient of an operator is, or a decorator for a function (call, gradient of the result) that says it: it gives a list
    of those of the operands. Of several for one operator, the one of the highest level counts."""
    def register(function):
        Op.get(op_name).set_attr(_KEY, function, level)
        return function
    return register if fgradient is None else register(fgradient)


def gradient_of(op):
    """The gradient of an operator, None where there is none."""
    return op.get_attr(_KEY)


def _for(*names):
    def take(function):
        for name in names:
            if (name, _KEY) not in Op._attributes:
                register_gradient(name, function, 0)
        return function
    return take


# --- Helpers ---


def _kind(x):
    return x.checked_type


def _shape(x):
    """The sizes of a tensor, which are numbers."""
    shape = _kind(x).shape
    if not all(isinstance(d, int) for d in shape):
        raise ValueError(f"a gradient needs the sizes of {x!r}, and {_kind(x)} has such as are known when the program runs")
    return [int(d) for d in shape]


def _number(value, like):
    dtype = _kind(like).dtype
    return relay.const(value, dtype) if dtype != "bfloat16" else relay.cast(relay.const(value, "float32"), dtype)


def _like(x, operand):
    """What an operand gets that was broadcast."""
    return relay.collapse_sum_like(x, operand)


def _zero(x):
    return relay.zeros_like(x)


def _masked(condition, x):
    return relay.where(condition, x, relay.zeros_like(x))


def _axes(axis, rank, exclude=False):
    axes = list(range(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [a % rank for a in axes] if rank else []
    if axis is not None and len(axes) == 0:
        axes = list(range(rank))
    return [a for a in range(rank) if a not in axes] if exclude else sorted(axes)


def _spread(g, call, x):
    """What a reduction's result gets, so that it broadcasts to its operand."""
    axes = _axes(call.attrs.axis, len(_kind(x).shape), call.attrs.exclude)
    return _with_axes(g, [] if call.attrs.keepdims else axes), axes


def _with_axes(g, axes):
    for axis in axes:
        g = relay.expand_dims(g, axis)
    return g


# --- Element by element ---


_UNARY = {
    "acos": lambda x, y: relay.negative(relay.rsqrt(_number(1, x) - x * x)),
    "acosh": lambda x, y: relay.rsqrt(x * x - _number(1, x)),
    "asin": lambda x, y: relay.rsqrt(_number(1, x) - x * x),
    "asinh": lambda x, y: relay.rsqrt(x * x + _number(1, x)),
    "atan": lambda x, y: _number(1, x) / (_number(1, x) + x * x),
    "atanh": lambda x, y: _number(1, x) / (_number(1, x) - x * x),
    "cos": lambda x, y: relay.negative(relay.sin(x)),
    "cosh": lambda x, y: relay.sinh(x),
    "erf": lambda x, y: _number(2 / math.sqrt(math.pi), x) * relay.exp(relay.negative(x * x)),
    "exp": lambda x, y: y,
    "log": lambda x, y: _number(1, x) / x,
    "log10": lambda x, y: _number(1 / math.log(10), x) / x,
    "log2": lambda x, y: _number(1 / math.log(2), x) / x,
    "rsqrt": lambda x, y: _number(-0.5, x) * y / x,
    "sigmoid": lambda x, y: y * (_number(1, x) - y),
    "sin": lambda x, y: relay.cos(x),
    "sinh": lambda x, y: relay.cosh(x),
    "sqrt": lambda x, y: _number(0.5, x) / y,
    "tan": lambda x, y: _number(1, x) + y * y,
    "tanh": lambda x, y: _number(1, x) - y * y,
    "fast_exp": lambda x, y: y,
    "fast_tanh": lambda x, y: _number(1, x) - y * y,
    "fast_erf": lambda x, y: _number(2 / math.sqrt(math.pi), x) * relay.exp(relay.negative(x * x)),
}


def _unary(derivative):
    return lambda call, g: [g * derivative(call.args[0], call)]


for _name, _derivative in _UNARY.items():
    _for(_name)(_unary(_derivative))


@_for("negative")
def _negative(call, g):
    return [relay.negative(g)]


@_for("abs")
def _abs(call, g):
    x = call.args[0]
    return [relay.where(relay.less(x, relay.zeros_like(x)), relay.negative(g), g)]


@_for("nn.relu")
def _relu(call, g):
    x = call.args[0]
    return [_masked(relay.less(relay.zeros_like(x), x), g)]


@_for("nn.leaky_relu")
def _leaky_relu(call, g):
    x = call.args[0]
    return [relay.where(relay.less(relay.zeros_like(x), x), g, g * _number(call.attrs.alpha, x))]


@_for("nn.prelu")
def _prelu(call, g):
    x, alpha = call.args
    rank, axis = len(_kind(x).shape), call.attrs.axis % len(_kind(x).shape)
    positive = relay.less(relay.zeros_like(x), x)
    wide = _with_axes(alpha, range(1, rank - axis))
    return [relay.where(positive, g, g * wide), relay.sum(relay.where(positive, relay.zeros_like(g), g * x), axis, False, True)]


@_for("clip")
def _clip(call, g):
    x = call.args[0]
    inside = relay.logical_and(relay.greater_equal(x, _number(call.attrs.a_min, x)), relay.less_equal(x, _number(call.attrs.a_max, x)))
    return [_masked(inside, g)]


@_for("floor", "ceil", "round", "trunc", "sign", "zeros_like", "ones_like", "shape_of", "ndarray_size", "equal", "not_equal", "less",
      "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isfinite", "isinf", "argmax",
      "argmin", "argsort", "zeros", "ones", "full_like", "one_hot", "dyn.zeros", "dyn.ones", "floor_divide", "trunc_divide", "all", "any",
      "round_even")
def _nothing(call, g):
    return [_zero(x) for x in call.args]


@_for("copy", "device_copy", "annotation.stop_fusion", "annotation.checkpoint", "on_device")
def _same(call, g):
    return [g]


@_for("cast", "reinterpret")
def _cast(call, g):
    return [relay.cast_like(g, call.args[0])]


@_for("cast_like")
def _cast_like(call, g):
    return [relay.cast_like(g, call.args[0]), _zero(call.args[1])]


@_for("full", "dyn.full")
def _full(call, g):
    return [relay.sum(g), *map(_zero, call.args[1:])]


@_for("arange")
def _arange(call, g):
    start, stop, step = call.args
    places = (call - relay.cast_like(start, g)) / relay.cast_like(step, g)
    return [relay.cast_like(relay.sum(g), start), _zero(stop), relay.cast_like(relay.sum(g * places), step)]


@_for("add")
def _add(call, g):
    return [_like(g, x) for x in call.args]


@_for("subtract")
def _subtract(call, g):
    return [_like(g, call.args[0]), _like(relay.negative(g), call.args[1])]


@_for("multiply")
def _multiply(call, g):
    x, y = call.args
    return [_like(g * y, x), _like(g * x, y)]


@_for("divide")
def _divide(call, g):
    x, y = call.args
    return [_like(g / y, x), _like(relay.negative(g * call / y), y)]


@_for("mod", "floor_mod")
def _mod(call, g):
    x, y = call.args
    return [_like(g, x), _like(relay.negative(g * relay.floor(x / y)), y)]


@_for("power")
def _power(call, g):
    x, y = call.args
    return [_like(g * y * relay.power(x, y - _number(1, y)), x), _like(g * call * relay.log(x), y)]


@_for("maximum")
def _maximum(call, g):
    x, y = call.args
    first = relay.greater_equal(x, y)
    return [_like(_masked(first, g), x), _like(_masked(relay.logical_not(first), g), y)]


@_for("minimum")
def _minimum(call, g):
    x, y = call.args
    first = relay.less_equal(x, y)
    return [_like(_masked(first, g), x), _like(_masked(relay.logical_not(first), g), y)]


@_for("where")
def _where(call, g):
    condition, x, y = call.args
    return [_zero(condition), _like(_masked(condition, g), x), _like(relay.where(condition, relay.zeros_like(g), g), y)]


# --- Shapes ---


@_for("reshape", "squeeze", "expand_dims", "nn.batch_flatten", "contrib_reverse_reshape")
def _reshape(call, g):
    return [relay.reshape_like(g, call.args[0])]


@_for("reshape_like", "dyn.reshape", "dyn.squeeze", "dyn.expand_dims")
def _reshape_by(call, g):
    return [relay.reshape_like(g, call.args[0]), _zero(call.args[1])]


@_for("broadcast_to", "collapse_sum_like", "broadcast_to_like", "dyn.broadcast_to", "collapse_sum_to")
def _broadcast(call, g):
    x = call.args[0]
    spread = relay.broadcast_to_like(g, x) if call.op.name.startswith("collapse") else _like(g, x)
    return [spread, *map(_zero, call.args[1:])]


@_for("transpose")
def _transpose(call, g):
    rank, axes = len(_kind(call.args[0]).shape), call.attrs.axes
    if not axes:
        return [relay.transpose(g)]
    axes = [a % rank for a in axes]
    return [relay.transpose(g, [axes.index(i) for i in range(rank)])]


@_for("layout_transform")
def _layout_transform(call, g):
    return [relay.layout_transform(g, call.attrs.dst_layout, call.attrs.src_layout)]


@_for("concatenate")
def _concatenate(call, g):
    parts, at = [], 0
    kinds = _kind(call.args[0]).fields
    axis = call.attrs.axis % len(kinds[0].shape)
    for kind in kinds:
        size = kind.shape[axis]
        parts.append(relay.strided_slice(g, [at], [at + size], [1], [axis]))
        at += size
    return [Tuple(parts)]


@_for("stack")
def _stack(call, g):
    kinds = _kind(call.args[0]).fields
    axis = call.attrs.axis % (len(kinds[0].shape) + 1)
    return [Tuple([relay.squeeze(relay.strided_slice(g, [i], [i + 1], [1], [axis]), [axis]) for i in range(len(kinds))])]


@_for("split")
def _split(call, g):
    return [relay.concatenate(g, call.attrs.axis)]


@_for("strided_slice")
def _strided_slice(call, g):
    x, a = call.args[0], call.attrs
    shape = _shape(x)
    axes = list(range(len(a.begin))) if a.axes is None else [i % len(shape) for i in a.axes]
    begin, end, strides = [0] * len(shape), list(shape), [1] * len(shape)
    given = list(a.strides) or [1]
    for i, axis in enumerate(axes):
        first, last = int(a.begin[i]), int(a.end[i])
        step = 1 if a.slice_mode == "size" else int(given[i if len(given) > 1 else 0])
        if a.slice_mode == "size":
            last = shape[axis] if last < 0 else first + last
        begin[axis], last, strides[axis] = slice(first, last, step).indices(shape[axis])
        end[axis] = last if last >= 0 else -shape[axis] - 1
    return [relay.strided_set(relay.zeros_like(x), g, begin, end, strides)]


@_for("slice_like")
def _slice_like(call, g):
    x, like = call.args
    pads = [(0, a - b) for a, b in zip(_shape(x), _shape(call))]
    return [relay.nn.pad(g, pads), _zero(like)]


@_for("nn.pad")
def _pad(call, g):
    x = call.args[0]
    if call.attrs.pad_mode != "constant":
        raise ValueError(f"nn.pad: the gradient is known for the mode constant, found {call.attrs.pad_mode}")
    begin = [int(before) for before, _ in call.attrs.pad_width]
    inside = relay.strided_slice(g, begin, [b + s for b, s in zip(begin, _shape(x))])
    return [inside, *([relay.sum(g) - relay.sum(inside)] if len(call.args) > 1 else [])]


@_for("reverse")
def _reverse(call, g):
    return [relay.reverse(g, call.attrs.axis)]


@_for("tile", "dyn.tile")
def _tile(call, g):
    x = call.args[0]
    shape, result = _shape(x), _shape(call)
    shape = [1] * (len(result) - len(shape)) + shape
    split = [n for size, out in zip(shape, result) for n in (out // size if size else 1, size)]
    summed = relay.sum(relay.reshape(g, split), list(range(0, len(split), 2)))
    return [relay.reshape_like(summed, x), *map(_zero, call.args[1:])]


@_for("repeat")
def _repeat(call, g):
    x, axis = call.args[0], call.attrs.axis
    shape = _shape(x)
    axis = axis % len(shape) if axis is not None else None
    split = [*shape[:axis + 1], call.attrs.repeats, *shape[axis + 1:]]
    return [relay.sum(relay.reshape(g, split), [axis + 1])]


@_for("take")
def _take(call, g):
    x, indices = call.args
    axis, shape = call.attrs.axis, _shape(x)
    if axis is None:
        flat = relay.zeros_like(relay.reshape(x, [-1]))
        flat_indices = relay.reshape(indices, [1, -1])
        return [relay.reshape_like(relay.scatter_nd(flat, flat_indices, relay.reshape(g, [-1]), "add"), x), _zero(indices)]
    rank, index_rank = len(shape), len(_kind(indices).shape)
    axis %= rank
    if call.attrs.batch_dims:
        raise ValueError("take: the gradient is known without batch_dims")
    # The axis comes first, and the indices are one axis.
    order = [axis, *(i for i in range(rank) if i != axis)]
    moved = relay.transpose(g, [*range(axis, axis + index_rank), *range(axis), *range(axis + index_rank, rank - 1 + index_rank)])
    moved = relay.reshape(moved, [-1, *(shape[i] for i in order[1:])])
    added = relay.scatter_nd(relay.zeros_like(relay.transpose(x, order)), relay.reshape(indices, [1, -1]), moved, "add")
    return [relay.transpose(added, [order.index(i) for i in range(rank)]), _zero(indices)]


@_for("gather_nd")
def _gather_nd(call, g):
    x, indices = call.args
    if call.attrs.batch_dims:
        raise ValueError("gather_nd: the gradient is known without batch_dims")
    return [relay.scatter_nd(relay.zeros_like(x), indices, g, "add"), _zero(indices)]


@_for("gather")
def _gather(call, g):
    x, indices = call.args
    return [relay.scatter_elements(relay.zeros_like(x), indices, g, call.attrs.axis, "add"), _zero(indices)]


@_for("cumsum")
def _cumsum(call, g):
    x, a = call.args[0], call.attrs
    axis = a.axis
    if axis is None:
        back = relay.reverse(relay.cumsum(relay.reverse(relay.reshape(g, [-1]), 0), 0, exclusive=a.exclusive), 0)
        return [relay.reshape_like(back, x)]
    return [relay.reverse(relay.cumsum(relay.reverse(g, axis), axis, exclusive=a.exclusive), axis)]


# --- Reductions ---


@_for("sum")
def _sum(call, g):
    x = call.args[0]
    return [relay.broadcast_to_like(_spread(g, call, x)[0], x)]


def _count(x, axes):
    return math.prod(_shape(x)[a] for a in axes)


@_for("mean")
def _mean(call, g):
    x = call.args[0]
    wide, axes = _spread(g, call, x)
    return [relay.broadcast_to_like(wide, x) / _number(float(_count(x, axes)), x)]


@_for("variance")
def _variance(call, g):
    x, mean = call.args
    wide, axes = _spread(g, call, x)
    count = _count(x, axes) - bool(call.attrs.unbiased)
    return [wide * _number(2.0 / count, x) * (x - mean), _like(wide * _number(-2.0 / count, x) * (x - mean), mean)]


@_for("max", "min")
def _extreme(call, g):
    x = call.args[0]
    wide, axes = _spread(g, call, x)
    hit = relay.cast_like(relay.equal(x, _with_axes(call, [] if call.attrs.keepdims else axes)), g)
    return [wide * hit / relay.sum(hit, axes, True)]


@_for("prod")
def _prod(call, g):
    x = call.args[0]
    wide, axes = _spread(g, call, x)
    return [wide * _with_axes(call, [] if call.attrs.keepdims else axes) / x]


# --- Networks ---


@_for("nn.softmax", "nn.fast_softmax")
def _softmax(call, g):
    return [(g - relay.sum(g * call, call.attrs.axis, True)) * call]


@_for("nn.log_softmax")
def _log_softmax(call, g):
    return [g - relay.sum(g, call.attrs.axis, True) * relay.exp(call)]


@_for("nn.cross_entropy")
def _cross_entropy(call, g):
    x, y = call.args
    rows = _number(float(_shape(x)[0]), x)
    return [relay.negative(g * y / x / rows), relay.negative(g * relay.log(x) / rows)]


@_for("nn.cross_entropy_with_logits")
def _cross_entropy_with_logits(call, g):
    x, y = call.args
    rows = _number(float(_shape(x)[0]), x)
    return [relay.negative(g * y / rows), relay.negative(g * x / rows)]


@_for("nn.bias_add")
def _bias_add(call, g):
    return [g, relay.sum(g, call.attrs.axis, False, True)]


@_for("nn.dropout")
def _dropout(call, g):
    return [TupleGetItem(g, 0)]


@_for("nn.dense")
def _dense(call, g):
    x, weight = call.args
    rows = relay.reshape(x, [-1, _kind(x).shape[-1]]) if len(_kind(x).shape) != 2 else x
    flat = relay.reshape(g, [-1, _kind(call).shape[-1]]) if len(_kind(call).shape) != 2 else g
    of_x = _product(flat, relay.transpose(weight))
    of_weight = _product(relay.transpose(flat), relay.transpose(rows))
    return [_cast_to(relay.reshape_like(of_x, x) if flat is not g else of_x, x), _cast_to(of_weight, weight)]


def _product(a, b):
    return relay.nn.dense(a, b)


def _cast_to(made, x):
    return made if _kind(x).dtype == "float32" else relay.cast_like(made, x)


@_for("nn.matmul")
def _matmul(call, g):
    a, b = call.args
    ta, tb = call.attrs.transpose_a, call.attrs.transpose_b
    of_a = relay.nn.matmul(b, g, transpose_a=tb, transpose_b=True) if ta else relay.nn.matmul(g, b, transpose_a=False, transpose_b=not tb)
    of_b = relay.nn.matmul(g, a, transpose_a=True, transpose_b=ta) if tb else relay.nn.matmul(a, g, transpose_a=not ta, transpose_b=False)
    return [of_a, of_b]


@_for("nn.batch_matmul")
def _batch_matmul(call, g):
    a, b = call.args
    ta, tb = call.attrs.transpose_a, call.attrs.transpose_b

    def product(x, y, of, tx, ty):
        return _like(relay.nn.batch_matmul(x, y, transpose_a=tx, transpose_b=ty), of)
    return [product(b, g, a, tb, True) if ta else product(g, b, a, False, not tb),
            product(g, a, b, True, ta) if tb else product(a, g, b, not ta, False)]


@_for("nn.batch_norm")
def _batch_norm(call, g):
    x, gamma, beta, mean, var = call.args
    a, rank = call.attrs, len(_kind(call.args[0]).shape)
    axis = a.axis % rank

    def wide(v):
        return _with_axes(v, range(1, rank - axis))

    def reduced(v):
        return relay.sum(v, axis, False, True)
    g0, g1, g2 = (TupleGetItem(g, i) for i in range(3))
    scale = relay.rsqrt(var + _number(a.epsilon, var))
    weight = gamma * scale if a.scale else scale
    centred = x - wide(mean)
    of_x = g0 * wide(weight)
    of_var = reduced(g0 * centred) * weight * _number(-0.5, var) * scale * scale
    return [of_x, reduced(g0 * centred) * scale if a.scale else _zero(gamma), reduced(g0) if a.center else _zero(beta),
            g1 - reduced(of_x), g2 + of_var]


# Pooling.


@_for("nn.max_pool2d")
def _max_pool2d(call, g):
    a = call.attrs
    return [relay.nn.max_pool2d_grad(g, call.args[0], pool_size=a.pool_size, strides=a.strides, padding=a.padding, layout=a.layout,
                                     ceil_mode=a.ceil_mode)]


@_for("nn.avg_pool2d")
def _avg_pool2d(call, g):
    a = call.attrs
    return [relay.nn.avg_pool2d_grad(g, call.args[0], pool_size=a.pool_size, strides=a.strides, padding=a.padding, layout=a.layout,
                                     ceil_mode=a.ceil_mode, count_include_pad=a.count_include_pad)]


def _image_axes(call):
    return [i for i, c in enumerate(call.attrs.layout) if c in "HWD"]


@_for("nn.global_avg_pool2d")
def _global_avg_pool2d(call, g):
    x = call.args[0]
    return [relay.broadcast_to_like(g, x) / _number(float(_count(x, _image_axes(call))), x)]


@_for("nn.global_max_pool2d")
def _global_max_pool2d(call, g):
    x = call.args[0]
    hit = relay.cast_like(relay.equal(x, call), g)
    return [g * hit / relay.sum(hit, _image_axes(call), True)]


@_for("nn.adaptive_avg_pool2d")
def _adaptive_avg_pool2d(call, g):
    x, axes = call.args[0], _image_axes(call)
    shape, result = _shape(x), _shape(call)
    if any(shape[a] % result[a] for a in axes):
        raise ValueError(f"nn.adaptive_avg_pool2d: the gradient is known where output sizes divide the image's, found {shape} to {result}")
    wide = g
    for a in axes:
        wide = relay.repeat(wide, shape[a] // result[a], a)
    return [wide / _number(float(math.prod(shape[a] // result[a] for a in axes)), x)]


# Convolution.


def _pads(padding, rank):
    p = [padding] if isinstance(padding, int) else list(padding)
    if len(p) == 1:
        p = p * 2 * rank
    return p * 2 if len(p) == rank else p


@_for("nn.conv2d")
def _conv2d(call, g):
    x, weight = call.args
    a = call.attrs
    data_to = _order(a.data_layout, "NCHW")
    out_to = _order(a.out_layout or a.data_layout, "NCHW")
    kernel_to = _order(a.kernel_layout, "OIHW")
    xn, wn, gn = _moved(x, data_to), _moved(weight, kernel_to), _moved(g, out_to)
    of_x = _conv2d_data(a, xn, wn, gn, *(_placed(_shape(v), to) for v, to in ((x, data_to), (weight, kernel_to), (call, out_to))))
    of_w = _conv2d_weight(a, xn, gn, *(_placed(_shape(v), to) for v, to in ((x, data_to), (weight, kernel_to), (call, out_to))))
    return [_moved(of_x, _inverse(data_to)), _moved(of_w, _inverse(kernel_to))]


def _order(layout, wanted):
    if sorted(layout) != sorted(wanted):
        raise ValueError(f"nn.conv2d: the gradient is known for layouts of {wanted}, found {layout}")
    return [layout.index(c) for c in wanted]


def _inverse(order):
    return [order.index(i) for i in range(len(order))]


def _moved(x, order):
    return x if order == sorted(order) else relay.transpose(x, order)


def _placed(shape, order):
    return [shape[i] for i in order]


def _conv2d_data(a, x, weight, g, x_shape, w_shape, g_shape):
    top, left, bottom, right = _pads(a.padding, 2)
    more = []
    for i, pads in ((0, top + bottom), (1, left + right)):
        reached = (g_shape[2 + i] - 1) * a.strides[i] - pads + a.dilation[i] * (w_shape[2 + i] - 1) + 1
        more.append(x_shape[2 + i] - reached)
    # A transposed convolution takes less than a stride of further rows; what no window reaches is padded.
    rest = [m if m >= s else 0 for m, s in zip(more, a.strides)]
    output_padding = [0 if r else m for m, r in zip(more, rest)]
    made = relay.nn.conv2d_transpose(g, weight, strides=a.strides, padding=[top, left, bottom, right], dilation=a.dilation, groups=a.groups,
                                     channels=x_shape[1], kernel_size=w_shape[2:], output_padding=output_padding, kernel_layout="IOHW")
    return relay.nn.pad(made, [(0, 0), (0, 0), (0, rest[0]), (0, rest[1])]) if any(rest) else made


def _conv2d_weight(a, x, g, x_shape, w_shape, g_shape):
    batch, channels = x_shape[:2]
    outputs, groups = g_shape[1], a.groups
    padding = _pads(a.padding, 2)
    if groups == 1:
        made = relay.nn.conv2d(relay.transpose(x, [1, 0, 2, 3]), relay.transpose(g, [1, 0, 2, 3]), strides=a.dilation, padding=padding,
                               dilation=a.strides, channels=outputs, kernel_size=g_shape[2:])
        made = relay.transpose(made, [1, 0, 2, 3])
    else:  # each pair of an image's channel and a result's that belong together is a group
        tiled = relay.reshape(relay.tile(g, [1, channels // groups, 1, 1]), [-1, 1, *g_shape[2:]])
        flat = relay.reshape(x, [1, -1, *x_shape[2:]])
        made = relay.nn.conv2d(flat, _by_group(tiled, batch, channels, outputs, groups, g_shape), strides=a.dilation, padding=padding,
                               dilation=a.strides, groups=batch * channels, channels=batch * channels * (outputs // groups),
                               kernel_size=g_shape[2:])
        sizes = [((x_shape[2 + i] + padding[i] + padding[2 + i] - a.strides[i] * (g_shape[2 + i] - 1) - 1) // a.dilation[i]) + 1 for i in (0, 1)]
        made = relay.sum(relay.reshape(made, [batch, groups, channels // groups, outputs // groups, *sizes]), [0])
        made = relay.reshape(relay.transpose(made, [0, 2, 1, 3, 4]), [outputs, channels // groups, *sizes])
    return relay.strided_slice(made, [0, 0], list(w_shape[2:]), [1, 1], [2, 3])


def _by_group(tiled, batch, channels, outputs, groups, g_shape):
    """Of (batch, channels of a group, outputs), the results of each image's channel: (batch, group, channel, output of the group)."""
    wide = relay.reshape(tiled, [batch, channels // groups, groups, outputs // groups, *g_shape[2:]])
    return relay.reshape(relay.transpose(wide, [0, 2, 1, 3, 4, 5]), [-1, 1, *g_shape[2:]])
