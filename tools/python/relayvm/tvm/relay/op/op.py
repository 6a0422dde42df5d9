"""tvm.relay.op.op: operators by name, and what Python knows of them."""
from ....compiler.regions import register_op_attr
from ....compiler.relay import Op, op
from ..debugger import debug


def get(op_name):
    """The operator of that name."""
    return op.get(op_name)


class OpPattern:
    """How TVM fuses operators."""

    ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8


def _registrar(attribute):
    def register(op_name, value=None, level=10):
        return register_op_attr(op_name, attribute, value, level)
    register.__doc__ = f"Sets {attribute} of an operator."
    return register


register_pattern = _registrar("TOpPattern")
register_alter_op_layout = _registrar("FTVMAlterOpLayout")
register_legalize = _registrar("FTVMLegalize")
register_convert_op_layout = _registrar("FTVMConvertOpLayout")
register_gradient = _registrar("FPrimalGradient")
register_compute = _registrar("FTVMCompute")
register_strategy = _registrar("FTVMStrategy")
register_shape_func = _registrar("FShapeFunc")
register_external_compiler = _registrar("TExternalCompiler")
register_fake_quantization_to_integer = _registrar("FTVMFakeQuantizationToInteger")
register_mixed_precision_conversion = _registrar("FTVMMixedPrecisionConversionType")


def register_stateful(op_name, stateful, level=10):
    """Sets whether an operator has effects."""
    return register_op_attr(op_name, "TOpIsStateful", stateful, level)


__all__ = ["Op", "OpPattern", "debug", "get", "register_alter_op_layout", "register_compute", "register_convert_op_layout",
           "register_external_compiler", "register_fake_quantization_to_integer", "register_gradient", "register_legalize",
           "register_mixed_precision_conversion", "register_pattern", "register_shape_func", "register_stateful", "register_strategy"]
