"""FoldConstant: what depends on constants alone is computed."""
from .. import relay
from ..relay import Call, Constant, ExprMutator, Function, Let, Op, TensorType, Tuple
from ._make import expression_pass

__all__ = ["FoldConstant", "FoldConstantExpr"]

# Whose results are only large, differ from run to run, or are marks.
_STAY = {"zeros", "ones", "full", "dyn.zeros", "dyn.ones", "dyn.full", "zeros_like", "ones_like", "full_like", "nn.dropout", "device_copy",
         "on_device", "annotation.stop_fusion", "annotation.compiler_begin", "annotation.compiler_end", "annotation.checkpoint",
         "annotation.with_funcid", "annotation.bitpack_start", "annotation.bitpack_end", "annotation.cast_hint"}
_SIZES = ("shape_of", "vm.shape_of", "ndarray_size")


def evaluated(exprs):
    """Constants of expressions without variables: of tuples, tuples of them. By the reference interpreter."""
    from .. import Module, _native
    module = Module({"main": Function([], Tuple(list(exprs)))})
    return [_as_expression(value) for value in _native.DebugProgram(module._native, "main").run((), {}, None)]


def _as_expression(value):
    return Tuple([_as_expression(v) for v in value]) if isinstance(value, tuple) else Constant(value)


def _is_mark(node):
    """Whether it only says where a value is."""
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == "on_device"


class _Folder(ExprMutator):
    """Finds what can be computed: `pending` are nodes that wait for it."""

    def __init__(self, fold_qnn):
        super().__init__()
        self._fold_qnn, self.pending, self._values = fold_qnn, set(), {}

    def _is_known(self, node):
        if isinstance(node, Tuple):
            return all(map(self._is_known, node.fields))
        return isinstance(node, Constant) or node in self.pending or _is_mark(node) and self._is_known(node.args[0])

    def visit_var(self, expr):
        return self._values.get(expr, expr)

    def visit_let(self, let):
        kept = []
        while isinstance(let, Let):
            value = self.visit(let.value)
            if not isinstance(value, Tuple) and self._is_known(value):
                self._values[let.var] = value
            else:
                kept.append((let, value))
            let = let.body
        result = self.visit(let)
        for old, value in reversed(kept):
            result = old if value is old.value and result is old.body else Let(old.var, value, result, old.span)
        return result

    def visit_function(self, fn):
        return fn if "Primitive" in fn.attrs else super().visit_function(fn)

    def visit_if(self, expr):
        cond = self.visit(expr.cond)
        if self._is_known(cond):
            value = cond if isinstance(cond, Constant) else evaluated([cond])[0]
            return self.visit(expr.true_branch if value.data.any() else expr.false_branch)
        return super().visit_if(expr)

    def visit_tuple_getitem(self, expr):
        new = super().visit_tuple_getitem(expr)
        if isinstance(new.tuple_value, Tuple):
            return new.tuple_value.fields[new.index]
        if new.tuple_value in self.pending:
            self.pending.add(new)
        return new

    def visit_call(self, call):
        new = super().visit_call(call)
        if not isinstance(new.op, Op):
            return new
        if new.op.name in _SIZES:
            return self._size(call, new)
        left_out = ("random.", "memory.", "vm.") if self._fold_qnn else ("random.", "memory.", "vm.", "qnn.")
        is_left = new.op.name in _STAY or new.op.name.startswith(left_out)
        if not is_left and new.args and all(map(self._is_known, new.args)):
            self.pending.add(new)
        return new

    def _size(self, call, new):
        """Of a tensor whose sizes are numbers: these."""
        kind = next((a.checked_type for a in (call.args[0], new.args[0]) if a._type is not None), None)
        if not isinstance(kind, TensorType) or not all(isinstance(d, int) for d in kind.shape):
            if self._is_known(new.args[0]):
                self.pending.add(new)
            return new
        import numpy
        shape = numpy.array(kind.shape, "int64")
        dtype = new.attrs.get("dtype") or "int64"
        return Constant((shape.prod() if new.op.name == "ndarray_size" else shape).astype(dtype))


class _Replacer(ExprMutator):
    def __init__(self, values):
        super().__init__()
        self.memo_map.update(values)


def _pending_roots(expr, pending):
    """Nodes that wait and no other one that waits reads alone."""
    roots = {}
    for node in relay._post_order(expr, lambda e: () if e in pending else e._children()):
        if node in pending:
            roots[node] = None
    return list(roots)


def folded(expr, fold_qnn=False):
    """The expression with constants in place of what depends on constants alone."""
    folder = _Folder(fold_qnn)
    new = folder.visit(expr)
    roots = _pending_roots(new, folder.pending)
    return _Replacer(dict(zip(roots, evaluated(roots)))).visit(new) if roots else new


def FoldConstantExpr(expr, mod=None, fold_qnn=False):  # noqa: N802 (TVM's name)
    """An expression, folded."""
    return folded(expr, fold_qnn)


def FoldConstant(fold_qnn=False):  # noqa: N802 (TVM's name)
    """A pass that computes what depends on constants alone. fold_qnn: operators of quantised numbers too."""
    return expression_pass("FoldConstant", lambda fn: folded(fn, fold_qnn), 2)
