"""tvm.relay.qnn: quantised operators."""
from . import op, transform

__all__ = ["op", "transform"]
