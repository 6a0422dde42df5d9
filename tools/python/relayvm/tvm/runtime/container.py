"""tvm.runtime.container: what values are made of."""
from ..values import ADT, tuple_object


class String(str):
    """A text of the runtime."""


class ShapeTuple(tuple):
    """A shape."""

    __slots__ = ()


__all__ = ["ADT", "ShapeTuple", "String", "tuple_object"]
