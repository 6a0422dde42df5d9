"""tvm.runtime.executor: programs with inputs that stay set."""
import sys

from ..contrib.graph_executor import GraphModule

aot_executor = sys.modules[__name__]  # TVM has a module of the name in it


class AotModule(GraphModule):
    """A program with inputs that stay set: of lib["default"](device) of relay.build(..., executor=Executor("aot"))."""

    def get_input_name(self, index):
        """The name of an input."""
        return self.module.library.model.inputs[index].name


__all__ = ["AotModule"]
