"""tvm.relay.expr: expressions."""
from ...adt import Adt as ConstructorValue
from ...compiler.relay import Call, Constant, Expr, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, TupleWrapper, Var
from ...compiler.relay import bind, const, var
from ...compiler.with_fields import CallWithFields, IfWithFields, LetWithFields, TupleGetItemWithFields, TupleWithFields

ExprWithOp = RelayExpr = Expr

__all__ = ["Call", "CallWithFields", "Constant", "ConstructorValue", "Expr", "ExprWithOp", "GlobalVar", "If", "IfWithFields", "Let", "LetWithFields",
           "RefCreate", "RefRead", "RefWrite", "RelayExpr", "Tuple", "TupleGetItem", "TupleGetItemWithFields", "TupleWithFields", "TupleWrapper",
           "Var", "bind", "const", "var"]
