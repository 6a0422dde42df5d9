"""tvm.relay.build_module: what makes programs of modules, and what runs them."""
import json
import os
import re
import tempfile
import warnings

from ...compiler import Module
from ...compiler import bind_params_by_name as _bind
from ...compiler import compile as _compile
from ...compiler import create_executor as _create_executor
from ...compiler import relay as _relay
from ...compiler import transform as _transform
from ...compiler.passes.quantised import current_requantize_config
from ...errors import Error
from ..ir.module import IRModule
from ..nd import _check
from ..runtime.module import load_module  # noqa: F401 (TVM's users find it here)
from ..runtime.module import Library
from ..transform import PassContext
from ..values import as_expression, given, is_plain, wrapped
from . import debugger


class ExecutorFactory(Library):
    """What `build` gives: lib["default"](device) is for graph_executor.GraphModule."""

    def __init__(self, executable, name="default"):
        super().__init__(executable)
        self.libmod_name = name

    def _functions(self):
        return {**super()._functions(), self.libmod_name: self._default, "debug_create": self._debug_create, "get_graph_json": self.get_graph_json,
                "get_graph_params": self.get_params, "remove_params": lambda: self}

    def _debug_create(self, name, *devices):
        if name != self.libmod_name:
            raise ValueError(f"debug_create: the program is {self.libmod_name}, not {name}")
        return self._default(*devices)

    @property
    def module(self):
        """It as a module."""
        return self

    def get_params(self):
        """Weights are in the program: none."""
        return {}

    def get_executor_config(self):
        """The program's graph, as JSON."""
        return self.get_graph_json()

    def get_devices(self):
        """Names of devices: none."""
        return []

    def export_library(self, file_name, fcompile=None, addons=None, **kwargs):
        """Writes the program."""
        return super().export_library(file_name, fcompile, addons=addons, **kwargs)

    params = property(get_params)

    def get_lib(self):
        """The program's code, whose `imported_modules` are its regions."""
        return self

    lib = property(get_lib)

    def get_graph_json(self):
        """The JSON of its region; of several, an object of them by name. Without any, the graph of the program; of one that is no graph,
        its inputs alone."""
        regions = self.executable.regions
        if len(regions) == 1:
            return next(iter(regions.values()))
        if regions:
            return json.dumps({name: json.loads(text) for name, text in regions.items()}, indent=1)
        try:
            return self._graph()
        except Error:
            inputs = [{"op": "null", "name": a.name, "inputs": []} for a in self.model.inputs]
            return json.dumps({"nodes": inputs, "arg_nodes": list(range(len(inputs))), "heads": [], "attrs": {}, "node_row_ptr": []})

    def _graph(self):
        module, options, passes = self.executable._source
        graph = module.compile([*options, ("executor", "graph")], None, passes).graph()
        with tempfile.TemporaryDirectory() as folder:
            graph.save(folder)
            with open(os.path.join(folder, "graph.json")) as f:
                text = f.read()
        return re.sub(r'("func_name": ?")(?!__)', rf"\1tvmgen_{self.libmod_name}_fused_", text)  # as TVM names kernels

    graph_json = property(get_graph_json)

    def __iter__(self):  # graph_json, lib, params = relay.build(...)
        return iter((self.get_graph_json(), self, self.get_params()))


def build(ir_mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None, constant_memory_pools=None,
          params=None, mod_name="default"):
    """An `ExecutorFactory` of a module or function."""
    mod = _with_main(ir_mod)
    return ExecutorFactory(_compile(_as_told(mod), _target_of(target), params=_of_main(mod, params)), mod_name)


