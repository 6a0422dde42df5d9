"""Passes, the compiler's and your own: `rvm.transform`.

    mod = rvm.transform.FoldConstants()(mod)
    mod = rvm.transform.Sequential([rvm.transform.SimplifyInference(), rvm.transform.FuseAttention()])(mod)
    print(rvm.transform.passes())               # names and what they do

    @rvm.transform.function_pass(opt_level=1)
    def relu_to_clip(fn, mod, ctx):
        return Clip().visit(fn)                  # an ExprMutator

    mod = relu_to_clip(mod)
    exe = rvm.compile(mod, passes=[rvm.transform.insert(relu_to_clip, after="SimplifyInference")])

The compiler's passes check what they need of a module and infer types where they need them. TVM's names for the same passes do too.
After a pass of Python types are inferred and the program is verified; errors name the pass. It sees a program as `relay` shows it,
with types. Where it may run: `places()`.
"""
import functools

from . import _OF_PYTHON, Module, PassContext, _keywords, _native, _options, _pass_options, relay
from .objects import Object

# TVM's names of passes that go by another one here.
_TVM = {"InferType": "CheckTypes", "FoldConstant": "FoldConstants", "EliminateCommonSubexpr": "EliminateCommonSubexpressions",
        "DeadCodeElimination": "EliminateDeadCode", "LambdaLifting": "LambdaLift"}


class Option:
    """An option of passes of yours: a keyword of `compile` and `PassContext`, and a name of PassContext's config, from here on.

        LIMIT = rvm.transform.Option("limit", int, 8, "the most that it unrolls")

        @rvm.transform.module_pass
        def unroll(mod, ctx):
            return unrolled(mod, LIMIT.of(ctx))

    parse: of what is given; what it raises says what is wrong. Another option of that name goes.
    """

    def __init__(self, name, parse=str, default=None, help=""):
        if not name.isidentifier() or (name not in _OF_PYTHON and name in _keywords(_pass_options())):
            raise ValueError(f"Option: {name} is no keyword, or one that compile has already")
        self.name, self.parse, self.default, self.help = name, parse, default, help
        self._row = {"name": name, "keyword": name, "help": help, "values": [], "form": "", "initial": default, "is_flag": False,
                     "repeats": False, "passes": []}
        _OF_PYTHON[name] = self

    def read(self, value):
        """What a value means. Raises ValueError, which names the option."""
        try:
            return self.parse(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.name}: {error}") from error

    def of(self, context):
        """What a `PassContext` says of it, or the default."""
        return self.read(context.options[self.name]) if context.options.get(self.name) is not None else self.default

    def __repr__(self):
        return f"transform.Option({self.name!r})"


def _check_module(who, mod):
    if not isinstance(mod, Module):
        raise TypeError(f"{who!r} takes a Module, found {type(mod).__name__}")


class PassInfo(Object):
    """What a pass is: name, opt_level, required (names of passes that run before it in a `Sequential`)."""

    def __init__(self, opt_level, name, required=None, traceable=False):
        self.opt_level, self.name, self.traceable = opt_level, name, traceable
        self.required = [r.name if isinstance(r, Pass) else r for r in required or ()]

    def __repr__(self):
        return f"PassInfo(name={self.name!r}, opt_level={self.opt_level}, required={self.required})"


class Pass(Object):
    """A pass of the compiler. Call it with a `Module` for a new one.

    verify: checks the result's form. options: of `compile`, that passes read: target, and those of `PassContext.list_configs`.
    """

    opt_level = 0
    required = ()

    def __init__(self, name, *, verify=False, **options):
        self.name, self.verify, self.options = name, verify, options

    @property
    def pass_info(self):
        """The same as `info`."""
        return self.info

    @property
    def info(self):
        """Its name, opt_level and what it requires (`PassInfo`)."""
        return PassInfo(getattr(self, "shown_level", self.opt_level), getattr(self, "shown_name", self.name), self.required)

    def __call__(self, mod):
        _check_module(self, mod)
        context = PassContext.current()
        if not context.instruments:
            return self._run_on(mod)
        return context._instrumented(self.info, mod, self._run_on)

    def _run_on(self, mod):
        return self._run_all([self], mod)

    def _run_after_required(self, mod):
        """As a Sequential runs it: what it requires goes first."""
        for required in self.required:
            mod = (required if isinstance(required, Pass) else (_in_python(required) or __getattr__(required))())(mod)
        return self(mod)

    def _is_enabled(self, context):
        """Whether a Sequential runs it."""
        names = {self.name, self.info.name}
        if names & set(context.disabled_pass):
            return False
        return bool(names & set(context.required_pass)) or self.opt_level <= context.opt_level

    def _run_all(self, passes, mod):
        """Passes of the compiler with the same options, in one go."""
        context = PassContext.current()
        names = [p.name for p in passes if not {p.name, p.info.name} & set(context.disabled_pass)]
        told = {name: value for name, value in context.options.items() if name in _pass_options()}
        options = {"opt_level": min(context.opt_level, 3), **told, **self.options, **passes[0].options}
        return mod._like(mod._native.transform(names, _options(**options), self.verify or any(p.verify for p in passes)))

    def __repr__(self):
        return f"transform.{self.name}()"


