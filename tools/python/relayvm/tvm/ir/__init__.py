"""tvm.ir: modules, types, operators; whether two programs are the same."""
from ...compiler import assert_structural_equal, structural_equal, structural_hash
from ...compiler.affine_types import AffineType, TensorAffineType, TupleAffineType
from ...compiler.regions import register_op_attr
from ...compiler.json_graph import load_json, make_node, save_json
from ...compiler.relay import (Attrs, Constructor, EnvFunc, FuncType, GlobalTypeVar, GlobalVar, IncompleteType, Op, RefType, SequentialSpan,
                               SourceName, Span, TensorType, TupleType, Type, TypeCall, TypeConstraint, TypeData, TypeKind, TypeRelation, TypeVar)
from ...compiler.relay import Expr as RelayExpr
from ..transform import PassContext
from . import container, instrument, transform
from .container import Array, Map
from .module import IRModule

BaseExpr = BaseFunc = RelayExpr
DictAttrs, RelayRefType = Attrs, RefType

__all__ = ["AffineType", "Array", "Attrs", "BaseExpr", "BaseFunc", "Constructor", "DictAttrs", "EnvFunc", "FuncType", "GlobalTypeVar", "GlobalVar",
           "IRModule", "IncompleteType", "Map", "Op", "PassContext", "RefType", "RelayExpr", "RelayRefType", "SequentialSpan",
           "SourceName", "Span", "TensorAffineType", "TensorType", "TupleAffineType", "TupleType", "Type", "TypeCall", "TypeConstraint",
           "TypeData", "TypeKind", "TypeRelation", "TypeVar", "assert_structural_equal", "container", "instrument", "load_json",
           "make_node", "register_op_attr", "save_json", "structural_equal", "structural_hash", "transform"]
