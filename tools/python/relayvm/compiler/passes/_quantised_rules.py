"""Operators over integers in place of those over what they stand for: rules of `FakeQuantizationToInteger`.

A rule takes a call, whose operands are integers already, and the affine types of nodes; it gives an expression of integers, and its type.
type_map[call] is the type that the result gets in the end, for what may compute right into it. What a rule raises says that it does not
apply here.
"""
import numpy

from .. import inference, relay
from ..affine_types import TensorAffineType, TupleAffineType
from ..relay import Constant
from ..structural import structural_equal

ATTRIBUTE, OPTIONAL = "FTVMFakeQuantizationToInteger", "FTVMOptionalFakeQuantizationToInteger"
_FLOATS = ("float16", "float32", "float64", "bfloat16")


def _register(attribute, op_name, func, level):
    from ..regions import register_op_attr
    return register_op_attr(op_name, attribute, func, level)


def register_fake_quantization_to_integer(op_name, func=None, level=10):
    """Says how an operator is computed with integers: func(call, type_map) gives [expression, its affine type]. A decorator without func."""
    return _register(ATTRIBUTE, op_name, func, level)


def register_optional_fake_quantization_to_integer(op_name, func=None, level=10):
    """The same of operators that `optional_qnn_ops` names."""
    return _register(OPTIONAL, op_name, func, level)


_rule = register_fake_quantization_to_integer


# --- Constants ---


def fold(expr):
    """The constant that an expression of constants gives; else the expression."""
    if isinstance(expr, Constant) or relay._all_vars(expr):
        return expr
    from .. import Module, transform
    return transform.FoldConstants()(Module.from_expr(expr))["main"].body


def _product(a, b):
    a, b = fold(a), fold(b)
    if isinstance(a, Constant) and isinstance(b, Constant):
        return relay.const(numpy.asarray(a.data * b.data), "float32")
    return relay.multiply(a, b)


def _zeros(scale):
    if isinstance(scale, Constant):
        return relay.const(numpy.zeros(scale.data.shape, "int32"))
    return relay.cast(relay.zeros_like(scale), "int32")


def _is_near(x, y):
    x, y = fold(x), fold(y)
    if isinstance(x, Constant) and isinstance(y, Constant):
        try:
            return bool(numpy.allclose(x.data, y.data))
        except ValueError:  # of other shapes
            return False
    return structural_equal(x, y)


def _same(a, b):
    """Whether the same integers stand for the same numbers."""
    return a.dtype == b.dtype and _is_near(a.scale, b.scale) and _is_near(a.zero_point, b.zero_point)


def _shape(expr):
    return inference.infer(expr).checked_type.shape


def _is_per_channel(t):
    return any(numpy.prod(_shape(part)) != 1 for part in (t.scale, t.zero_point))


def _number(expr):
    """A constant that is one number; None of others."""
    expr = fold(expr)
    return expr.data.item() if isinstance(expr, Constant) and expr.data.size == 1 else None


def _requantized(x, old, new):
    return relay.qnn.op.requantize(x, old.scale, old.zero_point, new.scale, new.zero_point, axis=old.axis, out_dtype=new.dtype)


def _of_dtype(x, t, dtype):
    """(x, its type) as int8 or uint8 that stand for the same."""
    if t.dtype == dtype:
        return x, t
    zero = _number(t.zero_point)
    if {t.dtype, dtype} != {"int8", "uint8"} or zero is None:
        raise ValueError(f"there is no {dtype} for what {t.dtype} stands for here")
    new = TensorAffineType(t.scale, relay.const(zero + (128 if dtype == "uint8" else -128), "int32"), dtype, t.axis)
    return _requantized(x, t, new), new


def _goes_to_quantize(type_map):
    """Whether the result of the rule's call is all that the end quantises."""
    root = getattr(type_map, "root", None)
    return root is not None and root.args[0] is type_map.source


# --- The borders ---


@_rule("qnn.dequantize")
def dequantize(expr, type_map):
    """The integers themselves."""
    return [expr.args[0], type_map[expr]]


@_rule("qnn.quantize")
def quantize(expr, type_map):
    """Integers that stand for the same in another way, where they differ."""
    x, t = expr.args[0], type_map[expr.args[0]]
    new = TensorAffineType(expr.args[1], expr.args[2], expr.attrs.out_dtype, expr.attrs.axis)
    if _same(t, new):
        return [x, new]
    return [_requantized(x, TensorAffineType(fold(t.scale), fold(t.zero_point), t.dtype, t.axis), new), new]


# --- What moves or selects ---