class BuildModule:
    """The steps of `build`: build(mod, target, params=...), then get_module() and the rest."""

    def __init__(self):
        self._factory, self._params = None, {}

    def build(self, mod, target=None, target_host=None, executor=None, runtime=None, workspace_memory_pools=None, constant_memory_pools=None,
              params=None, mod_name=None):
        """(graph_json, lib, params) of a module or function."""
        self._factory = build(mod, target, target_host, executor, runtime, params={**self._params, **(params or {})}, mod_name=mod_name or "default")
        return tuple(self._factory)

    def optimize(self, mod, target=None, target_host=None, params=None):
        """(the module after the compiler's passes that leave it Relay, its weights)"""
        return optimize(mod, target, {**self._params, **(params or {})})

    def set_params(self, params):
        """Weights for the parameters of main."""
        self._params = dict(params)

    def _built(self, what):
        if self._factory is None:
            raise ValueError(f"BuildModule.{what}: build comes before")
        return self._factory

    def get_graph_json(self):
        """The program's graph."""
        return self._built("get_graph_json").get_graph_json()

    get_json = get_graph_json

    def get_module(self):
        """The program."""
        return self._built("get_module").get_lib()

    def get_params(self):
        """Weights: none, they are in the program."""
        return self._built("get_params").get_params()

    def get_irmodule(self):
        """The module as it was compiled."""
        return IRModule(self._built("get_irmodule").executable._source[0])

    def get_function_metadata(self):
        """What is known of its functions: nothing, `relayvm.Executable` has sizes and kernels."""
        return {}

    def get_executor_codegen_metadata(self):
        """What is known of the code besides: nothing."""
        return None

    def get_devices(self):
        """Names of devices: none."""
        return []


def optimize(mod, target=None, params=None):
    """(the module after the compiler's passes that leave it Relay, its weights)."""
    mod = _with_main(mod)
    if params:
        mod = IRModule(_bind(mod, params)._native)
    mod = _transform.Sequential([_transform.SimplifyInference(), _transform.FoldConstants(), _transform.SimplifyExpr(),
                                 _transform.EliminateCommonSubexpressions()])(_transform.InferType()(mod))
    return _as_told(mod), dict(params or {})


def _as_told(mod):
    """A module after passes that are Python's alone: those that the PassContext requires, and those that registered functions are for."""
    context = PassContext.current()
    names = [name for name in context.required_pass if _transform._in_python(name) is not None]
    told = {key for (_, key), (level, _) in _relay.Op._attributes.items() if level > 0}
    if "FTVMLegalize" in told:
        names.append("Legalize")
    if "FTVMAlterOpLayout" in told and context.opt_level >= 3:
        names += ["CanonicalizeOps", "AlterOpLayout"]
    if current_requantize_config() is not None:
        names.append("RequantizeAsTold")
    for name in ["FlattenAtrousConv", *names]:
        if name not in context.disabled_pass:
            mod = _transform._in_python(name)()(mod)
    return mod


def build_config(opt_level=2, required_pass=None, disabled_pass=None, trace=None):
    """As tvm.transform.PassContext, an older name."""
    return PassContext(opt_level, required_pass, disabled_pass)


def _with_main(mod):
    return mod if isinstance(mod, Module) else IRModule.from_expr(mod)


def _of_main(mod, params):
    """Weights of main's parameters; others are left out, as in TVM."""
    names = {p.name_hint for p in mod["main"].params} if params and "main" in mod else ()
    return {name: value for name, value in params.items() if name in names} if hasattr(params, "items") else params


def _target_of(target):
    if isinstance(target, dict):
        target = next(iter(target.values()))
    if isinstance(target, (list, tuple)):
        target = target[0]
    return target or "llvm"


