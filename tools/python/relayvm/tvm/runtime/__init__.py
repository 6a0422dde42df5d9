"""tvm.runtime: values, programs, and what runs them."""
from .. import nd as ndarray
from ..ir.container import Array, Map
from ..nd import Device, NDArray, cpu, cuda, device, gpu
from . import container, module, vm
from .container import ADT, ShapeTuple, String
from .module import Module, enabled, load_module, system_lib
from .object import Object, ObjectGeneric, convert
from .params import load_param_dict, load_param_dict_from_file, save_param_dict, save_param_dict_to_file

__all__ = ["ADT", "Array", "Device", "Map", "Module", "NDArray", "Object", "ObjectGeneric", "ShapeTuple", "String", "container", "convert", "cpu",
           "cuda", "device", "enabled", "gpu", "load_module", "load_param_dict", "load_param_dict_from_file", "module", "ndarray", "save_param_dict",
           "save_param_dict_to_file", "system_lib", "vm"]
