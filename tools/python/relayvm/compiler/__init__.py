"""The compiler: Relay text and ONNX models to programs that run. Everything here is in `relayvm` too."""
import atexit
import contextvars
import os
import re
import warnings

from .. import _native as _runtime
from ..errors import Error, InternalError, InvalidArgument, InvalidInput
from ..host import _by_name
from ..keywords import spelt
from ..model import Model, _engines
from ..trace import Profile
from . import _native, analysis, inspection, relay
from .hashes import structural_hash
from .instruments import _of_compilation
from .objects import Node, Object
from .relay import ExprFunctor, ExprMutator, ExprVisitor, post_order_visit
from .structural import assert_structural_equal, structural_equal

atexit.register(_native.stop_work)

_BOUND_TWICE = re.compile(r"the IR of @(\S+) is broken: %(\S+) \(number \d+\) is bound twice")
_DEFINED = re.compile(r"(?:^|[\s}])def @(\w+)")
RelayFunction = relay.Function  # a function of a module
_TARGETS = {"llvm": "native", "cpu": "native"}  # what TVM's users write
_CPUS = {"native": ("native",), "x86-64-v2": ("x86-64-v2", "nehalem", "westmere", "sandybridge", "ivybridge"),
         "x86-64-v3": ("x86-64-v3", "core-avx2", "haswell", "broadwell", "skylake", "alderlake", "znver1", "znver2", "znver3"),
         "x86-64-v4": ("x86-64-v4", "skylake-avx512", "cascadelake", "cooperlake", "icelake-client", "icelake-server", "tigerlake", "znver4"),
         "sapphirerapids": ("sapphirerapids", "emeraldrapids", "graniterapids")}
_OTHER_MACHINES = ("cuda", "ethos-u", "hexagon", "metal", "mrvl", "nvptx", "opencl", "rocm", "stackvm", "vulkan", "webgpu")  # of TVM's targets


# TVM's settings that passes of Python read: {name: (type, what it is)}.
_TVM_CONFIGS = {
    "relay.FuseOps.link_params": ("IntImm", "FuseOps: constants stay inside of what is fused"),
    "relay.FuseOps.max_depth": ("IntImm", "FuseOps: the most operators in one function"),
    "relay.ToMixedPrecision.keep_orig_output_dtype": ("IntImm", "ToMixedPrecision: results keep their dtypes"),
}


