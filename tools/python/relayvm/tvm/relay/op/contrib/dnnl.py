"""tvm.relay.op.contrib.dnnl: oneDNN."""
from .....compiler.dnnl_patterns import partition_for_dnnl, pattern_table

__all__ = ["partition_for_dnnl", "pattern_table"]
