"""tvm.relay.qnn.op.legalizations: functions that qnn.transform.Legalize asks."""
from .....compiler import relay as _relay
from .....compiler.passes import quantised as _quantised
from .....compiler.passes.quantised import (create_integer_lookup_op, hardswish_func, register_qnn_legalize, register_qnn_unary_op_legalize)
from ....target import target_has_features
from .canonicalizations import get_scalar_from_constant

legalize_qnn_conv2d = qnn_conv2d_legalize = _quantised._legalize_conv2d
legalize_qnn_dense = qnn_dense_legalize = _quantised._legalize_dense
legalize_qnn_conv2d_transpose = qnn_conv2d_transpose_legalize = _quantised._legalize_conv2d_transpose
IN_CHANNEL_VECTOR_LENGTH, OUT_CHANNEL_VECTOR_LENGTH = 4, 32  # of Hexagon


def helper_align_up(value, aligner):
    """The least multiple of a number that is no less than a value."""
    return -(-value // aligner) * aligner


def helper_change_dtypes_to_be_same(attrs, inputs, types, relay_op):
    """A quantised product whose data have the kernel's dtype; None where they have it."""
    return _quantised._with_dtypes(relay_op, attrs, inputs, types, types[1].dtype, types[1].dtype)


def helper_change_dtypes_to_int8(attrs, inputs, types, relay_op):
    """A quantised product of int8 and int8; None where it is one."""
    return _quantised._with_dtypes(relay_op, attrs, inputs, types, "int8", "int8")


def helper_change_dtypes_to_uint8(attrs, inputs, types, relay_op):
    """A quantised product of uint8 and uint8; None where it is one."""
    return _quantised._with_dtypes(relay_op, attrs, inputs, types, "uint8", "uint8")


def helper_change_dtypes_to_uint8_int8(attrs, inputs, types, relay_op):
    """A quantised product of uint8 and int8; None where it is one."""
    return _quantised._with_dtypes(relay_op, attrs, inputs, types, "uint8", "int8")


def helper_no_fast_int8_hw_legalization(attrs, inputs, types, relay_op):
    """A product of int16, less their zero points. relay_op: relay.nn.conv2d or relay.nn.dense."""
    axis = attrs["kernel_layout"].index("O") if relay_op is _relay.op.nn.conv2d else 0
    kept = {key: value for key, value in attrs.items() if key in _relay.Op.get(relay_op.name).__signature__.parameters}
    return _quantised._in_int16(relay_op, kept, inputs, types, axis)


def is_fast_int8_on_intel():
    """Whether the current target multiplies bytes."""
    return target_has_features("sse4.2")


__all__ = ["IN_CHANNEL_VECTOR_LENGTH", "OUT_CHANNEL_VECTOR_LENGTH", "create_integer_lookup_op", "get_scalar_from_constant", "hardswish_func",
           "helper_align_up", "helper_change_dtypes_to_be_same", "helper_change_dtypes_to_int8", "helper_change_dtypes_to_uint8",
           "helper_change_dtypes_to_uint8_int8", "helper_no_fast_int8_hw_legalization", "is_fast_int8_on_intel", "legalize_qnn_conv2d",
           "legalize_qnn_conv2d_transpose", "legalize_qnn_dense", "qnn_conv2d_legalize", "qnn_conv2d_transpose_legalize", "qnn_dense_legalize",
           "register_qnn_legalize", "register_qnn_unary_op_legalize", "target_has_features"]
