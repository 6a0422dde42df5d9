"""tvm.relay.op: operators by name, and tables of engines in `contrib`."""
from ....compiler.relay import op as _op
from . import contrib


def get(op_name):
    """The operator of that name."""
    return _op.get(op_name)


def __getattr__(name):
    return getattr(_op, name)


__all__ = ["contrib", "get"]
