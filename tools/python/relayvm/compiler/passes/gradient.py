"""gradient: functions that give their results and the gradients of their parameters, in reverse mode; and LazyGradientInit.

First order, of graphs of operators and tuples: what each node gets is added up from its users, last to first.

Higher order, of all programs: a tensor becomes a pair of it and a reference to what it gets; each operator adds to a function, in a
reference that all functions are given, what its operands get; at the end that function is called. (As "Backpropagation in the simply
typed lambda calculus with references", Pearlmutter and Siskind 2008; Wang and others 2018.)
"""
from .. import relay
from ..relay import (Call, Clause, Constant, Constructor, ExprMutator, Function, FuncType, GlobalVar, If, Let, Match, Op, RefCreate, RefRead,
                     RefType, RefWrite, TensorType, Tuple, TupleGetItem, TupleType, TypeCall, Var, _set)
from ..typed import typed_function
from ._make import expression_pass
from .blocks import pattern_vars, pattern_with, same_call
from .gradients import gradient_of
from .normal_forms import ToANormalFormExpr, _Graph

__all__ = ["FirstOrderGradient", "LazyGradientInit", "gradient"]


def gradient(expr, mod=None, mode="higher_order"):
    """A function of the same parameters, which gives (the result, (what each parameter gets)); the result gets ones, of a tuple the first
    field (as in TVM).

    expr: a `relay.Function` with types, or a `GlobalVar` of `mod`. mode: "higher_order" for any program; functions of `mod` that it calls
    get further ones with the name NAME_grad. "first_order" for graphs of operators: the result is such a graph. Operators' gradients:
    `relay.op.register_gradient`.
    """
    if isinstance(expr, GlobalVar):
        if mod is None:
            raise ValueError("gradient: of a GlobalVar; give the module")
        expr = mod._inferred()[expr.name_hint]
    if not isinstance(expr, Function):
        raise TypeError(f"gradient: expected a relay.Function, found {type(expr).__name__}")
    if expr._type is None:
        expr = typed_function(expr, mod)
    if mode == "first_order":
        return _FirstOrder(expr).run()
    if mode == "higher_order":
        return _higher_order(expr, mod)
    raise ValueError(f'gradient: mode is "first_order" or "higher_order", found {mode!r}')


def _operands_gradients(call, g):
    """What the operands of an operator's call get."""
    made = gradient_of(call.op)
    if made is None:
        raise ValueError(f"gradient: operator {call.op.name} has no gradient; relay.op.register_gradient says what it is")
    gradients = list(made(call, g))
    if len(gradients) != len(call.args):
        raise ValueError(f"gradient: that of {call.op.name} gave {len(gradients)} for {len(call.args)} operands")
    return gradients


# --- First order ---


