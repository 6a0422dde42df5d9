"""Names of onnxruntime.training: programs are compiled for inference."""
from . import absent as _absent


def __getattr__(name):
    return _absent.package(name, __name__)