class PythonPass(Pass):
    """A pass of yours: `module_pass` and `function_pass` make them. Call it with a `Module` for a new one, or `insert` it.

    run: called with (mod, context), gives a Module. A subclass may override `transform_module` instead. needs_types: whether types are
    inferred before.
    """

    def __init__(self, name, run=None, *, opt_level=0, required=(), needs_types=True):
        super().__init__(name)
        self._run, self.opt_level, self.required, self._needs_types = run, opt_level, list(required), needs_types

    def transform_module(self, mod, context):
        """What the pass makes of a `Module`."""
        return self._run(mod, context)

    def _run_on(self, mod):
        result = self.transform_module(mod._for_pass(self._needs_types), PassContext.current())
        if not isinstance(result, Module):
            raise TypeError(f"pass {self.name}: expected it to give a Module, found {type(result).__name__}")
        return result

    def __repr__(self):
        return f"<pass {self.name}>"


class ModulePass(PythonPass):
    """A pass that was made with `module_pass`."""

    def __init__(self, name, run=None, *, opt_level=0, required=(), needs_types=False):
        super().__init__(name, run, opt_level=opt_level, required=required, needs_types=needs_types)


class FunctionPass(PythonPass):
    """A pass that was made with `function_pass`."""


def _made_pass(kind, thing, method, wrap, opt_level, name, required):
    """A pass of a function; of a class, a class whose objects are passes."""
    if not isinstance(thing, type):
        name = name or thing.__name__
        made = kind(name, wrap(name, thing), opt_level=opt_level, required=required or ())
        functools.update_wrapper(made, thing, updated=())
        return made
    name = name or thing.__name__

    class Made(kind):
        def __init__(self, *args, **kwargs):
            self._object = thing(*args, **kwargs)
            super().__init__(name, wrap(name, getattr(self._object, method)), opt_level=opt_level, required=required or ())

        def __getattr__(self, attribute):
            if attribute == "_object":
                raise AttributeError(attribute)
            return getattr(self._object, attribute)

    functools.update_wrapper(Made, thing, updated=())
    return Made


def module_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A pass of a function (mod, context) that gives a `Module`, or of a class with a method transform_module(mod, context).

    opt_level: of a compilation, from which on it runs where it is inserted or in a `Sequential`. required: passes that run first
    there.
    """
    def wrap(name, run):
        return run

    def decorate(thing):
        return _made_pass(ModulePass, thing, "transform_module", wrap, opt_level or 0, name, required or ())
    return decorate if pass_func is None else decorate(pass_func)


def function_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A pass of a function (fn, mod, context) that gives a `relay.Function` for each function of the module, or of a class with a method
    transform_function(fn, mod, context). Kernels and functions of the host stay. The rest as of `module_pass`.
    """
    def wrap(name, run):
        def run_on_all(mod, context):
            made = {}
            for of in mod._names:
                fn = mod[of]
                if "host" in fn.attrs or "Primitive" in fn.attrs:
                    continue
                result = run(fn, mod, context)
                if not isinstance(result, relay.Function):
                    raise TypeError(f"pass {name}: expected it to give a relay.Function for @{of}, found {type(result).__name__}")
                if result is not fn:
                    made[of] = result
            return mod._changed_to(made, f"pass {name}") if made else mod
        return run_on_all

    def decorate(thing):
        return _made_pass(FunctionPass, thing, "transform_function", wrap, opt_level or 0, name, required or ())
    return decorate if pass_func is None else decorate(pass_func)


