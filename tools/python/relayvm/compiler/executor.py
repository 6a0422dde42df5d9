"""Ways to run a program: `rvm.create_executor`."""
import inspect
import os

from ..errors import Place
from ..model import Argument
from . import Module, RelayFunction, _as_module, _check_keywords, _native, _pass_options, bind_params_by_name, compile, load_params, relay
from .objects import Object


class TracedValue:
    """A value inside a run of the executor "debug".

    name: the variable's, "%conv1"; empty where it has none. operator: what computed it, "nn.conv2d",
    "@layer", "if" ...; "parameter". function: whose body it stands in. relay_type: as Relay writes it,
    where dims that are known only now have names. place: in the source (`Place`). value: an array, a
    tuple, an `Adt`; None for functions and references. summary: type, least, greatest, mean, how many NaN
    and Inf.
    """

    __slots__ = ("name", "operator", "function", "relay_type", "place", "value", "summary")

    def __init__(self, name, operator, function, relay_type, place, value, summary):
        self.name, self.operator, self.function, self.relay_type = name, operator, function, relay_type
        self.place, self.value, self.summary = Place(**place), value, summary

    def __repr__(self):
        return f"<TracedValue {self.name + ' = ' if self.name else ''}{self.operator}  {self.summary}>"


class RefValue(Object):
    """What an expression gives that is a reference: `value` is what it refers to."""

    def __init__(self, value):
        self.value = value


class _Executor:
    """What all kinds share. A subclass makes a callable of a module in `_function(mod, entry)`."""

    _overridable = None  # of an ONNX model, as `from_onnx` takes it

    def __init__(self, mod, params, target, *, runtime=None, **options):
        self._mod, self._runtime = None if mod is None else _as_module(mod, overridable=self._overridable), runtime
        self._params = load_params(params) if isinstance(params, (str, os.PathLike)) else dict(params or {})
        self._target, self._options = target, options

    def evaluate(self, expr=None, binds=None):
        """A callable for a function of the module: main, one by its name or `relay.GlobalVar`, a `RelayFunction` (mod["f"]), or a new
        `relay.Function`, which may call functions of the module. Of another expression: its value; of one that gives a function, a callable.

        It takes inputs by position and name, and gives what a `Model` gives: arrays, tuples, `Adt`. binds: expressions, arrays or numbers
        for variables of `expr`.
        """
        if binds:
            expr = relay.bind(expr, {v: e if isinstance(e, relay.Expr) else relay.const(e) for v, e in binds.items()})
        if isinstance(expr, relay.Expr) and not isinstance(expr, relay.GlobalVar) and getattr(expr, "module", None) is None:
            return self._evaluate(expr)
        mod, name = self._mod, "main" if expr is None else getattr(expr, "name_hint", expr)
        if isinstance(name, RelayFunction):
            mod, name = name.module, name.name
        if mod is None:
            raise TypeError("evaluate: which module? create_executor takes one, mod=; or give the expression to evaluate")
        if not isinstance(name, str):
            raise TypeError(f"evaluate: expected a function's name or a relay expression, found {type(expr).__name__}")
        return self._named(mod, name.removeprefix("@"))

    def _named(self, mod, name):
        mod[name]  # KeyError, which names what there is
        if self._params:
            mod = bind_params_by_name(mod, self._params, name)
        return self._function(mod, name)

    def _evaluate(self, expr):
        is_function = isinstance(expr, RelayFunction)
        free = relay._free_vars(expr)
        if free:
            raise ValueError(f"evaluate: {', '.join('%' + v.name_hint for v in free)}: variables without a value: give them by binds=, or evaluate a "
                             "relay.Function of them")
        mod = Module() if self._mod is None else Module(self._mod._native)
        name = "main" if self._mod is None or is_function else "evaluated"
        made = mod.with_functions({name: expr if is_function else relay.Function([], expr)})
        kind = relay._type(made._typed.function_type(name).parts()[3])
        if is_function:
            return self._named(made, name)
        if isinstance(kind, relay.RefType):
            return RefValue(self._evaluate(relay.RefRead(expr)))
        if not isinstance(kind, relay.FuncType):
            return self._named(made, name)()
        params = [relay.var(f"p{i}", t) for i, t in enumerate(kind.arg_types)]
        return self._named(mod.with_functions({name: relay.Function(params, relay.Call(expr, params))}), name)


