"""Sizes and numbers as TVM's tir has them: what types and attributes of Relay are written with. Kernels are the compiler's own here."""
import builtins

import numpy

from ..compiler import _native
from ..compiler.dims import Any, FloatImm, IntImm, StringImm
from ..compiler.objects import Node
from ..compiler.passes.layout import Layout
from ..compiler.relay import size_var
from .elsewhere import elsewhere

_Dim = _native.Dim


class _Sizes(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _Dim) and value.is_symbol

    def __call__(cls, name="v", dtype="int32", span=None):
        return size_var(str(name))


class Var(metaclass=_Sizes):
    """A size that is known when the program runs: a dim of shapes."""


SizeVar = Var


layout = Layout  # layout("NCHW16c").index_of("C")


class _Numbers(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (_Dim, int, float, Any, StringImm))


class PrimExpr(Node, metaclass=_Numbers):
    """A number, or a size."""


def const(value, dtype=None, span=None):
    """A number with a dtype."""
    if dtype is None:
        dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
    return FloatImm(dtype, value) if str(dtype).startswith(("float", "bfloat")) else IntImm(str(dtype), int(value))


def Cast(dtype, value, span=None):
    """A size with another dtype: sizes have none here."""
    return const(value, dtype) if isinstance(value, (int, float)) else value


def indexdiv(a, b, span=None):
    """a // b of sizes, which are no less than 0."""
    return a // b


def indexmod(a, b, span=None):
    """a % b of sizes."""
    return a % b


def round(a, span=None):
    """A size, or a number, as the nearest whole one."""
    return a if isinstance(a, (int, _Dim)) else float(builtins.round(a))


def min_value(dtype, span=None):
    """The least number of a dtype."""
    return const(numpy.finfo(dtype).min.item() if str(dtype).startswith("float") else 0 if dtype == "bool" else int(numpy.iinfo(dtype).min), dtype)


def max_value(dtype, span=None):
    """The greatest number of a dtype."""
    return const(numpy.finfo(dtype).max.item() if str(dtype).startswith("float") else 1 if dtype == "bool" else int(numpy.iinfo(dtype).max), dtype)


def infinity(dtype, span=None):
    """Infinity."""
    return const(float("inf"), dtype)


floordiv = truncdiv = div = indexdiv
floormod = truncmod = indexmod


def min(a, b, span=None):
    """The smaller of two sizes."""
    return _native.dim_min(a, b)


def max(a, b, span=None):
    """The greater of two sizes."""
    return _native.dim_max(a, b)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return elsewhere(f"tir.{name}", "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")


__all__ = ["Any", "Cast", "FloatImm", "IntImm", "Layout", "PrimExpr", "SizeVar", "StringImm", "Var", "const", "div", "floordiv", "floormod",
           "indexdiv", "layout",
           "indexmod", "infinity", "max", "max_value", "min", "min_value", "round", "truncdiv", "truncmod"]
