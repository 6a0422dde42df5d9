"""tvm.relay.expr: expressions."""
from ...compiler.relay import Call, Constant, Expr, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, TupleWrapper, Var, bind, const, var


__all__ = ["Call", "Constant", "Expr", "GlobalVar", "If", "Let", "RefCreate", "RefRead", "RefWrite", "Tuple", "TupleGetItem", "TupleWrapper", "Var", "bind", "const", "var"]
