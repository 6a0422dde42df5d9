"""tvm.relay.op.contrib: engines."""
from . import dnnl, register
from .register import get_pattern_table, register_pattern_table

__all__ = ["dnnl", "get_pattern_table", "register", "register_pattern_table"]
