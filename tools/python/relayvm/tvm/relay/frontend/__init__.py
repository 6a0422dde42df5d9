"""tvm.relay.frontend: models of other formats as (IRModule, params). Weights are constants of the module, as with TVM's freeze_params, and params is
empty; from_onnx with freeze_params=False makes parameters of them. Calls are those that TVM writes for a model (transform.RecognizeOperators)."""
import functools

from .... import compiler as _compiler
from ....compiler import transform as _transform
from ...ir.module import IRModule
from . import common
from ._weights import lifted as _lifted


def _as_tvm(mod):
    return IRModule(_transform.RecognizeOperators()(mod)._native)


def _frontend(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        mod, params = function(*args, **kwargs)
        return _as_tvm(mod), params
    return call


from_keras, from_mxnet, from_pytorch, from_tensorflow, from_tflite = map(_frontend, (
    _compiler.from_keras, _compiler.from_mxnet, _compiler.from_pytorch, _compiler.from_tensorflow, _compiler.from_tflite))


def from_onnx(model, shape=None, dtype="float32", opset=None, freeze_params=True, convert_config=None, export_node_renamed_model_path=None, **options):
    """(IRModule, params) of an onnx.ModelProto, its bytes or a path. shape: of inputs, by name. dtype, opset: what the model says counts.
    freeze_params: weights are constants; else parameters of main, and params has them. options: those of `relayvm.from_onnx`."""
    mod, params = _compiler.from_onnx(model, shape, **options)
    mod = _as_tvm(mod)
    return (mod, params) if freeze_params else _lifted(mod)


__all__ = ["common", "from_keras", "from_mxnet", "from_onnx", "from_pytorch", "from_tensorflow", "from_tflite"]
