"""tvm.runtime.vm."""
from ...compiler import Executable
from ..contrib.graph_executor import benchmark
from ..nd import _check, _wrapped


class VirtualMachine:
    """Runs a program of relay.vm.compile."""

    def __init__(self, exe, device=None, memory_cfg=None):
        for one in device if isinstance(device, (list, tuple)) else [device]:
            _check(one)
        self._model, self._set, self._result = exe.model, {}, None

    def _function(self, name):
        return getattr(self._model, name)

    def set_input(self, func_name, *args, **kwargs):
        """What the next `run` of a function takes, by position and name."""
        self._set[func_name] = args, kwargs

    def invoke(self, func_name, *args, **kwargs):
        """What a function gives."""
        self._result = _wrapped(self._function(func_name)(*args, **kwargs))
        return self._result

    def run(self, *args, **kwargs):
        """What main gives for these, or for what `set_input` said."""
        if not args and not kwargs:
            args, kwargs = self._set.get("main", ((), {}))
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name, *args, **kwargs):
        """Runs a function on what `set_input` said; `get_outputs` has what it gives."""
        if not args and not kwargs:
            args, kwargs = self._set.get(func_name, ((), {}))
        self.invoke(func_name, *args, **kwargs)

    def get_outputs(self):
        """What the last call gave, as a list."""
        return list(self._result) if isinstance(self._result, tuple) else [self._result]

    def benchmark(self, device, *args, func_name="main", repeat=5, number=5, min_repeat_ms=None, end_to_end=False, **kwargs):
        """The times of calls."""
        return benchmark(lambda: self.invoke(func_name, *args, **kwargs), repeat, number, min_repeat_ms)


__all__ = ["Executable", "VirtualMachine"]
