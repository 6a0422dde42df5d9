"""tvm.runtime: values, programs, and what runs them."""
from .. import nd as ndarray
from ..functions import PackedFunc
from ..ir.container import Array, Map
from ..nd import Device, NDArray, cl, cpu, cuda, device, ext_dev, gpu, metal, mtl, opencl, rocm, vpi, vulkan
from . import container, module, object_path, profiling, script_printer, vm
from .container import ADT, ShapeTuple, String
from .module import Module, enabled, load_module, load_static_library, num_threads, system_lib
from .object import Object, ObjectGeneric, ObjectTypes, const, convert, convert_to_object
from .object_path import ObjectPath, ObjectPathPair
from .params import load_param_dict, load_param_dict_from_file, save_param_dict, save_param_dict_to_file
from .profiling import Report
from .script_printer import Scriptable


def __getattr__(name):
    if name in ("DataType", "DataTypeCode"):
        from .._ffi import runtime_ctypes  # which needs the devices
        return getattr(runtime_ctypes, name)
    if name in ("executor", "profiler_vm"):
        from importlib import import_module
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ADT", "Array", "Device", "Map", "Module", "NDArray", "Object", "ObjectGeneric", "ObjectPath", "ObjectPathPair", "ObjectTypes",
           "PackedFunc", "Report", "Scriptable", "ShapeTuple", "String", "cl", "const", "container", "convert", "convert_to_object", "cpu",
           "cuda", "device", "enabled", "ext_dev", "gpu", "load_module", "load_param_dict", "load_param_dict_from_file", "load_static_library",
           "metal", "module", "mtl", "ndarray", "num_threads", "object_path", "opencl", "profiling", "rocm", "save_param_dict",
           "save_param_dict_to_file", "script_printer", "system_lib", "vm", "vpi", "vulkan"]
