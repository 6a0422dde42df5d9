"""Tensor expressions, which scripts import and few call: kernels are the compiler's own here. Sizes are there."""
from ..compiler.relay import size_var as _size_var
from .elsewhere import elsewhere
from .tir import Any, const, floordiv, floormod, indexdiv, indexmod, infinity, max, max_value, min, min_value, round, truncdiv, truncmod


def size_var(name="size", dtype="int32", span=None):
    """A size that is known when the program runs."""
    return _size_var(name)


def var(name="tindex", dtype="int32", span=None):
    """A size that is known when the program runs."""
    return _size_var(name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"te.{name}", "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")


__all__ = ["Any", "const", "floordiv", "floormod", "indexdiv", "indexmod", "infinity", "max", "max_value", "min",
           "min_value", "round", "size_var", "truncdiv", "truncmod", "var"]
