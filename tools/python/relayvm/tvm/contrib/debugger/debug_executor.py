"""tvm.contrib.debugger.debug_executor: a GraphModule that says how long its kernels take, and has the values inside."""
import os
import shutil

from ....compiler import Module, create_executor
from ....runtime import Runtime
from ....trace import ChromeTrace, Profile
from ...nd import Device
from ...runtime.module import BenchmarkResult
from ...runtime.params import save_param_dict_to_file
from ...runtime.profiling import Report
from ...values import wrapped
from ..graph_executor import GraphModule


class GraphModuleDebug(GraphModule):
    """A `GraphModule` with `profile`, `run_individual` and `debug_get_output`.

    dump_root: a folder for what runs have seen, in _tvmdbg_device_CPU_0 of it: the graph, all values (output_tensors.params, for
    relay.load_param_dict) and a trace for ui.perfetto.dev.
    """

    def __init__(self, module, device=None, graph_json_str=None, dump_root=None):
        super().__init__(module)
        self._executable, self._graph = module.library.executable, graph_json_str
        self._seen, self._folder = None, None
        if dump_root is not None:
            one = device[0] if isinstance(device, (list, tuple)) else device or Device("cpu")
            self._folder = os.path.join(os.fspath(dump_root), f"_tvmdbg_device_{str(one).partition('(')[0].upper()}_{one.device_id}")

    def _traced(self, trace, count=1):
        model = self.module.library.loaded_for(Runtime(trace=trace))
        for _ in range(count):
            model(*map(self.module._value, range(self.get_num_inputs())))
        return trace

    def _profiled(self, count):
        return self._traced(Profile(), count)

    def profile(self, collectors=None, **input_dict):
        """The times of kernels in a run, a `Report`, which prints as a table."""
        self.set_input(**input_dict)
        return Report.of_profile(self._profiled(1), "Graph")

    def run_individual(self, number, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100, cooldown_interval_ms=0, repeats_to_cooldown=1):
        """Milliseconds that each kernel takes in a run, the longest first."""
        count = number * repeat
        return [row.total_ns / 1e6 / count for row in self._profiled(count).by_kernel()]

    def run_individual_node(self, index, number=10, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100, cooldown_interval_ms=0,
                            repeats_to_cooldown=1):
        """The times of one kernel, by its number in `run_individual`, a `BenchmarkResult`."""
        return BenchmarkResult([self._profiled(number).by_kernel()[index].total_ns / 1e9 / number for _ in range(repeat)])

    def run(self, number=10, repeat=1, min_repeat_ms=1, limit_zero_time_iterations=100, cooldown_interval_ms=0, repeats_to_cooldown=1,
            sort_by_time=True, **input_dict):
        """Runs it, after setting `input_dict`; prints the times of its kernels, the longest first, and writes what it saw."""
        super().run(**input_dict)
        self._seen = None
        if self._executable is not None:
            print(self._profiled(number * repeat))
        if self._folder is not None:
            self._dump()

    def _dump(self):
        os.makedirs(self._folder, exist_ok=True)
        with open(os.path.join(self._folder, "_tvmdbg_graph_dump.json"), "w") as file:
            file.write(self._graph or "{}")
        self._traced(ChromeTrace()).write(os.path.join(self._folder, "_tvmdbg_execution_trace.json"))
        named = {}
        for i, event in enumerate(self._events()):
            fields = event.value if isinstance(event.value, tuple) else (event.value,)
            named.update({f"{event.name.lstrip('%') or event.operator}____topo-index:{i}____output-num:{k}": field for k, field in enumerate(fields)
                          if hasattr(field, "dtype")})
        save_param_dict_to_file(named, os.path.join(self._folder, "output_tensors.params"))

    def debug_get_output(self, node, out=None):
        """The value of a variable of the program, by its name, or of a step of main, by its number."""
        events = self._events()
        found = events[node] if isinstance(node, int) else next((e for e in events if e.name.lstrip("%") == node.lstrip("%")), None)
        if found is None:
            raise KeyError(f"there is no value {node}; there are {', '.join(e.name for e in events if e.name)}")
        value = wrapped(found.value)
        return value if out is None else out.copyfrom(value)

    def _events(self):
        if self._seen is None:
            if self._executable is None:
                raise ValueError("debug_get_output: of a program that was compiled here, not loaded")
            self._seen = []
            run = create_executor("debug", Module(self._executable._source[0]), on_value=self._seen.append).evaluate()
            run(*map(self.module._value, range(self.get_num_inputs())))
        return self._seen

    def exit(self):
        """The files that runs wrote go."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def create(graph_json_str, libmod, device, dump_root=None):
    """A `GraphModuleDebug` of what relay.build gave."""
    devices = device if isinstance(device, (list, tuple)) else [device]
    return GraphModuleDebug(libmod["default"](*devices), device, graph_json_str, dump_root)


__all__ = ["GraphModuleDebug", "create"]
