"""tvm.relay.build_module."""
from ...compiler import bind_params_by_name as _bind
from . import build, create_executor


def bind_params_by_name(func, params):
    """The function with constants for the parameters that `params` names."""
    return _bind(func, params)[func.name or "main"]


__all__ = ["bind_params_by_name", "build", "create_executor"]
