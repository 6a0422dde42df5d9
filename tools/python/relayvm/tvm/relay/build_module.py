"""tvm.relay.build_module."""
from ...compiler import Module
from ...compiler import bind_params_by_name as _bind
from . import build, create_executor


def bind_params_by_name(func, params):
    """The function with constants for the parameters that `params` names."""
    module, name = (Module.from_expr(func), "main") if func.module is None else (func.module, func.name)
    return _bind(module, params, name)[name]


__all__ = ["bind_params_by_name", "build", "create_executor"]
