"""tvm.relay.op: operators by name, tables of engines in `contrib`, and functions that passes ask for operators."""
from ....compiler.passes.alter_layout import register_alter_op_layout, register_convert_op_layout
from ....compiler.passes.legalize import register_legalize
from ....compiler.relay import op as _op
from . import contrib


def get(op_name):
    """The operator of that name."""
    return _op.get(op_name)


def __getattr__(name):
    return getattr(_op, name)


__all__ = ["contrib", "get", "register_alter_op_layout", "register_convert_op_layout", "register_legalize"]
