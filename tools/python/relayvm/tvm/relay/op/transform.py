"""tvm.relay.op.transform: operators by name."""
from ....compiler.relay import const
from ....compiler.relay import op as _op


def __getattr__(name):
    return getattr(_op, name)


__all__ = ["const"]