class PassContext(Object):
    """Options for compilations inside of a `with`, as TVM's users write them.

        with rvm.PassContext(opt_level=2, disabled_pass=["FuseOps"]):
            exe = rvm.compile(mod)

    config: options of passes by name (`list_configs`), which keywords may say as well. What `compile` is given itself goes first.
    """

    _contexts = contextvars.ContextVar("relayvm_pass_contexts")
    _default = contextvars.ContextVar("relayvm_default_pass_context")

    def __init__(self, opt_level=3, required_pass=None, disabled_pass=None, config=None, *, instruments=None, **options):
        config = dict(config or {})
        self.tvm_config = {name: value for name, value in config.items() if name in _TVM_CONFIGS}
        of_tvm = [name for name in config if name.startswith(("relay.", "tir.", "te."))]
        without = [name for name in of_tvm if name not in _TVM_CONFIGS]
        if without:
            warnings.warn(f"PassContext: TVM's settings have no effect here: {', '.join(without)}", stacklevel=2 + (type(self) is not PassContext))
        self.config, own = config, {name: value for name, value in config.items() if name not in of_tvm}
        rows = _pass_options(options.get("load_pass")) if own or options else {}
        _check_keywords(options, rows)
        others = [name for name in own if name not in rows]
        if others:
            raise ValueError(f"PassContext: there are no settings {', '.join(others)}{_native.did_you_mean(others[0], sorted(rows))}; "
                             f"options of passes are {', '.join(sorted(rows))}; those of compile are keywords")
        self.opt_level, self.disabled_pass, self.options = opt_level, list(disabled_pass or ()), {**own, **options}
        self.required_pass, self.instruments = list(required_pass or ()), list(instruments or ())
        if own:
            _native.check_options(_options(load_pass=options.get("load_pass"), **own))

    def __repr__(self):
        told = {"required_pass": self.required_pass, "disabled_pass": self.disabled_pass, "instruments": self.instruments, "config": self.config}
        more = "".join(f", {name}={value!r}" for name, value in {**told, **self.options}.items() if value and name not in self.config)
        return f"PassContext(opt_level={self.opt_level}{more})"

    def __enter__(self):
        PassContext._stack().append(self)
        try:
            self._enter_instruments()
        except BaseException:
            PassContext._stack().pop()
            raise
        return self

    def __exit__(self, *_):
        PassContext._stack().pop()
        self._exit_instruments()

    def _enter_instruments(self):
        entered = []
        try:
            for instrument in self.instruments:
                instrument.enter_pass_ctx()
                entered.append(instrument)
        except BaseException:
            self.instruments = []
            for instrument in entered:
                instrument.exit_pass_ctx()
            raise

    def _exit_instruments(self):
        try:
            for instrument in self.instruments:
                instrument.exit_pass_ctx()
        except BaseException:
            self.instruments = []
            raise

    def override_instruments(self, instruments):
        """Other instruments from here on: those that are there end, and these begin."""
        self._exit_instruments()
        self.instruments = list(instruments or ())
        self._enter_instruments()

    def _instrumented(self, info, mod, run):
        """run(mod) between what the instruments do before and after a pass; `mod` where one of them says no."""
        if not all([instrument.should_run(mod, info) is not False for instrument in self.instruments]):
            return mod
        for instrument in self.instruments:
            instrument.run_before_pass(mod, info)
        result = run(mod)
        for instrument in self.instruments:
            instrument.run_after_pass(result, info)
        return result

    @classmethod
    def _stack(cls):
        if cls._contexts.get(None) is None:
            cls._contexts.set([])
        return cls._contexts.get()

    @classmethod
    def current(cls):
        """The innermost of this thread, or one with the defaults."""
        if cls._stack():
            return cls._stack()[-1]
        if cls._default.get(None) is None:
            cls._default.set(PassContext())
        return cls._default.get()

    @staticmethod
    def list_configs():
        """What `config` takes: {name: {"help", "default", "values", "passes"}}; values: where there are only these."""
        return {name: {"help": row["help"], "default": None if row["initial"] == "" else row["initial"], "values": row["values"],
                       "passes": row["passes"]} for name, row in _pass_options().items()}


