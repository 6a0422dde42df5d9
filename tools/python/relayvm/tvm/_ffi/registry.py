"""tvm._ffi.registry: functions by name."""
from ..elsewhere import elsewhere
from ..functions import (PackedFuncBase, convert_to_tvm_func, get_global_func, list_global_func_names, register_extension, register_func,
                         register_object, remove_global_func)
from .base import py_str, string_types


def __getattr__(name):
    if name in ("c_str", "check_call", "extract_ext_funcs", "get_object_type_index"):
        return elsewhere(f"_ffi.registry.{name}", "calls from Python to C++ are the package's own")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


get_object_type_index = __getattr__("get_object_type_index")

__all__ = ["PackedFuncBase", "convert_to_tvm_func", "get_global_func", "list_global_func_names", "py_str", "register_extension", "register_func",
           "register_object", "remove_global_func", "string_types"]