class _FirstOrder:
    def __init__(self, fn):
        self.fn = fn
        body = fn.body
        if any(isinstance(n, Let) for n in relay._post_order(body, lambda e: e._children())):
            body = typed_function(Function(fn.params, _Graph().visit(body), fn.ret_type, fn.type_params, fn.attrs))
            self.fn, body = body, body.body
        self.body, self.got = body, {}

    def run(self):
        """The function with gradients."""
        node, kind = self.body, self.body.checked_type
        while isinstance(kind, TupleType) and kind.fields:
            node, kind = node.fields[0] if isinstance(node, Tuple) else TupleGetItem(node, 0), kind.fields[0]
        seed = relay.ones_like(node)
        if node._type is not None:
            self._add(node, seed)
        else:  # a field that no node takes
            self._add(self.body, _only_first(self.body.checked_type, seed))
        order = relay._post_order(self.body, lambda e: e._children())
        for node in reversed(order):
            if id(node) in self.got:
                self._pass_on(node, self.got[id(node)])
        grads = [self._of(p) for p in self.fn.params]
        result = Tuple([self.body, Tuple(grads)])
        return Function(self.fn.params, result, None, self.fn.type_params, self.fn.attrs)

    def _of(self, node):
        return self._whole(self.got.get(id(node)), node, node.checked_type)

    def _whole(self, g, node, kind):
        """A gradient with zeros for what got nothing."""
        if g is None:
            return _filled(node, kind, relay.zeros_like)
        if isinstance(g, list):
            return Tuple([self._whole(part, TupleGetItem(node, i), field) for i, (part, field) in enumerate(zip(g, kind.fields))])
        return g

    def _add(self, node, g):
        if isinstance(node, Tuple):  # its fields get theirs at once
            for field, part in zip(node.fields, self._parts(g, node.checked_type)):
                if part is not None:
                    self._add(field, part)
            return
        self.got[id(node)] = self._sum(self.got.get(id(node)), g, node.checked_type)

    def _sum(self, a, b, kind):
        if a is None or b is None:
            return b if a is None else a
        if isinstance(kind, TupleType):
            return [self._sum(x, y, k) for x, y, k in zip(self._parts(a, kind), self._parts(b, kind), kind.fields)]
        return a + b

    @staticmethod
    def _parts(g, kind):
        if isinstance(g, (list, Tuple)):
            return list(g)
        return [TupleGetItem(g, i) for i in range(len(kind.fields))]

    def _pass_on(self, node, g):
        if isinstance(node, Call) and isinstance(node.op, Op):
            if not _is_float(node.checked_type):
                return
            for arg, got in zip(node.args, _operands_gradients(node, self._whole(g, node, node.checked_type))):
                if _is_float(arg.checked_type) and got is not None:
                    self._add(arg, got)
        elif isinstance(node, TupleGetItem):
            parts = [None] * len(node.tuple_value.checked_type.fields)
            parts[node.index] = g
            self._add(node.tuple_value, parts)
        elif not isinstance(node, (Var, Constant, Tuple)):
            raise ValueError(f"gradient: the first order is of operators, tuples and their fields, found a {type(node).__name__}; "
                             'mode="higher_order" takes it')


def _only_first(kind, seed):
    return [_only_first(kind.fields[0], seed), *[None] * (len(kind.fields) - 1)] if isinstance(kind, TupleType) else seed


def _is_float(kind):
    if isinstance(kind, TupleType):
        return any(map(_is_float, kind.fields))
    return isinstance(kind, TensorType) and kind.dtype.startswith(("float", "bfloat"))


def _filled(node, kind, like):
    """A value of the form of another, of zeros or ones."""
    if isinstance(kind, TupleType):
        return Tuple([_filled(TupleGetItem(node, i), k, like) for i, k in enumerate(kind.fields)])
    return like(node)


# --- Higher order ---


def _reverse_type(kind):
    """The type of values in functions with gradients."""
    if isinstance(kind, TensorType):
        return TupleType([kind, RefType(kind)])
    if isinstance(kind, TupleType):
        return TupleType(list(map(_reverse_type, kind.fields)))
    if isinstance(kind, FuncType):
        return FuncType([*map(_reverse_type, kind.arg_types), _back_type()], _reverse_type(kind.ret_type), kind.type_params)
    if isinstance(kind, RefType):
        return RefType(_reverse_type(kind.value))
    if isinstance(kind, TypeCall):
        return TypeCall(kind.func, list(map(_reverse_type, kind.args)))
    return kind


def _back_type():
    return RefType(FuncType([], TupleType([])))


def _unit():
    return Tuple([])


class _Lets:
    """Lets in a row."""

    def __init__(self):
        self._lets = []

    def add(self, value, name="x", kind=None):
        """A new variable for a value."""
        var = Var(name)
        _set(var, "_type", kind)
        self._lets.append((var, value))
        return var

    def bind(self, var, value):
        """A variable that is there."""
        self._lets.append((var, value))

    def get(self, result):
        """The expression."""
        for var, value in reversed(self._lets):
            result = Let(var, value, result)
        return result


def _paired(lets, tensor):
    """A tensor and what it gets, which is zero yet."""
    return lets.add(Tuple([tensor, lets.add(RefCreate(lets.add(relay.zeros_like(tensor))))]))


def _lifted(lets, x, kind):
    """A value of tensors and tuples, in pairs."""
    if isinstance(kind, TupleType):
        return lets.add(Tuple([_lifted(lets, lets.add(TupleGetItem(x, i), kind=k), k) for i, k in enumerate(kind.fields)]))
    if isinstance(kind, TensorType):
        return _paired(lets, x)
    raise ValueError(f"gradient: parameters and results are tensors and tuples of them, found {kind}")


