"""DeadCodeElimination and EliminateCommonSubexpr."""
from .. import relay
from ..relay import Call, Constant, Constructor, ExprMutator, Function, GlobalVar, Let, Op, RefCreate, RefRead, RefWrite, Var
from ._make import expression_pass

__all__ = ["DeadCodeElimination", "EliminateCommonSubexpr"]

_STATEFUL = {"memory.kill", "memory.alloc_storage", "vm.invoke_tvm_op", "debug"}


# --- Effects ---


class Purity:
    """Whether evaluating an expression has effects; calls of functions that are not known may have."""

    def __init__(self, mod=None):
        self._mod, self._of_functions, self._values, self._known = mod, {}, {}, {}

    def bind(self, var, value):
        """What a let says of a variable."""
        self._values[var] = value

    def is_pure(self, expr):
        """Of an expression that is evaluated."""
        pure, nodes = {}, relay._post_order(expr, self._parts)
        for node in nodes:  # what is read stands before the let that says what it is
            if isinstance(node, Let):
                self._values[node.var] = node.value
        for node in nodes:
            pure[id(node)] = all(pure[id(p)] for p in self._parts(node)) and self._is_step_pure(node)
        return pure[id(expr)]

    @staticmethod
    def _parts(node):
        return () if isinstance(node, Function) else node._children()

    def _is_step_pure(self, node):
        if isinstance(node, (RefCreate, RefRead, RefWrite)):
            return False
        return not isinstance(node, Call) or self.is_call_pure(node.op)

    def is_call_pure(self, callee):
        """Of a function that is called."""
        for _ in range(100):
            if not isinstance(callee, Var) or not isinstance(self._values.get(callee), (Var, Function, GlobalVar, Op, Constructor)):
                break
            callee = self._values[callee]
        if isinstance(callee, Op):
            return callee.name not in _STATEFUL
        if isinstance(callee, Constructor):
            return True
        if isinstance(callee, GlobalVar):
            if self._mod is None or callee.name_hint not in self._mod._names:
                return False
            callee = self._mod[callee.name_hint]
        if not isinstance(callee, Function):
            return False
        if callee not in self._of_functions:
            self._of_functions[callee] = True  # of one that calls itself, what else it does
            self._of_functions[callee] = self.is_pure(callee.body)
        return self._of_functions[callee]


# --- Dead code ---


class _Uses:
    """How often variables are read: by what is evaluated, which counts each node once."""

    def __init__(self, expr, purity):
        self.count, self._lets, self._seen, self.across = {}, {}, set(), set()
        self.impure = set()  # variables whose values have effects
        self._purity = purity
        self._visit(expr, 0)

    def _visit(self, expr, depth):
        todo = [(expr, depth)]
        while todo:
            node, level = todo.pop()
            if isinstance(node, Var):
                self.count[node] = self.count.get(node, 0) + 1
                if node in self._lets:
                    value, at, is_read = self._lets[node]
                    if level != at:
                        self.across.add(node)
                    if not is_read:
                        self._lets[node] = value, at, True
                        todo.append((value, at))
                continue
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            if isinstance(node, Let):
                self._purity.bind(node.var, node.value)
                pure = isinstance(node.value, Function) or self._purity.is_pure(node.value)
                if not pure:
                    self.impure.add(node.var)
                self._lets[node.var] = node.value, level, not pure
                if not pure:
                    todo.append((node.value, level))
                todo.append((node.body, level))
            elif isinstance(node, Function):
                todo.append((node.body, level + 1))
            else:
                todo.extend((p, level) for p in node._children())


class _Eliminator(ExprMutator):
    def __init__(self, uses, inline_once):
        super().__init__()
        self._uses, self._inline_once, self._values = uses, inline_once, {}

    def visit_var(self, expr):
        return self._values.get(expr, expr)

    def visit_let(self, let):
        kept = []
        while isinstance(let, Let):
            uses = self._uses.count.get(let.var, 0)
            pure = let.var not in self._uses.impure
            if uses == 0 and pure:
                pass
            elif uses == 1 and pure and self._inline_once and let.var not in self._uses.across and not self._calls_itself(let):
                self._values[let.var] = self.visit(let.value)
            else:
                kept.append((let, self.visit(let.value)))
            let = let.body
        result = self.visit(let)
        for old, value in reversed(kept):
            result = old if value is old.value and result is old.body else Let(old.var, value, result, old.span)
        return result

    @staticmethod
    def _calls_itself(let):
        return isinstance(let.value, Function) and let.var in relay._all_vars(let.value)


class _NoEffects(Purity):
    def is_pure(self, expr):
        return True


def eliminate(fn, mod=None, inline_once=False, ignore_impurity=False):
    """An expression without lets that nothing needs."""
    purity = _NoEffects() if ignore_impurity else Purity(mod)
    return _Eliminator(_Uses(fn, purity), inline_once).visit(fn)


def DeadCodeElimination(inline_once=False, ignore_impurity=False):  # noqa: N802 (TVM's name)
    """A pass that takes away lets whose variables nothing reads.

    inline_once: values that are read once, in the same function, stand where they are read. ignore_impurity: those with effects (of
    references, of functions that are not known) too.
    """
    from ..transform import FunctionPass
    from ._make import changed_functions

    def run(mod, _):
        return changed_functions(mod, lambda fn: eliminate(fn, mod, inline_once, ignore_impurity), "DeadCodeElimination")
    return FunctionPass("DeadCodeElimination", run, opt_level=1, required=["InferType"])


# --- Common subexpressions ---


def _key(node):
    """The same for nodes with the same value: numbers are compared."""
    if isinstance(node, Constant) and not node.checked_type.shape:
        return node.checked_type.dtype, node.data.tobytes()
    return id(node)


class _Common(ExprMutator):
    def __init__(self, skip):
        super().__init__()
        self._skip, self._known = skip, {}

    def _one(self, key, node):
        if self._skip is not None and self._skip(node):
            return node
        return self._known.setdefault(key, node)

    def visit_call(self, call):
        new = super().visit_call(call)
        if not isinstance(new.op, Op) or new.op.name in _STATEFUL:
            return new
        return self._one(("call", new.op.name, repr(new.attrs), *map(_key, new.args)), new)

    def visit_tuple(self, expr):
        new = super().visit_tuple(expr)
        return self._one(("tuple", *map(_key, new.fields)), new)

    def visit_tuple_getitem(self, expr):
        new = super().visit_tuple_getitem(expr)
        return self._one(("get", id(new.tuple_value), new.index), new)


def EliminateCommonSubexpr(fskip=None):  # noqa: N802 (TVM's name)
    """A pass that computes what is computed alike once. fskip(node): True for nodes that stay by themselves."""
    return expression_pass("EliminateCommonSubexpr", lambda fn: _Common(fskip).visit(fn), 3, ["InferType"])