class Module(Node):
    """A program in the compiler's representation: `parse`, `from_onnx`, or of functions. Immutable. IRModule is another name for it.

        mod = rvm.IRModule({"main": relay.Function([x], y)})

    functions: by name or `relay.GlobalVar`. type_definitions: a `Module` that has those which the functions use.

    str(mod) is Relay text for people; mod.astext() has the weights too, and `parse` reads it back. mod["main"] is a `relay.Function`, with the types that the compiler infers.
    """

    def __init__(self, functions=None, type_definitions=None):
        self._nodes, self._with_types, self._defined = {}, None, None
        if isinstance(functions, _native.Module):
            self._native = functions
            return
        empty = type_definitions._native.empty() if type_definitions is not None else _native.Module()
        self._native = Module(empty)._made_with(functions or {})

    @classmethod
    def from_expr(cls, expr):
        """A module whose main is a `relay.Function`; another expression is its body, and the variables that it reads are the parameters."""
        return cls({"main": expr if isinstance(expr, relay.Function) else relay.Function(relay._free_vars(expr), expr)})

    def _made_with(self, functions, who=""):
        """The native module with further functions, None for those that go."""
        native, taken = self._taken_with(functions)
        if taken.keys() == set(self._names) and all(isinstance(f, _native.Function) for f in taken.values()):
            return native
        try:
            return native.with_functions(taken, who)
        except InternalError as error:
            twice = _BOUND_TWICE.search(str(error))
            if twice is None or who:
                raise
            raise InvalidArgument(f"@{twice[1]}: %{twice[2]} is bound twice, by functions, lets or patterns: each takes a relay.var of its own") from None

    def _taken_with(self, functions):
        """(the native module, what it is to take as its functions), with further ones."""
        native = self._typed if self._names else self._native
        all_of = {name: self[name] for name in self._names}
        for name, function in functions.items():
            name = _name_of(name)
            if function is None:
                all_of.pop(name, None)
            else:
                all_of[name] = function
        taken = {}
        for name, function in all_of.items():
            handle = getattr(function, "_handle", None)
            is_same = handle is not None and native.own_function(name, handle)
            old = self[name].span if name in self._names else None
            taken[name] = handle if is_same else relay._function_records(function, old)
        return native, taken

    def with_functions(self, functions):
        """The module with other functions: {name: relay.Function}, None for one that goes. Types are inferred."""
        return self._like(self._made_with(functions))

    @property
    def _typed(self):
        """The native module with types."""
        if self._with_types is None:
            self._with_types = self._native if self._native.is_typed() else self._native.infer_types()
        return self._with_types

    @property
    def functions(self):
        """Names of its functions."""
        return self._names

    @property
    def _names(self):
        return self._native.functions()

    def _like(self, native):
        """A module of this kind."""
        return self if native is self._with_types else type(self)(native)

    def _changed_to(self, functions, who="", infers=True):
        """The module with other functions, whose nodes know their types. who: what errors name. infers: False where types are not needed;
        those of a module that does not change have theirs all the same."""
        return self._like(self._made_with(functions, who))

    def _for_pass(self, needs_types):
        """The module as a pass of Python gets it."""
        return self._inferred()

    def _inferred(self):
        """The module, the nodes of whose functions know their types."""
        return self if self._native.is_typed() else self._like(self._typed)

    def __getitem__(self, name):
        name = _name_of(name)
        if name not in self._nodes:
            if name not in self._names:
                raise KeyError(f"there is no function {name}; there are {', '.join(self._names)}")
            self._nodes[name] = relay._function_node(self, name)
        return self._nodes[name]

    def __contains__(self, name):
        return _name_of(name) in self._names

    def items(self):
        """Pairs of `relay.GlobalVar` and `relay.Function`."""
        return [(self.get_global_var(name), self[name]) for name in self._names]

    @property
    def _definitions(self):
        if self._defined is None:
            globals_of, types, constructors = {}, {}, {}
            for name, type_vars, made in _native.type_definitions(self._typed):
                header = relay.GlobalTypeVar(name)
                for constructor, fields, kind in made:
                    node = relay.Constructor(constructor, relay._types(fields), header)
                    object.__setattr__(node, "_type", kind)
                    constructors[name, constructor] = node
                types[name] = relay.TypeData(header, relay._types(type_vars), tuple(constructors[name, c] for c, _, _ in made))
            self._defined = globals_of, types, constructors
        return self._defined

    def get_global_var(self, name):
        """The `relay.GlobalVar` of a function: the same object each time."""
        known = self._definitions[0]
        if name not in known:
            if name not in self._names:
                raise KeyError(f"there is no function {name}; there are {', '.join(self._names)}")
            known[name] = relay.GlobalVar(name)
            object.__setattr__(known[name], "_type", self._typed.function_type(name))
        return known[name]

    def get_global_vars(self):
        """Those of all functions."""
        return [self.get_global_var(name) for name in self._names]

    @property
    def type_definitions(self):
        """Its ADTs: `relay.TypeData` by name."""
        return dict(self._definitions[1])

    def get_constructor(self, adt, name):
        """A `relay.Constructor`: the same object each time."""
        known = self._definitions[2]
        if (adt, name) not in known:
            raise KeyError(f"there is no constructor {name} of a type {adt}; there are {', '.join('.'.join(k) for k in known)}")
        return known[adt, name]

    def astext(self, show_meta_data=True):
        """Relay text; without meta data: for people, which `parse` does not read back."""
        return self._native.text(not show_meta_data)

    def infer_types(self):
        """The module with the types of all variables. Raises InvalidInput, with the place, when they are wrong."""
        return type(self)(self._native.infer_types())

    def __str__(self):
        return self.astext(show_meta_data=False)

    def __repr__(self):
        return f"<relayvm.Module: {', '.join('@' + name for name in self._names)}>"

    def _repr_html_(self):
        from . import notebook  # which needs what is here
        return notebook.of_module(self)


IRModule = Module


def _name_of(name):
    return name.name_hint if isinstance(name, relay.GlobalVar) else name


