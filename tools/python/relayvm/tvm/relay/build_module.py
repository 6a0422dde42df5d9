"""tvm.relay.build_module: what makes programs of modules, and what runs them."""
import json
import os
import tempfile

from ...compiler import Module
from ...compiler import bind_params_by_name as _bind
from ...compiler import compile as _compile
from ...compiler import create_executor as _create_executor
from ...compiler import relay as _relay
from ..ir.module import IRModule
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


class Executor:
    """What `create_executor` gives."""

    def __init__(self, kind, mod, target, params):
        self.mod, self._kind, self._target, self._params = mod, kind, target, params

    def _of_module(self, mod):
        function = _create_executor("vm" if self._kind == "graph" else self._kind, mod, self._params, self._target).evaluate()
        return lambda *args, **kwargs: _wrapped(function(*map(_given, args), **{name: _given(value) for name, value in kwargs.items()}))

    def evaluate(self, expr=None, binds=None):
        """Of a function, or the name of one of the module: a callable. Of another expression without free variables: its value.

        binds: expressions for variables of `expr`. Without `expr`: the module's main.
        """
        if expr is None:
            return self._of_module(self.mod)
        if binds:
            expr = _relay.bind(expr, {v: e if isinstance(e, _relay.Expr) else _relay.const(e) for v, e in binds.items()})
        mod = self.mod if self.mod is not None else Module()
        if isinstance(expr, _relay.GlobalVar):
            expr = mod[expr]
        if isinstance(expr, _relay.Function):
            return self._of_module(IRModule(mod._native)._with_main(expr))
        return self._of_module(IRModule(mod._native)._with_main(_relay.Function([], expr)))()


def _given(value):
    return value.data if isinstance(value, _relay.Constant) else value


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    """An executor, whose evaluate() gives a callable. mod: an IRModule, or None where `evaluate` gets what is to run."""
    _check(device)
    if isinstance(mod, _relay.Function):
        mod = IRModule.from_expr(mod)
    return Executor(kind, mod, target, params)


def bind_params_by_name(func, params):
    """The function with constants for the parameters that `params` names."""
    module, name = (Module.from_expr(func), "main") if func.module is None else (func.module, func.name)
    return _bind(module, params, name)[name]


__all__ = ["ExecutorFactory", "bind_params_by_name", "build", "create_executor"]
