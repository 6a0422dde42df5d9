"""Tensor expressions, which scripts import and few call: kernels are the compiler's own here. Sizes are there."""
from ..compiler.relay import size_var


def var(name="tindex", dtype="int32", span=None):
    """A size that is known when the program runs."""
    return size_var(name)


def __getattr__(name):
    raise AttributeError(f"te.{name} is not there: kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")


__all__ = ["size_var", "var"]
