"""The graph executor: programs of static shapes without control flow, all memory planned when they are loaded."""
import os

from . import _native
from .keywords import spelt
from .model import Argument


class NodeTime:
    """What one node has done: name, source (its place in the program), calls, total_ns."""

    __slots__ = ("name", "source", "calls", "total_ns")

    def __init__(self, name, source, calls, total_ns):
        self.name, self.source, self.calls, self.total_ns = name, source, calls, total_ns

    def __repr__(self):
        return f"NodeTime({self.name}: {self.calls} calls, {self.total_ns / 1e3:.1f} us{', ' + self.source if self.source else ''})"


class GraphModule:
    """A graph that runs, with the methods of TVM's GraphModule: `load_graph`, `create_executor("graph", mod).evaluate()`.

        module = rvm.load_graph("resnet50")         # the folder of relayc --executor graph
        module.set_input("x", x)
        module.run()
        y = module.get_output(0)

    Calling it does all of that: module(x) gives what the program gives. Inputs stay set from run to run. A run
    allocates nothing. One thread at a time (cancel: any); other Python threads go on during a run. Ctrl-C ends it.
    """

    def __init__(self, native):
        self._native = native

    def set_input(self, key=None, value=None, **params):
        """Copies a value into an input, by its number or name; or several by name."""
        if key is not None:
            self._native.set_input(key, value)
        for name, array in params.items():
            self._native.set_input(name, array)

    def set_input_zero_copy(self, key, value):
        """Runs read the array where it is, until the input is set anew; what is written there meanwhile counts.

        For compact, 64-byte aligned memory of the input's dtype; other arrays are copied once.
        """
        self._native.set_input_zero_copy(key, value)

    def run(self, *, timeout=None, **inputs):
        """Runs the graph, after setting `inputs`. Raises FailedPrecondition where an input is not set.

        timeout: seconds; DeadlineExceeded when it takes longer, and there are no outputs then. For an input of that
        name it is the input's value.
        """
        if timeout is not None and "timeout" in self.get_input_names():
            inputs["timeout"], timeout = timeout, None
        self.set_input(**inputs)
        self._native.run(timeout)

    def cancel(self):
        """Makes the run in progress, or else the next one, raise Cancelled: soon, also inside a kernel."""
        self._native.cancel()

    def get_output(self, index, out=None):
        """A copy of an output, counted depth first through tuples; into `out`, where that is given."""
        if out is None:
            return self._native.get_output(index)
        self._native.copy_output(index, out)
        return out

    def get_input(self, key):
        """A copy of what an input is set to, by its number or name."""
        return self._native.get_input(key)

    def get_num_inputs(self):
        """How many inputs there are, weights among them."""
        return self._native.num_inputs()

    def get_num_outputs(self):
        """How many results the program has."""
        return self._native.num_outputs()

    def get_input_names(self):
        """The parameters of the program, then its weights."""
        return self._native.input_names()

    def load_params(self, params):
        """Sets weights: the bytes of TVM's parameter format (relay.save_param_dict), or a dict of arrays."""
        if isinstance(params, dict):
            self.set_input(**params)
        else:
            self._native.load_params(bytes(params))

    def share_params(self, other, params_bytes=None):
        """From here on, weights of the same name and type are those of `other`, a GraphModule, in one memory. Gives their number."""
        if params_bytes is not None:
            other.load_params(params_bytes)
        return self._native.share_params(other._native)

    def time_nodes(self, repeat=1, **inputs):
        """Runs the graph `repeat` times and gives the `NodeTime` of each node that runs something, in their order."""
        self.set_input(**inputs)
        self._native.set_timing(True)
        try:
            for _ in range(repeat):
                self._native.run(None)
            return [NodeTime(*t) for t in self._native.node_times()]
        finally:
            self._native.set_timing(False)

    @property
    def memory(self):
        """Bytes, as a dict: planned_bytes (tensors between inputs and results, results too), weight_bytes, scratch_bytes."""
        return self._native.memory()

    @property
    def inputs(self):
        """The parameters of the program, as `Argument`."""
        return [Argument(*a) for a in self._native.inputs()]

    @property
    def outputs(self):
        """The parts of the result, as `Argument`."""
        return [Argument(*a) for a in self._native.outputs()]

    def __call__(self, *args, **kwargs):
        """Inputs by position and name; gives what the program gives. Arrays go in without a copy where they can.

        timeout: seconds, as of `run`, where no parameter has that name.
        """
        return self._native(*args, **kwargs)

    def __repr__(self):
        return f"<relayvm.GraphModule: {', '.join(repr(a) for a in self.inputs)}>"


@spelt
def load_graph(folder, *, num_threads=1, memory_limit=None, runtime=None):
    """Loads the folder that relayc --executor graph has written. It is verified before it is used.

    num_threads: that one kernel may use; 0: as many as the machine has.
    memory_limit: bytes of what is planned, of kernels' scratch and of builtins' buffers; ResourceExhausted beyond.
    runtime: a `Runtime` whose threads and memory its runs take, and which counts them, in place of num_threads.
    """
    return GraphModule(_native.load_graph(os.fspath(folder), num_threads, memory_limit, runtime and runtime._native))
