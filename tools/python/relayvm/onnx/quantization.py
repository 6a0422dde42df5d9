"""Names of onnxruntime.quantization: sessions run quantised models, and do not make them."""
from . import absent as _absent


def __getattr__(name):
    return _absent.package(name, __name__)
