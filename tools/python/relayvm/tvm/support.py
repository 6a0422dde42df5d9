"""tvm.support: what this build of the compiler has."""
import os

from ..compiler import _native
from .elsewhere import elsewhere

_WITHOUT = ("USE_CUDA", "USE_CUDNN", "USE_CUBLAS", "USE_ROCM", "USE_OPENCL", "USE_VULKAN", "USE_METAL", "USE_RPC", "USE_MICRO",
            "USE_ETHOSU", "USE_ETHOSN", "USE_CMSISNN", "USE_HEXAGON", "USE_TENSORRT_CODEGEN", "USE_TENSORRT_RUNTIME", "USE_CUTLASS", "USE_MKL",
            "USE_MKLDNN", "USE_BNNS", "USE_COREML", "USE_ARM_COMPUTE_LIB")


def libinfo():
    """TVM's options of builds: "ON" or "OFF"; of what is no option here, nothing."""
    return {**dict.fromkeys(_WITHOUT, "OFF"), "USE_LLVM": "ON", "USE_GRAPH_EXECUTOR": "ON", "USE_AOT_EXECUTOR": "ON", "USE_PROFILER": "ON",
            "USE_DNNL": "ON" if "dnnl" in _native.engines() else "OFF"}


GetLibInfo = libinfo


def describe():
    """Prints what a report of a defect should say of the machine."""
    import platform
    import sys
    from .. import __version__
    print(f"Python: {sys.version.split()[0]}\nOS: {platform.platform()}\nrelayvm: {__version__}\nCPU: {platform.machine()}, {os.cpu_count()} cores")


FrontendTestModule = elsewhere("support.FrontendTestModule")

__all__ = ["GetLibInfo", "describe", "libinfo"]
