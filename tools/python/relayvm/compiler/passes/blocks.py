"""Where nodes of an expression are evaluated, and expressions in which each value has a variable.

A scope is the body of a function, a branch of an If, what a clause of a Match gives; a node that several nodes read is evaluated once,
in the innermost scope that all of them are in.
"""
from .. import relay
from ..relay import Call, Clause, Constant, Constructor, Function, GlobalVar, If, Internal, Let, Match, Op, Tuple, Var, same_call

__all__ = []

ATOMS = (Var, GlobalVar, Op, Constructor)


class Scope:
    """A scope: its parent, its depth, and the lets in it."""

    __slots__ = ("parent", "depth", "lets")

    def __init__(self, parent=None):
        self.parent, self.depth, self.lets = parent, 0 if parent is None else parent.depth + 1, []

    def close(self, result):
        """The expression of the scope: its lets, and a result."""
        for var, value, span in reversed(self.lets):
            result = Let(var, value, result, span)
        return result


def common(a, b):
    """The innermost scope that both are in."""
    while a is not b:
        if a.depth >= b.depth:
            a = a.parent
        else:
            b = b.parent
    return a


class LetMark:
    """Stands between the value of a let and its body, in the order of nodes."""

    __slots__ = ("let",)

    def __init__(self, let):
        self.let = let


def is_opaque(node):
    """Whether what is inside of a function is its own: kernels."""
    return isinstance(node, Function) and "Primitive" in node.attrs


class Order:
    """The nodes below a root, each after what it is made of (`nodes`), and the scope of each (`scope`).

    lets_in_place: a Let that is an operand is a scope by itself. is_opaque(function): whether its inside stays as it is.
    """

    def __init__(self, root, root_scope, lets_in_place=False, is_opaque=is_opaque):
        self._marks, self.inner, self.scope = {}, {}, {id(root): root_scope}
        self.root, self._in_place, self.is_opaque = root, lets_in_place, is_opaque
        self.nodes = relay._post_order(root, self.parts)
        self._first = {id(root): root_scope}  # in which they are read first
        self.tails = {id(root)}
        for node in reversed(self.nodes):
            self._place_parts(node)

    def parts(self, node):
        """What it is made of, in the order of evaluation."""
        if isinstance(node, Call):
            return node.args if isinstance(node.op, Op) else (node.op, *node.args)
        if isinstance(node, Let):
            if id(node) not in self._marks:
                self._marks[id(node)] = LetMark(node)
            return node.value, self._marks[id(node)], node.body
        if isinstance(node, Function):
            return () if self.is_opaque(node) else (node.body,)
        if isinstance(node, LetMark):
            return ()
        return node._children()

    def _place_parts(self, node):
        here, uses = self.scope[id(node)], []
        if isinstance(node, If):
            inner = self.inner[id(node)] = [Scope(here), Scope(here)]
            self.tails |= {id(node.true_branch), id(node.false_branch)}
            uses = [(node.cond, here), (node.true_branch, inner[0]), (node.false_branch, inner[1])]
        elif isinstance(node, Function) and not self.is_opaque(node):
            inner = self.inner[id(node)] = [Scope(here)]
            self.tails.add(id(node.body))
            uses = [(node.body, inner[0])]
        elif isinstance(node, Match):
            inner = self.inner[id(node)] = [Scope(here) for _ in node.clauses]
            self.tails.update(id(clause.rhs) for clause in node.clauses)
            uses = [(node.data, here), *((clause.rhs, scope) for clause, scope in zip(node.clauses, inner))]
        elif isinstance(node, Let):
            uses = self._parts_of_let(node, here)
        else:
            uses = [(part, here) for part in self.parts(node)]
        for part, scope in reversed(uses):
            self._use(part, scope)

    def _parts_of_let(self, let, here):
        if id(let) in self.tails:
            self.tails.add(id(let.body))
        elif self._in_place:
            here = Scope(here)
            self.inner[id(let)] = [here]
            self.tails.add(id(let.body))
        return [(let.value, here), (self._marks[id(let)], here), (let.body, here)]

    def _use(self, node, scope):
        known = self.scope.get(id(node))
        self._first[id(node)] = scope
        self.scope[id(node)] = scope if known is None else common(known, scope)

    def is_lifted(self, node):
        """Whether it is evaluated outside of the scope in which it is read first."""
        return self.scope[id(node)] is not self._first[id(node)]


