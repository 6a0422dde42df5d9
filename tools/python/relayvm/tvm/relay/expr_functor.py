"""tvm.relay.expr_functor: walks over expressions."""
from ...compiler.relay import ExprFunctor, ExprMutator, ExprVisitor

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor"]
