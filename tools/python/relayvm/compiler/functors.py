"""Walks over nodes: `post_order_visit`, `ExprFunctor`, `ExprVisitor`, `ExprMutator`; the variables of an expression."""
import functools
import gc

from .nodes import (Call, Clause, Constant, Constructor, Expr, Function, GlobalVar, If, Internal, Let, Match, Op, Pattern, PatternConstructor,
                    PatternTuple, PatternVar, RefCreate, RefRead, RefWrite, same_call, _set, Tuple, TupleGetItem, Var)
from .recursion import deep


def _all_stays(function):
    """Of a function that makes many objects and drops few: garbage is not looked for meanwhile."""
    @functools.wraps(function)
    def run(*args, **named):
        if not gc.isenabled():
            return function(*args, **named)
        gc.disable()
        try:
            return function(*args, **named)
        finally:
            gc.enable()
    return run


def _parts(node):
    """What a record has as operands."""
    if type(node) is Call:
        return node.args if isinstance(node.op, Op) else (node.op, *node.args)
    if type(node) is Match:
        return (node.data, *node.clauses)
    if type(node) is Clause:
        return (node.lhs, node.rhs)
    if type(node) is PatternVar:
        return (node.var,)
    return node._patterns() if isinstance(node, Pattern) else node._children()


@_all_stays
def _post_order(root, parts):
    """Distinct nodes, each after what it is made of."""
    order, seen, stack = [], {id(root)}, [(root, iter(parts(root)))]
    while stack:
        node, rest = stack[-1]
        for part in rest:
            if id(part) not in seen:
                seen.add(id(part))
                stack.append((part, iter(parts(part))))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def post_order_visit(expr, fvisit):
    """Calls fvisit(node) for each distinct node of an expression or of all functions of a module: operands first."""
    roots = [expr] if isinstance(expr, Expr) else [expr[name] for name in expr._names]
    for root in roots:
        for node in _post_order(root, lambda e: (e.value, e.var, e.body) if isinstance(e, Let) else e._children()):
            fvisit(node)


_METHODS = {Var: "visit_var", Constant: "visit_constant", GlobalVar: "visit_global_var", Constructor: "visit_constructor", Op: "visit_op",
            Call: "visit_call", Tuple: "visit_tuple", TupleGetItem: "visit_tuple_getitem", Let: "visit_let", Function: "visit_function",
            If: "visit_if", Match: "visit_match", RefCreate: "visit_ref_create", RefRead: "visit_ref_read", RefWrite: "visit_ref_write",
            Internal: "visit_internal"}


class ExprFunctor:
    """A walk with a method for each kind of node, visit_call(call) ..., once for each node: visit(expr) remembers results in memo_map.

    A chain of any length may be walked: Python's limit of recursion is lifted meanwhile, which Python functions alone need.
    """

    def __init__(self):
        self.memo_map = {}
        self._depth = 0

    def visit(self, expr):
        """What the method for the kind of `expr` gives."""
        known = self.memo_map.get(expr)
        if known is not None or expr in self.memo_map:
            return known
        method = _METHODS.get(type(expr))
        if method is None:
            raise TypeError(f"visit: expected an expression, found {type(expr).__name__}")
        if self._depth == 0:
            return self._visit_first(expr, method)
        result = getattr(self, method)(expr)
        self.memo_map[expr] = result
        return result

    def visit_type(self, typ):
        """Of a type: itself. Nothing calls it: types are no parts of walks over expressions."""
        return typ

    def _visit_first(self, expr, method):
        self._depth = 1
        try:
            # Several functions call each other for a node.
            result = deep(1000 + 12 * len(_post_order(expr, lambda e: e._children())), getattr(self, method), expr)
        finally:
            self._depth = 0
        self.memo_map[expr] = result
        return result


def _not_visited(name):
    def method(self, expr):
        raise NotImplementedError(f"{type(self).__name__} has no {name}, which {type(expr).__name__} needs")
    return method


def _set_methods(functor, make, doc, names=tuple(_METHODS.values())):
    """Gives a class a method for each kind of node, with a docstring."""
    kinds = {name: kind.__name__ for kind, name in _METHODS.items()}
    for name in names:
        method = make(name)
        method.__name__, method.__qualname__, method.__doc__ = name, f"{functor.__name__}.{name}", doc.format(kinds[name])
        setattr(functor, name, method)


_set_methods(ExprFunctor, _not_visited, "Of a `{}`: override it. What it gives is what `visit` gives. Without it, NotImplementedError.")


class ExprVisitor(ExprFunctor):
    """Visits what each node is made of. Override the methods for the kinds that are of interest, and call super()'s to go on."""


def _visits_parts(name):
    def method(self, expr):
        for part in expr._children():
            self.visit(part)
    return method


_set_methods(ExprVisitor, _visits_parts, "Of a `{}`: visits what it is made of. Override it, and call super()'s to go on inside.")


