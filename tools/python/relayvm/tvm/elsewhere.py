"""Names of TVM's that have no place here: they can be imported, and what is done with them says what to use."""
import importlib.abc
import importlib.machinery
import sys
import types

from ..errors import Unsupported

_KERNELS = "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)"
_TUNING = "relayc --tune 60s --tune-log FILE measures schedules of kernels, and compile(schedules=FILE) takes them"
_ENGINES = "the compiler's own kernels, and engines by relay.transform.PartitionGraph and tvm.register_func(\"relay.ext.NAME.optimize\", ...)"
_NATIVE = "relayc --executor aot makes native code without dependencies"
_PLANNED = "the compiler plans memory of every program (vmdump --memory shows it)"
_CONVERTER = "programs are imported from ONNX, PyTorch, TensorFlow, TensorFlow Lite, MXNet and Keras; write the model as ONNX"
_LINK = "lib.export_library(path) writes a program, relayc --executor aot makes a native library"

# What to use, by TVM's names; what is in it is elsewhere too.
INSTEAD = {
    "arith": "sizes are dims here: +, -, *, //, % of them are simplified as they are made",
    "auto_scheduler": _TUNING,
    "autotvm": _TUNING,
    "build": "relay.build(mod, target, params=...) builds programs; " + _KERNELS,
    **dict.fromkeys(("driver.build", "driver.build_module", "driver.lower"), "relay.build builds programs, relayvm.tvm.driver.tvmc and relayc from the shell"),
    "exec": "vmserve serves models, relayc compiles them",
    "generic": "operators of Python work on expressions: x + y",
    "lower": "relay.build builds programs; " + _KERNELS,
    "meta_schedule": _TUNING,
    "micro": _NATIVE,
    "relax": "programs are Relay here, with dynamic shapes",
    "rpc": "vmserve serves models",
    "script": "programs are Relay text (tvm.relay.parse)",
    "contrib.cblas": _ENGINES,
    "contrib.clang": _KERNELS,
    "contrib.coreml_runtime": _ENGINES,
    "contrib.cublas": _ENGINES,
    "contrib.cudnn": _ENGINES,
    "contrib.cutlass": _ENGINES,
    **dict.fromkeys(("contrib.dnnl", "contrib.mxnet", "contrib.sdaccel", "contrib.spirv", "contrib.stackvm", "contrib.target",
                     "contrib.xcode"), _ENGINES),
    "contrib.popen_pool": "multiprocessing, or concurrent.futures",
    "contrib.emcc": _LINK,
    "contrib.mkl": _ENGINES,
    "contrib.ndk": _LINK,
    "contrib.nvcc": "there is the processor alone",
    "contrib.cuda_graph": "there is the processor alone",
    "utils": "vmrun --benchmark measures programs, relayvm's Profile has GFLOP/s of each kernel",
    "contrib.peak": "vmrun --benchmark measures programs, relayvm's Profile has GFLOP/s of each kernel",
    "contrib.pipeline_executor": "vmserve runs several requests at once",
    "contrib.pipeline_executor_build": "vmserve runs several requests at once",
    "contrib.random": "relay.random makes numbers",
    "contrib.sparse": "relay.nn.sparse_dense, relay.data_dep_optimization",
    "contrib.tedd": _KERNELS,
    "contrib.tflite_runtime": "relay.frontend.from_tflite",
    "contrib.thrust": _ENGINES,
    "contrib.torch": "relayvm.torch: torch.compile(model, backend=relayvm.torch.backend)",
    "relay.analysis.operations_distribution": "Executable.regions has what engines run of a program, Executable.kernels the rest",
    "relay.collage": _ENGINES,
    "relay.op.contrib.arm_compute_lib": _ENGINES,
    "relay.op.contrib.bnns": _ENGINES,
    "relay.op.contrib.clml": _ENGINES,
    "relay.op.contrib.cmsisnn": _ENGINES,
    "relay.op.contrib.coreml": _ENGINES,
    "relay.op.contrib.cublas": _ENGINES,
    "relay.op.contrib.cudnn": _ENGINES,
    "relay.op.contrib.cutlass": _ENGINES,
    "relay.op.contrib.ethosn": _ENGINES,
    "relay.op.contrib.ethosu": _ENGINES,
    "relay.op.contrib.libtorch": _ENGINES,
    "relay.op.contrib.mrvl": _ENGINES,
    "relay.op.contrib.tensorrt": _ENGINES,
    "relay.op.contrib.vitis_ai": _ENGINES,
    "relay.op.strategy": _KERNELS,
    "relay.qnn.strategy": _KERNELS,
    "relay.transform.CollagePartition": _ENGINES,
    "relay.transform.ManifestLifetimes": _PLANNED,
    "relay.transform.PlanDevices": "there is the processor alone, and nothing to plan",
    "relay.transform.fake_quantization_to_integer": "its rules are the compiler's own; relay.op.register_fake_quantization_to_integer adds one",
    "relay.transform.suffixes": "nodes keep their places: relay.Span",
    "relay.transform.CapturePostDfsIndexInSpans": "nodes keep their places: relay.Span",
    "runtime.disco": "vmserve runs programs in processes of their own",
    "relay.frontend.ChangeDatatype": "compile(precision=...) and relay.transform.ToMixedPrecision change dtypes",
    **{f"relay.frontend.{name}": _CONVERTER for name in (
        "caffe caffe2 coreml darknet from_caffe from_caffe2 from_coreml from_darknet from_oneflow from_paddle mxnet_qnn_op_utils nnvm_common oneflow "
        "paddlepaddle pytorch_utils qnn_torch quantize_conv_bias_mkldnn_from_var tensorflow_ops tflite_flexbuffer").split()},
    "relay.qnn.contrib_dense_pack": _KERNELS,
    "relay.backend.aot": _NATIVE,
    "relay.backend.contrib": _NATIVE,
    "relay.backend.graph_executor_codegen": "relay.build gives graph_json, lib and params; rvm.compile a program",
    "relay.transform.memory_plan": _PLANNED,
    "relay.frontend.change_datatype": "compile(precision=...) and relay.transform.ToMixedPrecision change dtypes",
    "relay.testing.darknet": "a model of Darknet's as ONNX: relay.frontend.from_onnx",
    "relay.testing.tflite": "TensorFlow's converter makes .tflite files; relay.frontend.from_tflite reads them",
    "relay.expr.StaticMemoryPlan": _PLANNED,
    "relay.expr.StorageInfo": _PLANNED,
    "relay.expr.TempExpr": "passes of Python put expressions in place of others: relay.ExprMutator",
    "relay.op.strategy.copy_shape_func": _KERNELS,
    "support.FrontendTestModule": "programs of relay.build are modules",
    "target.MICRO_SUPPORTED_MODELS": _NATIVE,
    "target.STM32_SUPPORTED_SERIES": _NATIVE,
    "target.datatype": "dtypes are those of numpy and ml_dtypes here",
    "target.intrin": _KERNELS,
    "testing.auto_scheduler": _TUNING,
    "testing.autotvm": _TUNING,
    "testing.micro": _NATIVE,
    "testing.popen_pool": "multiprocessing, or concurrent.futures",
    "testing.runner": "module.time_evaluator(\"run\", tvm.cpu()) measures programs",
    "testing.tir": _KERNELS,
    "testing.usmp": "the compiler plans memory of every program",
}


