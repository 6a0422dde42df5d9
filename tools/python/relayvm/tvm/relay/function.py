"""tvm.relay.function: functions."""
from ...compiler.relay import Function

__all__ = ["Function"]
