"""tvm.relay.op.contrib: engines. Those of other vendors are not there; what is of them can be imported and says so."""
from ....elsewhere import elsewhere, reason
from . import dnnl, register
from .register import get_pattern_table, register_pattern_table


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"relay.op.contrib.{name}", reason("relay.op.contrib.tensorrt"))


__all__ = ["dnnl", "get_pattern_table", "register", "register_pattern_table"]
