"""Passes over quantised operators: `QnnLegalize` asks functions for calls that a machine prefers, `QnnCanonicalizeOps` for other operators in
their place. In relayvm.tvm they are relay.qnn.transform's Legalize and CanonicalizeOps.

The compiler itself computes quantised operators as they are, on any target; nothing needs these passes to run.
"""
import contextlib
import contextvars

import numpy

from .. import relay
from ..regions import register_op_attr
from .alter_layout import is_depthwise
from .legalize import Legalize
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["QnnCanonicalizeOps", "QnnLegalize", "RequantizeAsTold"]

_target = contextvars.ContextVar("relayvm_target", default=None)
_requantize = contextvars.ContextVar("relayvm_requantize_config", default=None)


@contextlib.contextmanager
def for_target(text):
    """with for_target("llvm -mcpu=..."): the machine that QnnLegalize has in mind."""
    before = current_target()
    _target.set(text)
    try:
        yield
    finally:
        _target.set(before)


def current_target():
    """The target of the innermost `for_target`, or None."""
    return _target.get()


def QnnLegalize():  # noqa: N802 (as TVM's names)
    """A pass that asks functions of FTVMQnnLegalize (`register_qnn_legalize`) for what takes the place of calls."""
    return Legalize("FTVMQnnLegalize")


def QnnCanonicalizeOps():  # noqa: N802 (as TVM's names)
    """A pass that asks functions of FTVMQnnCanonicalize for operators that take the place of quantised ones: of those with constant scales
    there are some (quantised_meaning.py).
    """
    from . import quantised_meaning  # noqa: F401 (it registers them)
    return Legalize("FTVMQnnCanonicalize")


def register_qnn_legalize(op_name, legal_op=None, level=10):
    """A function that QnnLegalize asks, or a decorator for one."""
    return register_op_attr(op_name, "FTVMQnnLegalize", legal_op, level)


def register_qnn_canonicalize(op_name, legal_op=None, level=10):
    """A function that QnnCanonicalizeOps asks, or a decorator for one."""
    return register_op_attr(op_name, "FTVMQnnCanonicalize", legal_op, level)


# --- How qnn.requantize rounds ---

class requantize_config:
    """with requantize_config(rounding="TONEAREST", compute_dtype="int64"): what QnnCanonicalizeOps and tvm.relay.build
    take where a qnn.requantize does not say."""

    def __init__(self, rounding="UPWARD", compute_dtype="int64"):
        known = {"rounding": ("UPWARD", "TONEAREST"), "compute_dtype": ("int64", "float32", "float64")}
        for name, value in (("rounding", rounding), ("compute_dtype", compute_dtype)):
            values = known[name]
            if value not in values:
                raise ValueError(f"requantize_config: {name} is one of {', '.join(values)}, found {value}")
        self.rounding, self.compute_dtype = rounding, compute_dtype

    def __enter__(self):
        self._before = current_requantize_config()
        _requantize.set(self)
        return self

    def __exit__(self, *_):
        _requantize.set(self._before)


def current_requantize_config():
    """The innermost `requantize_config`, or None."""
    return _requantize.get()


def RequantizeAsTold():  # noqa: N802 (as TVM's names)
    """A pass after which each qnn.requantize says what the `requantize_config` of the moment does, where it did not say."""
    def rewrite(call, new):
        config = current_requantize_config()
        if config is None or not is_call(new, "qnn.requantize") or "None" not in (new.attrs["rounding"], new.attrs["compute_dtype"]):
            return new
        told = {name: getattr(config, name) for name in ("rounding", "compute_dtype") if new.attrs[name] == "None"}
        return relay.Call(new.op, new.args, {**new.attrs, **told}, span=new.span)
    return function_pass("RequantizeAsTold", lambda f: PostOrderRewriter(rewrite).visit(f))


# --- Tables of functions of one byte ---

def run_const_expr(expr):
    """The array of an expression without variables."""
    from .. import create_executor, Module
    return numpy.asarray(create_executor("debug", Module.from_expr(expr)).evaluate()())