class Executable:
    """A compiled program: `compile`. Call it, save it, look at it."""

    def __init__(self, native, source=None):
        self._native = native
        self._source = source  # the native module, and the options that it was compiled with
        self._texts = self._model = self._work = None

    def save(self, path):
        """Writes the .vmx file, which `load` reads; it appears whole or not at all."""
        self._native.save(os.fspath(path))

    def to_bytes(self):
        """What `save` writes."""
        return self._native.bytes()

    def load(self, *, runtime=None, host_functions=(), engines=("dnnl",)):
        """The program as a `Model`, on a runtime of its own choice. engines: as `relayvm.load` takes them."""
        named = _by_name(host_functions)
        model = Model(self._native.load(named, _engines(engines)), runtime, named.values())
        model._source = self
        if isinstance(model._runtime.trace, Profile):
            model._runtime.trace._programs.append(self)
        return model

    @property
    def model(self):
        """The program on the runtime of all."""
        if self._model is None:
            self._model = self.load()
        return self._model

    def __call__(self, *args, **kwargs):
        return self.model(*args, **kwargs)

    @property
    def inputs(self):
        """Parameters of main, as `Argument`."""
        return self.model.inputs

    @property
    def outputs(self):
        """The parts of main's result, depth first through tuples, as `Argument`."""
        return self.model.outputs

    def __repr__(self):
        count = len(self.kernels)
        kernels = f"{count} kernel{'' if count == 1 else 's'}"
        try:
            inputs, outputs = (", ".join(f"{a.name}: {a.relay_type}" if a.name else a.relay_type for a in all_of) for all_of in (self.inputs, self.outputs))
        except Error:  # a program of another machine, or one that needs functions of a host
            return f"<relayvm.Executable: {kernels}>"
        return f"<relayvm.Executable ({inputs}) -> ({outputs}): {kernels}>"

    def _repr_html_(self):
        from . import notebook  # which needs what is here
        return notebook.of_executable(self)

    def work(self):
        """{kernel: `Work`}: operations on numbers and bytes of a call, where the sizes are in the program. `Profile` shows its rates by it.

        Runs the passes once more, the first time.
        """
        if self._work is None:
            from . import work  # which needs what is here
            self._work = work.work_of(self.bytecode(), self._source)
        return self._work

    @property
    def kernels(self):
        """Names of its kernels, in the order of the bytecode's k0, k1, ..."""
        return self._native.kernels()

    def bytecode(self, function=None):
        """The instructions, as text: of all, or of one function."""
        text = self._native.bytecode()
        return text if function is None else inspection.function_of_bytecode(text, function)

    @property
    def regions(self):
        """What engines run of it: {name of the region: its JSON, which the engine's provider gets}."""
        return {name: json for name, _, json in self._native.regions()}

    def _kernel_texts(self):
        if self._texts is None:
            module, options, passes = self._source
            self._texts = module.kernel_texts(options, passes)
        return self._texts

    def kernel_ir(self, kernel):
        """LLVM's representation of a kernel (`kernels`) before LLVM optimises it, with the functions that it calls.

        Compiles the program once more, the first time.
        """
        return inspection.function_of_llvm(self._kernel_texts()[0], kernel, self.kernels)

    def assembly(self, kernel):
        """The machine's instructions of a kernel, with the functions that it calls. As `kernel_ir`."""
        return inspection.function_of_assembly(self._kernel_texts()[1], kernel, self.kernels)

    def memory_formula(self, function=None):
        """What a function (main) holds at most, as a formula over the dims of its arguments."""
        return self.model.memory_formula(function)

    @property
    def warnings(self):
        """What was done otherwise than asked, or gains nothing; and that `relayc --tune` may gain, where products take long."""
        warned = self._native.warnings()
        asked = any(name == "batching" and value == "true" for name, value in self._source[1]) if self._source else False
        if asked and self._native.num_batched_kernels() == 0:
            warned.append("batching: no kernel can run the products of many requests at once: it gains nothing here")
        return warned

    @property
    def pass_times(self):
        """(pass, milliseconds, whether it is a part of the one before), in order."""
        return self._native.times()


def _shape_text(shape):
    """("n", None, 300), "1x?x300" or "(n, ?, 300)"."""
    if isinstance(shape, str):
        return shape
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"shape: expected the dims of each input by its name, as in {{\"x\": (1, None, 300)}}, found {shape!r}")
    return "(" + ", ".join("?" if dim is None or dim == -1 else str(dim) for dim in shape) + ")"


# Options of `compile` that relayc names otherwise.
_NAMES = {"opt_level": "O", "disabled_passes": "disable-pass", "plugins": "plugin", "num_threads": "threads", "dims": "dim", "input_names": "input-name", "output_nodes": "output-node"}
_OF_PYTHON = {}  # options of passes of Python, by name: transform.Option


