"""tvm.contrib.graph_executor: set inputs, run, get outputs."""
from ..runtime.graph import GraphRun
from ..runtime.module import benchmark


class GraphModule:
    """A program with inputs that stay set: of lib["default"](device).

    It runs any program, those with control flow and open dims too.
    """

    def __init__(self, module):
        if not isinstance(module, GraphRun):
            raise TypeError(f"GraphModule: expected what lib[\"default\"](device) gives, found {type(module).__name__}")
        self.module = module

    def set_input(self, key=None, value=None, **params):
        """A copy of a value for an input, by its number or name; several by name. Weights of `params` are in the program already."""
        if key is not None:
            self.module.set_input(key, value)
        for name, array in params.items():
            if self.module.get_input_index(name) >= 0:
                self.module.set_input(name, array)

    def set_input_zero_copy(self, key=None, value=None, **params):
        """Arrays that runs read."""
        for name, array in {**({} if key is None else {key: value}), **params}.items():
            self.module.set_input_zero_copy(name, array)

    def set_output_zero_copy(self, key, value):
        """An array that runs write an output to, by its number or name."""
        self.module.set_output_zero_copy(key, value)

    def debug_get_output(self, node, out):
        """Refused: contrib.debugger.debug_executor has the values inside."""
        raise NotImplementedError("debug_get_output: contrib.debugger.debug_executor.create makes a module that has the values inside")

    def run(self, **input_dict):
        """Runs it, after setting `input_dict`."""
        self.set_input(**input_dict)
        self.module.run()

    def get_num_outputs(self):
        """How many tensors it gives."""
        return self.module.get_num_outputs()

    def get_num_inputs(self):
        """How many inputs there are; weights are in the program."""
        return self.module.get_num_inputs()

    def get_input(self, index, out=None):
        """What an input is set to, by its number or name; into `out`, where that is given."""
        value = self.module.get_input(index)
        return value if out is None else out.copyfrom(value)

    def get_input_index(self, name):
        """The number of an input, -1 where there is none."""
        return self.module.get_input_index(name)

    def get_input_info(self):
        """Shapes and dtypes of the inputs, by name."""
        return self.module.get_input_info()

    def get_output(self, index, out=None):
        """An output of the last run, counted depth first through tuples; into `out`, where that is given."""
        return self.module.get_output(index, out)

    def load_params(self, params_bytes):
        """Sets the inputs that bytes of `save_param_dict` have."""
        self.module.load_params(params_bytes)

    def share_params(self, other, params_bytes):
        """Sets what `params_bytes` names to what another program's inputs are."""
        self.module.share_params(other.module, params_bytes)

    def benchmark(self, device, func_name="run", repeat=5, number=5, min_repeat_ms=None, limit_zero_time_iterations=100, end_to_end=False,
                  cooldown_interval_ms=0, repeats_to_cooldown=1, **kwargs):
        """The times of runs, a `BenchmarkResult`. end_to_end: with setting inputs and copying outputs."""
        self.set_input(**kwargs)
        if end_to_end:
            def run():
                self.run(**kwargs)
                return [self.get_output(i) for i in range(self.get_num_outputs())]
            return benchmark(run, repeat, number, min_repeat_ms)
        return self.module.time_evaluator(func_name, device, repeat=repeat, number=number, min_repeat_ms=min_repeat_ms or 0)()

    def __getitem__(self, key):
        """A function of the module."""
        return self.module[key]


def get_device(libmod, device):
    """([devices], [their kinds by number], [their numbers]) of a device or several."""
    devices = list(device) if isinstance(device, (list, tuple)) else [device]
    return devices, [d.device_type for d in devices], [d.device_id for d in devices]


def create(graph_json_str, libmod, device):
    """A `GraphModule` of what relay.build gave: graph_json, lib, params = relay.build(...)."""
    return GraphModule(libmod["default"](*device if isinstance(device, (list, tuple)) else [device]))


__all__ = ["GraphModule", "create"]
