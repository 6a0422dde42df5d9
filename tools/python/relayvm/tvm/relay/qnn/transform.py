"""tvm.relay.qnn.transform: passes over quantised operators."""
from ....compiler import transform as _transform


def __getattr__(name):
    return getattr(_transform, name)
