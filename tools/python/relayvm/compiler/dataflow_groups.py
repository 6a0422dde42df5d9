"""How patterns (`dataflow_pattern`) are found in programs, and what stands in place of what they match.

A match binds each pattern to what it stands for. From the result of the program on towards its operands, matches become groups: the nodes
between the match and what the pattern leaves open. Groups have no node in common. What another node reads of a group beside its result is
allowed only where that comes back to the group's result, since a group becomes one node.
"""
import warnings

from . import inference, relay
from .recursion import deep
from .relay import Call, Constant, Expr, ExprMutator, Function, If, Let, Match, Op, Tuple, TupleGetItem, Var, _post_order
from .structural import structural_equal

_ROUNDS = 100  # of rewriting, after which callbacks are taken to contradict each other


# --- Patterns as graphs ---


def _patterns_of(pattern):
    """All patterns of one, each after what it is made of; a pattern may contain itself."""
    return _post_order(pattern, lambda p: p._parts())


def text(pattern):
    """A pattern for people."""
    inside = []

    def inner(p):
        if p in inside or len(inside) > 20:
            return "..."
        inside.append(p)
        result = p._text(inner)
        inside.pop()
        return result
    return inner(pattern)


# --- Programs as graphs ---


def _bound_by(pattern):
    return [p.var for p in _post_order(pattern, lambda p: p._patterns()) if isinstance(p, relay.PatternVar)]


def _reads_itself(order):
    """Calls of functions that are bound by let, inside of themselves."""
    calls = set()
    for let in order:
        if isinstance(let, Let) and isinstance(let.value, Function):
            calls.update(node for node in _post_order(let.value, lambda e: e._children()) if isinstance(node, Call) and node.op is let.var)
    return calls


class Flow:
    """Which nodes of an expression are made of which, in an order where operands come first; values flow to variables that lets and
    patterns bind."""

    def __init__(self, root):
        self.root = root
        self.order = _post_order(root, self._visited)
        self.index = {node: i for i, node in enumerate(self.order)}
        self._calls_of_self = _reads_itself(self.order) if any(isinstance(node, Let) for node in self.order) else ()
        self._values = {}  # of variables
        for node in self.order:
            if isinstance(node, Let):
                self._values[node.var] = node.value
            elif isinstance(node, Match):
                self._values.update((v, node.data) for clause in node.clauses for v in _bound_by(clause.lhs))
        self._outputs = self._parents = None

    @staticmethod
    def _visited(node):
        if isinstance(node, Let):
            return node.value, node.var, node.body
        if isinstance(node, Match):
            return node.data, *(part for clause in node.clauses for part in (*_bound_by(clause.lhs), clause.rhs))
        return node._children()

    def inputs(self, node):
        """Nodes whose values a node is made of."""
        if isinstance(node, Var):
            return (self._values[node],) if node in self._values else ()
        if isinstance(node, (Function, Let)):
            return (node.body,)
        if isinstance(node, Call):
            return node.args if node in self._calls_of_self else (node.op, *node.args)
        if isinstance(node, Match):
            return tuple(clause.rhs for clause in node.clauses)
        return node._children()

    def outputs(self, node):
        """Nodes that read a node."""
        if self._outputs is None:
            self._outputs = {}
            for reader in self.order:
                for part in self.inputs(reader):
                    self._outputs.setdefault(part, []).append(reader)
        return self._outputs.get(node, ())

    def dominates(self, node, other):
        """Whether all that is made of `other` goes through `node`, another one."""
        if self._parents is None:
            self._find_parents()
        last = self.index[node]
        while other is not None and self.index[other] < last:
            other = self._parents[other]
        return other is node

    def _find_parents(self):
        """The nearest node that all readers of a node come together in, of each."""
        self._parents, depth = {self.root: None}, {self.root: 1}
        for node in reversed(self.order):
            if node is self.root:
                continue
            after = [r for r in self.outputs(node) if self.index[r] > self.index[node]]
            parent = after[0] if after else None
            for reader in after[1:]:
                parent = self._together(parent, reader, depth)
            self._parents[node] = parent
            depth[node] = 1 + (depth[parent] if parent is not None else 0)

    def _together(self, a, b, depth):
        while a is not b:
            if a is None or b is None:
                return None
            if depth[a] >= depth[b]:
                a, b = b, a
            b = self._parents[b]
        return a


