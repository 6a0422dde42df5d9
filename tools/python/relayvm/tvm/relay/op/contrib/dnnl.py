"""tvm.relay.op.contrib.dnnl: oneDNN."""
from .....compiler.dnnl_patterns import partition_for_dnnl, pattern_table
from ....elsewhere import elsewhere


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"relay.op.contrib.dnnl.{name}", "partition_for_dnnl and pattern_table have the compiler's rules (compiler/regions/dnnl.relay)")


__all__ = ["partition_for_dnnl", "pattern_table"]
