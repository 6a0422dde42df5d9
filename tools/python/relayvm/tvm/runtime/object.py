"""tvm.runtime.object: values of Python as the runtime's."""
from ...compiler.dims import IntImm
from ...compiler.relay import Expr, Type
from ..ir.container import Array, Map
from .container import String


class _Node(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (Expr, Type)) or type.__instancecheck__(cls, value)


class Object(metaclass=_Node):
    """What programs are made of: expressions and types."""


class ObjectGeneric:
    """What `convert` makes an object of by its method asobject."""

    def asobject(self):
        raise NotImplementedError


def convert(value, span=None):
    """Lists, dicts and texts as the runtime's, ints as numbers with a dtype; other values as they are."""
    if isinstance(value, ObjectGeneric):
        return value.asobject()
    if isinstance(value, str):
        return String(value)
    if isinstance(value, dict):
        return Map((key, convert(one)) for key, one in value.items())
    if type(value) in (list, tuple):
        return Array(map(convert, value))
    return IntImm("int32", value) if type(value) is int else value


__all__ = ["Object", "ObjectGeneric", "convert"]
