"""to_cps and un_cps: programs in which functions give their results to a continuation, another function that they get."""
from .. import relay
from ..relay import (Call, Clause, Constructor, Function, FuncType, GlobalVar, If, Let, Match, Op, RefType, TensorType, TupleType, TypeCall,
                     TypeVar, Var)
from ..typed import typed_function
from .blocks import is_opaque, pattern_vars, pattern_with
from .copies import WithoutTypeVars
from .normal_forms import ToANormalFormExpr

__all__ = ["to_cps", "un_cps"]


def _cps_type(kind, answer, type_vars):
    """A type of values in such programs. It is made anew, of parts that belong to no module, so that it goes with the answer's."""
    def inner(k):
        return _cps_type(k, answer, type_vars)

    if isinstance(kind, TensorType) and all(isinstance(d, int) for d in kind.shape):
        return TensorType(kind.shape, kind.dtype)
    if isinstance(kind, FuncType):
        return FuncType([*map(inner, kind.arg_types), FuncType([inner(kind.ret_type)], answer)], answer, list(map(inner, kind.type_params)))
    if isinstance(kind, TupleType):
        return TupleType(list(map(inner, kind.fields)))
    if isinstance(kind, RefType):
        return RefType(inner(kind.value))
    if isinstance(kind, TypeCall):
        return TypeCall(kind.func, list(map(inner, kind.args)))
    if isinstance(kind, TypeVar):
        return type_vars.setdefault(kind, TypeVar(kind.name_hint))
    return kind


class _Cps:
    """A function, whose body is in A-normal form, with continuations. answer: the type of what these give."""

    def __init__(self, answer, global_name):
        self._answer, self._global_name, self._vars, self._type_vars = answer, global_name, {}, {}

    def _type(self, kind):
        return _cps_type(kind, self._answer, self._type_vars)

    def function(self, fn, kind):
        params = []
        for p in fn.params:
            self._vars[p] = Var(p.name_hint, self._type(p.checked_type))
            params.append(self._vars[p])
        k = Var("k", FuncType([self._type(kind.ret_type)], self._answer))
        return Function([*params, k], self._block(fn.body, k), self._answer, list(map(self._type, fn.type_params)))

    def _atom(self, e):
        if isinstance(e, Var):
            return self._vars.get(e, e)
        if isinstance(e, GlobalVar):
            return GlobalVar(self._global_name(e.name_hint))
        if isinstance(e, Function) and not is_opaque(e):
            return self.function(e, e.checked_type)
        return e

    def _block(self, expr, k):
        """An expression that gives its value to the continuation k, a variable."""
        lets = []
        while isinstance(expr, Let):
            value = expr.value
            new = self._vars[expr.var] = Var(expr.var.name_hint)
            if self._gives_on(value):
                rest = Function([new], self._block(expr.body, k), self._answer)
                result = self._given(value, rest)
                break
            lets.append((new, self._plain(value)))
            expr = expr.body
        else:
            result = self._given(expr, k) if self._gives_on(expr) else Call(k, [self._plain(expr)])
        for var, value in reversed(lets):
            result = Let(var, value, result)
        return result

    @staticmethod
    def _gives_on(e):
        """Whether it calls a function, or may."""
        return isinstance(e, (If, Match)) or isinstance(e, Call) and not isinstance(e.op, (Op, Constructor)) and not is_opaque(e.op)

    def _given(self, e, k):
        """What gives its value to a continuation."""
        if isinstance(e, Call):
            return Call(self._atom(e.op), [*map(self._atom, e.args), k], span=e.span)
        name = k if isinstance(k, Var) else Var("k")
        if isinstance(e, If):
            made = If(self._atom(e.cond), self._block(e.true_branch, name), self._block(e.false_branch, name), e.span)
        else:
            clauses = []
            for c in e.clauses:
                for v in pattern_vars(c.lhs):
                    self._vars[v] = Var(v.name_hint)
                clauses.append(Clause(pattern_with(c.lhs, self._vars.__getitem__), self._block(c.rhs, name)))
            made = Match(self._atom(e.data), clauses, e.complete, e.span)
        return made if name is k else Let(name, k, made)

    def _plain(self, e):
        if not e._children() or isinstance(e, (Function, Var, GlobalVar)):
            return self._atom(e)
        parts = [self._atom(c) for c in (e.args if isinstance(e, Call) else e._children())]
        if isinstance(e, Call):
            return relay.same_call(e, e.op, parts)
        from .blocks import with_children
        return with_children(e, parts)


def to_cps(func, mod=None):
    """The function, with types, that gives its result to one more parameter, a function; its type has one more type parameter, that of
    what comes of it. Functions of `mod` that it calls get further ones of this form, with the name NAME_cps."""
    if func._type is None:
        func = typed_function(func, mod)
    typed = mod._inferred() if mod is not None else None
    made = {}

    def global_name(name):
        if typed is None:
            raise ValueError(f"to_cps: the function calls @{name}; give the module")
        if name not in made:
            made[name] = None
            made[name] = convert(typed[name])
        return name + "_cps"

    def convert(fn):
        answer = TypeVar("answer")
        new = _Cps(answer, global_name).function(ToANormalFormExpr(fn), fn.checked_type)
        return Function(new.params, new.body, answer, [*new.type_params, answer], fn.attrs)

    result = convert(func)
    for name, fn in made.items():
        mod[GlobalVar(name + "_cps")] = fn
    return result


def un_cps(func):
    """The function without the last parameter of one that `to_cps` made: it gives its result."""
    *params, k = func.params
    if not isinstance(k.checked_type, FuncType) or len(k.checked_type.arg_types) != 1:
        raise TypeError(f"un_cps: expected a function whose last parameter is a continuation, as to_cps makes it, found {k.checked_type}")
    answer, result = k.checked_type.ret_type, k.checked_type.arg_types[0]
    inner = WithoutTypeVars([answer]).visit(func)
    inner = Function(inner.params, inner.body, None)
    new = [Var(p.name_hint, p.checked_type) for p in params]
    x = Var("x", result)
    type_params = [t for t in func.type_params if t != answer]
    return Function(new, Call(inner, [*new, Function([x], x, result)]), result, type_params, func.attrs)
