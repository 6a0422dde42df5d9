"""tvm._ffi: what scripts take of it."""
from ..functions import get_global_func, register_extension, register_func, register_object
from . import base, libinfo, registry, runtime_ctypes
from .base import register_error
from .registry import get_object_type_index

__all__ = ["base", "get_global_func", "get_object_type_index", "libinfo", "register_error", "register_extension", "register_func", "register_object",
           "registry", "runtime_ctypes"]