# --- Matches ---


class Matcher:
    """What each pattern stands for, of one match after the other in one program."""

    def __init__(self, root, pattern, mod=None):
        self.root, self.pattern, self.patterns, self._mod = root, pattern, _patterns_of(pattern), mod
        self._flow = None
        self._failed = set()  # (pattern, expression) that never match, whatever else is bound
        self._astray = set()  # (dominator, expression) that are on no path
        has_cycle = any(type(p).__name__ == "WildcardPattern" and p._parts() for p in self.patterns)
        self._frames = 20 * len(self.patterns) * (len(self.flow.order) if has_cycle else 1)
        self._start()

    def _start(self):
        self.found, self._trail = {}, []
        self._conflicts = 0  # how often a pattern stood for something else already
        self._remembers = True

    @property
    def flow(self):
        """Who reads what in the expression that patterns are looked for in."""
        if self._flow is None:
            self._flow = Flow(self.root)
        return self._flow

    def matches(self, expr):
        """Whether an expression of the program is what the pattern describes; `found` tells what patterns stand for."""
        self._start()
        return deep(self._frames, self.match, self.pattern, expr)

    def match(self, pattern, expr):
        """Whether an expression is what a pattern describes; what that and its parts stand for is remembered."""
        if self._remembers:
            known = self.found.get(pattern)
            if known:
                if known[-1] is expr:
                    return True
                self._conflicts += 1
                return False
        if (pattern, expr) in self._failed:
            return False
        before, conflicts = len(self._trail), self._conflicts
        if pattern._matches(self, expr):
            self.found.setdefault(pattern, []).append(expr)
            self._trail.append(pattern)
            return True
        self._forget(before)
        if conflicts == self._conflicts:
            self._failed.add((pattern, expr))
        return False

    def match_all(self, patterns, exprs):
        """The same of as many patterns and expressions; nothing is remembered where one of them fails."""
        if len(patterns) != len(exprs):
            return False
        before = len(self._trail)
        for pattern, expr in zip(patterns, exprs):
            if not self.match(pattern, expr):
                self._forget(before)
                return False
        return True

    def _forget(self, size):
        while len(self._trail) > size:
            pattern = self._trail.pop()
            self.found[pattern].pop()
            if not self.found[pattern]:
                del self.found[pattern]

    def type_of(self, expr):
        """The type of an expression; None where it does not follow."""
        return inference.type_of(expr, self._mod)

    # Of dominators.

    def comes_over_path(self, pattern, expr):
        """Whether all operands of an expression come from one node that is pattern.parent over nodes that are pattern.path."""
        conflicts, way = self._conflicts, [expr]
        try:
            if self._is_path(pattern, way):
                return True
        finally:
            self._remembers = True
        if conflicts == self._conflicts:  # then no way from these leads to a parent, whatever is bound
            self._astray.update((pattern, node) for node in way)
        return False

    def _is_path(self, pattern, way):
        """The same of the one node of a list, which has the nodes on the way to where it fails in the end."""
        seen, stack = set(), [self._operands(way[0])]
        while stack:
            if stack[-1] is None or (pattern, way[-1]) in self._astray:
                return False
            for operand in stack[-1]:
                self._remembers = True
                if self.match(pattern.parent, operand):
                    continue
                self._remembers = False
                if operand in seen:
                    continue
                if not self.match(pattern.path, operand):
                    return False
                seen.add(operand)
                way.append(operand)
                stack.append(self._operands(operand))
                break
            else:
                stack.pop()
                way.pop()
        return True

    def _operands(self, expr):
        callee = expr.op if isinstance(expr, Call) else None
        operands = [node for node in self.flow.inputs(expr) if node is not callee]
        return iter(operands) if operands else None

    def dominates(self, parent, expr):
        """Whether all that is made of what `parent` stands for goes through an expression."""
        return self.flow.dominates(expr, self.found[parent][-1])


