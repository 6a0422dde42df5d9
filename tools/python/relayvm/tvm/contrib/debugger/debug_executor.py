"""tvm.contrib.debugger.debug_executor: a GraphModule that says how long its kernels take, and has the values inside."""
from ....compiler import Module, create_executor
from ....runtime import Runtime
from ....trace import Profile
from ...values import wrapped
from ..graph_executor import GraphModule


class GraphModuleDebug(GraphModule):
    """A `GraphModule` with `profile`, `run_individual` and `debug_get_output`."""

    def __init__(self, module, device=None, graph_json_str=None, dump_root=None):
        super().__init__(module)
        self._executable = module.library.executable
        self._seen = None

    def _profiled(self, count):
        if self._executable is None:
            raise ValueError("profile: of a program that was compiled here, not loaded")
        profile = Profile()
        model = self._executable.load(runtime=Runtime(trace=profile))
        for _ in range(count):
            model(*map(self.module._value, range(self.get_num_inputs())))
        return profile

    def profile(self, collectors=None, **input_dict):
        """The times of kernels in a run, a `relayvm.Profile`, which prints as a table."""
        self.set_input(**input_dict)
        return self._profiled(1)

    def run_individual(self, number, repeat=1, min_repeat_ms=0, limit_zero_time_iterations=100, cooldown_interval_ms=0, repeats_to_cooldown=1):
        """Milliseconds that each kernel takes in a run, the longest first."""
        count = number * repeat
        return [row.total_ns / 1e6 / count for row in self._profiled(count).by_kernel()]

    def run(self, **input_dict):
        """Runs it, after setting `input_dict`."""
        super().run(**input_dict)
        self._seen = None

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
        """Files of dumps go: there are none."""


def create(graph_json_str, libmod, device, dump_root=None):
    """A `GraphModuleDebug` of what relay.build gave."""
    devices = device if isinstance(device, (list, tuple)) else [device]
    return GraphModuleDebug(libmod["default"](*devices), device, graph_json_str, dump_root)


__all__ = ["GraphModuleDebug", "create"]