def create_integer_lookup_table(floating_point_func, input_scale, input_zero_point, output_scale, output_zero_point, in_axis=-1, out_axis=-1,
                                in_dtype="uint8", out_dtype="uint8"):
    """For each pattern of bits of in_dtype what a function of arrays gives, quantised: by the pattern as an unsigned number."""
    for dtype in (in_dtype, out_dtype):
        if numpy.dtype(dtype).kind not in "iu":
            raise ValueError(f"create_integer_lookup_table: expected dtypes of integers, found {dtype}")
    bits = numpy.iinfo(in_dtype).bits
    patterns = relay.const(numpy.arange(2 ** bits).astype(f"uint{bits}").view(in_dtype), in_dtype)
    real = run_const_expr(relay.qnn.op.dequantize(patterns, input_scale, input_zero_point, in_axis))
    return run_const_expr(relay.qnn.op.quantize(relay.const(floating_point_func(real)), output_scale, output_zero_point, out_axis, out_dtype))


def create_integer_lookup_op(input_arg, floating_point_func, in_scale, in_zero_point, out_scale, out_zero_point, in_axis=-1, out_axis=-1,
                             in_dtype="uint8", out_dtype="uint8"):
    """A quantised function of one operand as a `take` of its table. Scales and zero points are constants of one number."""
    def number(expr, dtype):
        return relay.const(expr.data.item(), dtype)
    table = create_integer_lookup_table(floating_point_func, number(in_scale, "float32"), number(in_zero_point, "int32"),
                                        number(out_scale, "float32"), number(out_zero_point, "int32"), in_axis, out_axis, in_dtype, out_dtype)
    places = relay.reinterpret(input_arg, f"uint{numpy.iinfo(in_dtype).bits}")
    return relay.take(relay.const(table, out_dtype), places, axis=0, mode="fast")


def _erf(x):
    import math
    return numpy.vectorize(math.erf, otypes=["float32"])(x)


def hardswish_func(x):
    """The function that qnn.hardswish quantises."""
    return x * (numpy.clip(x, -3, 3) + 3) / 6


_UNARY = {
    "qnn.sqrt": numpy.sqrt, "qnn.rsqrt": lambda x: 1 / numpy.sqrt(x), "qnn.exp": numpy.exp, "qnn.erf": _erf, "qnn.tanh": numpy.tanh,
    "qnn.sigmoid": lambda x: 1 / (1 + numpy.exp(-x)), "qnn.log": numpy.log, "qnn.abs": numpy.abs,
    "qnn.hardswish": hardswish_func,
}


def _as_table(function):
    def legalize(attrs, inputs, types):
        if not all(isinstance(x, relay.Constant) and x.data.size == 1 for x in inputs[1:]):
            return None
        with numpy.errstate(all="ignore"):
            return create_integer_lookup_op(inputs[0], function, *inputs[1:], in_dtype=types[0].dtype, out_dtype=types[0].dtype)
    return legalize


def register_qnn_unary_op_legalize(op_name, floating_point_func):
    """Makes QnnLegalize put a table in place of a quantised function of one operand. floating_point_func: of arrays of numpy's."""
    return register_qnn_legalize(op_name, _as_table(floating_point_func))


# --- dtypes that machines multiply ---

def _shifted(data, zero_point, dtype):
    """Quantised data of the other sign, and their zero point."""
    shift = 128 if dtype == "uint8" else -128
    moved = relay.cast(relay.cast(data, "int32") + relay.const(shift, "int32"), dtype)
    if isinstance(zero_point, relay.Constant):
        return moved, relay.const(zero_point.data + numpy.int32(shift), "int32")
    return moved, zero_point + relay.const(shift, "int32")


