"""tvm.topi: kernels are made by the compiler here; there are functions that passes ask."""
from . import arm_cpu, nn


def __getattr__(name):
    raise AttributeError(f"tvm.topi.{name} is not there; kernels are made by the compiler; operators of your own are plugins (relayc --plugin)", name=name)


__all__ = ["arm_cpu", "nn"]
