"""The way from a thing to a part of it: `ObjectPath.root().attr("body").attr("args").array_index(0)`."""
import json

from .objects import Object


class ObjectPath(Object):
    """A way: parent, of which this is the last step; None at the root."""

    _step = ""

    def __init__(self, parent=None, key=None):
        self.parent, self._key = parent, key

    @staticmethod
    def root(root_name=None):
        """Where ways begin."""
        return RootPath(None, root_name)

    def attr(self, attr_key):
        """On to an attribute."""
        return UnknownAttributeAccessPath(self, None) if attr_key is None else AttributeAccessPath(self, attr_key)

    def array_index(self, index):
        """On to a part of a list."""
        return ArrayIndexPath(self, int(index))

    def missing_array_element(self, index):
        """On to a part that a list has not."""
        return MissingArrayElementPath(self, int(index))

    def map_value(self, key):
        """On to a value of a dict."""
        return MapValuePath(self, key)

    def missing_map_entry(self):
        """On to a value that a dict has not."""
        return MissingMapEntryPath(self, None)

    def __len__(self):
        return 1 + (len(self.parent) if self.parent is not None else 0)

    def get_prefix(self, length):
        """The first steps of it."""
        if not 1 <= length <= len(self):
            raise IndexError("Prefix length must be at least 1" if length < 1 else "Attempted to get a prefix longer than the path itself")
        path = self
        while len(path) > length:
            path = path.parent
        return path

    def is_prefix_of(self, other):
        """Whether another begins with it."""
        return len(self) <= len(other) and other.get_prefix(len(self)) == self

    def _steps(self):
        return [*(self.parent._steps() if self.parent is not None else ()), (type(self), self._key)]

    def __eq__(self, other):
        return isinstance(other, ObjectPath) and self._steps() == other._steps()

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return f"{self.parent}{self._text()}"

    def __repr__(self):
        return str(self)


class RootPath(ObjectPath):
    """Where ways begin."""

    def __str__(self):
        return self._key or "<root>"


class AttributeAccessPath(ObjectPath):
    """An attribute, attr_key."""

    attr_key = property(lambda self: self._key, doc="Its name.")

    def _text(self):
        return f".{self._key}"


class UnknownAttributeAccessPath(ObjectPath):
    """An attribute whose name is not known."""

    def _text(self):
        return ".<unknown attribute>"


class ArrayIndexPath(ObjectPath):
    """A part of a list, by its number."""

    index = property(lambda self: self._key, doc="Its number.")

    def _text(self):
        return f"[{self._key}]"


class MissingArrayElementPath(ArrayIndexPath):
    """A part that a list has not."""

    def _text(self):
        return f"[<missing element #{self._key}>]"


class MapValuePath(ObjectPath):
    """A value of a dict, by its key."""

    key = property(lambda self: self._key, doc="Its key.")

    def _text(self):
        return f"[{json.dumps(self._key)}]" if isinstance(self._key, str) else f"[{self._key!r}]"


class MissingMapEntryPath(ObjectPath):
    """A value that a dict has not."""

    def _text(self):
        return "[<missing entry>]"


class ObjectPathPair(Object):
    """Ways to what differs in two things."""

    def __init__(self, lhs_path, rhs_path):
        self.lhs_path, self.rhs_path = lhs_path, rhs_path

    def __iter__(self):
        return iter((self.lhs_path, self.rhs_path))

    def __repr__(self):
        return f"ObjectPathPair({self.lhs_path}, {self.rhs_path})"
