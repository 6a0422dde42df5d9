"""tvm.relay.analysis.call_graph: which functions refer to which."""
from ....compiler.analysis import CallGraph

__all__ = ["CallGraph"]