def reason(name):
    """What to use in place of a name, or None."""
    if set(name.split(".")) & {"_ffi_api", "_make"}:
        return "these are C++'s functions behind TVM's Python; the names of Python do the same"
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None


class Elsewhere(types.ModuleType):
    """A name of TVM's, with what is in it: what calls it, or makes a class of it, gets to know what to use."""

    _is_elsewhere = True

    def __init__(self, name, instead):
        super().__init__(__package__ + "." + name, f"tvm.{name} is not there; instead: {instead}")
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Elsewhere(f"{self.__name__.removeprefix(__package__ + '.')}.{name}", self.__doc__.partition("instead: ")[2])

    def __call__(self, *args, **kwargs):
        raise Unsupported(self.__doc__)

    def __mro_entries__(self, bases):
        raise Unsupported(self.__doc__)

    def __enter__(self):
        raise Unsupported(self.__doc__)

    def __exit__(self, *_):
        pass

    def __iter__(self):
        raise Unsupported(self.__doc__)

    def __repr__(self):
        return f"<{self.__doc__}>"


def elsewhere(name, instead=None):
    """The one of a name; instead: what to use, where the table has it not."""
    instead = instead or reason(name)
    if instead is None:
        raise ValueError(f"elsewhere: say what to use in place of tvm.{name}")
    return Elsewhere(name, instead)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports of them."""

    def find_spec(self, fullname, path=None, target=None):
        name = fullname.removeprefix(__package__ + ".")
        if name == fullname or reason(name) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return elsewhere(spec.name.removeprefix(__package__ + "."))

    def exec_module(self, module):
        pass


sys.meta_path.append(_Finder())
