"""The names of tvm.relay.expr and tvm.relay.function."""
from ...adt import Adt as ConstructorValue
from ...compiler.relay import Call, Constant, Expr, Function, GlobalVar, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, TupleWrapper, Var
from ...compiler.relay import bind, const, var
from ...compiler.with_fields import (CallWithFields, ConstantWithFields, FunctionWithFields, IfWithFields, LetWithFields, RefCreateWithFields,
                                     RefReadWithFields, RefWriteWithFields, TupleGetItemWithFields, TupleWithFields, VarWithFields)
from ..elsewhere import elsewhere
from ..target import VirtualDevice

ExprWithOp = RelayExpr = Expr



def __getattr__(name):
    if name in ("StaticMemoryPlan", "StorageInfo", "TempExpr"):
        return elsewhere(f"relay.expr.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Call", "CallWithFields", "Constant", "ConstantWithFields", "ConstructorValue", "Expr", "ExprWithOp", "Function", "FunctionWithFields",
           "GlobalVar", "If", "IfWithFields", "Let", "LetWithFields", "RefCreate", "RefCreateWithFields", "RefRead", "RefReadWithFields",
           "RefWrite", "RefWriteWithFields", "RelayExpr", "Tuple", "TupleGetItem", "TupleGetItemWithFields", "TupleWithFields", "TupleWrapper",
           "Var", "VarWithFields", "VirtualDevice", "bind", "const", "var"]
