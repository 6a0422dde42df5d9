"""tvm.relay.backend: executors and runtimes."""
from . import executor_factory, interpreter, te_compiler, vm
from .executor import Executor, Runtime

__all__ = ["Executor", "Runtime", "executor_factory", "interpreter", "te_compiler", "vm"]