def _moved_axis(expr, t):
    """Where the axis of a type for each channel is, after a call; raises where it is gone."""
    rank = len(_shape(expr.args[0]))
    axis, name, attrs = t.axis % rank, expr.op.name, expr.attrs
    if name == "transpose":
        axes = [a % rank for a in attrs.axes] if attrs.axes else list(reversed(range(rank)))
        return axes.index(axis)
    if name == "expand_dims":
        new = attrs.axis if attrs.axis >= 0 else attrs.axis + rank + 1
        return axis + attrs.num_newaxis if new <= axis else axis
    if name == "squeeze" and attrs.axis:
        return axis - sum(a % rank < axis for a in attrs.axis)
    if name in ("nn.max_pool2d", "image.resize2d") and attrs.layout[axis] in "NC":
        return axis
    if name in ("max", "min") and attrs.keepdims and not attrs.exclude and attrs.axis and axis not in [a % rank for a in attrs.axis]:
        return axis
    raise ValueError(f"{name}: the channels that have scales of their own are not an axis of its result")


def _identity(expr, type_map):
    t = type_map[expr.args[0]]
    if _is_per_channel(t):
        t = TensorAffineType(t.scale, t.zero_point, t.dtype, _moved_axis(expr, t))
    return [expr, t]


for _name in ("reshape", "squeeze", "strided_slice", "transpose", "expand_dims", "nn.max_pool2d", "nn.batch_flatten", "nn.depth_to_space", "max",
              "min", "image.resize2d"):
    _rule(_name, _identity)


@_rule("broadcast_to")
def broadcast_to(expr, type_map):
    """The same, of integers."""
    t = type_map[expr.args[0]]
    if _is_per_channel(t):
        old, new = len(_shape(expr.args[0])), len(expr.attrs.shape)
        t = TensorAffineType(t.scale, t.zero_point, t.dtype, t.axis % old + new - old)
    return [expr, t]


@_rule("take")
def take(expr, type_map):
    """The same, of integers."""
    t = type_map[expr.args[0]]
    if _is_per_channel(t):
        raise ValueError("take: channels have scales of their own")
    return [expr, t]


@_rule("topk")
def topk(expr, type_map):
    """The same, of integers; of values alone."""
    if expr.attrs.ret_type != "values":
        raise ValueError(f"topk: expected ret_type values, found {expr.attrs.ret_type}")
    return [expr, type_map[expr.args[0]]]


@_rule("split")
def split(expr, type_map):
    """The same, of integers."""
    parts = expr.attrs.indices_or_sections
    return [expr, TupleAffineType([type_map[expr.args[0]]] * (parts if isinstance(parts, int) else len(parts) + 1))]


@_rule("concatenate")
def concatenate(expr, type_map):
    """qnn.concatenate, into the type that the result gets."""
    out = type_map[expr]
    fields, types = list(expr.args[0].fields), type_map[expr.args[0]].types
    for i, t in enumerate(types):
        fields[i], types[i] = _of_dtype(fields[i], t, out.dtype)
    operands = relay.Tuple(fields) if any(a is not b for a, b in zip(fields, expr.args[0].fields)) else expr.args[0]
    made = relay.qnn.op.concatenate(operands, relay.Tuple([t.scale for t in types]), relay.Tuple([t.zero_point for t in types]), out.scale,
                                    out.zero_point, expr.attrs.axis)
    return [made, out]


@_rule("nn.pad")
def pad(expr, type_map):
    """The same, of integers."""
    x, value = expr.args
    t = type_map[x]
    if value in type_map:
        if not _same(t, type_map[value]):
            value = _requantized(value, type_map[value], t)
    elif isinstance(value, Constant) and value.checked_type.dtype in _FLOATS:
        value = relay.qnn.op.quantize(value, t.scale, t.zero_point, out_dtype=t.dtype)
    else:
        raise ValueError("nn.pad: expected the value to be a constant, or dequantised")
    return [relay.nn.pad(x, pad_value=value, **expr.attrs), t]


# --- Bounds ---


def _by_channel(values, t, x):
    """Numbers for each channel, in the form of x."""
    shape = [1] * len(_shape(x))
    shape[t.axis] = -1
    return numpy.reshape(values, shape)


def _quantized(value, t, x):
    """What stands for a number, as integers that broadcast with x."""
    scale, zero = fold(t.scale), fold(t.zero_point)
    if not isinstance(scale, Constant) or not isinstance(zero, Constant):
        raise ValueError("scales and zero points of what has bounds are constants")
    limits = numpy.iinfo(t.dtype)
    levels = numpy.clip(numpy.rint(numpy.float64(value) / scale.data) + zero.data, limits.min, limits.max).astype(t.dtype)
    return levels.reshape(()) if levels.size == 1 else _by_channel(levels, t, x)


