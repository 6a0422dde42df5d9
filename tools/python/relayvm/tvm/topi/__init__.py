"""tvm.topi: kernels are made by the compiler here; there are functions that passes ask. Other names can be imported, and say so when they
are called."""
from ..elsewhere import elsewhere
from . import arm_cpu, nn


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"topi.{name}", "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")


__all__ = ["arm_cpu", "nn"]
