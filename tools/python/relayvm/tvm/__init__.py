"""TVM's names, for scripts that build and run models: `import relayvm.tvm as tvm`.

    import relayvm.tvm as tvm
    from relayvm.tvm import relay
    from relayvm.tvm.contrib import graph_executor

    mod, params = relay.frontend.from_pytorch(traced, [("x", (1, 3, 224, 224))])
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("x", tvm.nd.array(x))
    module.run()
    y = module.get_output(0).numpy()

A thin layer over relayvm: each name is what does the same there. It needs the package relayvm-compiler.
"""
from importlib import import_module as _import_module

from .. import __version__
from . import contrib, error, ir, nd, parser, relay, runtime, target, te, tir, topi, transform
from . import tree as _tree
from .error import TVMError
from .functions import get_global_func, register_extension, register_func, register_object
from .ir import IRModule, container, register_op_attr
from .nd import Device, cl, cpu, cuda, device, ext_dev, gpu, hexagon, metal, mtl, opencl, rocm, vpi, vulkan
from .runtime.object import Object, convert
from .target import Target

_tree.plant()

_POOLS = ("ConstantMemoryPools", "ConstantPoolInfo", "PoolInfo", "PoolInfoProperties", "WorkspaceMemoryPools", "WorkspacePoolInfo")


def tvm_wrap_excepthook(exception_hook):
    """The hook: nothing is to be ended here when Python fails."""
    return exception_hook


def __getattr__(name):
    if name in ("driver", "support", "testing", "_ffi"):
        return _import_module("." + name, __name__)
    if name in ("DataType", "DataTypeCode"):
        return getattr(_import_module("._ffi.runtime_ctypes", __name__), name)
    if name in _POOLS:
        return getattr(ir, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Device", "IRModule", "Object", "TVMError", "Target", "__version__", "cl", "container", "contrib", "convert", "cpu", "cuda", "device",
           "error", "ext_dev", "get_global_func", "gpu", "hexagon", "instrument", "ir", "metal", "mtl", "nd", "opencl", "parser",
           "register_extension", "register_func", "register_object", "register_op_attr", "relay", "rocm", "runtime", "target", "te", "tir",
           "topi", "transform", "tvm_wrap_excepthook", "vpi", "vulkan"]
