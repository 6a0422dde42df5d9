"""tvm.relay.qnn.op: quantised operators."""
import sys as _sys

from .....compiler.passes.quantised import (current_requantize_config, register_qnn_canonicalize, register_qnn_legalize, requantize_config)
from .....compiler.relay import Tuple, TupleWrapper
from .....compiler.relay import op as _op
from ....elsewhere import elsewhere
from ....topi.nn.qnn import SQNN_DTYPE_TO_CODE
from . import canonicalizations, layout_conversions, legalizations

RequantizeConfig = requantize_config


def __getattr__(name):
    if name in ("op", "qnn"):  # where TVM defines them
        return _sys.modules[__name__]
    if name == "contrib_dense_pack":
        return elsewhere(f"relay.qnn.{name}")
    return getattr(_op.qnn, name)


__all__ = ["RequantizeConfig", "SQNN_DTYPE_TO_CODE", "Tuple", "TupleWrapper", "canonicalizations", "current_requantize_config", "layout_conversions",
           "legalizations", "register_qnn_canonicalize", "register_qnn_legalize", "requantize_config"]
