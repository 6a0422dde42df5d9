"""Graphs of modules: what `create_executor("graph", mod).evaluate()` gives."""
import os

from ..graph import GraphModule


class CompiledGraphModule(GraphModule):
    """A `GraphModule` that was compiled here, and can be saved."""

    def __init__(self, compiled, num_threads, runtime):
        super().__init__(compiled.load(num_threads, runtime))
        self._compiled = compiled

    def save(self, folder):
        """Writes the folder that `load_graph` and vmrun read: graph.json in TVM's schema, graph.params, kernels.vmx."""
        self._compiled.save(os.fspath(folder))
