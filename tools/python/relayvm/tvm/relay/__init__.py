"""tvm.relay: the nodes of `relayvm.relay`, and ways to build as TVM's users write them."""
from importlib import import_module

from ...compiler import relay as _relay
from .. import parser as _parser
from .. import target
from ..elsewhere import elsewhere
from ..runtime.params import load_param_dict, save_param_dict
from .base import astext, pretty_print
from .build_module import ExecutorFactory, bind_params_by_name, build, build_config, create_executor, optimize
from .debugger import debug
from .span_check import SpanCheck

parse, parse_expr, fromtext = _parser.parse, _parser.parse_expr, _parser.fromtext


def ShapeVar(name):  # noqa: N802 (TVM's name)
    """A type variable that stands for a shape."""
    return _relay.TypeVar(name, _relay.TypeKind.ShapeVar)


def __getattr__(name):
    if name in ("testing", "quantize"):
        return import_module("." + name, __name__)
    if name == "Prelude":
        return import_module(".prelude", __name__).Prelude
    if name in ("ExprWithOp", "RelayExpr"):
        return _relay.Expr
    if name in ("reg", "contrib"):
        op = import_module(".op", __name__)
        return op.op if name == "reg" else op.contrib
    if name in ("collage", "copy_shape_func", "memory_plan"):
        return elsewhere({"memory_plan": "relay.transform.memory_plan", "copy_shape_func": "relay.op.strategy"}.get(name, f"relay.{name}"))
    return getattr(_relay, name)


_PARTS = ("analysis", "backend", "base", "data_dep_optimization", "frontend", "loops", "op", "prelude", "qnn", "quantize", "transform", "vm")
for _part in _PARTS:  # which need what is above
    import_module("." + _part, __name__)
