"""Defunctionalization: functions that are values become values of ADTs, which functions of the module apply (Reynolds 1972).

For each type of functions that are values there is a type definition with a constructor for each such function, whose fields are the
variables that the function reads, and a function that applies them, a match. Generic functions are made anew for each list of types that
they are called with.
"""
from .. import relay
from ..analysis import all_type_vars
from ..relay import (Call, Clause, Constant, Constructor, Function, FuncType, GlobalTypeVar, GlobalVar, If, Let, Match, Op, PatternConstructor,
                     PatternVar, RefType, TupleType, TypeCall, TypeData, TypeVar, Var)
from ..typed import _with_vars, typed_function
from .blocks import is_opaque, pattern_vars, pattern_with, same_call, with_children
from .functions import reachable

__all__ = ["Defunctionalization"]


class _Kind:
    """Functions of one type: the type definition, its constructors, and what applies each."""

    def __init__(self, number, function_type):
        self.type_var, self.apply = GlobalTypeVar(f"Function{number}"), GlobalVar(f"apply{number}")
        self.of, self.constructors, self.clauses = function_type, [], []


def _unify(pattern, kind, found):
    """Finds types for the type variables of `pattern`."""
    if isinstance(pattern, TypeVar):
        found.setdefault(pattern, kind)
    elif isinstance(pattern, TupleType) and isinstance(kind, TupleType):
        for a, b in zip(pattern.fields, kind.fields):
            _unify(a, b, found)
    elif isinstance(pattern, FuncType) and isinstance(kind, FuncType) and not kind.type_params:
        for a, b in zip([*pattern.arg_types, pattern.ret_type], [*kind.arg_types, kind.ret_type]):
            _unify(a, b, found)
    elif isinstance(pattern, RefType) and isinstance(kind, RefType):
        _unify(pattern.value, kind.value, found)
    elif isinstance(pattern, TypeCall) and isinstance(kind, TypeCall):
        for a, b in zip(pattern.args, kind.args):
            _unify(a, b, found)


def _has_functions(kind):
    if isinstance(kind, FuncType):
        return True
    if isinstance(kind, TupleType):
        return any(map(_has_functions, kind.fields))
    if isinstance(kind, RefType):
        return _has_functions(kind.value)
    if isinstance(kind, TypeCall):
        return any(map(_has_functions, kind.args))
    return False


def _is_first_order(fn):
    """Whether a function of the module has neither type parameters nor functions that are values."""
    values = []
    for node in relay._post_order(fn.body, lambda e: () if is_opaque(e) else e._children()):
        if isinstance(node, Var):
            values.append(node)
        elif isinstance(node, Function) and not is_opaque(node):
            return False
        else:
            callee = node.op if isinstance(node, Call) else None
            values += [part for part in node._children() if part is not callee and isinstance(part, (GlobalVar, Constructor, Call))]
    return not fn.type_params and not any(_has_functions(v.checked_type) for v in [*fn.params, *values] if not _is_plain(v))


def _is_plain(node):
    """Whether it is a constructor without fields, which is a value of its own."""
    return isinstance(node, Constructor) and not node.inputs