class Executor:
    """What `create_executor` gives."""

    def __init__(self, kind, mod, device, target, params=None):
        self.kind, self.mod, self.device, self.target, self._params = kind, mod, device, target, params

    def evaluate(self, expr=None, binds=None):
        """Of a function, or the `relay.GlobalVar` of one of the module: a callable. Of another expression: its value.

        binds: expressions or arrays for variables of `expr`. Without `expr`: the module's main.
        """
        if getattr(self._function(expr), "type_params", None):  # whose types are those of the arguments
            return lambda *args: self._called(expr, args)
        kind = "aot" if self.kind == "aot" else "vm"  # which runs what the others do: relayvm.create_executor has them as they are
        if self.kind == "debug" and debugger.is_in(expr if expr is not None else self.mod):
            return debugger.evaluate(self, expr, binds)
        return self._wrapped(_create_executor(kind, self.mod, self._params, self.target).evaluate(expr, binds), expr)

    def _function(self, expr):
        return self.mod[expr] if isinstance(expr, _relay.GlobalVar) and self.mod is not None else expr

    def _called(self, expr, args):
        function = self.mod.get_global_var("main") if expr is None else expr
        return self.evaluate(_relay.Call(function, [as_expression(a, self.mod) for a in args]))

    def _wrapped(self, result, expr):
        if not callable(result):
            return wrapped(result)

        def run(*args, **kwargs):
            if not all(map(is_plain, args)):
                return self._called(expr, args)
            known = _inputs_of(result, kwargs)
            places, named = _by_places(result, len(args), {name: given(value) for name, value in kwargs.items() if name in known})
            return wrapped(result(*map(given, args), *places, **named))
        return run


class GraphExecutor(Executor):
    """create_executor("graph")."""

    def __init__(self, mod, device, target):
        super().__init__("graph", mod, device, _target_of(target))


class AotExecutor(Executor):
    """create_executor("aot")."""

    def __init__(self, mod, device, target):
        super().__init__("aot", mod, device, _target_of(target))


def _inputs_of(function, names):
    """Names of a function's inputs; as TVM does, calls leave out what has another one, with a warning."""
    known = {i.name for i in function.inputs} if names and hasattr(function, "inputs") else set(names)
    others = [name for name in names if name not in known]
    if others:
        warnings.warn(f"there are no inputs {', '.join(others)}; there are {', '.join(sorted(known))}", stacklevel=3)
    return known


def _by_places(function, first, named):
    """Named arguments as (those from the place `first` on, those by name): where several inputs have one name, each gets its value, as in TVM."""
    names = [i.name for i in function.inputs] if named and hasattr(function, "inputs") else []
    rest = names[first:]
    if len(set(names)) == len(names):
        return [], named
    missing = [name for name in rest if name not in named]
    if missing:
        raise TypeError(f"input {missing[0]} is missing")
    return [named[name] for name in rest], {name: value for name, value in named.items() if name not in rest}


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    """An executor, whose evaluate() gives a callable. mod: an IRModule, or None where `evaluate` gets what is to run.

    kind: "debug", "graph", "vm", "aot". All but the last run on the virtual machine, programs with control flow and open dims too; "debug"
    calls the functions of `relay.op.debug`.
    """
    if kind not in ("debug", "graph", "vm", "aot"):
        raise RuntimeError(f"unknown execution strategy: {kind}")
    _check(device)
    if isinstance(mod, _relay.Expr):
        mod = IRModule.from_expr(mod)
    return Executor(kind, mod, device, _target_of(target), params)


def bind_params_by_name(func, params):
    """The function with constants for the parameters that `params` names."""
    names = {p.name_hint for p in func.params}
    params = {name: _relay.const(value).data if isinstance(value, (list, tuple)) else value for name, value in params.items() if name in names}
    constants = {p: _relay.Constant(params[p.name_hint]) for p in func.params if p.name_hint in params}
    if any(p.type_annotation not in (None, constant.checked_type) for p, constant in constants.items()):
        return _relay.bind(func, constants)  # as in TVM; what takes the function says that it is wrong
    module, name = (Module.from_expr(func), "main") if func.module is None else (func.module, func.name)
    return _bind(module, params, name)[name]


def __getattr__(name):
    if name == "VMExecutor":
        from .vm import VMExecutor  # which needs what is above
        return VMExecutor
    if name == "mangle_module_name":
        from .backend.names import mangle_module_name
        return mangle_module_name
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["AotExecutor", "BuildModule", "ExecutorFactory", "GraphExecutor", "bind_params_by_name", "build", "build_config", "create_executor",
           "optimize"]
