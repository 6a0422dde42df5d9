"""Modules of TVM's that hold no more than names which are elsewhere here: tvm.relay.ty, tvm.ir.base ... They are made when relayvm.tvm is."""
import importlib
import sys
import types

from .elsewhere import INSTEAD, elsewhere

# TVM's module: where its names are, in relayvm; behind a colon, a part of that which has them.
PLACES = {
    "contrib.graph_runtime": ("tvm.contrib.graph_executor",),
    "instrument": ("compiler.instruments",),
    "ir.adt": ("tvm.ir",),
    "ir.affine_type": ("tvm.ir",),
    "ir.attrs": ("tvm.ir",),
    "ir.base": ("tvm.ir",),
    "ir.expr": ("tvm.ir",),
    "ir.function": ("tvm.ir",),
    "ir.global_info": ("tvm.ir",),
    "ir.instrument": ("compiler.instruments",),
    "ir.op": ("tvm.ir",),
    "ir.tensor_type": ("tvm.ir",),
    "ir.transform": ("tvm.transform",),
    "ir.type": ("tvm.ir",),
    "ir.type_relation": ("tvm.ir",),
    "relay.adt": ("compiler.relay",),
    "relay.analysis.analysis": ("tvm.relay.analysis",),
    "relay.analysis.annotated_regions": ("tvm.relay.analysis",),
    "relay.analysis.call_graph": ("tvm.relay.analysis",),
    "relay.analysis.count_layers": ("tvm.relay.analysis",),
    "relay.analysis.feature": ("tvm.relay.analysis",),
    "relay.analysis.sparse_conv2d": ("tvm.relay.data_dep_optimization.bsr_conv2d",),
    "relay.analysis.sparse_dense": ("tvm.relay.data_dep_optimization.bsr_dense",),
    "relay.backend.name_transforms": ("tvm.relay.backend.names",),
    "relay.backend.runtime": ("tvm.relay.backend.executor",),
    "relay.backend.utils": ("tvm.relay.backend.names",),
    "relay.data_dep_optimization.utils": ("tvm.relay.data_dep_optimization",),
    "relay.dataflow_pattern": ("compiler.dataflow_pattern",),
    "relay.debug": ("tvm.relay.debugger",),
    "relay.expr": ("tvm.relay.expressions",),
    "relay.expr_functor": ("compiler.functors",),
    "relay.frontend.keras": ("tvm.relay.frontend",),
    "relay.frontend.mxnet": ("tvm.relay.frontend",),
    "relay.frontend.onnx": ("tvm.relay.frontend",),
    "relay.frontend.pytorch": ("tvm.relay.frontend",),
    "relay.frontend.tensorflow": ("tvm.relay.frontend",),
    "relay.frontend.tflite": ("tvm.relay.frontend",),
    "relay.function": ("tvm.relay.expressions",),
    "relay.op.algorithm": ("compiler.relay:op",),
    "relay.op.annotation": ("compiler.relay:op.annotation",),
    "relay.op.annotation.annotation": ("compiler.relay:op.annotation",),
    "relay.op.dyn": ("compiler.relay:op.dyn",),
    "relay.op.dyn.image": ("compiler.relay:op.dyn.image",),
    "relay.op.dyn.nn": ("compiler.relay:op.dyn.nn",),
    "relay.op.image": ("compiler.relay:op.image",),
    "relay.op.image.image": ("compiler.relay:op.image",),
    "relay.op.nn": ("compiler.relay:op.nn", "tvm.relay.op.nn_utils"),
    "relay.op.nn.nn": ("compiler.relay:op.nn", "tvm.relay.op.nn_utils"),
    "relay.op.nn.utils": ("tvm.relay.op.nn_utils",),
    "relay.op.random": ("compiler.relay:op.random",),
    "relay.op.random.kernel": ("compiler.relay:op.random",),
    "relay.op.reduce": ("compiler.relay:op",),
    "relay.op.tensor": ("compiler.relay:op", "tvm.relay.op"),
    "relay.op.transform": ("compiler.relay:op",),
    "relay.op.vision": ("compiler.relay:op.vision",),
    "relay.op.vision.multibox": ("compiler.relay:op.vision",),
    "relay.op.vision.nms": ("compiler.relay:op.vision",),
    "relay.op.vision.rcnn": ("compiler.relay:op.vision",),
    "relay.op.vision.yolo": ("compiler.relay:op.vision",),
    "relay.op.vm": ("tvm.relay.op.vm_memory",),
    "relay.op.vm.vm": ("tvm.relay.op.vm_memory",),
    "relay.op.memory": ("tvm.relay.op.vm_memory",),
    "relay.op.memory.memory": ("tvm.relay.op.vm_memory",),
    "relay.param_dict": ("tvm.runtime.params",),
    "relay.parser": ("tvm.parser",),
    "relay.qnn.op.op": ("tvm.relay.qnn.op",),
    "relay.qnn.op.qnn": ("tvm.relay.qnn.op",),
    "relay.scope_builder": ("compiler.relay", "tvm.relay.type_facts"),
    "relay.transform.fake_quantization_to_integer": ("compiler.passes.fake_quantization",),
    "relay.transform.flexible_shape": ("tvm.relay.transform",),
    "relay.transform.infer_layout_utils": ("tvm.relay.transform",),
    "relay.transform.mixed_precision": ("tvm.relay.op", "compiler.passes.mixed_precision"),
    "relay.transform.recast": ("tvm.relay.transform",),
    "relay.transform.suffixes": ("tvm.relay.transform",),
    "relay.transform.transform": ("tvm.relay.transform",),
    "relay.ty": ("compiler.relay", "tvm.relay.type_facts"),
    "relay.type_functor": ("compiler.type_functors",),
    "runtime.executor.aot_executor": ("tvm.runtime.executor",),
    "runtime.name_transforms": ("tvm.relay.backend.names",),
    "runtime.ndarray": ("tvm.nd", "tvm.runtime"),
    "runtime.object_generic": ("tvm.runtime.object",),
    "runtime.packed_func": ("tvm.functions",),
    "target.compilation_config": ("tvm.target",),
    "target.detect_target": ("tvm.target",),
    "target.generic_func": ("tvm.generic_func",),
    "target.tag": ("tvm.target",),
    "target.target": ("tvm.target",),
    "target.virtual_device": ("tvm.target",),
    "target.x86": ("tvm.target",),
}
_ROOT = __package__.rpartition(".")[0]
# Where classes and a few functions are that TVM's files import from each other, so that users find them in any of them.
_COMMON = ("tvm.relay", "tvm.ir", "tvm.runtime", "tvm.target", "tvm.functions", "tvm._ffi.base", "tvm._ffi.runtime_ctypes", "tvm.relay.op.nn_utils",
           "compiler.analysis", "tvm.relay.base", "tvm.relay.transform")
