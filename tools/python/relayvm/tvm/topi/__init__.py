"""tvm.topi: kernels are made by the compiler here; there are functions that passes ask. Other names can be imported, and say so when they
are called."""
from . import arm_cpu, nn

_INSTEAD = "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)"


class _Elsewhere:
    """A part of topi that there is not."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Elsewhere(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not there; {_INSTEAD}")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Elsewhere(f"tvm.topi.{name}")


__all__ = ["arm_cpu", "nn"]