# --- Groups ---


class Group:
    """A match that is taken: found, what patterns stand for; args, what is left open; inside, the other nodes, the root last."""

    def __init__(self, found, args, inside):
        self.found, self.args, self.inside = found, args, inside

    def name(self):
        """Its operators."""
        return "".join(map(_name_of, self.inside))


def _name_of(node):
    if isinstance(node, Call):
        return node.op.name + "_" if isinstance(node.op, Op) else "Call_"
    if isinstance(node, Function):
        return "Function"
    if isinstance(node, TupleGetItem):
        return f"TupleGetItem{node.index}_"
    if isinstance(node, (Tuple, Let, If, Match)):
        return type(node).__name__ + "_"
    return ""


class _Grouper:
    """Groups of the matches of a pattern: {root: Group}."""

    def __init__(self, pattern, root, mod=None):
        self.groups, self._taken = {}, set()
        self._matcher = Matcher(root, pattern, mod)
        done = set()
        for node in reversed(self._matcher.flow.order):
            if node in self._taken:
                continue
            if isinstance(node, Function) and "PartitionedFromPattern" in node.attrs:
                done.update(_post_order(node, lambda e: e._children()))
            if node not in done and self._matcher.matches(node):
                self._take(node)

    def _take(self, root):
        found = {pattern: list(nodes) for pattern, nodes in self._matcher.found.items()}
        args = self._open(found)
        inside = [n for n in _post_order(root, lambda e: () if e in args else e._children()) if n not in args]
        if self._is_free(root, inside, args):
            self.groups[root] = Group(found, list(args), inside)
            self._taken.update(inside)

    def _open(self, found):
        """What the pattern leaves open, in its order."""
        names, args = {p: type(p).__name__ for p in self._matcher.patterns}, {}
        within = set()  # what patterns say something of as a whole
        for pattern, name in names.items():
            if name == "DominatorPattern":
                within.update(node for part in (pattern.parent, pattern.path) for node in found.get(part, ()))
            elif name == "FunctionPattern":
                within.update(n for fn in found.get(pattern, ()) for n in _post_order(fn.body, lambda e: e._children()))

        def add(node, name):
            is_inside = isinstance(node, Constant) and (name == "ConstantPattern" or name == "ExprPattern")
            if not (is_inside or node in within or isinstance(node, (Op, Function))):
                args.setdefault(node)

        for pattern, name in names.items():
            for node in found.get(pattern, ()):
                if name == "TuplePattern" and pattern.fields is None:
                    parts = node.fields
                elif name == "CallPattern" and pattern.args is None:
                    parts = node.args
                else:
                    parts = () if pattern._parts() else (node,)
                for part in parts:
                    add(part, name)
        return args

    def _is_free(self, root, inside, args):
        """Whether no node is another group's, and what others read of it comes back to the root."""
        flow, own = self._matcher.flow, set(inside)
        for node in inside:
            if isinstance(node, (Op, Function, Constant)):
                continue
            if node in self._taken:
                return False
            if node is not root and any(r not in own and not flow.dominates(root, r) for r in flow.outputs(node)):
                return False
        return True


# --- What stands in place of groups ---


class _Rebuilt(ExprMutator):
    """New nodes of what memo_map has for operands; asked for one node at a time, operands first."""

    def __init__(self, keeps_types, memo=()):
        super().__init__()
        self._keeps_types, self._depth = keeps_types, 1
        self.memo_map.update(memo)

    def visit(self, expr):
        if expr in self.memo_map:
            return self.memo_map[expr]
        result = super().visit(expr)
        if self._keeps_types and result is not expr and isinstance(result, Expr) and result._type is None:
            relay._set(result, "_type", expr._type)
        return result


def _replaced(root, groups, keeps_types, replace):
    """The expression with replace(node, the same of new operands, new nodes of old ones) in place of the roots of groups."""
    rebuilt = _Rebuilt(keeps_types)
    for node in _post_order(root, Flow._visited):
        new = rebuilt.visit(node)
        if node in groups:
            new = replace(node, new, rebuilt.memo_map)
            if isinstance(new, Expr) and new._span is None:
                relay._set(new, "_span", node._span)
            if keeps_types and new._type is None:
                relay._set(new, "_type", node._type)
            rebuilt.memo_map[node] = new
    return rebuilt.memo_map[root]


