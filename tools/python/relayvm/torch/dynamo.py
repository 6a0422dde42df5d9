"""The backend of torch.compile."""
import collections
import threading
import warnings

from .reports import Graph

# Changes of a weight after which it is no constant any more.
_CHANGES_UNTIL_INPUT = 2


class Backend:
    """What torch.compile(model, backend=...) takes: `relayvm.torch.backend` is one; others have options of their own.

        torch.compile(model, backend=relayvm.torch.Backend(precision="bf16"))
        torch.compile(model, backend="relayvm", options={"precision": "bf16"})

    options: those of `relayvm.compile`. freeze: tensors that do not change between calls, weights mostly, are constants of the program (a
    copy); one that was changed in place makes it compile again, and a second time an input. fallback: False raises what else PyTorch runs.
    warn: whether a RuntimeWarning says, once, why PyTorch runs a graph. graphs: the latest 1,000 that it was given, as `Graph`.

    Graphs that need gradients are PyTorch's, under torch.no_grad() or torch.inference_mode() they are not. Sizes that torch.compile holds
    for dynamic (dynamic=True, mark_dynamic, a size that changed) are symbolic dims: one program for all of them. Inputs and buffers that a
    graph changes are changed.
    """

    def __init__(self, *, freeze=True, fallback=True, warn=True, **options):
        self.__name__ = "relayvm"
        self._settings = {"freeze": freeze, "fallback": fallback, "warn": warn, **options}
        self.graphs = collections.deque(maxlen=1000)
        self._count, self._said = 0, set()
        self._lock = threading.Lock()

    def __call__(self, graph_module, example_inputs, *, options=None, mode=None, name=None):
        del name
        if mode is not None:
            raise ValueError(f"mode: relayvm has none, found {mode!r}; options= takes relayvm.compile's options")
        settings = {**self._settings, **(options or {})}
        freeze, fallback, warn = settings.pop("freeze"), settings.pop("fallback"), settings.pop("warn")
        graph = self._graph(graph_module)
        from .aot import compiled
        from .lowering import Refused
        try:
            return compiled(graph_module, example_inputs, graph, settings, freeze)
        except Refused as refused:
            graph.compiled, graph.reason = False, str(refused)
            if not fallback:
                raise
        except Exception:  # TorchDynamo begins anew, or ends
            self._forget(graph)
            raise
        if warn:
            self._warn(graph)
        return graph_module.forward

    def _graph(self, graph_module):
        calls = sum(node.op.startswith("call") for node in graph_module.graph.nodes)
        with self._lock:
            graph = Graph(f"graph{self._count}", calls)
            self.graphs.append(graph)
            self._count += 1
        return graph

    def _forget(self, graph):
        with self._lock:
            self.graphs.remove(graph)
            self._count -= 1

    def _warn(self, graph):
        with self._lock:
            if graph.reason in self._said:
                return
            self._said.add(graph.reason)
        warnings.warn(f"relayvm: PyTorch runs {graph.name} ({graph.operators} operators) itself: {graph.reason}", RuntimeWarning, stacklevel=3)

    def __repr__(self):
        return f"<relayvm.torch.Backend: {len(self.graphs)} graphs, {sum(graph.compiled for graph in self.graphs)} compiled>"


backend = Backend()
