"""tvm.relay.qnn.op: quantised operators."""
import sys as _sys

from .....compiler.passes.quantised import current_requantize_config, register_qnn_legalize, requantize_config
from .....compiler.relay import op as _op
from . import canonicalizations, legalizations


def __getattr__(name):
    if name in ("op", "qnn"):  # where TVM defines them
        return _sys.modules[__name__]
    return getattr(_op.qnn, name)


__all__ = ["canonicalizations", "current_requantize_config", "legalizations", "register_qnn_legalize", "requantize_config"]