class Sequential(Pass):
    """Passes one after the other: the compiler's and yours. Those above the opt_level of the `PassContext` are left out.

    options: of all of them; a pass's own count before these.
    """

    def __init__(self, passes=None, opt_level=3, name="Sequential", required=None, traceable=False, *, verify=False, **options):
        passes = passes if passes is not None else []
        if not isinstance(passes, (list, tuple)):
            raise TypeError(f"Sequential: expected a list of passes, found {type(passes).__name__}")
        super().__init__(name, verify=verify, **{"opt_level": opt_level, **options})
        self.opt_level, self.required = 0, list(required or ())
        self.passes = list(passes)

    def _run_on(self, mod):
        context = PassContext.current()
        if context.instruments:
            for p in self._flat():
                if p._is_enabled(context):
                    mod = p._run_after_required(mod)
            return mod
        waiting = []  # passes of the compiler, which run in one go

        def run_waiting():
            nonlocal mod
            if waiting:
                mod = self._run_all(waiting, mod)
                waiting.clear()

        for p in self._flat():
            if isinstance(p, PythonPass):
                if p._is_enabled(context):
                    run_waiting()
                    mod = p._run_after_required(mod)
            else:
                if waiting and p.options != waiting[0].options:
                    run_waiting()
                waiting.append(p)
        run_waiting()
        return mod

    def _flat(self):
        for p in self.passes:
            if isinstance(p, Sequential):
                yield from p._flat()
            else:
                yield p

    def __repr__(self):
        return f"transform.Sequential({self.passes})"


class InsertedPass:
    """A pass of yours and its place in the pipeline: `insert`."""

    def __init__(self, run, place):
        self.run, self.place = run, place

    def _native(self, context):
        def call(native):
            with context:
                return self.run._run_after_required(Module(native))._native
        return self.run.name, self.run.opt_level, self.place, call

    def __repr__(self):
        return f"<{self.run!r} {self.place}>"


def insert(run, *, after=None, before=None, at=None):
    """A pass of yours for compile(passes=[...]) or PassContext(passes=[...]), and where it runs.

    after, before: a pass of the compiler, or one of yours that stands before this one in the list; "EliminateDeadCode#2" for the second
    time that it runs. at: "start" or "end". Passes see types wherever they run; they may change functions up to DropShapeOperands, and
    only look at them from there on (`places`). Several at one place run in their order. After each the program is verified.
    """
    if isinstance(run, (list, tuple)):
        run = Sequential(run)
    if isinstance(run, type) or not isinstance(run, (PythonPass, Sequential)):
        raise TypeError(f"insert: expected a pass of Python (module_pass, function_pass), found {run!r}; the compiler's own passes are there")
    if sum(x is not None for x in (after, before, at)) != 1:
        raise TypeError("insert: one of after, before and at says where")
    if at not in (None, "start", "end"):
        raise ValueError(f'insert: at is "start" or "end", found {at!r}')
    return InsertedPass(run, at or (f"after:{after}" if after is not None else f"before:{before}"))


def places():
    """The compiler's passes in the order of a compilation, and what holds of the program after each.

    checked, typed: as the program was written. resolved: no kernel computes a shape, and dims may be `relay.Internal`. final: types do not
    change any more, so that functions do not; fused: kernels are functions with the attribute Primitive. lifted: closures are `Internal`.
    """
    return _native.places()


def PrintIR(header="", show_meta_data=False):  # noqa: N802 (TVM's name)
    """A pass that prints the program, for a `Sequential` or to `insert`."""
    def run(mod, _):
        print(header, mod.astext(show_meta_data), sep="\n" if header else "")
        return mod
    return PythonPass("PrintIR", run)


def ConvertLayout(desired_layouts=None, **options):  # noqa: N802 (TVM's name)
    """A pass that computes operators in the layouts of their data and kernels that are given, or else in those that pay.

    desired_layouts: {"nn.conv2d": ["NHWC", "default"]}, as in TVM. options: as for other passes.
    """
    return Pass("ConvertLayout", layouts=desired_layouts, **options) if desired_layouts else Pass("ConvertLayout", **options)


from .passes.fake_quantization import FakeQuantizationToInteger  # noqa: E402 (it needs what is above)
from .regions import AnnotateTarget, MergeCompilerRegions, MergeComposite, PartitionGraph  # noqa: E402 (their passes are those above)


def passes():
    """Names of all passes, and what each does."""
    return _native.passes()


def _names_in_python():
    from .passes import names  # whose passes are those above
    return names()


def _in_python(name):
    """A pass, or function, of the folder passes, or None."""
    if name.startswith("_"):
        return None
    from .passes import find  # whose passes are those above
    return find(name)


def __getattr__(name):
    given, name = name, _TVM.get(name, name)
    known = passes()
    if name not in known:
        found = _in_python(given)
        if found is not None:
            return found
    if name.startswith("_") or name not in known:
        raise AttributeError(f"there is no pass {name}{_native.did_you_mean(name, __dir__())}; there are {', '.join(known)}")

    def make(**options):
        made = Pass(name, **options)
        made.shown_name = given
        return made
    make.__name__, make.__doc__ = name, known[name]
    return make


def __dir__():
    return sorted([*passes(), *_TVM, *_names_in_python(), "Option", "Pass", "PrintIR", "PythonPass", "Sequential", "function_pass", "insert", "module_pass", "passes", "places"])