def _pass_options(libraries=None):
    """The rows of options that passes declare, by Python's names for them."""
    libraries = libraries if isinstance(libraries, (list, tuple)) else [libraries] if libraries else []
    rows = {row["keyword"]: row for row in _native.pass_options([os.fspath(library) for library in libraries])}
    return {**{name: option._row for name, option in _OF_PYTHON.items()}, **rows}


def _keywords(rows):
    """All keywords of `compile`."""
    documented = {native: name for name, native in _NAMES.items()} | {row["name"]: keyword for keyword, row in rows.items()}
    return sorted({documented.get(n, n.replace("-", "_")) for n in _native.option_names()} | {"params", "progress", "passes", *rows})


def _check_keywords(options, rows, more=()):
    """Raises TypeError for one that `compile` does not have, and that is none of `more`."""
    if options:
        known = {*_keywords(rows), *more}
        for name in options:
            if name not in known:
                raise _no_option(name, rows)


def _no_option(name, rows):
    names = _keywords(rows)
    return TypeError(f"there is no option {name}{_native.did_you_mean(name, names)}; options: {', '.join(names)}")


def _target(text):
    """What relayvm calls a target of TVM's: "llvm -mcpu=skylake-avx512"."""
    if not isinstance(text, str):
        text = str(text)
    kind, *flags = text.split() or [""]
    if kind in _OTHER_MACHINES:
        raise InvalidArgument(f"target {text}: there is the processor alone here; write \"llvm\", or one of {', '.join(_CPUS)}, aarch64")
    cpu = next((f.removeprefix("-mcpu=") for f in flags if f.startswith("-mcpu=")), None)
    triple = next((f.split("=", 1)[1] for f in flags if f.startswith(("-mtriple=", "-target="))), "x86_64")
    architecture = triple.split("-")[0]
    if kind == "llvm" and architecture in ("aarch64", "arm64"):
        return "aarch64"
    if kind == "llvm" and architecture not in ("x86_64", "amd64"):
        raise ValueError(f"target: there is no machine for {triple}; expected a triple of x86_64 or aarch64")
    if kind != "llvm" or cpu is None:
        return _TARGETS.get(kind if kind == "llvm" else text, text)
    level = next((level for level, names in _CPUS.items() if cpu in names), None)
    if level is None:
        raise ValueError(f"target: no level of x86-64 is known for -mcpu={cpu}; give one: x86-64-v2, x86-64-v3 (with AVX2), x86-64-v4 (with "
                         "AVX-512), native")
    return level


def _options(shape=None, dims=None, **options):
    """Pairs of relayc's option and its value."""
    if shape is not None and not hasattr(shape, "items"):
        raise TypeError(f"shape: expected the dims of each input by its name, as in {{\"x\": (1, None, 300)}}, found {shape!r}")
    pairs = [("shape", f"{name}={_shape_text(s)}") for name, s in (shape or {}).items()]
    pairs += [("dim", f"{name}={n}") for name, n in (dims or {}).items()]
    names, rows = _native.option_names(), _pass_options(options.get("load_pass"))
    for name, value in sorted(options.items(), key=lambda given: given[0] != "load_pass"):  # what passes of libraries take comes after them
        if value is None or value is False:
            continue
        if name in _OF_PYTHON:
            _OF_PYTHON[name].read(value)
            continue
        option = rows[name]["name"] if name in rows else _NAMES.get(name, name.replace("_", "-"))
        if name not in rows and option not in names:
            raise _no_option(name, rows)
        if hasattr(value, "items"):
            value = [f"{key}={one if isinstance(one, str) else ':'.join(one)}" for key, one in value.items()]
        if option == "target":
            value = ",".join(_target(one) for one in (value if isinstance(value, (list, tuple)) else [value]))
        for one in value if isinstance(value, (list, tuple)) else [value]:
            pairs.append((option, "true" if one is True else os.fspath(one) if isinstance(one, os.PathLike) else str(one)))
    return pairs


def _entry_of(text):
    """The first function of a text without main, which may be as good as another."""
    first = _DEFINED.search(text)
    return first[1] if first is not None and "@main" not in text else None


@spelt
def parse(text, *, name="<text>", plugins=None):
    """A `Module` of Relay text. Raises InvalidInput with file, line, column and source line."""
    try:
        module = _native.read(name, text.encode(), _options(plugins=plugins, entry=_entry_of(text)), {})
        module.infer_types()  # what is wrong is said here, as in TVM
    except InvalidInput as error:
        if "#[metadata]" not in text and "meta[" in text:
            error.add_note("The text has no #[metadata]: weights are in mod.astext(), not in what print(mod) shows.")
        raise
    return Module(module)


