"""What became of the graphs that TorchDynamo cut out of a model."""
import dataclasses


@dataclasses.dataclass
class Graph:
    """A graph that torch.compile gave the backend.

    compiled: whether relayvm runs it; else PyTorch does, and `reason` says why. operators: calls in it, as PyTorch counts them. inputs: what
    a compiled one takes, as text with its symbolic sizes, weights left out. frozen: tensors that are constants of the program. calls: how
    often it ran compiled. compilations: more than one where weights changed.
    """

    name: str
    operators: int
    compiled: bool = False
    reason: str = ""
    inputs: tuple = ()
    frozen: int = 0
    calls: int = 0
    compilations: int = 0

    def __str__(self):
        head = f"{self.name}: {self.operators} operators"
        if not self.compiled:
            return f"{head}, eager: {self.reason}"
        return f"{head}, compiled ({', '.join(self.inputs)}), {self.frozen} constants"


@dataclasses.dataclass
class Explanation:
    """What `explain` found. result: what the call gave. breaks: why Python ran between graphs, and how often."""

    graphs: list
    breaks: dict
    result: object

    @property
    def compiled(self):
        """How many graphs relayvm runs."""
        return sum(graph.compiled for graph in self.graphs)

    def __str__(self):
        lines = [f"{len(self.graphs)} graphs, {self.compiled} compiled, {len(self.graphs) - self.compiled} eager", *map(str, self.graphs)]
        lines += [f"graph break ({count}): {reason.strip().splitlines()[0]}" for reason, count in self.breaks.items()]
        return "\n".join(lines)


def explain(model, /, *args, dynamic=None, options=None, **kwargs):
    """An `Explanation` of what torch.compile(model, backend="relayvm") makes of a call: model(*args, **kwargs) runs once, without gradients."""
    import torch
    from torch._dynamo.utils import counters

    from .dynamo import Backend
    backend = Backend(warn=False)
    before = dict(counters["graph_break"])
    compiled = torch.compile(model, backend=backend, dynamic=dynamic, options=options)
    with torch.no_grad():
        result = compiled(*args, **kwargs)
    breaks = {reason: count - before.get(reason, 0) for reason, count in counters["graph_break"].items() if count > before.get(reason, 0)}
    return Explanation(list(backend.graphs), breaks, result)
