"""Types for functions in the form in which they were written.

The compiler infers types of programs in which each value has a variable. Functions are given to it as such, with a number in the name of
each variable; the types of these are those of the nodes.
"""
from ..errors import Error
from . import relay
from .passes.blocks import ATOMS, Binder, LetMark, Order, Scope, pattern_vars, pattern_with, same_call, with_children
from .relay import Call, Clause, Constant, Function, GlobalVar, If, Let, Match, Op, Var, _set


class _Numbered(Binder):
    """Each value of a function, and each of its own variables, has a variable with a number of its own."""

    renames = False
    is_opaque = staticmethod(lambda function: False)

    def __init__(self, function):
        self.nodes = {}  # by the name of a variable: what has its type
        self.new_vars = {}
        super().__init__(function)
        for node in self.order.nodes:
            for var in _binds(node):
                self.new_vars[var] = self._number(var, var.type_annotation)

    def _number(self, node, annotation=None):
        var = Var(f"#{len(self.nodes)}", annotation)
        self.nodes[var.name_hint] = node
        return var

    def variable(self, var):
        return self.new_vars.get(var, var)

    def names(self, node):
        return None if isinstance(node, (Constant, Let)) else self._number(node)

    def _let_values(self):  # functions, which may call themselves
        if self._values is None:
            functions = {id(node) for node in self.order.nodes if isinstance(node, Function)}
            self._values = super()._let_values() & functions
        return self._values


def _binds(node):
    match node:
        case Function():
            return node.params
        case LetMark():
            return [node.let.var]
        case Match():
            return [v for clause in node.clauses for v in pattern_vars(clause.lhs)]
    return ()


def _has_internal(function):
    return any(isinstance(n, relay.Internal) for n in relay._post_order(function, lambda e: e._children()))


def numbered(function):
    """(the function with numbered variables, {name: node})."""
    binder = _Numbered(function)
    body = binder.order.inner[id(function)][0]
    for node in binder.order.nodes[:-1]:
        if isinstance(node, LetMark):
            binder._bind_let(node.let)
        else:
            binder.atoms[id(node)] = binder._atom(node)
    new = Function([binder.variable(p) for p in function.params], body.close(binder._of(function.body)), function.ret_type, function.type_params,
                   function.attrs, function.span, name=function.name)
    return new, binder.nodes


def _types_by_name(function):
    found = {}
    for node in relay._post_order(function, lambda e: e._children()):
        variables = [node] if isinstance(node, Var) else [node.var] if isinstance(node, Let) else _binds(node)
        found.update((var.name_hint, var.checked_type) for var in variables if var._type is not None)
    return found


def with_types(function, typed, nodes, global_types):
    """The function, its nodes with types: those of the numbered variables in `typed`."""
    types = {id(nodes[name]): kind for name, kind in _types_by_name(typed).items() if name in nodes}
    for node in relay._post_order(function, lambda e: e._children()):
        if isinstance(node, Let) and isinstance(node.value, Function) and id(node.var) in types:
            types.setdefault(id(node.value), types[id(node.var)])
    types[id(function)] = typed.checked_type
    type_vars = {}  # of functions here, by those of the typed one
    for node in relay._post_order(function, lambda e: e._children()):
        if isinstance(node, Function) and node.type_params and isinstance(types.get(id(node)), relay.FuncType):
            type_vars.update(zip(types[id(node)].type_params, node.type_params))
    if type_vars:
        types = {key: _with_vars(kind, type_vars) for key, kind in types.items()}
    return _Annotator(function, types, global_types).run()


def _with_vars(kind, type_vars):
    """The type with other type variables, made anew of parts that belong to no module."""
    match kind:
        case relay.TensorType() if all(isinstance(d, int) for d in kind.shape):
            return relay.TensorType(kind.shape, kind.dtype)
        case relay.TypeVar():
            return type_vars.get(kind, kind)
        case relay.TupleType():
            return relay.TupleType([_with_vars(k, type_vars) for k in kind.fields])
        case relay.FuncType():
            return relay.FuncType([_with_vars(k, type_vars) for k in kind.arg_types], _with_vars(kind.ret_type, type_vars),
                                  [type_vars.get(v, v) for v in kind.type_params])
        case relay.RefType():
            return relay.RefType(_with_vars(kind.value, type_vars))
        case relay.TypeCall():
            return relay.TypeCall(kind.func, [_with_vars(k, type_vars) for k in kind.args])
    return kind