def _values(lets, x, kind):
    """Of pairs, the value."""
    if isinstance(kind, TupleType):
        return lets.add(Tuple([_values(lets, lets.add(TupleGetItem(x, i)), k) for i, k in enumerate(kind.fields)]), kind=kind)
    if isinstance(kind, TensorType):
        return lets.add(TupleGetItem(x, 0), kind=kind)
    raise ValueError(f"gradient: parameters and results are tensors and tuples of them, found {kind}")


def _gotten(lets, x, kind):
    """Of pairs, what they got."""
    if isinstance(kind, TupleType):
        return lets.add(Tuple([_gotten(lets, lets.add(TupleGetItem(x, i)), k) for i, k in enumerate(kind.fields)]), kind=kind)
    return lets.add(RefRead(lets.add(TupleGetItem(x, 1))), kind=kind)


def _give(lets, x, kind, g):
    """Adds to what pairs got."""
    if isinstance(kind, TupleType):
        for i, k in enumerate(kind.fields):
            part = g.fields[i] if isinstance(g, Tuple) else TupleGetItem(g, i)
            _give(lets, lets.add(TupleGetItem(x, i)), k, part)
        return
    ref = lets.add(TupleGetItem(x, 1))
    lets.add(RefWrite(ref, lets.add(lets.add(RefRead(ref)) + lets.add(g))))


def _seed(lets, x, kind):
    """What the result gets: ones; of a tuple, its first field does."""
    if isinstance(kind, TupleType):
        if kind.fields:
            _seed(lets, lets.add(TupleGetItem(x, 0)), kind.fields[0])
        return
    ones = lets.add(relay.ones_like(lets.add(TupleGetItem(x, 0), kind=kind)))
    lets.add(RefWrite(lets.add(TupleGetItem(x, 1)), ones))


class _Reverse:
    """An expression in A-normal form, with types, as one over pairs."""

    def __init__(self, mod, made):
        self._mod, self._made, self._vars = mod, made, {}

    def function(self, fn, back_name="bp"):
        """A function over pairs, which takes the reference to what goes back too."""
        params = []
        for p in fn.params:
            new = Var(p.name_hint, _reverse_type(p.checked_type))
            self._vars[p] = new
            params.append(new)
        back = Var(back_name, _back_type())
        result = _reverse_type(fn.ret_type) if fn.ret_type is not None else None
        return Function([*params, back], self.block(fn.body, back), result, fn.type_params)

    def block(self, expr, back):
        """Lets and a result."""
        lets = _Lets()
        while isinstance(expr, Let):
            new = self._vars[expr.var] = Var(expr.var.name_hint)
            lets.bind(new, self.value(expr.value, back, lets))
            expr = expr.body
        return lets.get(self.value(expr, back, lets))

    def value(self, e, back, lets):
        if isinstance(e, Var):
            return self._vars.get(e, e)
        if isinstance(e, GlobalVar):
            return self._global(e)
        if isinstance(e, (Constructor, Op)):
            return e
        if isinstance(e, Constant):
            return _paired(lets, lets.add(e, kind=e.checked_type))
        if isinstance(e, Function):
            return e if "Primitive" in e.attrs else self.function(e)
        if isinstance(e, Tuple):
            return Tuple([self.value(f, back, lets) for f in e.fields])
        if isinstance(e, TupleGetItem):
            return TupleGetItem(self.value(e.tuple_value, back, lets), e.index)
        if isinstance(e, RefCreate):
            return RefCreate(self.value(e.value, back, lets))
        if isinstance(e, RefRead):
            return RefRead(self.value(e.ref, back, lets))
        if isinstance(e, RefWrite):
            return RefWrite(self.value(e.ref, back, lets), self.value(e.value, back, lets))
        if isinstance(e, If):
            cond = lets.add(TupleGetItem(self.value(e.cond, back, lets), 0))
            return If(cond, self.block(e.true_branch, back), self.block(e.false_branch, back))
        if isinstance(e, Match):
            clauses = []
            for c in e.clauses:
                for v in pattern_vars(c.lhs):
                    self._vars[v] = Var(v.name_hint)
                clauses.append(Clause(pattern_with(c.lhs, lambda v: self._vars[v]), self.block(c.rhs, back)))
            return Match(self.value(e.data, back, lets), clauses, e.complete)
        if isinstance(e, Call) and isinstance(e.op, Op):
            return self._operator(e, back, lets)
        if isinstance(e, Call):
            args = [self.value(a, back, lets) for a in e.args]
            return Call(self.value(e.op, back, lets), args if isinstance(e.op, Constructor) else [*args, back])
        raise ValueError(f"gradient: not of a {type(e).__name__}")

    def _operator(self, call, back, lets):
        pairs = [self.value(a, back, lets) for a in call.args]
        kinds = [a.checked_type for a in call.args]
        operands = [_values(lets, x, kind) for x, kind in zip(pairs, kinds)]
        kind = call.checked_type
        plain = same_call(call, call.op, operands)
        _set(plain, "_type", kind)
        result = _lifted(lets, lets.add(plain, kind=kind), kind)
        if not _is_float(kind):
            return result
        inner = _Lets()
        given = _operands_gradients(plain, _gotten(inner, result, kind))
        for x, x_kind, g in zip(pairs, kinds, given):
            if _is_float(x_kind) and g is not None:
                _give(inner, x, x_kind, Tuple(g) if isinstance(g, list) else g)
        before = lets.add(RefRead(back), "before")
        step = Function([], inner.get(Call(before, [])), TupleType([]))
        lets.add(RefWrite(back, lets.add(step, "back")))
        return result

    def _global(self, var):
        name = var.name_hint
        if self._mod is None:
            raise ValueError(f"gradient: the program calls @{name}; give the module")
        if name not in self._made:
            self._made[name] = None
            fn = self._mod[name]
            self._made[name] = _Reverse(self._mod, self._made).function(_a_normal(fn))
        return GlobalVar(name + "_grad")


