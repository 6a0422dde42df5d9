"""tvm.relay.parser: Relay text."""
from ..parser import fromtext, parse, parse_expr
from .span_check import SpanCheck

__all__ = ["SpanCheck", "fromtext", "parse", "parse_expr"]
