"""tvm.relay: the nodes of `relayvm.relay`, and ways to build as TVM's users write them."""
from importlib import import_module

from ...compiler import relay as _relay
from .. import parser as _parser
from ..runtime.params import load_param_dict, save_param_dict
from .build_module import ExecutorFactory, bind_params_by_name, build, build_config, create_executor, optimize
from .debugger import debug
from .span_check import SpanCheck


def fromtext(data, source_name="from_string"):
    """An IRModule of Relay text, or an expression of text without definitions."""
    return _parser.fromtext(data, source_name)


parse, parse_expr = _parser.parse, _parser.parse_expr


def __getattr__(name):
    if name == "testing":
        return import_module(".testing", __name__)
    if name == "Prelude":
        return import_module(".prelude", __name__).Prelude
    if name in ("ExprWithOp", "RelayExpr"):
        return _relay.Expr
    return getattr(_relay, name)


_PARTS = ("adt", "analysis", "backend", "base", "data_dep_optimization", "dataflow_pattern", "expr", "expr_functor", "frontend", "function", "loops",
          "op", "param_dict", "prelude", "qnn", "scope_builder", "transform", "ty", "type_functor", "vm")
for _part in _PARTS:  # which need what is above
    import_module("." + _part, __name__)
