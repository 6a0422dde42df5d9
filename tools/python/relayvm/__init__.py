"""relayvm: compiles and runs Relay programs and ONNX models.

    import relayvm as rvm

    model = rvm.compile_model("model.onnx")          # needs the package relayvm-compiler
    y = model(x)                                     # numpy in, numpy out

    exe = rvm.compile(rvm.parse(text), params=weights)
    exe.save("model.vmx")
    model = rvm.load("model.vmx")                    # needs no compiler
"""
import atexit as _atexit
import os as _os
import sys as _sys
from importlib import import_module as _import_module


def _refuse_sub_interpreters():
    # Before the native part is loaded: Python gives an interpreter a copy of a native module that another one has loaded, without asking it.
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = _import_module(name)
        except ModuleNotFoundError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("relayvm: only the main interpreter of a process can import it")
        return


def _refuse_without_gil():
    # After the native part is loaded, which turns the GIL on where a free-threaded Python leaves that to modules.
    if not getattr(_sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("relayvm: it needs Python's GIL, which -X gil=0 or PYTHON_GIL=0 has switched off: leave that to Python, which turns "
                          "it on for relayvm")


_refuse_sub_interpreters()

from .adt import Adt
from .errors import (Cancelled, DeadlineExceeded, Error, FailedPrecondition, FileNotFound, InternalError,
                     InvalidArgument, InvalidInput, NotFound, OutOfRange, Place, ResourceExhausted, Unsupported)
from .host import HostFunction, host_function
from .model import Argument, Function, Model, load, tensor
from .runtime import Latencies, RunGroup, Runtime, _close_all, _forked, default_runtime
from .trace import ChromeTrace, Profile
from ._native import Device, State, Value, __version__

_refuse_without_gil()
_atexit.register(_close_all)
_os.register_at_fork(after_in_child=_forked)

# Imported when it is first needed.
_GRAPH = ("GraphModule", "NodeTime", "load_graph")
_SERVE = ("Server", "serve")
# Of the package relayvm-compiler.
_COMPILER = ("Drawing", "Executable", "ExprFunctor", "ExprMutator", "ExprVisitor", "IRModule", "Module", "PassContext", "RelayFunction",
             "TracedValue", "analysis", "assert_structural_equal", "bind_params_by_name", "build", "compile", "compile_model", "create_executor", "describe_operators", "draw", "from_keras", "from_mxnet",
             "from_onnx", "from_pytorch", "from_tensorflow", "from_tflite", "list_operators", "load_params", "parse",
             "post_order_visit", "region_jsons", "relay", "rewrite", "structural_equal", "structural_hash",
             "transform")

# What other packages' users look for.
_ELSEWHERE = {**{name: f"relayvm.onnx.{name}" for name in ("InferenceSession", "OrtValue", "RunOptions", "SessionOptions", "get_available_providers")},
              **{name: f"relayvm.tvm.{name}" for name in ("cpu", "ir", "nd", "runtime", "target")}}

__all__ = ["Adt", "Argument", "Cancelled", "ChromeTrace", "DeadlineExceeded", "Device", "Error", "FailedPrecondition", "FileNotFound", "Function", "GraphModule", "HostFunction",
           "InternalError", "InvalidArgument", "InvalidInput", "Latencies", "Model", "NodeTime", "NotFound", "OutOfRange", "Place", "Profile",
           "ResourceExhausted", "RunGroup", "Runtime", "Server", "State", "Unsupported", "Value", "default_runtime", "host_function", "load", "load_graph", "serve", "tensor"]


def __getattr__(name):
    if name in _GRAPH:
        globals()[name] = getattr(_import_module("relayvm.graph"), name)
        return globals()[name]
    if name in _SERVE:
        globals()[name] = getattr(_import_module("relayvm.server"), name)
        return globals()[name]
    if name not in _COMPILER:
        if name in _ELSEWHERE:
            raise AttributeError(f"module 'relayvm' has no attribute {name!r}; it is {_ELSEWHERE[name]}")
        import difflib
        near = difflib.get_close_matches(name, __dir__(), 1)
        raise AttributeError(f"module 'relayvm' has no attribute {name!r}{f'; did you mean {near[0]}?' if near else ''}")
    try:
        compiler = _import_module("relayvm.compiler")
    except ModuleNotFoundError as error:
        if error.name not in ("relayvm.compiler", "relayvm.compiler._native"):
            raise
        raise ImportError(f"rvm.{name} needs the package relayvm-compiler, which is not installed: only programs that "
                          "are compiled already can run here (rvm.load)") from None
    value = _import_module("relayvm.compiler.transform") if name == "transform" else getattr(compiler, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_GRAPH) | set(_SERVE) | set(_COMPILER))