def _a_normal(fn):
    """The function in A-normal form; its nodes know their types."""
    return ToANormalFormExpr(fn)


def _higher_order(fn, mod):
    made = {}
    typed_mod = mod._inferred() if mod is not None else None
    reversed_fn = _Reverse(typed_mod, made).function(_a_normal(fn))
    lets = _Lets()
    back = lets.add(RefCreate(Function([], _unit(), TupleType([]))), "bp")
    params = [Var(p.name_hint, p.checked_type) for p in fn.params]
    pairs = [_lifted(lets, p, p.checked_type) for p in params]
    result_kind = fn.checked_type.ret_type
    result = lets.add(Call(reversed_fn, [*pairs, back]))
    _seed(lets, result, result_kind)
    lets.add(Call(lets.add(RefRead(back)), []))
    grads = [_gotten(lets, pair, p.checked_type) for pair, p in zip(pairs, params)]
    value = _values(lets, result, result_kind)
    kinds = [p.checked_type for p in params]
    whole = Function(params, lets.get(Tuple([value, Tuple(grads)])), TupleType([result_kind, TupleType(kinds)]), fn.type_params, fn.attrs)
    if made:
        if not hasattr(mod, "update_func"):
            raise TypeError("gradient: the program calls functions of its module, which get further ones; that takes a module that can be "
                            "changed (relayvm.tvm.IRModule)")
        for name, function in made.items():
            mod[GlobalVar(name + "_grad")] = function
    return whole


def FirstOrderGradient():  # noqa: N802 (TVM's name)
    """A pass that puts the gradients in first order in the place of functions."""
    return expression_pass("FirstOrderGradient", lambda fn: _FirstOrder(fn).run())


# --- LazyGradientInit ---


class _WithoutZeros(ExprMutator):
    """Sums without what is zero everywhere, products without ones."""

    def visit_call(self, call):
        new = super().visit_call(call)
        if not isinstance(call.op, Op) or call.op.name not in ("add", "multiply"):
            return new
        kind = call._type and call.checked_type
        names = ("zeros", "zeros_like") if call.op.name == "add" else ("ones", "ones_like")
        for i in (0, 1):
            other = call.args[1 - i]
            if _op_name(new.args[i]) in names and kind is not None and other._type is not None and other.checked_type == kind:
                return new.args[1 - i]
        return new


def _op_name(e):
    return e.op.name if isinstance(e, Call) and isinstance(e.op, Op) else ""


def LazyGradientInit():  # noqa: N802 (TVM's name)
    """A pass that does not make what gradients begin with: zeros that something is added to, and ones that something is multiplied with."""
    return expression_pass("LazyGradientInit", lambda fn: _WithoutZeros().visit(fn))
