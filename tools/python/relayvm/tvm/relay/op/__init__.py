"""tvm.relay.op: operators by name, tables of engines in `contrib`, and functions that passes ask for operators."""
from ....compiler import op_attrs
from ....compiler.relay import Call, Constant, Expr, Tuple, TupleWrapper, const
from ....compiler.relay import op as _op
from ...elsewhere import elsewhere
from . import contrib, op
from .op import *  # noqa: F403
from .op import __all__ as _of_op

reg = op


def __getattr__(name):
    if name in ("OpImplementation", "OpSpecialization", "OpStrategy", "strategy", "copy_shape_func"):
        return elsewhere(f"relay.op.{name}", "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")
    if name in ("algorithm", "annotation", "dyn", "image", "memory", "nn", "random", "reduce", "tensor", "transform", "vision", "vm"):
        raise AttributeError(name)  # which are modules, made later
    return getattr(_op, name)


__all__ = [*_of_op, "Call", "Constant", "Expr", "Tuple", "TupleWrapper", "const", "contrib", "op", "op_attrs", "reg"]