def _with_dtypes(op, attrs, inputs, types, data_dtype, kernel_dtype):
    """A quantised product of operands of these dtypes; None where it has them."""
    data, kernel, data_zero, kernel_zero, *scales = inputs
    if types[0].dtype == data_dtype and types[1].dtype == kernel_dtype:
        return None
    if types[0].dtype != data_dtype:
        data, data_zero = _shifted(data, data_zero, data_dtype)
    if types[1].dtype != kernel_dtype:
        kernel, kernel_zero = _shifted(kernel, kernel_zero, kernel_dtype)
    return op(data, kernel, data_zero, kernel_zero, *scales, **attrs)


def _in_int16(op, attrs, inputs, types, kernel_axis):
    """A product of int16, less their zero points, for machines that multiply no bytes."""
    data, kernel, data_zero, kernel_zero = (relay.cast(x, "int16") for x in inputs[:4])
    kernel = kernel - kernel_zero if not types[3].shape else relay.nn.bias_add(kernel, -kernel_zero, kernel_axis)
    return op(data - data_zero, kernel, **attrs)


# Processors of x86 before SSE 4.2, which TVM gives no bytes; and features of Arm's that multiply bytes.
_WITHOUT_BYTES = ("core2", "penryn", "x86-64", "i386", "i486", "i586", "i686", "pentium", "k8", "athlon")


def _machine(text):
    """(the kind of machine, its options) of a target's text."""
    words = [word.lstrip("-") for word in text.split()]
    options = dict(word.partition("=")[::2] for word in words[1:])
    if options.get("device") == "arm_cpu" or options.get("keys", "").startswith("arm_cpu"):
        return "arm", options
    return {"llvm": "x86", "c": "x86", "cuda": "cuda", "rocm": "cuda", "vulkan": "vulkan"}.get(words[0], words[0]), options


def _legalize_product(attrs, inputs, types, op, plain, kernel_axis, is_packed=False):
    """For the machine of the target. is_packed: of convolutions, whether Arm multiplies bytes of them without further instructions."""
    if current_target() is None:
        return None
    machine, options = _machine(current_target())
    same = _with_dtypes(op, attrs, inputs, types, types[1].dtype, types[1].dtype) if machine in ("arm", "vulkan") else None
    if machine == "x86":
        if options.get("mcpu") in _WITHOUT_BYTES:
            return _in_int16(plain, attrs, inputs, types, kernel_axis)
        return _with_dtypes(op, attrs, inputs, types, "uint8", "int8")
    if machine == "arm":
        features = options.get("mattr", "")
        has_vectors = "neon" in features or "aarch64" in options.get("mtriple", "")
        if has_vectors and not is_packed and "+dotprod" not in features:
            return _in_int16(plain, attrs, inputs, types, kernel_axis)
        return same
    if machine == "cuda":
        return _with_dtypes(op, attrs, inputs, types, "int8", "int8")
    return same


def _legalize_conv2d(attrs, inputs, types):
    depthwise = is_depthwise(types[0].shape, attrs["data_layout"], types[1].shape, attrs["kernel_layout"], attrs["groups"])
    return _legalize_product(attrs, inputs, types, relay.qnn.op.conv2d, relay.nn.conv2d, attrs["kernel_layout"].index("O"),
                             not depthwise and attrs["data_layout"] == "NHWC")


def _legalize_dense(attrs, inputs, types):
    return _legalize_product(attrs, inputs, types, relay.qnn.op.dense, relay.nn.dense, 0)


def _legalize_conv2d_transpose(attrs, inputs, types):
    data, kernel, data_zero, kernel_zero = (relay.cast(x, "int16") for x in inputs[:4])
    data = data - data_zero if not types[2].shape else relay.nn.bias_add(data, -data_zero)
    kernel = kernel - kernel_zero if not types[3].shape else relay.nn.bias_add(kernel, -kernel_zero)
    return relay.nn.conv2d_transpose(data, kernel, **attrs)


def _register():
    for name, function in _UNARY.items():
        register_qnn_legalize(name, _as_table(function), level=0)
    for name, function in {"qnn.conv2d": _legalize_conv2d, "qnn.dense": _legalize_dense, "qnn.conv2d_transpose": _legalize_conv2d_transpose}.items():
        register_qnn_legalize(name, function, level=0)


_register()
