"""What quantised operators mean in others, for QnnCanonicalizeOps: integers with fixed-point multiplication, saturated at the end.

The numbers are those that the operators themselves give (kernels/op/qnn_arithmetic.cc). Scales are constants; others leave the operator.
"""
import numpy

from .. import relay
from ..regions import register_op_attr

__all__ = []


def _is_zero(expr):
    return isinstance(expr, relay.Constant) and not expr.data.any()


def _along(parameter, axis, rank):
    """A scale or zero point as it is broadcast along an axis; of one number, a scalar."""
    if isinstance(parameter, relay.Constant) and parameter.data.size == 1:
        return relay.const(parameter.data.reshape(()), parameter.checked_type.dtype)
    kind = parameter._type and parameter.checked_type
    if kind is not None and not kind.shape:
        return parameter
    axis = axis + rank if axis < 0 else axis
    return relay.expand_dims(parameter, 1, rank - 1 - axis) if axis < rank - 1 else parameter


def _bounds(dtype):
    info = numpy.iinfo(dtype)
    return float(info.min), float(info.max)


def _saturated(value, value_dtype, dtype):
    return value if value_dtype == dtype else relay.cast(relay.clip(value, *_bounds(dtype)), dtype)


def _constants(*parameters):
    return all(isinstance(p, relay.Constant) for p in parameters)


# --- Fixed-point multiplication ---

