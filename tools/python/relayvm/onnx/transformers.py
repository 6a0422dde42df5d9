"""Names of onnxruntime.transformers: sessions fuse what its optimizer fuses when a model is compiled."""
from . import absent as _absent


def __getattr__(name):
    return _absent.package(name, __name__)
