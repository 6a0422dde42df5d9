"""tvm.relay.backend: executors and runtimes."""
from ...elsewhere import elsewhere
from . import executor_factory, interpreter, te_compiler, vm
from .executor import Executor, Runtime

aot, graph_executor_codegen = elsewhere("relay.backend.aot"), elsewhere("relay.backend.graph_executor_codegen")

__all__ = ["Executor", "Runtime", "executor_factory", "interpreter", "te_compiler", "vm"]