class _Annotator:
    """Makes nodes with types; those that have theirs already stay the same."""

    def __init__(self, function, types, global_types):
        self._function, self._types, self._global_types = function, types, global_types
        self._order = Order(function, Scope(), is_opaque=_Numbered.is_opaque)
        self._new, self._vars = {}, {}

    def run(self):
        for node in self._order.nodes:
            if not isinstance(node, LetMark):
                self._new[id(node)] = self._typed(node)
        return self._new[id(self._function)]

    def _typed(self, node):
        if isinstance(node, Var):
            return self._var(node)
        if isinstance(node, GlobalVar):
            if node._type is None and node.name_hint in self._global_types:
                _set(node, "_type", self._global_types[node.name_hint])
            return node
        if isinstance(node, (Constant, *ATOMS)):
            return node
        kind = self._types.get(id(node))
        new = self._made(node)
        if new is node and (node._type is None or kind is None or node.checked_type != kind):
            new = self._made(node, must=True)
        if new._type is None and kind is not None:
            _set(new, "_type", kind)
            if isinstance(new, Function):
                _take_result(new, kind)
        return new

    def _var(self, var):
        if var in self._vars:
            return self._vars[var]
        kind = self._types.get(id(var))
        if kind is None or var.type_annotation is not None and (var.type_annotation == kind or not _is_open(var.type_annotation)):
            self._vars[var] = var
            return var
        new = Var(var.name_hint, kind, var._span)
        _set(new, "_type", kind)
        self._vars[var] = new
        return new

    def _made(self, node, must=False):
        new = self._new
        match node:
            case Call():
                op = node.op if isinstance(node.op, Op) else new[id(node.op)]
                args = [new[id(a)] for a in node.args]
                if not must and op is node.op and all(a is b for a, b in zip(args, node.args)):
                    return node
                return same_call(node, op, args)
            case Function():
                params, body = [self._var(p) for p in node.params], new[id(node.body)]
                if not must and body is node.body and all(a is b for a, b in zip(params, node.params)):
                    return node
                return Function(params, body, node.ret_type, node.type_params, node.attrs, node.span, name=node.name)
            case Let():
                parts = self._var(node.var), new[id(node.value)], new[id(node.body)]
                same = not must and all(a is b for a, b in zip(parts, node._children()))
                return node if same else Let(*parts, node.span)
            case If():
                parts = [new[id(p)] for p in node._children()]
                same = not must and all(a is b for a, b in zip(parts, node._children()))
                return node if same else If(*parts, node.span)
            case Match():
                return self._match(node, must)
        parts = [new[id(p)] for p in node._children()]
        if not must and all(a is b for a, b in zip(parts, node._children())):
            return node
        return with_children(node, parts)

    def _match(self, node, must):
        data, rhs = self._new[id(node.data)], [self._new[id(c.rhs)] for c in node.clauses]
        patterns = [pattern_with(c.lhs, self._var) for c in node.clauses]
        same = not must and data is node.data and all(a is c.rhs for a, c in zip(rhs, node.clauses)) and \
            all(self._var(v) is v for c in node.clauses for v in pattern_vars(c.lhs))
        return node if same else Match(data, [Clause(p, r) for p, r in zip(patterns, rhs)], node.complete, node.span)


def _take_result(fn, kind):
    if fn._ret_type is None and isinstance(kind, relay.FuncType):
        _set(fn, "_ret_type", kind.ret_type)


def _parts_of_type(kind):
    stack, parts = [kind], []
    while stack:
        t = stack.pop()
        parts.append(t)
        match t:
            case relay.TupleType():
                stack.extend(t.fields)
            case relay.FuncType():
                stack.extend([*t.arg_types, t.ret_type])
            case relay.RefType():
                stack.append(t.value)
            case relay.TypeCall():
                stack.extend(t.args)
    return parts


def _is_open(kind):
    """Whether a part of it is yet to be inferred."""
    return any(type(t) in (relay.Type, relay.IncompleteType) for t in _parts_of_type(kind))


# --- Modules ---


@relay._all_stays
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
    made, nodes = {}, {}
    for name, function in there.items():
        made[name], nodes[name] = numbered(function)
    start = mod._base_with_types() if mod._types_set else base
    given = {**({name: base[name] for name in base._names if functions.get(name, name) is not None} if start is not base else {}),
             **{name: made.get(name) for name in functions}}
    from . import Module
    try:
        typed = Module(Module(start._made_with(given, who))._typed)
    except Error:
        start._made_with({**given, **there}, who)  # which names variables as they are
        raise
    kinds = {name: relay._type(typed._native.function_type(name)) for name in typed._names}
    for name, function in there.items():  # whose type variables are the functions' own
        if function.type_params:
            kinds[name] = _with_vars(kinds[name], dict(zip(kinds[name].type_params, function.type_params)))
    return {name: None if function is None else with_types(function, typed[name], nodes[name], kinds) for name, function in functions.items()}


def typed_function(function, mod=None):
    """A function with types. mod: whose functions it may call."""
    from . import Module
    base, name = Module() if mod is None else Module(mod._native), "typed"
    while name in base._names:
        name += "_"
    new, nodes = numbered(function)
    typed = Module(Module(base._made_with({name: new}))._typed)
    return with_types(function, typed[name], nodes, {n: relay._type(typed._native.function_type(n)) for n in typed._names})


class _View:
    """A module whose native one is given."""

    def __init__(self, mod, typed):
        self._mod, self._typed = mod, typed

    def __getattr__(self, name):
        return getattr(self._mod, name)
