"""Types for functions in the form in which they were written.

The compiler infers types of programs in which each value has a variable. Functions are given to it as they are; it numbers the variables,
and says the types of all nodes.
"""
from ..errors import Error
from . import relay
from .functors import _post_order
from .passes.blocks import pattern_vars, pattern_with, same_call, with_children
from .records import _open_records
from .relay import Call, Clause, Constant, Constructor, Function, GlobalVar, If, Let, Match, Op, Pattern, Var, _set


def _has_internal(function):
    return any(isinstance(n, relay.Internal) for n in _post_order(function, lambda e: e._children()))


class _Functions:
    """Functions of a module, whose types are to be found.

    functions: by name. start: a module that has the others, and the types of data; given: what is to be added to it besides.
    """

    def __init__(self, start, given, functions):
        native, taken = start._taken_with({**given, **dict.fromkeys(functions)})
        self.orders = {}
        for name, function in functions.items():
            self.orders[name], taken[name] = _open_records(function)
        typed, self._types = native.infer_functions(taken)
        self._made = {}  # types by their handles
        self.global_types = {name: relay._type(typed.function_type(name)) for name in typed.functions()}
        for name, function in functions.items():
            if function.type_params:  # whose type variables are the function's own
                kind = self.global_types[name]
                self.global_types[name] = _with_vars(kind, dict(zip(kind.type_params, function.type_params)))

    def types(self, name):
        """The type of each node of a function, None where it has none."""
        types, made = [], self._made
        for handle in self._types[name]:
            kind = made.get(id(handle)) if handle is not None else None
            if kind is None and handle is not None:
                kind = made[id(handle)] = relay._type(handle)
            types.append(kind)
        type_vars = {}  # of functions here, by those of the compiler
        for node, kind in zip(self.orders[name], types):
            if type(node) is Function and node.type_params and isinstance(kind, relay.FuncType):
                type_vars.update(zip(kind.type_params, node.type_params))
        return [kind and _with_vars(kind, type_vars) for kind in types] if type_vars else types

    @relay._all_stays
    def with_types(self, name):
        """The function, its nodes with types."""
        return _Annotator(self.orders[name], self.types(name), self.global_types).run()

    def set_types(self, name):
        """Gives the nodes of a function, which nobody else has yet, their types."""
        for node, kind in zip(self.orders[name], self.types(name)):
            if type(node) is GlobalVar:
                kind = self.global_types.get(node.name_hint)
            if kind is None or isinstance(node, (Let, Constant, Constructor, Clause, Pattern)):
                continue
            if type(node) is not Var:
                _set(node, "_type", kind)
                if type(node) is Function:
                    _take_result(node, kind)
            elif node.type_annotation is None or node.type_annotation != kind and _is_open(node.type_annotation):
                _set(node, "type_annotation", kind)
                _set(node, "_type", kind)


def _with_vars(kind, type_vars):
    """The type with other type variables, made anew of parts that belong to no module."""
    if isinstance(kind, relay.TensorType) and all(isinstance(d, int) for d in kind.shape):
        return relay.TensorType(kind.shape, kind.dtype)
    if isinstance(kind, relay.TypeVar):
        return type_vars.get(kind, kind)
    if isinstance(kind, relay.TupleType):
        return relay.TupleType([_with_vars(k, type_vars) for k in kind.fields])
    if isinstance(kind, relay.FuncType):
        return relay.FuncType([_with_vars(k, type_vars) for k in kind.arg_types], _with_vars(kind.ret_type, type_vars),
                              [type_vars.get(v, v) for v in kind.type_params])
    if isinstance(kind, relay.RefType):
        return relay.RefType(_with_vars(kind.value, type_vars))
    if isinstance(kind, relay.TypeCall):
        return relay.TypeCall(kind.func, [_with_vars(k, type_vars) for k in kind.args])
    return kind


