"""tvm.contrib.debugger: runs that show what is inside."""
from . import debug_executor, debug_result

debug_runtime = debug_executor

__all__ = ["debug_executor", "debug_runtime"]
