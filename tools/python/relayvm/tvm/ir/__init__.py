"""tvm.ir: modules, types, operators; whether two programs are the same."""
import enum
import warnings

from ...compiler import assert_structural_equal, structural_equal, structural_hash
from ...compiler.affine_types import AffineType, TensorAffineType, TupleAffineType
from ...compiler.dims import Range
from ...compiler.json_graph import load_json, make_node, save_json
from ...compiler.mismatch import get_first_structural_mismatch
from ...compiler.objects import Node, Object
from ...compiler.regions import register_op_attr
from ...compiler.relay import (Attrs, Constructor, EnvFunc, FuncType, Function, GlobalTypeVar, GlobalVar, IncompleteType, Op, RefType, SequentialSpan,
                               SourceName, Span, TensorType, TupleType, Type, TypeCall, TypeConstraint, TypeData, TypeKind, TypeRelation, TypeVar)
from ...compiler.relay import Expr as RelayExpr
from ...compiler.types import PointerType, PrimType
from ..elsewhere import elsewhere
from ..transform import PassContext
from . import container, diagnostics, supply
from .container import Array, Map
from .module import IRModule
from .supply import GlobalVarSupply, NameSupply

BaseFunc = Function
DictAttrs, RelayRefType = Attrs, RefType


class CallingConv(enum.IntEnum):
    """How TVM's kernels are called."""

    DEFAULT, C_PACKED_FUNC, DEVICE_KERNEL_LAUNCH = 0, 1, 2


class _Values(type):
    def __instancecheck__(cls, value):
        from ..tir import PrimExpr
        return isinstance(value, (RelayExpr, PrimExpr))


class BaseExpr(Node, metaclass=_Values):
    """An expression, a number or a size."""


class Source(Object):
    """A text and its name."""

    def __init__(self, source_name, source):
        self.source_name, self.source = source_name, source


class SourceMap(Object):
    """Texts (`Source`) by their names."""

    def __init__(self):
        self.source_map = {}

    def add(self, name, content):
        """Adds one."""
        name = SourceName(name)
        self.source_map[name] = Source(name, content)
        return name


def deprecated(method_name, new_method_name):
    """A decorator: calls warn that there is a newer name."""
    def decorate(function):
        def run(*args, **kwargs):
            warnings.warn(f"{method_name} is deprecated, use {new_method_name} instead", DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)
        return run
    return decorate


_PLANNED = "the compiler plans memory of every program (vmdump --memory shows it), and Runtime(memory_limit=...) bounds it"
_ABSENT = {
    **dict.fromkeys(("AllocatedPoolInfo", "ConstantInfo", "ConstantMemoryPools", "ConstantPoolInfo", "PoolInfo", "PoolInfoProperties",
                     "WorkspaceMemoryPools", "WorkspacePoolInfo", "memory_pools"), _PLANNED),
    **dict.fromkeys(("create_updater", "create_updater_06_to_07", "create_updater_07_to_08", "create_updater_08_to_09", "create_updater_13_to_14",
                     "upgrade_json", "json_compact"), "load_json reads what this package's save_json wrote; programs of TVM's come as Relay text"),
    **dict.fromkeys(("DummyGlobalInfo", "GlobalInfo", "VDevice"), "programs are Relay here, which has none"),
    "register_intrin_lowering": "operators of your own are functions of others, or plugins (relayc --plugin)",
    "is_relax_expr": "programs are Relay here, with dynamic shapes",
}


def __getattr__(name):
    if name == "PrimExpr":
        from ..tir import PrimExpr
        return PrimExpr
    if name in _ABSENT:
        return elsewhere(f"ir.{name}", _ABSENT[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["AffineType", "Array", "Attrs", "BaseExpr", "BaseFunc", "CallingConv", "Constructor", "DictAttrs", "EnvFunc", "FuncType", "GlobalTypeVar",
           "GlobalVar", "GlobalVarSupply", "IRModule", "IncompleteType", "Map", "NameSupply", "Node", "Op", "PassContext", "PointerType", "PrimType",
           "Range", "RefType", "RelayExpr", "RelayRefType", "SequentialSpan", "SourceMap", "SourceName", "Span", "TensorAffineType", "TensorType",
           "TupleAffineType", "TupleType", "Type", "TypeCall", "TypeConstraint", "TypeData", "TypeKind", "TypeRelation", "TypeVar",
           "assert_structural_equal", "container", "deprecated", "diagnostics", "get_first_structural_mismatch", "load_json", "make_node",
           "register_op_attr", "save_json", "structural_equal", "structural_hash", "supply"]
