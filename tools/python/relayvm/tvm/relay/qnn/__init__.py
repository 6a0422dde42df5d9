"""tvm.relay.qnn: quantised operators."""
from . import op, transform
from .op import Tuple, TupleWrapper, requantize_config


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(op, name)


__all__ = ["Tuple", "TupleWrapper", "op", "requantize_config", "transform"]
