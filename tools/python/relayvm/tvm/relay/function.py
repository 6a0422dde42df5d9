"""tvm.relay.function: functions."""
from ...compiler.relay import Function
from ...compiler.with_fields import FunctionWithFields

__all__ = ["Function", "FunctionWithFields"]
