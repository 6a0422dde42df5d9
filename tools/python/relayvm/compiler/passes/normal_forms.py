"""ToANormalForm, ToBasicBlockNormalForm, ToGraphNormalForm, and the check of the second."""
from .. import relay
from ..relay import Call, Constant, ExprMutator, Function, Let, Var
from ._make import expression_pass
from .blocks import Binder, Order, Scope

__all__ = ["ToANormalForm", "ToANormalFormExpr", "ToBasicBlockNormalForm", "ToBasicBlockNormalFormExpr", "ToGraphNormalForm"]


class _ANormal(Binder):
    """Each value has a variable. What stands in an on_device is marked too where it gets one of its own."""

    names_results = True

    def __init__(self, root):
        super().__init__(root)
        self._mark = {}  # of nodes inside of such a mark, it
        for node in reversed(self.order.nodes):
            mark = node if _is_mark(node) else self._mark.get(id(node))
            if mark is not None:
                for part in self.order.parts(node):
                    self._mark.setdefault(id(part), mark)

    def names(self, node):
        mark = self._mark.get(id(node))
        return None if mark is not None and node is mark.args[0] and not isinstance(node, Constant) else Var("x")

    def _named(self, node, made):
        mark = self._mark.get(id(node))
        if mark is not None and node is not mark.args[0] and not _is_mark(node):
            made = relay.same_call(mark, mark.op, [made])
        return super()._named(node, made)


def _is_mark(node):
    return isinstance(node, Call) and isinstance(node.op, relay.Op) and node.op.name == "on_device"


class _BasicBlocks(Binder):
    """What several scopes read has a variable in theirs."""

    lets_in_place = True

    def names(self, node):
        return Var("x") if self.order.is_lifted(node) and not isinstance(node, (Function, Let)) else None


def _on_body(binder):
    """Of a function, its body in the form; of another expression, it."""
    def change(expr):
        """A function whose body has the form; of another expression, what has it."""
        if isinstance(expr, Function):
            if "Primitive" in expr.attrs:
                return expr
            body = binder(expr.body).run()
            return Function(expr.params, body, expr.ret_type, expr.type_params, expr.attrs, expr.span, name=expr.name)
        return binder(expr).run()
    return change


ToANormalFormExpr = _on_body(_ANormal)
ToBasicBlockNormalFormExpr = _on_body(_BasicBlocks)


class _Graph(ExprMutator):
    """Values of lets stand where their variables stood; functions that call themselves keep theirs."""

    def __init__(self):
        super().__init__()
        self._values = {}

    def visit_var(self, expr):
        return self._values.get(expr, expr)

    def visit_let(self, let):
        value = self.visit(let.value)
        if let.var in relay._all_vars(let.value):
            return Let(let.var, value, self.visit(let.body), let.span)
        self._values[let.var] = value
        return self.visit(let.body)


def ToANormalForm():  # noqa: N802 (TVM's name)
    """A pass that gives each value a variable, in the order in which they are computed."""
    return expression_pass("ToANormalForm", ToANormalFormExpr, 1, needs_types=False)


def ToBasicBlockNormalForm():  # noqa: N802 (TVM's name)
    """A pass that gives a variable to what several branches, clauses or functions read, outside of all of them."""
    return expression_pass("ToBasicBlockNormalForm", ToBasicBlockNormalFormExpr, 1, needs_types=False)


def ToGraphNormalForm():  # noqa: N802 (TVM's name)
    """A pass that puts values in the place of their variables: a value that is read twice is one node."""
    return expression_pass("ToGraphNormalForm", lambda fn: _Graph().visit(fn), 1, needs_types=False)


def not_in_basic_blocks(expr):
    """Nodes that are read in several scopes without a let that says where they are evaluated."""
    order = Order(expr, Scope())
    bound = {id(v) for v in relay._all_vars(expr)} - {id(v) for v in relay._free_vars(expr)}
    return [node for node in order.nodes if order.is_lifted(node) and id(node) not in bound and not isinstance(node, relay.GlobalVar)]


