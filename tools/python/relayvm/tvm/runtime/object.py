"""tvm.runtime.object: values of Python as the runtime's."""
import numpy

from ...compiler.dims import FloatImm, IntImm
from ...compiler.objects import Object
from ..functions import convert_to_tvm_func
from ..ir.container import Array, Map
from .container import String


class ObjectGeneric:
    """What `convert` makes an object of by its method asobject."""

    def asobject(self):
        raise NotImplementedError


PyNativeObject = ObjectBase = Object
ObjectTypes = (Object, numpy.ndarray)
string_types = (str,)


def convert(value, span=None):
    """Lists, dicts and texts as the runtime's, numbers as such with a dtype; objects, arrays and functions as they are."""
    if isinstance(value, ObjectGeneric):
        return value.asobject()
    if isinstance(value, Object) or value is None or isinstance(value, numpy.ndarray) or callable(value):
        return value
    if isinstance(value, str):
        return String(value)
    if isinstance(value, dict):
        return Map((convert(key), convert(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return Array(map(convert, value))
    if isinstance(value, bool):
        return IntImm("bool", value)
    if isinstance(value, (int, numpy.integer)):
        return IntImm("int32" if -1 << 31 <= value < 1 << 31 else "int64", value)
    return FloatImm("float32", value) if isinstance(value, (float, numpy.floating)) else value


convert_to_object = convert


def const(value, dtype=None, span=None):
    """A number with a dtype."""
    from ..tir import const as make  # which needs what is above
    return make(value, dtype)


__all__ = ["Object", "ObjectBase", "ObjectGeneric", "ObjectTypes", "PyNativeObject", "const", "convert", "convert_to_object", "convert_to_tvm_func",
           "string_types"]