class ExprMutator(ExprFunctor):
    """Makes a new expression: override the methods for what is to be replaced.

    What is shared stays shared, and what does not change stays the same object. New nodes get the span of those that they replace.
    """

    def visit(self, expr):
        """What becomes of an expression: of each node once, however many use it."""
        result = super().visit(expr)
        if result is not expr and isinstance(result, Expr) and result._span is None:
            _set(result, "_span", expr._span)
        return result

    def _visit_all(self, exprs):
        changed, results = False, []
        for e in exprs:
            result = self.visit(e)
            changed = changed or result is not e
            results.append(result)
        return changed, results

    def visit_call(self, call):
        """Of a `Call`: one of the same attributes, of what its op and args become."""
        changed, (op, *args) = self._visit_all(call._children())
        return same_call(call, op, args) if changed else call

    def visit_tuple(self, expr):
        """Of a `Tuple`: one of what its fields become."""
        changed, fields = self._visit_all(expr.fields)
        return Tuple(fields, expr.span) if changed else expr

    def visit_tuple_getitem(self, expr):
        """Of a `TupleGetItem`: the same field of what the tuple becomes."""
        changed, (value,) = self._visit_all([expr.tuple_value])
        return TupleGetItem(value, expr.index, expr.span) if changed else expr

    def visit_let(self, let):
        """Of a `Let`: one of what its variable, value and body become, in that order."""
        changed, (variable, value, body) = self._visit_all([let.var, let.value, let.body])
        return Let(variable, value, body, let.span) if changed else let

    def visit_function(self, fn):
        """Of a `Function`: one of what its params and body become, with its attributes; ret_type stays: give another where it changes."""
        changed, (*params, body) = self._visit_all([*fn.params, fn.body])
        return Function(params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name) if changed else fn

    def visit_if(self, expr):
        """Of an `If`: one of what its condition and branches become."""
        changed, (cond, yes, no) = self._visit_all([expr.cond, expr.true_branch, expr.false_branch])
        return If(cond, yes, no, expr.span) if changed else expr

    def visit_match(self, expr):
        """Of a `Match`: one of what its data, patterns (visit_pattern) and results become."""
        data = self.visit(expr.data)
        changed, clauses = data is not expr.data, []
        for clause in expr.clauses:
            lhs, rhs = self.visit_pattern(clause.lhs), self.visit(clause.rhs)
            same = lhs is clause.lhs and rhs is clause.rhs
            clauses.append(clause if same else Clause(lhs, rhs))
            changed = changed or not same
        return Match(data, clauses, expr.complete, expr.span) if changed else expr

    def visit_pattern(self, pattern):
        """Patterns with the variables that visit_var gives."""
        if isinstance(pattern, PatternVar):
            variable = self.visit(pattern.var)
            return pattern if variable is pattern.var else PatternVar(variable, pattern.span)
        parts = [self.visit_pattern(p) for p in pattern._patterns()]
        if all(new is old for new, old in zip(parts, pattern._patterns())):
            return pattern
        if isinstance(pattern, PatternConstructor):
            return PatternConstructor(pattern.constructor, parts, pattern.span)
        return PatternTuple(parts, pattern.span)

    def visit_ref_create(self, expr):
        """Of a `RefCreate`: one of what its value becomes."""
        changed, (value,) = self._visit_all([expr.value])
        return RefCreate(value, expr.span) if changed else expr

    def visit_ref_read(self, expr):
        """Of a `RefRead`: one of what the reference becomes."""
        changed, (ref,) = self._visit_all([expr.ref])
        return RefRead(ref, expr.span) if changed else expr

    def visit_ref_write(self, expr):
        """Of a `RefWrite`: one of what the reference and the value become."""
        changed, (ref, value) = self._visit_all([expr.ref, expr.value])
        return RefWrite(ref, value, expr.span) if changed else expr

    def visit_internal(self, expr):
        """Of an `Internal`: one of the same kind, of what its args become."""
        changed, args = self._visit_all(expr.args)
        return Internal(expr, args, expr.span) if changed else expr


def _stays(name):
    def method(self, expr):
        return expr
    return method


_set_methods(ExprMutator, _stays, "Of a `{}`: it stays. Override it to put another expression in its place.",
             ("visit_var", "visit_constant", "visit_global_var", "visit_constructor", "visit_op"))


def bind(expr, binds):
    """The expression with others in place of variables, {var: expression}; of a function, these are no parameters of the new one."""
    class Bind(ExprMutator):
        def visit_var(self, var):
            return binds.get(var, var)

    mutator = Bind()
    if not isinstance(expr, Function):
        return mutator.visit(expr)
    return Function([p for p in expr.params if p not in binds], mutator.visit(expr.body), expr.ret_type, expr.type_params, expr.attrs, expr.span)


def _free_vars(expr):
    """Variables that an expression reads and does not bind, in the order in which they are met."""
    found, bound = [], set()

    def see(node):
        if isinstance(node, Var):
            found.append(node)
        elif isinstance(node, Function):
            bound.update(node.params)
        elif isinstance(node, Let):
            bound.add(node.var)
        elif isinstance(node, Match):
            for clause in node.clauses:
                for pattern in _post_order(clause.lhs, lambda p: p._patterns()):
                    if isinstance(pattern, PatternVar):
                        bound.add(pattern.var)
    post_order_visit(expr, see)
    return [v for v in found if v not in bound]


def _all_vars(expr):
    """All variables of an expression, in the order in which they are met: those that something binds where it does."""
    found = {}
    for node in _post_order(expr, _parts):
        if isinstance(node, Var):
            found.setdefault(node)
    return list(found)
