"""tvm.driver.tvmc.frontends: files of models as `TVMCModel`s."""
import os

from ....compiler import _as_module, _native
from ...relay.frontend import _as_tvm
from .model import TVMCException, TVMCModel

# TVM's names of formats.
_FORMATS = {"keras": "keras", "mxnet": "mxnet", "onnx": "onnx", "pb": "tensorflow", "pytorch": "torchscript", "relay": "relay", "tflite": "tflite"}


def get_frontend_names():
    """Formats that `load_model` knows."""
    return list(_FORMATS)


def load_model(path, model_format=None, shape_dict=None, **kwargs):
    """A `TVMCModel` of a file: of what it holds, model_format is said by that. shape_dict: shapes of inputs by name. Weights are in the module."""
    if model_format is not None and model_format not in _FORMATS:
        raise TVMCException(f"model_format: expected one of {', '.join(_FORMATS)}, found {model_format}{_native.did_you_mean(model_format, list(_FORMATS))}")
    shapes = {name: tuple(None if d in (-1, "?") else d for d in shape) for name, shape in (shape_dict or {}).items()}
    return TVMCModel(_as_tvm(_as_module(os.fspath(path), shape=shapes or None, **kwargs)), {})


__all__ = ["get_frontend_names", "load_model"]
