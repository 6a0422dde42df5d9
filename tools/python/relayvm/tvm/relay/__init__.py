"""tvm.relay: the nodes of `relayvm.relay`, and ways to build as TVM's users write them."""
from types import SimpleNamespace

from ...compiler import create_executor as _create_executor
from ...compiler import relay as _relay
from ...compiler import compile as _compile
from ..nd import _check, _wrapped


class ExecutorFactory:
    """What `build` gives: lib["default"](device) is for graph_executor.GraphModule."""

    def __init__(self, executable):
        self.executable = executable

    @property
    def model(self):
        return self.executable.model

    def __getitem__(self, name):
        if name != "default":
            raise KeyError(f"there is 'default' alone, found {name!r}")
        return self._on

    def _on(self, *devices):
        for device in devices:
            _check(device)
        return self

    def get_params(self):
        """Weights are in the program: none."""
        return {}


def build(ir_mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None, constant_memory_pools=None,
          params=None, mod_name="default"):
    """An `ExecutorFactory` of a module or function."""
    return ExecutorFactory(_compile(ir_mod, target or "llvm", params=params))


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    """An executor, whose evaluate() gives a callable."""
    _check(device)
    executor = _create_executor("vm" if kind == "graph" else kind, mod, params, target)

    def evaluate(expr=None):
        function = executor.evaluate(expr)
        return lambda *args, **kwargs: _wrapped(function(*args, **kwargs))

    return SimpleNamespace(evaluate=evaluate)


def _vm_compile(mod, target=None, target_host=None, params=None):
    return _compile(mod, target or "llvm", params=params)


build_module = SimpleNamespace(build=build, create_executor=create_executor)
vm = SimpleNamespace(compile=_vm_compile)


def __getattr__(name):
    return getattr(_relay, name)