class Binder:
    """Makes an expression anew, whose values have variables. `names(node)` gives the variable of a node, or None where it gets none.

    """

    lets_in_place = False
    names_results = False  # what a let gives has a variable too
    renames = True  # after let y = x, x is y
    is_opaque = staticmethod(is_opaque)

    def __init__(self, root):
        self.top = Scope()
        self.order = Order(root, self.top, self.lets_in_place, self.is_opaque)
        self.atoms = {}  # by id of the node: what stands for it
        self.of_vars = {}  # variables that stand for others
        self._values = None

    def names(self, node):
        """Whether a node gets a variable."""
        raise NotImplementedError

    def binder(self, var):
        """What is bound in place of a variable."""
        return var

    def variable(self, var):
        """What stands for a variable from here on."""
        while var in self.of_vars:
            var = self.of_vars[var]
        return var

    @relay._all_stays
    def run(self):
        """The expression, and what is evaluated before it in `top`."""
        for node in self.order.nodes:
            if isinstance(node, LetMark):
                self._bind_let(node.let)
            else:
                self.atoms[id(node)] = self._atom(node)
        return self.top.close(self._of(self.order.root))

    def _bind_let(self, let):
        value = let.value
        scope = self.order.scope[id(self.order._marks[id(let)])]
        new = self.binder(let.var)
        atom = self._of(value)
        if atom is None:  # this let is the first that reads it
            scope.lets.append((new, self._made(value), let.span))
            self.atoms[id(value)] = new
        else:
            scope.lets.append((new, atom, let.span))
            if isinstance(value, Var) and self.renames and self.order.scope[id(value)] is scope:
                self.of_vars[self.variable(value)] = new

    def _atom(self, node):
        """What stands for it; its let is added to its scope."""
        if isinstance(node, Var):
            return self.variable(node)
        if isinstance(node, Let):
            inner = self.order.inner.get(id(node))
            if inner is not None:
                return inner[0].close(self._of(node.body))
            atom = self._of(node.body)
            return self._named(node, atom) if self.names_results or id(node) not in self.order.tails else atom
        if isinstance(node, ATOMS):
            return node
        if id(node) in self._let_values():
            return None
        return self._named(node, self._made(node))

    def _named(self, node, made):
        var = self.names(node)
        if var is None:
            return made
        if var._type is None:
            relay._set(var, "_type", node.checked_type if isinstance(node, Constant) else node._type)
        self.order.scope[id(node)].lets.append((var, made, node.span))
        return var

    def _let_values(self):
        """Ids of nodes that a let names: the first that reads them, in whose scope they are."""
        if self._values is None:
            self._values = set()
            for node, after in zip(self.order.nodes, self.order.nodes[1:]):
                if isinstance(after, LetMark) and after.let.value is node and not isinstance(node, (Let, *ATOMS)) \
                        and self.order.scope[id(node)] is self.order.scope[id(after)]:
                    self._values.add(id(node))
        return self._values

    def _of(self, node):
        if isinstance(node, Op):
            return node
        return self.variable(node) if isinstance(node, Var) else self.atoms[id(node)]

    def _made(self, node):
        new = self._built(node)
        if new is not node and new._type is None:  # which stays what it was
            relay._set(new, "_type", node._type)
        return new

    def _built(self, node):
        if isinstance(node, Call):
            args = [self._of(a) for a in node.args]
            return same_call(node, self._of(node.op), args)
        if isinstance(node, Function):
            if self.order.is_opaque(node):
                return node
            params = [self.binder(p) for p in node.params]
            body = self.order.inner[id(node)][0].close(self._of(node.body))
            return Function(params, body, node.ret_type, node.type_params, node.attrs, node.span, name=node.name)
        if isinstance(node, If):
            yes, no = self.order.inner[id(node)]
            return If(self._of(node.cond), yes.close(self._of(node.true_branch)), no.close(self._of(node.false_branch)), node.span)
        if isinstance(node, Match):
            clauses = [Clause(pattern_with(c.lhs, self.binder), scope.close(self._of(c.rhs)))
                       for c, scope in zip(node.clauses, self.order.inner[id(node)])]
            return Match(self._of(node.data), clauses, node.complete, node.span)
        if isinstance(node, Constant):
            return node
        return with_children(node, [self._of(c) for c in node._children()])


def pattern_with(pattern, variable):
    """The pattern with other variables."""
    if isinstance(pattern, relay.PatternVar):
        return relay.PatternVar(variable(pattern.var), pattern.span)
    if isinstance(pattern, relay.PatternConstructor):
        return relay.PatternConstructor(pattern.constructor, [pattern_with(p, variable) for p in pattern.patterns], pattern.span)
    if isinstance(pattern, relay.PatternTuple):
        return relay.PatternTuple([pattern_with(p, variable) for p in pattern.patterns], pattern.span)
    return pattern


def pattern_vars(pattern):
    """The variables that a pattern binds."""
    return [p.var for p in relay._post_order(pattern, lambda p: p._patterns()) if isinstance(p, relay.PatternVar)]


def with_children(node, parts):
    """A tuple, field, reference ... with other parts."""
    if isinstance(node, Tuple):
        return Tuple(parts, node.span)
    if isinstance(node, relay.TupleGetItem):
        return relay.TupleGetItem(parts[0], node.index, node.span)
    if isinstance(node, relay.RefCreate):
        return relay.RefCreate(parts[0], node.span)
    if isinstance(node, relay.RefRead):
        return relay.RefRead(parts[0], node.span)
    if isinstance(node, relay.RefWrite):
        return relay.RefWrite(*parts, node.span)
    if isinstance(node, Internal):
        return Internal(node, parts, node.span)
    raise TypeError(f"expected an expression, found a {type(node).__name__}")