class _Defunctionalizer:
    def __init__(self, mod):
        self.mod, self.kinds, self.made, self._special, self._known = mod, {}, {}, {}, {}
        self._first_order = {}

    # --- Types ---

    def first_order(self, kind):
        """A type without functions in it."""
        if isinstance(kind, FuncType):
            return TypeCall(self.kind_of(kind).type_var, [])
        if isinstance(kind, TupleType):
            return TupleType([self.first_order(k) for k in kind.fields])
        if isinstance(kind, RefType):
            return RefType(self.first_order(kind.value))
        if isinstance(kind, TypeCall):
            return TypeCall(kind.func, [self.first_order(k) for k in kind.args])
        return kind

    def kind_of(self, function_type):
        """That of functions of a type."""
        key = str(function_type)
        if key not in self.kinds:
            if function_type.type_params or all_type_vars(function_type):
                raise ValueError(f"Defunctionalization: a function of type {function_type} is passed on whose types are not known")
            self.kinds[key] = _Kind(len(self.kinds), function_type)
        return self.kinds[key]

    # --- Functions of the module ---

    def special(self, name, types):
        """The `GlobalVar` of a function for some types of its type parameters: its own where all that it needs is of the first order."""
        fn = self.mod[name]
        if name not in self._first_order:
            self._first_order[name] = all(_is_first_order(self.mod[n]) for n in reachable(self.mod, [name]))
        if self._first_order[name]:
            return GlobalVar(name)
        key = name, *(str(types[v]) for v in fn.type_params)
        if key not in self._special:
            self._special[key] = GlobalVar(f"{name}_first_order{len(self._special)}")
            body = _Body(self, types)
            params = [body.bind(p) for p in fn.params]
            self.made[self._special[key].name_hint] = Function(params, body.value(fn.body), body.first_order(fn.checked_type.ret_type))
        return self._special[key]

    def definitions(self):
        """The type definitions, and the functions that apply."""
        for kind in self.kinds.values():
            yield kind.type_var, TypeData(kind.type_var, [], kind.constructors)
        for kind in self.kinds.values():
            f = Var("f", TypeCall(kind.type_var, []))
            args = [Var(f"x{i}", self.first_order(t)) for i, t in enumerate(kind.of.arg_types)]
            clauses = [Clause(pattern, body(args)) for pattern, body in kind.clauses]
            yield kind.apply, Function([f, *args], Match(f, clauses), self.first_order(kind.of.ret_type))
        for name, fn in self.made.items():
            yield GlobalVar(name), fn