class _VmExecutor(_Executor):
    def _function(self, mod, entry):
        model = compile(mod, self._target, entry=entry, **self._options).load(runtime=self._runtime)
        return model._function(entry)


class _DebugExecutor(_Executor):
    def __init__(self, mod, params, target, *, on_value=None):
        super().__init__(mod, params, target)
        self._on_value = on_value

    def _function(self, mod, entry):
        return _DebugFunction(_native.DebugProgram(mod._native, entry), self._on_value)


class _Function:
    """A function that runs outside of the VM: `_native` has run, inputs and outputs."""

    def __init__(self, native):
        self._native = native

    def __call__(self, *args, **kwargs):
        return self._native.run(args, kwargs)

    @property
    def inputs(self):
        """Its parameters, as `Argument`."""
        return [Argument(*a) for a in self._native.inputs()]

    @property
    def outputs(self):
        """The parts of its result, depth first through tuples, as `Argument`."""
        return [Argument(*a) for a in self._native.outputs()]


class _DebugFunction(_Function):
    """A function that the reference interpreter runs. `on_value` may be set anew for each call."""

    def __init__(self, native, on_value):
        super().__init__(native)
        self.on_value = on_value

    def __call__(self, *args, **kwargs):
        on_value = self.on_value
        see = None if on_value is None else lambda fields: on_value(TracedValue(**fields))
        return self._native.run(args, kwargs, see)


class _AotExecutor(_Executor):
    _overridable = "none"

    def _function(self, mod, entry):
        exe = compile(mod, self._target, entry=entry, **self._options)
        return _Function(exe._native.native(entry, self._runtime and self._runtime._native))


class _GraphExecutor(_Executor):
    _overridable = "none"

    def __init__(self, mod, params, target, *, num_threads=1, **options):
        super().__init__(mod, params, target, **options)
        self._num_threads = num_threads

    def _function(self, mod, entry):
        from .graph import CompiledGraphModule  # which loads the executor
        exe = compile(mod, self._target, entry=entry, executor="graph", **self._options)
        return CompiledGraphModule(exe._native.graph(), self._num_threads, self._runtime and self._runtime._native)


_EXECUTORS = {
    "aot": _AotExecutor,
    "debug": _DebugExecutor,
    "graph": _GraphExecutor,
    "vm": _VmExecutor,
}


def create_executor(kind="vm", mod=None, params=None, target=None, *, device=None, runtime=None, **options):
    """An executor of a `Module` (or of Relay text, or a file): `create_executor(kind, mod).evaluate()(x)`. Without a module, `evaluate`
    takes the expression.

    kind: "vm": compiled to bytecode and kernels, runs everything; options are those of `compile`. "debug":
    the reference interpreter, slow and obviously right, runs everything; on_value=f calls f with each value
    inside (`TracedValue`), in the order of the run. "graph": for static programs without control flow, else Unsupported
    says what is in the way; all memory planned before; evaluate() gives a `GraphModule`, which has save(folder) too;
    options: num_threads, and those of `compile`. "aot": native code of the whole program, control flow too, as
    relayc --executor aot makes it, linked and loaded here; options are those of `compile`. runtime: but of
    "debug", the `Runtime` whose threads and memory runs take, and which counts them. params: weights by name, or a file for `load_params`.
    target: as of `compile`. device: as TVM has it; there is the processor alone.
    """
    if kind not in _EXECUTORS:
        raise ValueError(f"there is no executor {kind!r}; executors: {', '.join(sorted(_EXECUTORS))}")
    _check_keywords(options, _pass_options(options.get("load_pass")), inspect.signature(_EXECUTORS[kind]).parameters)
    if runtime is not None:
        options["runtime"] = runtime
    return _EXECUTORS[kind](mod, params, target, **options)
