"""tvm.relay.backend: executors and runtimes."""
from . import interpreter, vm
from .executor import Executor, Runtime

__all__ = ["Executor", "Runtime", "interpreter", "vm"]
