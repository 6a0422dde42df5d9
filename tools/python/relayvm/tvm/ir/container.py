"""tvm.ir.container: lists and dicts of the runtime."""
from ...compiler.objects import Object


def getitem_helper(obj, elem_getter, length, idx):
    """elem_getter(obj, i) of an index, or a list of those of a slice."""
    if isinstance(idx, slice):
        return [elem_getter(obj, i) for i in range(*idx.indices(length))]
    if not -length <= idx < length:
        raise IndexError(f"Index out of range. size: {length}, got index {idx}")
    return elem_getter(obj, idx % length if length else 0)


class Array(Object, list):
    """A list."""

    type_key = "Array"


class Map(Object, dict):
    """A dict."""

    type_key = "Map"

    def items(self):
        """Its pairs."""
        return list(dict.items(self))

    def keys(self):
        """Its keys."""
        return dict.keys(self)

    def values(self):
        """Its values."""
        return dict.values(self)


__all__ = ["Array", "Map", "getitem_helper"]
