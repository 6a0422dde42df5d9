"""What quantised operators mean in others, for QnnCanonicalizeOps: int32 with fixed-point multiplication, saturated at the end.

The numbers are those that the operators themselves give (kernels/op/qnn_arithmetic.cc). Scales are constants; others leave the operator.
Products (quantised_products.py) multiply the integers as they are; what zero points add to the sums is taken off.
"""
import numpy

from .. import relay
from ..regions import register_op_attr
from .quantised_products import PRODUCTS

__all__ = []


def _is_zero(expr):
    return isinstance(expr, relay.Constant) and not expr.data.any()


def _along(parameter, axis, rank):
    """A scale or zero point as it is broadcast along an axis; of one number, a scalar."""
    if isinstance(parameter, relay.Constant) and parameter.data.size == 1:
        return relay.const(parameter.data.reshape(()), parameter.checked_type.dtype)
    kind = getattr(parameter, "_type", None) and parameter.checked_type
    if kind is not None and not kind.shape:
        return parameter
    axis = axis + rank if axis < 0 else axis
    return relay.expand_dims(parameter, 1, rank - 1 - axis) if axis < rank - 1 else parameter


def _bounds(dtype):
    info = numpy.iinfo(dtype)
    return float(info.min), float(info.max)


def _saturated(value, value_dtype, dtype):
    return value if value_dtype == dtype else relay.cast(relay.clip(value, *_bounds(dtype)), dtype)


def _int32(value):
    return relay.cast(value, "int32")


def _flat(parameter, axis, rank):
    """A zero point as it is broadcast along an axis, of one number as a vector."""
    return _along(relay.reshape(parameter, [-1]), axis, rank) if rank else parameter


def _same_constant(a, b):
    return a is b or _constants(a, b) and a.data.shape == b.data.shape and bool(numpy.all(a.data == b.data))


def _constants(*parameters):
    return all(isinstance(p, relay.Constant) for p in parameters)


# --- Fixed-point multiplication ---

