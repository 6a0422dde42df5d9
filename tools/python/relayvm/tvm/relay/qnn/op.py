"""tvm.relay.qnn.op: quantised operators."""
from ....compiler.relay import op as _op


def __getattr__(name):
    return getattr(_op.qnn, name)
