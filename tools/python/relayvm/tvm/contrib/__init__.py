"""tvm.contrib: what runs graphs, and what tests use. Libraries of other vendors are not there: their `exists()` is False."""
from ..elsewhere import Elsewhere, reason
from . import cc, debugger, dlpack, download, graph_executor, pickle_memoize, relay_viz, tar, utils


class _Library(Elsewhere):
    """A library that is not there."""

    def exists(self):
        """Whether it is there."""
        return False


for _name in ("cblas", "clml", "cublas", "cudnn", "cutlass", "hexagon", "miopen", "mkl", "nnpack", "nvcc", "rocblas", "rocm", "thrust"):
    globals()[_name] = _Library(f"contrib.{_name}", reason(f"contrib.{_name}") or reason("contrib.cblas"))


__all__ = ["cc", "debugger", "dlpack", "download", "graph_executor", "pickle_memoize", "relay_viz", "tar", "utils"]
