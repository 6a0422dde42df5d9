"""tvm.relay.op.op: operators by name, and what Python knows of them."""
from ....compiler.passes.alter_layout import register_alter_op_layout, register_convert_op_layout
from ....compiler.passes.fake_quantization import register_fake_quantization_to_integer, register_optional_fake_quantization_to_integer
from ....compiler.passes.gradients import register_gradient
from ....compiler.passes.legalize import register_legalize
from ....compiler.passes.mixed_precision import register_mixed_precision_conversion
from ....compiler.regions import register_op_attr
from ....compiler.relay import Op, op
from ....errors import Unsupported
from ...elsewhere import elsewhere
from ..debugger import debug


def get(op_name):
    """The operator of that name."""
    return op.get(op_name)


class OpPattern:
    """How TVM fuses operators."""

    ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8


def register(op_name, describe=""):
    """Refused: operators are the compiler's."""
    raise Unsupported(f"op.register({op_name!r}): operators of your own are functions of others, or plugins (relayc --plugin)")


def register_pattern(op_name, pattern, level=10):
    """Sets how an operator fuses (`OpPattern`), for passes of Python."""
    return register_op_attr(op_name, "TOpPattern", pattern, level)


def register_compute(op_name, compute=None, level=10):
    """Keeps a function of TVM's kernels: kernels are made by the compiler."""
    return register_op_attr(op_name, "FTVMCompute", compute, level)


def register_strategy(op_name, fstrategy=None, level=10):
    """Keeps a function of TVM's kernels: kernels are made by the compiler."""
    return register_op_attr(op_name, "FTVMStrategy", fstrategy, level)


def register_schedule(op_name, schedule, level=10):
    """Keeps a function of TVM's kernels: kernels are made by the compiler."""
    return register_op_attr(op_name, "FTVMSchedule", schedule, level)


def register_injective_schedule(op_name, level=10):
    """Of TVM's kernels: kernels are made by the compiler, and nothing is to be said."""
    return get(op_name) and None


register_broadcast_schedule = register_reduce_schedule = register_injective_schedule


def register_shape_func(op_name, data_dependent, shape_func=None, level=10):
    """Keeps a function of shapes: those of operators are the compiler's."""
    Op.get(op_name).set_attr("TShapeDataDependent", data_dependent if isinstance(data_dependent, list) else [data_dependent], level)
    return register_op_attr(op_name, "FShapeFunc", shape_func, level)


def register_external_compiler(op_name, fexternal=None, level=10):
    """Sets what says whether an engine takes a call; or a decorator."""
    return register_op_attr(op_name, "FTVMExternalCompiler", fexternal, level)


def register_stateful(op_name, stateful, level=10):
    """Sets whether an operator has effects."""
    return register_op_attr(op_name, "TOpIsStateful", stateful, level)


_KERNELS = "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)"


def __getattr__(name):
    if name in ("OpImplementation", "OpSpecialization", "OpStrategy", "call_lowered", "register_infer_correct_layout"):
        return elsewhere(f"relay.op.op.{name}", _KERNELS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Op", "OpPattern", "debug", "get", "register", "register_alter_op_layout", "register_broadcast_schedule", "register_compute",
           "register_convert_op_layout", "register_external_compiler", "register_fake_quantization_to_integer", "register_gradient",
           "register_injective_schedule", "register_legalize", "register_mixed_precision_conversion", "register_op_attr",
           "register_optional_fake_quantization_to_integer", "register_pattern", "register_reduce_schedule", "register_schedule",
           "register_shape_func", "register_stateful", "register_strategy"]
