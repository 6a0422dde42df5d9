"""tvm.relay.op.annotation: operators by name."""
import sys

from ....compiler.relay import const
from ....compiler.relay import op as _op

annotation = sys.modules[__name__]  # TVM has a module of the name in it


def __getattr__(name):
    return getattr(_op.annotation, name)


__all__ = ["const"]