@_rule("clip")
def clip(expr, type_map):
    """Bounds of integers."""
    x, t = expr.args[0], type_map[expr.args[0]]
    low, high = (_quantized(bound, t, x) for bound in (expr.attrs.a_min, expr.attrs.a_max))
    if low.ndim == 0:
        return [relay.clip(x, int(low), int(high)), t]
    return [relay.minimum(relay.maximum(x, relay.const(low)), relay.const(high)), t]


@_rule("nn.relu")
def relu(expr, type_map):
    """At least the zero point."""
    x, t = expr.args[0], type_map[expr.args[0]]
    zero = fold(t.zero_point)
    if not isinstance(zero, Constant):
        if _is_per_channel(t):
            raise ValueError("nn.relu: zero points of channels are constants")
        return [relay.maximum(x, relay.cast(zero, t.dtype)), t]
    values = zero.data.astype(t.dtype)
    return [relay.maximum(x, relay.const(values.reshape(()) if values.size == 1 else _by_channel(values, t, x))), t]


# --- Products ---


def _channel_axis(attrs):
    return (attrs["out_layout"] or attrs["data_layout"]).index("C")


def _convolution(make):
    def rule(expr, type_map):
        x, weight = expr.args
        x_t, w_t = type_map[x], type_map[weight]
        attrs = {name: value for name, value in expr.attrs.items() if name != "out_dtype"}
        out = make(x, weight, x_t.zero_point, w_t.zero_point, x_t.scale, w_t.scale, **attrs)
        scale = _product(x_t.scale, w_t.scale)
        return [out, TensorAffineType(scale, _zeros(scale), out.attrs.out_dtype, _channel_axis(attrs))]
    return rule


_rule("nn.conv2d", _convolution(relay.qnn.op.conv2d))
_rule("nn.conv2d_transpose", _convolution(relay.qnn.op.conv2d_transpose))


@_rule("nn.dense")
def dense(expr, type_map):
    """qnn.dense."""
    x, weight = expr.args
    x_t, w_t = type_map[x], type_map[weight]
    out = relay.qnn.op.dense(x, weight, x_t.zero_point, w_t.zero_point, x_t.scale, w_t.scale, expr.attrs.units)
    scale = _product(x_t.scale, w_t.scale)
    return [out, TensorAffineType(scale, _zeros(scale), out.attrs.out_dtype, 1)]


@_rule("nn.batch_matmul")
def batch_matmul(expr, type_map):
    """qnn.batch_matmul."""
    x, y = expr.args
    x_t, y_t = type_map[x], type_map[y]
    out = relay.qnn.op.batch_matmul(x, y, x_t.zero_point, y_t.zero_point, x_t.scale, y_t.scale, transpose_a=expr.attrs.transpose_a,
                                    transpose_b=expr.attrs.transpose_b)
    return [out, TensorAffineType(_product(x_t.scale, y_t.scale), relay.const(0), out.attrs.out_dtype, x_t.axis)]


@_rule("nn.bias_add")
def bias_add(expr, type_map):
    """A bias of the data's type is added to the integers."""
    x, bias = expr.args
    t = type_map[x]
    if bias in type_map:
        if not _same(t, type_map[bias]):
            old = type_map[bias]
            bias = relay.qnn.op.requantize(bias, old.scale, old.zero_point, fold(t.scale), fold(t.zero_point), axis=0, out_dtype=t.dtype)
    elif isinstance(bias, Constant) and bias.checked_type.dtype in _FLOATS:
        bias = relay.qnn.op.quantize(bias, t.scale, t.zero_point, axis=0, out_dtype=t.dtype)
    else:
        raise ValueError("nn.bias_add: expected the bias to be a constant, or dequantised")
    return [relay.nn.bias_add(x, bias, **expr.attrs), t]


# --- Means ---


@_rule("nn.avg_pool2d")
def avg_pool2d(expr, type_map):
    """qnn.avg_pool2d: right into the type that the result gets, where that is quantised next."""
    x, t, a = expr.args[0], type_map[expr.args[0]], expr.attrs
    out = type_map[expr]
    if not _goes_to_quantize(type_map):
        out = t
    elif out.dtype != t.dtype:
        x, t = _of_dtype(x, t, out.dtype)
    made = relay.qnn.op.avg_pool2d(x, t.scale, t.zero_point, out.scale, out.zero_point, a.pool_size, a.strides, a.padding, a.dilation, a.ceil_mode,
                                   a.count_include_pad, a.layout)
    return [made, out]


