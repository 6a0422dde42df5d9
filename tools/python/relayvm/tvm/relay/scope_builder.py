"""tvm.relay.scope_builder: lets and ifs in their order."""
from ...compiler.relay import ScopeBuilder

__all__ = ["ScopeBuilder"]
