"""tvm.relay: the nodes of `relayvm.relay`, and ways to build as TVM's users write them."""
import json
import os
import tempfile
from importlib import import_module
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

    def get_lib(self):
        """The program's code, whose `imported_modules` are its regions."""
        return Library(self.executable)

    lib = property(get_lib)

    def get_graph_json(self):
        """The JSON of its region; of several, an object of them by name. Without any, the graph of the program, which must be static
        then."""
        regions = self.executable.regions
        if len(regions) == 1:
            return next(iter(regions.values()))
        if regions:
            return json.dumps({name: json.loads(text) for name, text in regions.items()}, indent=1)
        module, options, passes = self.executable._source
        graph = module.compile([*options, ("executor", "graph")], None, passes).graph()
        with tempfile.TemporaryDirectory() as folder:
            graph.save(folder)
            with open(os.path.join(folder, "graph.json")) as f:
                return f.read()

    graph_json = property(get_graph_json)

    def __iter__(self):  # graph_json, lib, params = relay.build(...)
        return iter((self.get_graph_json(), self, self.get_params()))


class Library:
    """What `get_lib` gives."""

    def __init__(self, executable):
        self.executable, self.type_key = executable, "relayvm"
        self.imported_modules = [RegionModule(name, engine, text) for name, engine, text in executable._native.regions()]

    def get_source(self, fmt=""):
        """The program's instructions, as text."""
        return self.executable.bytecode()


class RegionModule:
    """A part of the program that an engine runs: symbol (its name), compiler (the engine)."""

    def __init__(self, symbol, compiler, text):
        self.symbol, self.compiler, self._text = symbol, compiler, text
        self.type_key, self.imported_modules = f"{compiler}_json", []

    def get_source(self, fmt="json"):
        """The JSON that the engine's provider gets."""
        return self._text


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


vm = SimpleNamespace(compile=_vm_compile)


def __getattr__(name):
    return getattr(_relay, name)


for _part in ("build_module", "dataflow_pattern", "op", "transform"):  # which need what is above
    import_module("." + _part, __name__)