@spelt
def from_onnx(model, shape=None, *, dims=None, overridable="none", plugins=None):
    """(Module, params) of an ONNX model: a path, its bytes, or an onnx.ModelProto.

    shape: dims of inputs by name, ("n", None, 300) or "1x?x300"; None stays as it is, a name is one size
    wherever it stands. dims: sizes by the model's names of dims. Weights are constants of the module; params is empty, as with
    TVM's freeze_params. overridable: names of initializers, or "all" (those that are inputs too), that main takes after its inputs
    and may be left out.
    """
    return _read_onnx(model, shape=shape, dims=dims, overridable=overridable, plugins=plugins), {}


def _read_onnx(model, **read):
    content, name = None, "<model>.onnx"
    if isinstance(model, (bytes, bytearray, memoryview)):
        content = bytes(model)
    elif hasattr(model, "SerializeToString"):
        content = model.SerializeToString()
    else:
        name = os.fspath(model)
    return Module(_native.read(name, content, _options(**read), {}))


@spelt
def list_operators(format):
    """The operators of a model format ("onnx", "relay") that are supported, as a table in Markdown (relayc --list-operators)."""
    table = _native.list_operators(format)
    if table is None:
        raise ValueError(f"format: expected one of {', '.join(_native.formats())}, found {format}")
    return table


def describe_operators():
    """All that there is to say of Relay's operators, in rows: name, summary, formula (in NumPy's terms), operands with their shapes, dtypes and ranks,
    results, attributes with their defaults and values, signature. help(relay.nn.conv2d) shows one of them."""
    from . import operator_docs  # which only those need who read it
    return operator_docs.describe_operators()


@spelt
def load_params(path):
    """Weights by name, as arrays: of an .npz or of TVM's parameter file (relay.save_param_dict)."""
    return _native.read_params(os.fspath(path))


@spelt
def bind_params_by_name(mod, params, function="main"):
    """The module with constants for the parameters of a function that `params` names.

    Takes a `RelayFunction` too, mod["main"].
    """
    if isinstance(mod, RelayFunction):
        if mod.module is None:
            raise ValueError("bind_params_by_name: a function of a module, mod[name]; make a module of this one first, IRModule.from_expr")
        mod, function = mod.module, mod.name
    return Module(mod._native.bind(dict(params), function))


def _as_module(mod, **read):
    """A Module of what `compile` takes for one: it, Relay text, or the path of a file."""
    if isinstance(mod, Module):
        return mod
    if isinstance(mod, RelayFunction):
        return mod.module if mod.module is not None and mod.name == "main" else Module.from_expr(mod)
    if isinstance(mod, (bytes, bytearray, memoryview)) or hasattr(mod, "SerializeToString"):
        return _read_onnx(mod, **read)
    if not isinstance(mod, (str, os.PathLike)):
        formats = _native.formats().values()
        raise TypeError(f"expected a Module, a relay.Function, {', '.join(model for model, _ in formats)} (onnx.ModelProto, or its bytes), or "
                        f"the path of a {' or '.join(ending for _, ending in formats)} file; found {type(mod).__name__}")
    is_text = isinstance(mod, str) and "\n" in mod
    return Module(_native.read("<text>" if is_text else os.fspath(mod), mod.encode() if is_text else None, _options(**read), {}))


@spelt
def rewrite(mod, rules, *, explain=None):
    """The `Module` after rewrite rules, applied until none matches.

        mod = rvm.rewrite(mod, "rule @relu_twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }")

    rules: text, or the path of a file (relayc --rules); compiler/rules/README.md has the syntax. explain: called with a
    text that says how often each rule was applied, and where one nearly matched and what was missing. Raises
    InvalidInput, with the place, for rules that are wrong, and InvalidArgument for rules that go on for ever.
    """
    is_text = isinstance(rules, str) and ("{" in rules or not rules.strip())
    native, report = mod._native.rewrite("<rules>" if is_text else os.fspath(rules), rules if is_text else None,
                                         explain is not None)
    if explain is not None:
        explain(report)
    return Module(native)


