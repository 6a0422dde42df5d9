"""tvm.ir: modules, types, operators; whether two programs are the same."""
from ...compiler import assert_structural_equal, structural_equal, structural_hash
from ...compiler.regions import register_op_attr
from ...compiler.json_graph import load_json, make_node, save_json
from ...compiler.relay import (Attrs, Constructor, EnvFunc, FuncType, GlobalTypeVar, GlobalVar, IncompleteType, Op, RefType, SequentialSpan, SourceName,
                               Span, TensorType, TupleType, Type, TypeCall, TypeConstraint, TypeData, TypeKind, TypeRelation, TypeVar)
from ...compiler.relay import Expr as RelayExpr
from ..transform import PassContext
from . import container, instrument, transform
from .module import IRModule

BaseFunc = RelayExpr

__all__ = ["Attrs", "BaseFunc", "Constructor", "FuncType", "GlobalTypeVar", "GlobalVar", "IRModule", "Op", "PassContext", "RelayExpr", "Span",
           "TensorType", "TupleType", "Type", "TypeCall", "TypeData", "TypeVar", "assert_structural_equal", "container", "instrument",
           "register_op_attr", "structural_equal", "structural_hash", "transform"]
