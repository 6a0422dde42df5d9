"""tvm.relay.ty: types."""
from ...compiler.relay import Any, FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall, TypeVar, scalar_type

__all__ = ["Any", "FuncType", "GlobalTypeVar", "RefType", "TensorType", "TupleType", "Type", "TypeCall", "TypeVar", "scalar_type"]