_OFTEN = ("add", "astext", "c_array", "c_str", "check_call", "const", "count_layers", "convert", "cpu", "deprecated", "device", "equal",
          "find_include_path", "free_vars", "get_global_func", "get_pad_tuple1d", "get_pad_tuple2d", "make_node", "pretty_print", "py_str",
          "register_func", "register_object", "scalar_type", "string_types", "subtract", "target_has_features")
# Files of ours whose counterparts import such, and that have no __getattr__ of their own.
_WITH_IMPORTS = ("contrib.cc", "contrib.debugger.debug_executor", "contrib.graph_executor", "contrib.pickle_memoize", "contrib.tar", "ir.diagnostics",
                 "ir.module", "ir.supply", "parser", "relay.backend.executor", "relay.backend.executor_factory", "relay.backend.interpreter",
                 "relay.backend.vm", "relay.frontend.common", "relay.loops", "relay.prelude", "relay.qnn.op.canonicalizations",
                 "relay.qnn.op.legalizations", "runtime.container", "runtime.module", "runtime.object", "runtime.object_path", "runtime.params",
                 "relay.testing.nat", "relay.testing.py_converter", "relay.testing.synthetic", "runtime.script_printer", "runtime.vm", "support")


def _part(source):
    module, _, path = source.partition(":")
    found = importlib.import_module(f"{_ROOT}.{module}")
    for name in path.split(".") if path else ():
        found = getattr(found, name)
    return found


def _imported(name):
    """What TVM's files import from each other by a name, or None."""
    for source in _COMMON if name[0].isupper() or name in _OFTEN else ():
        try:
            return getattr(_part(source), name)
        except AttributeError:
            pass
    return None


def _with_imports(module):
    """Lets a module of ours have what TVM's imports."""
    def find(name):
        found = None if name.startswith("_") else _imported(name)
        if found is None:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return found
    module.__getattr__ = find


class Place(types.ModuleType):
    """A module whose names are those of others."""

    def __init__(self, name, sources):
        super().__init__(f"{__package__}.{name}", f"tvm.{name}: names that are in relayvm.{', relayvm.'.join(sources)}.")
        self._sources = sources
        self.__path__ = []

    def __getattr__(self, name):
        if name == "__all__":
            return sorted({found for source in self._sources for found in _names_of(_part(source))})
        if name.startswith("__"):
            raise AttributeError(name)
        error = None
        for source in self._sources:
            try:
                found = vars(self)[name] = getattr(_part(source), name)
                return found
            except AttributeError as failed:
                error = error or failed
        found = _imported(name)
        if found is not None:
            return found
        if self.__name__.removeprefix(__package__ + ".") in INSTEAD:
            return elsewhere(f"{self.__name__.removeprefix(__package__ + '.')}.{name}")
        raise error

    def __dir__(self):
        return self.__all__


def _names_of(source):
    return getattr(source, "__all__", None) or [name for name in dir(source) if not name.startswith("_")]


def let_import(package):
    """Lets our files that are in a package have what TVM's import."""
    for name in _WITH_IMPORTS:
        if name.startswith(package) and f"{__package__}.{name}" in sys.modules:
            _with_imports(sys.modules[f"{__package__}.{name}"])


def _is_function(found):
    """Whether TVM has a function by the name of the module that it is in: relay.transform.recast."""
    return callable(found) and not isinstance(found, types.ModuleType)


def plant():
    """Makes the modules, where a parent is there."""
    for name, sources in PLACES.items():
        outer, _, last = f"{__package__}.{name}".rpartition(".")
        place = sys.modules[f"{__package__}.{name}"] = Place(name, sources)
        parent = sys.modules.get(outer)
        if parent is not None and last not in vars(parent) and not _is_function(getattr(parent, last, None)):
            setattr(parent, last, place)
    relay = sys.modules[f"{__package__}.relay"]
    for name in ("annotation", "dyn", "image", "nn", "random", "vision"):
        setattr(relay, name, sys.modules[f"{__package__}.relay.op.{name}"])
    let_import("")
    for name in INSTEAD:
        outer, _, last = f"{__package__}.{name}".rpartition(".")
        if outer in sys.modules and last not in vars(sys.modules[outer]):
            setattr(sys.modules[outer], last, sys.modules.setdefault(f"{outer}.{last}", elsewhere(name)))
