"""tvm.runtime.container: what values are made of."""
from ...compiler.objects import Object
from ..ir.container import getitem_helper
from ..values import ADT, tuple_object


class String(Object, str):
    """A text of the runtime."""

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls, *args, **kwargs)


class ShapeTuple(Object, tuple):
    """A shape."""

    __slots__ = ()

    def __new__(cls, shape=()):
        return super().__new__(cls, map(int, shape))

    def __eq__(self, other):
        return tuple(self) == tuple(other) if isinstance(other, (list, tuple)) else False

    __hash__ = tuple.__hash__

    def __repr__(self):
        return repr(list(self))


__all__ = ["ADT", "ShapeTuple", "String", "getitem_helper", "tuple_object"]
