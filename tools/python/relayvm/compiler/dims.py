"""Sizes in shapes: ints, and what stands for those that are known when a program runs."""
from . import _native


class _IsOpen(type):
    def __instancecheck__(cls, value):
        return isinstance(value, str) and value == "?" or isinstance(value, _native.Dim) and value.is_unnamed


class Any(str, metaclass=_IsOpen):
    """A dim of any size, in a shape: var("x", shape=(Any(), 4)).

    isinstance(dim, Any) holds for those of inferred types too that no program names. A type with such a dim equals one that says what it is.
    """

    __slots__ = ()

    def __new__(cls):
        return super().__new__(cls, "?")


class IntImm(int):
    """A size that is known, as TVM has it: an int with `value` and `dtype`."""

    def __new__(cls, dtype, value):
        made = super().__new__(cls, value)
        made.dtype = dtype
        return made

    @property
    def value(self):
        """The int."""
        return int(self)


def sizes(dims):
    """Dims of a shape: ints as `IntImm`."""
    return tuple([IntImm("int32", dim) if type(dim) is int else dim for dim in dims])


# As TVM's variables of sizes have them.
_native.Dim.name = property(str, doc="It as text.")
_native.Dim.dtype = property(lambda self: "int32", doc="Sizes have one dtype.")