def _pooled_as_int32(make):
    def rule(expr, type_map):
        x, t, out = expr.args[0], type_map[expr.args[0]], type_map[expr]
        if not _goes_to_quantize(type_map):
            return [relay.cast(make(relay.cast(x, "int32"), expr.attrs), t.dtype), t]
        new = TensorAffineType(out.scale, out.zero_point, "int32", out.axis)
        return [make(relay.cast(x, "int32") if _same(t, out) else _requantized(x, t, new), expr.attrs), new]
    return rule


_rule("nn.adaptive_avg_pool1d", _pooled_as_int32(lambda x, attrs: relay.nn.adaptive_avg_pool1d(x, **attrs)))
_rule("nn.global_avg_pool2d", _pooled_as_int32(lambda x, attrs: relay.nn.global_avg_pool2d(x, **attrs)))


@_rule("mean")
def mean(expr, type_map):
    """Of the integers."""
    t = type_map[expr.args[0]]
    if _is_per_channel(t):
        raise ValueError("mean: channels have scales of their own")
    return [relay.cast(relay.mean(relay.cast(expr.args[0], "int32"), **expr.attrs), t.dtype), t]


# --- Two operands ---


def _binary_types(expr, type_map):
    """Both operands, their types and that of the result; of a constant operand, the other's."""
    operands, types = list(expr.args), [type_map.get(arg) for arg in expr.args]
    out = type_map[expr]
    if types == [None, None]:
        raise ValueError(f"{expr.op.name}: neither operand is quantised")
    for i, t in enumerate(types):
        if t is None:
            other = types[1 - i]
            if not isinstance(operands[i], Constant):
                raise ValueError(f"{expr.op.name}: expected operand {i} to be a constant, or dequantised")
            operands[i] = relay.qnn.op.quantize(operands[i], other.scale, other.zero_point, out_dtype=other.dtype)
            types[i] = other
    if out.dtype != types[0].dtype:
        if not all({t.dtype, out.dtype} <= {"int8", "uint8"} and _number(t.zero_point) is not None for t in types):
            return *operands, *types, types[0]
        operands, types = zip(*(_of_dtype(x, t, out.dtype) for x, t in zip(operands, types)))
    return *operands, *types, out


def _binary(make, name):
    def rule(expr, type_map):
        left, right, left_t, right_t, out = _binary_types(expr, type_map)
        zero = fold(out.zero_point)
        if name == "add" and left_t.dtype == "int32" and _same(left_t, right_t) and _same(left_t, out) and isinstance(zero, Constant) \
                and not zero.data.any():
            return [relay.add(left, right), left_t]  # a bias, which may have a scale for each channel
        if left_t.dtype != right_t.dtype:
            right, right_t = _of_dtype(right, right_t, left_t.dtype)
        if _is_per_channel(out):
            raise ValueError(f"{name}: expected one scale of the result, found some for each channel")
        return [make(left, right, left_t.scale, left_t.zero_point, right_t.scale, right_t.zero_point, out.scale, out.zero_point, left_t.axis,
                     right_t.axis), out]
    return rule


_rule("add", _binary(relay.qnn.op.add, "add"))
_rule("multiply", _binary(relay.qnn.op.mul, "multiply"))
_rule("subtract", _binary(relay.qnn.op.subtract, "subtract"))


def _selection(make):
    def rule(expr, type_map):
        left, right, left_t, right_t, out = _binary_types(expr, type_map)
        left = left if left_t == out else _requantized(left, left_t, out)
        right = right if right_t == out else _requantized(right, right_t, out)
        return [make(left, right), out]
    return rule


_rule("minimum", _selection(relay.minimum))
_rule("maximum", _selection(relay.maximum))


# --- Functions of one number ---


def _unary(make):
    def rule(expr, type_map):
        out = type_map[expr]
        x, t = _of_dtype(expr.args[0], type_map[expr.args[0]], out.dtype)
        if _is_per_channel(t) or _is_per_channel(out):
            raise ValueError(f"{expr.op.name}: channels have scales of their own")
        return [make(x, t, out, expr.attrs), out]
    return rule


for _name in ("sqrt", "rsqrt", "exp", "erf", "sigmoid", "tanh", "abs", "log"):
    _rule(_name, _unary(lambda x, t, out, _, make=getattr(relay.qnn.op, _name): make(x, t.scale, t.zero_point, out.scale, out.zero_point)))
_rule("nn.leaky_relu", _unary(lambda x, t, out, attrs: relay.qnn.op.leaky_relu(x, attrs.alpha, t.scale, t.zero_point, out.scale, out.zero_point)))
register_optional_fake_quantization_to_integer(
    "nn.softmax", _unary(lambda x, t, out, attrs: relay.qnn.op.softmax(x, t.scale, t.zero_point, out.scale, out.zero_point, attrs.axis)))
