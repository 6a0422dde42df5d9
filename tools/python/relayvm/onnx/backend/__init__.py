"""onnx.backend's interface: prepare, run_model, supports_device."""
from .backend import OnnxRuntimeBackend, is_compatible, prepare, run, run_model, run_node, supports_device
from .backend_rep import OnnxRuntimeBackendRep
