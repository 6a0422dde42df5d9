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

from . import contrib, error, instrument, ir, nd, parser, relay, runtime, target, te, tir, topi, transform
from .error import TVMError
from .functions import get_global_func, register_func
from .ir import IRModule, container, register_op_attr
from .nd import Device, cpu, cuda, device, gpu
from .runtime.object import convert
from .target import Target

# What TVM has that has no place here, and what to use.
_INSTEAD = {
    "auto_scheduler": "relayc --tune 60s --tune-log FILE measures schedules of kernels, and compile(schedules=FILE) takes them",
    "autotvm": "relayc --tune 60s --tune-log FILE measures schedules of kernels, and compile(schedules=FILE) takes them",
    "meta_schedule": "relayc --tune 60s --tune-log FILE measures schedules of kernels, and compile(schedules=FILE) takes them",
    "micro": "relayc --executor aot makes native code without dependencies",
    "relax": "programs are Relay here, with dynamic shapes",
    "rpc": "vmserve serves models",
    "script": "programs are Relay text (parse)",
}



class _Elsewhere:
    """A part of TVM's that there is not: it can be imported, and says what to use."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        raise AttributeError(f"tvm.{self._name}.{name} is not there; instead: {_INSTEAD[self._name]}")

    def __repr__(self):
        return f"<tvm.{self._name}: not there; instead: {_INSTEAD[self._name]}>"


__all__ = ["Device", "IRModule", "TVMError", "Target", "container", "contrib", "convert", "cpu", "cuda", "device", "error", "get_global_func",
           "gpu", "instrument", "ir", "nd", "parser", "register_func", "register_op_attr", "relay", "runtime", "target", "te", "tir",
           "topi", "transform"]


def __getattr__(name):
    if name in ("support", "testing", "_ffi"):
        return _import_module("." + name, __name__)
    if name in _INSTEAD:
        return _Elsewhere(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
