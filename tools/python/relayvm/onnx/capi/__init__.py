"""Where programs look for ONNX Runtime's native names."""
from . import _pybind_state, onnxruntime_pybind11_state
