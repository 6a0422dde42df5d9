"""tvm.contrib."""
from . import graph_executor

__all__ = ["graph_executor"]
