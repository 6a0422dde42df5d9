"""tvm.relay.frontend: models of other formats as programs, `from_onnx` and the others."""
from ....compiler import from_keras, from_mxnet, from_onnx, from_pytorch, from_tensorflow, from_tflite
from . import common

__all__ = ["common", "from_keras", "from_mxnet", "from_onnx", "from_pytorch", "from_tensorflow", "from_tflite"]