def _multiplier(numerator, denominator):
    """(factor, limit, half, shift) of a ratio of scales: round(v * ratio) is (clip(v, -limit, limit) * factor + half) >> shift."""
    significand, exponent = numpy.frexp(numpy.float64(numerator) / numpy.float64(denominator))
    significand = numpy.copysign(numpy.floor(numpy.abs(significand) * 2.0 ** 31 + 0.5), significand).astype("int64")
    exponent = exponent.astype("int64")
    overflows = numpy.abs(significand) == 1 << 31
    significand, exponent = numpy.where(overflows, significand // 2, significand), exponent + overflows
    significand = numpy.where(exponent < 31 - 62, 0, significand)
    left, shift = numpy.clip(exponent, 0, 32), numpy.minimum(31 + numpy.maximum(-exponent, 0), 62)
    limit = numpy.minimum((numpy.int64(1 << 32) >> left) << numpy.clip(-exponent, 0, 8), 3 << 30)
    return significand << left, limit, numpy.int64(1) << (shift - 1), shift


def _multiplied(value, numerator, denominator, axis, rank, rounding):
    """A value of int64 times a ratio of constant scales, rounded, as int64."""
    def place(array):
        return _along(relay.const(numpy.asarray(array), "int64"), axis, rank)
    factor, limit, half, shift = map(place, _multiplier(numerator, denominator))
    product = relay.maximum(relay.minimum(value, limit), relay.negative(limit)) * factor
    if rounding == "TONEAREST":
        product = product - relay.cast(relay.less(product, relay.const(0, "int64")), "int64")
    return relay.right_shift(product + half, shift)


def _rescaled(data, rank, scale_in, zero_in, scale_out, zero_out, axis, rounding="UPWARD"):
    """A tensor under one scale and zero point brought to others, as int64 that is not saturated."""
    steps = relay.cast(data, "int64")
    if not _is_zero(zero_in):
        steps = steps - relay.cast(_along(zero_in, axis, rank), "int64")
    steps = _multiplied(steps, scale_in.data, scale_out.data, axis, rank, rounding)
    return steps if _is_zero(zero_out) else steps + relay.cast(_along(zero_out, axis, rank), "int64")


# --- Operators ---

def _quantize(attrs, inputs, types):
    data, scale, zero = inputs
    rank, dtype = len(types[0].shape), types[0].dtype
    steps = relay.round(data / relay.cast(_along(scale, attrs["axis"], rank), dtype))
    if not _is_zero(zero):
        steps = steps + relay.cast(_along(zero, attrs["axis"], rank), dtype)
    return _saturated(steps, dtype, types[-1].dtype)


def _dequantize(attrs, inputs, types):
    data, scale, zero = inputs
    rank = len(types[0].shape)
    exact = "float32" if numpy.iinfo(types[0].dtype).bits <= 16 else "float64"
    steps = relay.cast(data, exact)
    if not _is_zero(zero):
        steps = steps - relay.cast(_along(zero, attrs["axis"], rank), exact)
    steps = steps if exact == "float32" else relay.cast(steps, "float32")
    real = steps * _along(scale, attrs["axis"], rank)
    return real if types[-1].dtype == "float32" else relay.cast(real, types[-1].dtype)


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
    return _saturated(_rescaled(data, rank, scale_in, zero_in, scale_out, zero_out, axis, rounding), "int64", dtype)


def _sum(compute, back):
    """Of qnn.add and qnn.subtract: both operands in the result's scale, less a zero point that counts twice or not at all."""
    def lower(attrs, inputs, types):
        lhs, rhs, scale_a, zero_a, scale_b, zero_b, scale, zero = inputs
        if not _constants(scale_a, scale_b, scale) or scale.data.size != 1:
            return None
        a = _rescaled(lhs, len(types[0].shape), scale_a, zero_a, scale, zero, attrs["lhs_axis"])
        b = _rescaled(rhs, len(types[1].shape), scale_b, zero_b, scale, zero, attrs["rhs_axis"])
        total = compute(a, b)
        if not _is_zero(zero):
            total = back(total, relay.cast(_along(zero, -1, 1), "int64"))
        return _saturated(total, "int64", types[-1].dtype)
    return lower


def _product_of_steps(attrs, inputs, types):
    lhs, rhs, scale_a, zero_a, scale_b, zero_b, scale, zero = inputs
    is_plain = _constants(scale_a, scale_b, scale) and all(s.data.size == 1 for s in (scale_a, scale_b, scale))
    if not is_plain or numpy.iinfo(types[0].dtype).bits > 8:
        return None
    a = relay.cast(lhs, "int64") - relay.cast(_along(zero_a, attrs["lhs_axis"], len(types[0].shape)), "int64")
    b = relay.cast(rhs, "int64") - relay.cast(_along(zero_b, attrs["rhs_axis"], len(types[1].shape)), "int64")
    scales = (scale_a.data * scale_b.data).astype("float32")
    out = _multiplied(a * b, scales, scale.data, -1, 1, "UPWARD") + relay.cast(_along(zero, -1, 1), "int64")
    return _saturated(out, "int64", types[-1].dtype)


def _concatenate(attrs, inputs, types):
    data, scales, zeros, scale, zero = inputs
    if not all(isinstance(t, relay.Tuple) for t in (data, scales, zeros)) or not _constants(*scales.fields, scale):
        return None
    rank = len(types[-1].shape)
    parts = [_saturated(_rescaled(x, rank, s, z, scale, zero, 0), "int64", types[-1].dtype)
             for x, s, z in zip(data.fields, scales.fields, zeros.fields)]
    return relay.concatenate(parts, attrs["axis"])


def _steps(data, zero, axis, rank):
    """Data less their zero point."""
    return data if _is_zero(zero) else relay.cast(data, "int32") - relay.cast(_along(zero, axis, rank), "int32")


def _product(name, kernel_axis):
    """Of products: the plain operator on data and weights less their zero points. kernel_axis(attrs): of the weights' output channels."""
    def lower(attrs, inputs, types):
        data, weight, zero_data, zero_weight, *_ = inputs
        rank, axis = len(types[0].shape), kernel_axis(attrs)
        data, weight = _steps(data, zero_data, -1, rank), _steps(weight, zero_weight, axis, len(types[1].shape))
        if _is_zero(zero_data) != _is_zero(zero_weight) or types[0].dtype != types[1].dtype:
            data, weight = relay.cast(data, "int32"), relay.cast(weight, "int32")
        return relay.Call(name, [data, weight], {**attrs, "out_dtype": types[-1].dtype})
    return lower


def _kernel_axis(attrs):
    return attrs["kernel_layout"].index("O")


_MEANINGS = {
    "qnn.quantize": _quantize, "qnn.dequantize": _dequantize, "qnn.requantize": _requantize, "qnn.add": _sum(relay.add, relay.subtract),
    "qnn.subtract": _sum(relay.subtract, relay.add), "qnn.mul": _product_of_steps, "qnn.concatenate": _concatenate,
    "qnn.dense": _product("nn.dense", lambda attrs: 0), "qnn.batch_matmul": _product("nn.batch_matmul", lambda attrs: 0),
    "qnn.conv1d": _product("nn.conv1d", _kernel_axis), "qnn.conv2d": _product("nn.conv2d", _kernel_axis),
    "qnn.conv3d": _product("nn.conv3d", _kernel_axis), "qnn.conv2d_transpose": _product("nn.conv2d_transpose", _kernel_axis),
}
for _name, _meaning in _MEANINGS.items():
    register_op_attr(_name, "FTVMQnnCanonicalize", _meaning, 0)
