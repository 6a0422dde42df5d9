"""tvm._ffi: what scripts take of it."""
from . import base


def register_func(*args, **kwargs):
    """As tvm.register_func."""
    from .. import register_func as register
    return register(*args, **kwargs)


def get_global_func(*args, **kwargs):
    """As tvm.get_global_func."""
    from .. import get_global_func as get
    return get(*args, **kwargs)


__all__ = ["base", "get_global_func", "register_func"]
