"""The compiler's passes, one by one: `rvm.transform`.

    mod = rvm.transform.FoldConstants()(mod)
    mod = rvm.transform.Sequential([rvm.transform.SimplifyInference(), rvm.transform.FuseAttention()])(mod)
    print(rvm.transform.passes())               # names and what they do

Passes check what they need of a module and infer types where they need them. TVM's names for the same passes do too.
"""
from . import Module, PassContext, _native, _options

# TVM's names of passes that go by another one here.
_TVM = {"InferType": "CheckTypes", "FoldConstant": "FoldConstants", "EliminateCommonSubexpr": "EliminateCommonSubexpressions",
        "DeadCodeElimination": "EliminateDeadCode", "LambdaLifting": "LambdaLift"}


class Pass:
    """A pass of the compiler. Call it with a `Module` for a new one.

    verify: checks the result's form. options: of `compile`, that passes read: target, exact, weights, layouts.
    """

    def __init__(self, name, *, verify=False, **options):
        self.name, self.verify, self.options = name, verify, options

    def _names(self):
        return [self.name]

    def __call__(self, mod):
        if not isinstance(mod, Module):
            raise TypeError(f"{self!r} takes a Module, found {type(mod).__name__}")
        options = {"opt_level": PassContext.current().opt_level, **self.options}
        disabled = PassContext.current().disabled_pass
        names = [name for name in self._names() if name not in disabled]
        return Module(mod._native.transform(names, _options(**options), self.verify))

    def __repr__(self):
        return f"transform.{self.name}()"


class Sequential(Pass):
    """Passes one after the other."""

    def __init__(self, passes, opt_level=3, name="Sequential", *, verify=False, **options):
        super().__init__(name, verify=verify, **{"opt_level": opt_level, **options})
        self.passes = list(passes)

    def _names(self):
        return [name for p in self.passes for name in p._names()]

    def __repr__(self):
        return f"transform.Sequential({self.passes})"


def passes():
    """Names of all passes, and what each does."""
    return _native.passes()


def __getattr__(name):
    name = _TVM.get(name, name)
    known = passes()
    if name.startswith("_") or name not in known:
        raise AttributeError(f"there is no pass {name}; there are {', '.join(known)}")

    def make(**options):
        return Pass(name, **options)
    make.__name__, make.__doc__ = name, known[name]
    return make


def __dir__():
    return sorted([*passes(), *_TVM, "Pass", "Sequential", "passes"])
