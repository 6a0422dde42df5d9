"""tvm.relay.op.contrib.register: tables of patterns by engine."""
from .....compiler.regions import get_pattern_table, register_pattern_table

__all__ = ["get_pattern_table", "register_pattern_table"]