class _Body:
    """What stands in one function, for some types of its type variables."""

    def __init__(self, of, types, variables=()):
        self.of, self.types, self.vars, self._memo, self._inline = of, dict(types), dict(variables), {}, {}

    def concrete(self, kind):
        return _with_vars(kind, self.types) if self.types else kind

    def first_order(self, kind):
        return self.of.first_order(self.concrete(kind))

    def bind(self, var):
        """A new variable for one that is bound."""
        self.vars[var] = Var(var.name_hint, self.first_order(var.checked_type))
        return self.vars[var]

    def value(self, e, expected=None):
        """The expression. expected: the type, of a generic function that is passed on."""
        key = id(e), str(expected) if isinstance(e, (Function, GlobalVar, Var)) else ""
        if key not in self._memo:
            self._memo[key] = self._value(e, expected), e
        return self._memo[key][0]

    def _value(self, e, expected):
        if isinstance(e, Var):
            return self.value(self._inline[e], expected) if e in self._inline else self.vars.get(e, e)
        if isinstance(e, (Constant, Op)):
            return e
        if isinstance(e, (GlobalVar, Constructor)):
            return self._named(e, self._type_of(e, expected))
        if isinstance(e, Function):
            return e if is_opaque(e) else self._closure(e, self._type_of(e, expected))
        if isinstance(e, Call):
            return self._call(e)
        if isinstance(e, Let):
            return self._let(e)
        if isinstance(e, If):
            return If(*map(self.value, e._children()), e.span)
        if isinstance(e, Match):
            data, clauses = self.value(e.data), []
            for c in e.clauses:
                for v in pattern_vars(c.lhs):
                    self.bind(v)
                clauses.append(Clause(pattern_with(c.lhs, self.vars.__getitem__), self.value(c.rhs)))
            return Match(data, clauses, e.complete, e.span)
        return with_children(e, [self.value(c) for c in e._children()])

    def _type_of(self, e, expected):
        kind = expected if expected is not None else self.concrete(e.checked_type)
        return FuncType(kind.arg_types, kind.ret_type)

    def _let(self, let):
        lets = []
        while isinstance(let, Let):
            value = let.value
            if isinstance(value, Function) and value.type_params:
                self._inline[let.var] = value
            elif isinstance(value, Function) and let.var in relay._free_vars(value):
                new = self.bind(let.var)
                lets.append((new, self._closure(value, self._type_of(value, None), let.var)))
            else:
                made = self.value(value)
                lets.append((self.bind(let.var), made))
            let = let.body
        result = self.value(let)
        for var, value in reversed(lets):
            result = Let(var, value, result)
        return result

    def _constructor(self, kind, fields):
        constructor = Constructor(f"{kind.type_var}_{len(kind.constructors)}", fields, kind.type_var)
        kind.constructors.append(constructor)
        return constructor

    def _named(self, e, function_type):
        """A function of the module, or a constructor, that is passed on."""
        kind = self.of.kind_of(function_type)
        key = "named", getattr(e, "name_hint", ""), str(function_type)
        if key not in self.of._known:
            constructor = self.of._known[key] = self._constructor(kind, [])
            callee = e
            if isinstance(e, GlobalVar):
                found = {}
                _unify(FuncType(e.checked_type.arg_types, e.checked_type.ret_type), function_type, found)
                callee = self.of.special(e.name_hint, found)
            kind.clauses.append((PatternConstructor(constructor, []), lambda args: Call(callee, args)))
        return Call(self.of._known[key], [])

    def _closure(self, fn, function_type, recursive=None):
        """A function literal, as a value of an ADT."""
        kind = self.of.kind_of(function_type)
        captured = [v for v in relay._free_vars(fn) if v is not recursive and v not in self._inline]
        types = dict(self.types)
        _unify(FuncType(fn.checked_type.arg_types, fn.checked_type.ret_type), function_type, types)
        key = "literal", id(fn), str(function_type), *sorted(f"{v}={t}" for v, t in types.items())
        if key not in self.of._known:
            constructor = self._constructor(kind, [self.first_order(v.checked_type) for v in captured])
            self.of._known[key] = constructor, fn
            body = _Body(self.of, types)
            body._inline = dict(self._inline)
            fields = [body.bind(v) for v in captured]
            itself = body.bind(recursive) if recursive is not None else None
            params = [body.bind(p) for p in fn.params]
            made = body.value(fn.body)

            def apply(args):
                result = made
                for p, a in reversed(list(zip(params, args))):
                    result = Let(p, a, result)
                return result if itself is None else Let(itself, Call(constructor, fields), result)
            kind.clauses.append((PatternConstructor(constructor, [PatternVar(v) for v in fields]), apply))
        return Call(self.of._known[key][0], [self.vars.get(v, v) for v in captured])

    def _call(self, call):
        callee = call.op
        if isinstance(callee, Var) and callee in self._inline:
            callee = self._inline[callee]
        if isinstance(callee, (Op, Constructor)) or is_opaque(callee):
            return same_call(call, callee, [self.value(a) for a in call.args])
        kinds = [self.concrete(a.checked_type) for a in call.args]
        if isinstance(callee, (GlobalVar, Function)):
            whole = callee.checked_type
            found = {}
            for pattern, kind in zip([*whole.arg_types, whole.ret_type], [*kinds, self.concrete(call.checked_type)]):
                _unify(pattern, kind, found)
            args = [self.value(a, self._expected(p, found)) for a, p in zip(call.args, whole.arg_types)]
            if isinstance(callee, GlobalVar):
                types = {v: found.get(v, TupleType([])) for v in self.of.mod[callee.name_hint].type_params}
                types.update((own, found.get(v, TupleType([]))) for own, v in zip(self.of.mod[callee.name_hint].type_params, whole.type_params))
                return Call(self.of.special(callee.name_hint, types), args, span=call.span)
            body = _Body(self.of, {**self.types, **found}, self.vars)
            body._inline = dict(self._inline)
            params = [body.bind(p) for p in callee.params]
            result = body.value(callee.body)
            for p, a in reversed(list(zip(params, args))):
                result = Let(p, a, result)
            return result
        kind = self.of.kind_of(self._type_of(callee, None))
        args = [self.value(a, t if isinstance(t, FuncType) else None) for a, t in zip(call.args, kind.of.arg_types)]
        return Call(kind.apply, [self.value(callee), *args], span=call.span)

    @staticmethod
    def _expected(kind, types):
        """The type of a parameter where it is one of functions."""
        return _with_vars(kind, types) if isinstance(kind, FuncType) else None


def Defunctionalization(func, mod):  # noqa: N802 (TVM's name)
    """The function, which is of `mod` and neither takes nor gives functions, without functions that are passed on: `mod` gets the types and
    functions that stand for them."""
    typed = mod._inferred()
    if func._type is None:
        func = typed_function(func, mod)
    if func.type_params:
        raise ValueError("Defunctionalization: of a function without type parameters")
    of = _Defunctionalizer(typed)
    body = _Body(of, {})
    params = [body.bind(p) for p in func.params]
    made = Function(params, body.value(func.body), body.first_order(func.checked_type.ret_type), None, func.attrs)
    for var, definition in of.definitions():
        mod[var] = definition
    return made