def partition(pattern, root, attrs, check, with_types=False):
    """`dataflow_pattern.partition`. with_types: whether parameters have the types that arguments are known to have."""
    if type(pattern).__name__ == "FunctionPattern":
        warnings.warn(f"partition: a function that is not called makes no function: {pattern!r}; add (...) for a call of it", stacklevel=3)
        return root
    groups = _Grouper(pattern, root).groups
    numbers = {node: i for i, node in enumerate(groups)}

    def call(node, new, memo):
        if not check(node):
            return new
        group = groups[node]
        kinds = [arg.checked_type if with_types and (arg._type is not None or isinstance(arg, Constant)) else None for arg in group.args]
        params = {arg: Var(f"FunctionVar_{numbers[node]}_{i}", kind) for i, (arg, kind) in enumerate(zip(group.args, kinds))}
        body = _Rebuilt(True, params)
        for part in group.inside:
            body.visit(part)
        fn = Function(list(params.values()), body.memo_map[node], attrs={"PartitionedFromPattern": group.name(), **attrs})
        return Call(fn, [memo[arg] for arg in group.args], span=node.span)

    return _replaced(root, groups, True, call) if groups else root


def _rewritten(callback, root, mod):
    groups = _Grouper(callback.pattern, root, mod).groups

    def call(node, new, memo):
        node_map = {pattern: [memo.get(n, n) for n in nodes] for pattern, nodes in groups[node].found.items()}
        result = callback.callback(node, new, node_map)
        if not isinstance(result, Expr):
            raise TypeError(f"{type(callback).__name__}.callback: expected it to give an expression, found {type(result).__name__}")
        return result

    return _replaced(root, groups, False, call) if groups else root


def _is_same(a, b):
    return a is b or structural_equal(a, b, map_free_vars=True)


def rewrite(callbacks, expr, mod):
    """`dataflow_pattern.rewrite`."""
    rounds, done = 0, set()
    while True:
        last = expr
        for callback in callbacks:
            if callback in done:
                continue
            before = inference.infer(expr, mod) if callback.require_type else expr
            expr = _rewritten(callback, before, mod)
            rounds += 1
            if callback.rewrite_once and not _is_same(before, expr):
                done.add(callback)
        if _is_same(last, expr):
            return expr
        if rounds >= _ROUNDS:
            names = ", ".join(type(callback).__name__ for callback in callbacks)
            raise RuntimeError(f"rewrite: {rounds} rounds and no end: {names} may undo what the others do; rewrite_once=True ends one")


class _WithoutLets(ExprMutator):
    """Values without effects stand where they are read."""

    def visit_let(self, let):
        chain = []
        while isinstance(let, Let):
            value = self.visit(let.value)
            if isinstance(value, (Constant, Tuple, TupleGetItem, Var)) or isinstance(value, Call) and isinstance(value.op, Op):
                self.memo_map[let.var] = value
            else:
                chain.append((let, value))
            let = let.body
        body = self.visit(let)
        for old, value in reversed(chain):
            body = Let(old.var, value, body, old.span)
        return body

    def visit(self, expr):
        result = super().visit(expr)
        if result is not expr and isinstance(result, Expr) and result._type is None:
            relay._set(result, "_type", expr._type)
        return result


def without_lets(fn):
    """The function, where values without effects stand where they are read."""
    return _WithoutLets().visit(fn) if any(isinstance(node, Let) for node in _post_order(fn, lambda e: e._children())) else fn


def merge_composites(table, fn):
    """A function after the (name, pattern[, predicate]) of a table, in their order."""
    start = without_lets(fn)
    merged = start
    for name, pattern, *check in table:
        merged = partition(pattern, merged, {"Composite": name}, check[0] if check else lambda expr: True, with_types=True)
    return fn if merged is start else merged
