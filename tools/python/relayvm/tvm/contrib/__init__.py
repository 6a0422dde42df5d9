"""tvm.contrib: what runs graphs, and what tests use. Libraries of other vendors are not there: their `exists()` is False."""
from types import SimpleNamespace

from . import debugger, graph_executor, utils

_LIBRARIES = ("cblas", "clml", "cublas", "cudnn", "cutlass", "mkl", "nvcc", "rocblas", "thrust")
graph_runtime = graph_executor


def __getattr__(name):
    if name in _LIBRARIES:
        return SimpleNamespace(exists=lambda: False)
    raise AttributeError(f"tvm.contrib.{name} is not there")


__all__ = ["debugger", "graph_executor", "graph_runtime", "utils"]
