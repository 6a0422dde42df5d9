"""The names of tvm.relay.expr and tvm.relay.function."""
from ...adt import Adt as ConstructorValue
from ...compiler.relay import Call, Constant, Expr, Function, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, TupleWrapper, Var
from ...compiler.relay import bind, const, var
from ...compiler.with_fields import (CallWithFields, FunctionWithFields, IfWithFields, LetWithFields, TupleGetItemWithFields, TupleWithFields)
from ..target import VirtualDevice

ExprWithOp = RelayExpr = Expr

__all__ = ["Call", "CallWithFields", "Constant", "ConstructorValue", "Expr", "ExprWithOp", "Function", "FunctionWithFields", "GlobalVar", "If",
           "IfWithFields", "Let", "LetWithFields", "RefCreate", "RefRead", "RefWrite", "RelayExpr", "Tuple", "TupleGetItem",
           "TupleGetItemWithFields", "TupleWithFields", "TupleWrapper", "Var", "VirtualDevice", "bind", "const", "var"]
