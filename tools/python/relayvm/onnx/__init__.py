"""ONNX Runtime's Python API over relayvm: programs run with one changed line.

    import relayvm.onnx as ort                      # was: import onnxruntime as ort

    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    [y] = session.run(None, {"x": x})

What is different, and what has no effect, is in relayvm/onnx/README.md. What has no place here has its name, and a message that says what to
use. Needs relayvm-compiler, but for .vmx files.
"""
import sys as _sys
from importlib import import_module as _import_module

from .. import __version__ as _version
from . import absent as _absent
from .binding import IOBinding
from .options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from .programs import ModelMetadata, NodeArg
from .session import InferenceSession, Session, get_available_providers, set_global_thread_pool_sizes
from .values import (OrtAllocatorType, OrtArenaCfg, OrtDevice, OrtDeviceMemoryType, OrtDeviceVendorId, OrtMemoryInfo,
                     OrtMemoryInfoDeviceType, OrtMemType, OrtSparseFormat, OrtValue,
                     OrtValueVector, SparseTensor, copy_tensors)

__version__ = version = "1.32.0"  # of ONNX Runtime, whose API this is
package_name, cuda_version = "relayvm", None

# Imported when it is first needed: {name: module}.
_LAZY = {"backend": ".backend", "capi": ".capi", "datasets": ".datasets", "ModelCompiler": ".model_compiler",
         "SessionIOBinding": ".capi.onnxruntime_pybind11_state", "onnxruntime_validation": ".capi.onnxruntime_validation",
         **{name: "." + name for name in _absent.PACKAGES}}

get_all_providers = get_available_providers


def get_device():
    """"CPU"."""
    return "CPU"


def get_version_string():
    """The version of ONNX Runtime whose API this is."""
    return __version__


def get_build_info():
    """What runs the models."""
    return f"relayvm {_version}, with the API of ONNX Runtime {__version__}"


def set_default_logger_severity(severity):
    """0 (all) to 4 of sessions without a level of their own: what goes to Python's logger "relayvm.onnx"."""
    import logging
    if severity not in range(5):
        raise ValueError(f"set_default_logger_severity: expected 0 (verbose), 1 (info), 2 (warning), 3 (error) or 4 (fatal), found {severity!r}")
    logging.getLogger("relayvm.onnx").setLevel((logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)[severity])


def set_default_logger_verbosity(verbosity):
    """Nothing: there is one kind of remark."""


def set_seed(seed):
    """Nothing: RandomNormal and its kin give the same numbers each time, those of their attribute seed."""


def enable_telemetry_events():
    """Nothing: there is no telemetry."""


def disable_telemetry_events():
    """Nothing: there is no telemetry."""


def create_and_register_allocator(mem_info, arena_cfg):
    """Nothing: the runtime keeps memory itself, and all sessions share it."""


def create_and_register_allocator_v2(provider_type, mem_info, options, arena_cfg):
    """Nothing, as create_and_register_allocator."""


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """Nothing: no libraries of CUDA are used."""


def has_collective_ops():
    """False: a model runs in one process."""
    return False


def print_debug_info():
    """Prints versions, for reports."""
    import platform
    print(get_build_info())
    print(f"Python {_sys.version.split()[0]}, {platform.platform()}")


def __getattr__(name):
    if name in _LAZY:
        value = _import_module(_LAZY[name], __name__)
        globals()[name] = value = value if _LAZY[name].endswith("." + name) else getattr(value, name)
        return value
    return _absent.of(name, __name__, globals())
