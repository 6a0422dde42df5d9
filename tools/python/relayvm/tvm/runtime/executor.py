"""tvm.runtime.executor: programs with inputs that stay set."""
from ..contrib.graph_executor import GraphModule


class AotModule(GraphModule):
    """A program with inputs that stay set: of lib["default"](device) of relay.build(..., executor=Executor("aot"))."""


__all__ = ["AotModule"]