def _multiplier(numerator, denominator):
    """(factors of 31 bits, shifts to the left) of a ratio of scales."""
    significand, exponent = numpy.frexp(numpy.float64(numerator) / numpy.float64(denominator))
    significand = numpy.floor(numpy.abs(significand) * 2.0 ** 31 + 0.5).astype("int64")
    overflows = significand == 1 << 31
    return numpy.where(overflows, significand // 2, significand), exponent.astype("int64") + overflows


def _multiplied(value, numerator, denominator, axis, shape, rounding):
    """A value of int32 times a ratio of constant scales, rounded."""
    factor, shift = _multiplier(numerator, denominator)
    if factor.size > 1:
        return _multiplied_per_axis(value, factor, shift, axis % len(shape))
    factor, shift = factor.item(), shift.item()
    return _to_nearest(value, factor, shift, shape) if rounding == "TONEAREST" else relay.fixed_point_multiply(value, factor, shift)


def _multiplied_per_axis(value, factor, shift, axis):
    parts = [relay.const(numpy.ravel(part).astype("int32")) for part in (factor, numpy.maximum(shift, 0), numpy.maximum(-shift, 0))]
    return relay.Call("fixed_point_multiply_per_axis", [value, *parts], {
        "is_lshift_required": bool((shift > 0).any()), "is_rshift_required": bool((shift < 0).any()), "axes": [axis]})


def _to_nearest(value, factor, shift, shape):
    """Halves go away from zero."""
    product = relay.cast(value, "int64")
    if shift > 0:
        product = relay.left_shift(product, relay.const(shift, "int64"))
    product = product * relay.const(factor, "int64")
    right = 31 - min(shift, 0)
    half = 1 << (right - 1)
    above, below = (relay.full(relay.const(x, "int64"), shape, "int64") for x in (half, half - 1))
    rounder = relay.where(relay.greater_equal(product, relay.zeros(shape, "int64")), above, below)
    return _int32(relay.right_shift(product + rounder, relay.const(right, "int64")))


def _rescaled(data, shape, scale_in, zero_in, scale_out, zero_out, axis, rounding="UPWARD"):
    """A tensor under one scale and zero point brought to others, as int32 that is not saturated."""
    steps = _int32(data)
    if not _is_zero(zero_in):
        steps = steps - _int32(_flat(zero_in, axis, len(shape)))
    if not _same_constant(scale_in, scale_out):
        steps = _multiplied(steps, scale_in.data, scale_out.data, axis, shape, rounding)
    return steps if _is_zero(zero_out) else _int32(zero_out) + steps


def _rescaled_widely(data, rank, scale_in, zero_in, scale_out, zero_out, axis, rounding):
    """The same as int64, which no int32 takes beyond its bounds."""
    factor, exponent = _multiplier(scale_in.data, scale_out.data)
    factor = numpy.where(exponent < 31 - 62, 0, factor)
    left, shift = numpy.clip(exponent, 0, 32), numpy.minimum(31 + numpy.maximum(-exponent, 0), 62)
    limit = numpy.minimum((numpy.int64(1 << 32) >> left) << numpy.clip(-exponent, 0, 8), 3 << 30)
    factor, limit, half, shift = (_along(relay.const(numpy.asarray(array), "int64"), axis, rank)
                                  for array in (factor << left, limit, numpy.int64(1) << (shift - 1), shift))
    steps = relay.cast(data, "int64") - relay.cast(_along(zero_in, axis, rank), "int64")
    product = relay.maximum(relay.minimum(steps, limit), relay.negative(limit)) * factor
    if rounding == "TONEAREST":
        product = product - relay.cast(relay.less(product, relay.const(0, "int64")), "int64")
    return relay.right_shift(product + half, shift) + relay.cast(_along(zero_out, axis, rank), "int64")


def _as_rescaled(data, shape, scale_in, zero_in, scale_out, zero_out, axis):
    """The same, where data that are so already only become int32."""
    if _same_constant(scale_in, scale_out) and _same_constant(zero_in, zero_out):
        return _int32(data)
    return _rescaled(data, shape, scale_in, zero_in, scale_out, zero_out, axis)


# --- Operators ---

def _quantize(attrs, inputs, types):
    data, scale, zero = inputs
    rank, dtype = len(types[0].shape), types[0].dtype
    steps = relay.round(data / _in_dtype(_along(scale, attrs["axis"], rank), dtype)) + relay.cast(_along(zero, attrs["axis"], rank), dtype)
    return _saturated(steps, dtype, types[-1].dtype)


def _dequantize(attrs, inputs, types):
    data, scale, zero = inputs
    rank = len(types[0].shape)
    steps = _int32(data) - _along(zero, attrs["axis"], rank)
    return relay.cast(steps, types[-1].dtype) * _in_dtype(_along(scale, attrs["axis"], rank), types[-1].dtype)


def _in_dtype(value, dtype):
    return value if dtype == "float32" else relay.cast(value, dtype)


def _requantize(attrs, inputs, types):
    from .quantised import current_requantize_config
    config = current_requantize_config()
    rounding, compute = (getattr(config, name) if attrs[name] == "None" and config else attrs[name] for name in ("rounding", "compute_dtype"))
    data, scale_in, zero_in, scale_out, zero_out = inputs
    axis, rank, dtype = attrs["axis"], len(types[0].shape), types[-1].dtype
    if not _constants(scale_in, scale_out):
        return None
    if compute in ("float32", "float64"):
        ratio = relay.const((numpy.float64(scale_in.data) / numpy.float64(scale_out.data)).astype(compute), compute)
        value = (relay.cast(data, compute) - relay.cast(_along(zero_in, axis, rank), compute)) * _along(ratio, axis, rank)
        value = value + relay.cast(_along(zero_out, axis, rank), compute)
        value = relay.round(value) if rounding == "TONEAREST" else relay.floor(value + relay.const(0.5, compute))
        return _saturated(value, compute, dtype)
    if dtype == "int32" or rounding == "TONEAREST" and scale_in.data.size * scale_out.data.size > 1:
        return _saturated(_rescaled_widely(data, rank, scale_in, zero_in, scale_out, zero_out, axis, rounding), "int64", dtype)
    return _saturated(_rescaled(data, types[0].shape, scale_in, zero_in, scale_out, zero_out, axis, rounding), "int32", dtype)


def _sum(compute, back):
    """Of qnn.add and qnn.subtract: both operands in the result's scale, less a zero point that counts twice or not at all."""
    def lower(attrs, inputs, types):
        lhs, rhs, scale_a, zero_a, scale_b, zero_b, scale, zero = inputs
        if not _constants(scale_a, scale_b, scale) or scale.data.size != 1:
            return None
        a = _as_rescaled(lhs, types[0].shape, scale_a, zero_a, scale, zero, attrs["lhs_axis"])
        b = _as_rescaled(rhs, types[1].shape, scale_b, zero_b, scale, zero, attrs["rhs_axis"])
        total = compute(a, b)
        return _saturated(total if _is_zero(zero) else back(total, zero), "int32", types[-1].dtype)
    return lower


def _product_of_steps(attrs, inputs, types):
    lhs, rhs, scale_a, zero_a, scale_b, zero_b, scale, zero = inputs
    is_plain = _constants(scale_a, scale_b, scale) and all(s.data.size == 1 for s in (scale_a, scale_b, scale))
    if not is_plain or numpy.iinfo(types[0].dtype).bits > 8:
        return None
    a, b = (_int32(x) if _is_zero(z) else _int32(x) - _along(z, axis, len(kind.shape)) for x, z, axis, kind in
            ((lhs, zero_a, attrs["lhs_axis"], types[0]), (rhs, zero_b, attrs["rhs_axis"], types[1])))
    scales = relay.const((scale_a.data * scale_b.data).astype("float32"))
    return _saturated(_rescaled(a * b, types[-1].shape, scales, relay.const(0), scale, zero, -1), "int32", types[-1].dtype)


def _concatenate(attrs, inputs, types):
    data, scales, zeros, scale, zero = inputs
    if not all(isinstance(t, relay.Tuple) for t in (data, scales, zeros)) or not _constants(*scales.fields, scale):
        return None

    def part(x, s, z):
        if _same_constant(s, scale) and _same_constant(z, zero):
            return x
        return _saturated(_rescaled(x, types[-1].shape, s, z, scale, zero, -1), "int32", types[-1].dtype)
    return relay.concatenate([part(*each) for each in zip(data.fields, scales.fields, zeros.fields)], attrs["axis"])


def _as_float(function):
    """Of functions of one operand: of the real numbers, quantised again."""
    def lower(attrs, inputs, types):
        data, scale_in, zero_in, scale_out, zero_out = inputs
        real = _dequantize({"axis": -1}, [data, scale_in, zero_in], [types[0], relay.TensorType(types[0].shape, "float32")])
        kinds = [relay.TensorType(types[0].shape, "float32"), types[-1]]
        return _quantize({"axis": -1}, [function(real), scale_out, zero_out], kinds)
    return lower


def _hardswish(x):
    return x * relay.clip(x + relay.const(3.0), 0, 6) / relay.const(6.0)


_FUNCTIONS = ["abs", "erf", "exp", "log", "rsqrt", "sigmoid", "sqrt", "tanh"]
_MEANINGS = {
    "qnn.quantize": _quantize, "qnn.dequantize": _dequantize, "qnn.requantize": _requantize, "qnn.add": _sum(relay.add, relay.subtract),
    "qnn.subtract": _sum(relay.subtract, relay.add), "qnn.mul": _product_of_steps, "qnn.concatenate": _concatenate,
    **{f"qnn.{name}": _as_float(getattr(relay, name)) for name in _FUNCTIONS},
    "qnn.hardswish": _as_float(_hardswish), **PRODUCTS,
}
for _name, _meaning in _MEANINGS.items():
    register_op_attr(_name, "FTVMQnnCanonicalize", _meaning, 0)
