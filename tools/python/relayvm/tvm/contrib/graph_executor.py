"""tvm.contrib.graph_executor: set inputs, run, get outputs."""
import time

import numpy

from ...model import _flatten
from ..nd import _wrapped


class BenchmarkResult:
    """Seconds of each repetition: results, and their mean, median, max, min, std."""

    def __init__(self, results):
        self.results = tuple(results)
        self.mean, self.median, self.std = (float(f(results)) for f in (numpy.mean, numpy.median, numpy.std))
        self.max, self.min = max(results), min(results)

    def __str__(self):
        names = ("mean", "median", "max", "min", "std")
        return "Execution time summary:\n" + " ".join(f"{name + ' (ms)':^13}" for name in names) + "\n" \
            + " ".join(f"{getattr(self, name) * 1e3:^13.4f}" for name in names)


def benchmark(run, repeat=5, number=5, min_repeat_ms=None):
    """The times of `repeat` times `number` calls; more calls where `min_repeat_ms` asks for more."""
    run()
    results = []
    for _ in range(repeat):
        count, begin = 0, time.perf_counter()
        while count < number or min_repeat_ms and time.perf_counter() - begin < min_repeat_ms / 1e3:
            run()
            count += 1
        results.append((time.perf_counter() - begin) / count)
    return BenchmarkResult(results)


class GraphModule:
    """A program with inputs that stay set: of lib["default"](device).

    It runs any program, those with control flow and open dims too.
    """

    def __init__(self, module):
        self._model, self._inputs, self._outputs = module.model, {}, None
        self.module = module

    def _name(self, key):
        names = [a.name for a in self._model.inputs]
        if isinstance(key, int):
            return names[key]
        if key not in names:
            raise KeyError(f"there is no input {key}; inputs: {', '.join(names)}")
        return key

    def set_input(self, key=None, value=None, **params):
        """A copy of a value for an input, by its number or name; several by name. Weights of `params` are in the program already."""
        if key is not None:
            self._inputs[self._name(key)] = numpy.array(value)
        for name, array in params.items():
            if any(a.name == name for a in self._model.inputs):
                self._inputs[name] = numpy.array(array)

    def run(self, **inputs):
        """Runs it, after setting `inputs`."""
        self.set_input(**inputs)
        flat = []
        _flatten(self._model(**self._inputs), flat)
        self._outputs = [_wrapped(one) for one in flat]

    def get_num_inputs(self):
        return len(self._model.inputs)

    def get_num_outputs(self):
        return len(self._model.outputs)

    def get_input(self, index, out=None):
        """What an input is set to."""
        return _copied(_wrapped(self._inputs[self._name(index)]), out)

    def get_output(self, index, out=None):
        """An output of the last run, counted depth first through tuples; into `out`, where that is given."""
        if self._outputs is None:
            raise ValueError("get_output: nothing has run yet")
        return _copied(self._outputs[index], out)

    def benchmark(self, device=None, func_name="run", repeat=5, number=5, min_repeat_ms=None, end_to_end=False, **kwargs):
        """The times of runs."""
        return benchmark(self.run, repeat, number, min_repeat_ms)


def create(graph_json_str, libmod, device):
    """A `GraphModule` of what relay.build gave: graph_json, lib, params = relay.build(...)."""
    return GraphModule(libmod["default"](*device if isinstance(device, (list, tuple)) else [device]))


def _copied(value, out):
    if out is None:
        return value
    out[...] = value
    return out
