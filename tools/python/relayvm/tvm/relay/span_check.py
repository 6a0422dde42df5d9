"""Whether the nodes of a program know where they come from."""
from ...compiler.relay import ExprVisitor


class SpanCheck(ExprVisitor):
    """SpanCheck().visit(expr): AssertionError where a node has no place in a source."""

    def _visit_parts(self, expr):
        if expr.span is None:
            raise AssertionError(f"{expr!r} has no span")
        for part in expr._children():
            self.visit(part)

    visit_var = visit_constant = visit_call = visit_tuple = visit_tuple_getitem = visit_let = visit_function = visit_if = visit_match = \
        visit_ref_create = visit_ref_read = visit_ref_write = _visit_parts


__all__ = ["SpanCheck"]
