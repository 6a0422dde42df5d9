"""tvm.ir.transform: passes, as tvm.transform."""
from .. import transform as _transform


def __getattr__(name):
    return getattr(_transform, name)