class _Annotator:
    """Makes nodes with types; those that have theirs already stay the same."""

    def __init__(self, order, types, global_types):
        self._order, self._types, self._global_types = order, types, global_types
        self._new = {}  # by id

    def run(self):
        new = self._new
        for node, kind in zip(self._order, self._types):
            made = _TYPED.get(type(node), _Annotator._other)(self, node, kind)
            new[id(node)] = made
        return made

    def _var(self, var, kind):
        if kind is None or var.type_annotation is not None and (var.type_annotation == kind or not _is_open(var.type_annotation)):
            return var
        new = Var(var.name_hint, kind, var._span)
        _set(new, "_type", kind)
        return new

    def _global(self, node, kind):
        if node._type is None and node.name_hint in self._global_types:
            _set(node, "_type", self._global_types[node.name_hint])
        return node

    def _stays(self, node, kind):
        return node

    def _call(self, call, kind):
        new = self._new
        op = call.op if type(call.op) is Op else new[id(call.op)]
        args, is_same = [], op is call.op and call._type is not None and kind is not None
        for arg in call.args:
            made = new[id(arg)]
            args.append(made)
            is_same = is_same and made is arg
        if is_same and call.checked_type == kind:
            return call
        made = same_call(call, op, args)
        if kind is not None:
            _set(made, "_type", kind)
        return made

    def _function(self, fn, kind):
        new = self._new
        params, body = [new[id(p)] for p in fn.params], new[id(fn.body)]
        if body is fn.body and all(a is b for a, b in zip(params, fn.params)) and self._knows(fn, kind):
            return fn
        made = Function(params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name)
        if kind is not None:
            _set(made, "_type", kind)
            _take_result(made, kind)
        return made

    def _let(self, let, kind):
        parts = [self._new[id(p)] for p in let._children()]
        return let if all(a is b for a, b in zip(parts, let._children())) else Let(*parts, let.span)

    def _match(self, node, kind):
        new = self._new
        data, clauses = new[id(node.data)], [new[id(c)] for c in node.clauses]
        if data is node.data and all(a is b for a, b in zip(clauses, node.clauses)) and self._knows(node, kind):
            return node
        return self._with(Match(data, clauses, node.complete, node.span), kind)

    def _clause(self, clause, kind):
        variables, rhs = list(pattern_vars(clause.lhs)), self._new[id(clause.rhs)]
        if rhs is clause.rhs and all(self._new[id(v)] is v for v in variables):
            return clause
        return Clause(pattern_with(clause.lhs, lambda v: self._new[id(v)]), rhs)

    def _if(self, node, kind):
        parts = [self._new[id(p)] for p in node._children()]
        if all(a is b for a, b in zip(parts, node._children())) and self._knows(node, kind):
            return node
        return self._with(If(*parts, node.span), kind)

    def _other(self, node, kind):
        parts = [self._new[id(p)] for p in node._children()]
        if all(a is b for a, b in zip(parts, node._children())) and self._knows(node, kind):
            return node
        return self._with(with_children(node, parts), kind)

    @staticmethod
    def _knows(node, kind):
        return node._type is not None and kind is not None and node.checked_type == kind

    @staticmethod
    def _with(node, kind):
        if kind is not None:
            _set(node, "_type", kind)
        return node


_TYPED = {Var: _Annotator._var, GlobalVar: _Annotator._global, Call: _Annotator._call, Function: _Annotator._function, Let: _Annotator._let,
          Match: _Annotator._match, Clause: _Annotator._clause, If: _Annotator._if,
          **dict.fromkeys([Constant, Constructor, Op, relay.PatternConstructor, relay.PatternTuple, relay.PatternVar, relay.PatternWildcard],
                          _Annotator._stays)}


def _take_result(fn, kind):
    if fn._ret_type is None and isinstance(kind, relay.FuncType):
        _set(fn, "_ret_type", kind.ret_type)


def _parts_of_type(kind):
    stack, parts = [kind], []
    while stack:
        t = stack.pop()
        parts.append(t)
        if isinstance(t, relay.TupleType):
            stack.extend(t.fields)
        elif isinstance(t, relay.FuncType):
            stack.extend([*t.arg_types, t.ret_type])
        elif isinstance(t, relay.RefType):
            stack.append(t.value)
        elif isinstance(t, relay.TypeCall):
            stack.extend(t.args)
    return parts


def _is_open(kind):
    """Whether a part of it is yet to be inferred."""
    return any(type(t) in (relay.Type, relay.IncompleteType) for t in _parts_of_type(kind))


# --- Modules ---


def infer(mod, base, functions, who=""):
    """Those functions that were set in a module, with types: `functions` itself where they have them already.

    base: the module that the others are of. who: what errors name.
    """
    there = {name: function for name, function in functions.items() if function is not None}
    if all(function._type is not None for function in there.values()) and (not base._names or base._native.is_typed()):
        return functions
    if any(map(_has_internal, there.values())):
        typed = mod._typed
        return {name: relay._function_node(_View(mod, typed), name) if function is not None else None for name, function in functions.items()}
    found = _found(mod, base, functions, there, who)
    return {name: None if function is None else found.with_types(name) for name, function in functions.items()}


def set_types(mod, base, functions):
    """The same of functions that nobody has yet, whose nodes get their types."""
    found = _found(mod, base, functions, functions, "")
    for name in functions:
        found.set_types(name)


def module_as_written(cls, text, name, skipped=0):
    """A module, of tvm.IRModule's class, of a text with definitions: its nodes are as the text has them, and know their types and places."""
    from . import parse
    from .text import as_written
    functions, variables, types = as_written(text, name, skipped=skipped)
    mod = cls(None, types)
    mod._sources[name] = text[skipped:]
    mod._define_as(functions, {var: node for var, node in variables.items() if var in functions})
    try:
        set_types(mod, mod._base, functions)
    except Error:
        parse(text + ("" if "main" in functions else "\ndef @main() { () }"), name=name)  # which names lines
        raise
    return mod


def _found(mod, base, functions, there, who):
    start = mod._base_with_types() if mod._types_set else base
    given = {**({name: base[name] for name in base._names if functions.get(name, name) is not None} if start is not base else {}),
             **{name: None for name in functions}}
    try:
        return _Functions(start, given, there)
    except Error:
        start._made_with({**given, **there}, who)  # which names variables as they are
        raise


def typed_function(function, mod=None):
    """A function with types. mod: whose functions it may call."""
    from . import Module
    base, name = Module() if mod is None else Module(mod._native), "typed"
    while name in base._names:
        name += "_"
    return _Functions(base, {}, {name: function}).with_types(name)


class _View:
    """A module whose native one is given."""

    def __init__(self, mod, typed):
        self._mod, self._typed = mod, typed

    def __getattr__(self, name):
        return getattr(self._mod, name)