@spelt
def region_jsons(mod, *, byoc_rules=None):
    """{name: JSON} of a module's regions, functions with the attribute Compiler: what their engines' providers get.

    byoc_rules: as `compile` takes it, for the composites of engines of yours.
    """
    typed = mod._typed
    return typed.region_jsons(_options(byoc_regions=typed.region_engines(), byoc_rules=byoc_rules))


def _compiler_pass(name):
    """The compiler's name of a pass; None of one that is Python's alone."""
    from . import transform
    known = _native.passes()
    name = name if name in known else transform._TVM.get(name, name)
    return None if name not in known and transform._in_python(name) is not None else name


def _bound(mod, params, function, file):
    """`bind_params_by_name`, whose errors say the file that the weights are of."""
    try:
        return bind_params_by_name(mod, params, function)
    except InvalidInput as error:
        if file is not None:
            raise InvalidInput(f"{os.fspath(file)}: {error}") from None
        raise


def compile(mod, target=None, *, params=None, opt_level=None, shape=None, progress=None, **options):
    """Compiles a `Module`, Relay text, an ONNX model (onnx.ModelProto), or a model's path or bytes in a format of `list_operators`, to
    an `Executable`.

    target: "native" (the default), "x86-64-v2", "-v3", "-v4", or several. params: weights by the names of
    main's parameters, or a file for `load_params`. opt_level: 0 to 3. shape: sizes of main's parameters, for text and paths. progress:
    called with (what, done, total). passes: passes of Python and where they run, `transform.insert`. options: relayc's, with _ for -: precision="bf16", weights="q8",
    batching=True, exact=True, disabled_passes=[...], num_threads=2, byoc="dnnl", ...

    Regions that the module has already (`transform.PartitionGraph`) run on their engines; byoc_regions=() leaves them to the compiler.

    Other Python threads go on meanwhile, and KeyboardInterrupt ends it.
    """
    context = PassContext.current()
    options = {**context.options, **options}
    inserted = options.pop("passes", None) or ()
    options.setdefault("opt_level", min(context.opt_level, 3) if opt_level is None else opt_level)
    if opt_level is not None:
        options["opt_level"] = opt_level
    told = PassContext(disabled_pass=context.disabled_pass, **options)
    passes = [one._native(told) for one in inserted]
    disabled = [name for name in map(_compiler_pass, context.disabled_pass) if name is not None]
    if disabled:
        options.setdefault("disabled_passes", disabled)
    plugins = options.pop("plugins", None)
    if not isinstance(mod, Module):
        mod = _as_module(mod, shape=shape, dims=options.pop("dims", None), plugins=plugins,
                         **{key: options.pop(key, None) for key in ("overridable", "signature", "input_names", "output_nodes")})
        shape = None
    elif shape is not None and not any("<=" in _shape_text(s) for s in shape.values()):
        raise TypeError("shape: of a Module that is read already; give it to from_onnx, or the text to compile")
    file = params if isinstance(params, (str, os.PathLike)) else None
    if file is not None:
        params = load_params(file)
    if params:
        mod = _bound(mod, params, options.get("entry", "main"), file)
    if "byoc_regions" not in options and (engines := mod._native.region_engines()):
        options["byoc_regions"] = engines
    given, end = _options(shape, target=target, **options), None
    if context.instruments:
        progress, end = _of_compilation(context.instruments, mod, progress)
    compiled = mod._native.compile(given, progress, passes)
    if end is not None:
        end()
    return Executable(compiled, (mod._native, given, passes))


def build(mod, target=None, *, params=None, mod_name=None, **options):
    """`compile`, as TVM's users call it (relay.build): gives an `Executable`, which runs as it is and has `save`."""
    return compile(mod, target, params=params, **options)


def compile_model(model, *, runtime=None, host_functions=(), **options):
    """A `Model` of a file in a format of `list_operators`, in one go. Options as of `compile` and `from_onnx`."""
    read = {key: options.pop(key) for key in ("shape", "dims", "overridable", "plugins", "signature", "input_names", "output_nodes") if key in options}
    return compile(_as_module(model, **read), **options).load(runtime=runtime, host_functions=host_functions)


from .executor import TracedValue, create_executor  # noqa: E402 (it needs what is above)
from .frontends import from_keras, from_mxnet, from_pytorch, from_tensorflow, from_tflite  # noqa: E402
from .inspection import Drawing, draw  # noqa: E402
