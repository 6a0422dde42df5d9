"""tvm.topi.nn: kernels are made by the compiler here; there are the numbers of dtypes that simulated quantisation takes."""
from . import qnn


def __getattr__(name):
    raise AttributeError(f"tvm.topi.nn.{name} is not there; kernels are made by the compiler; operators of your own are plugins (relayc --plugin)", name=name)


__all__ = ["qnn"]
