"""Names of onnxruntime.tools, which works on ONNX files."""
from . import absent as _absent


def __getattr__(name):
    return _absent.package(name, __name__)
