"""tvm.relay.qnn.op: quantised operators."""
import sys as _sys

from ....compiler.relay import op as _op


def __getattr__(name):
    if name in ("op", "qnn"):  # where TVM defines them
        return _sys.modules[__name__]
    return getattr(_op.qnn, name)
