"""Values of Relay's algebraic data types."""
from zlib import crc32


_TAGS = {}  # of constructors of the types that were defined, by name


def define_tags(adt, constructors):
    """Numbers the constructors of a type one after the other, from one of the type's name."""
    first = (crc32(adt.encode()) & 0x7F or 1) << 24
    _TAGS.update((name, first + i) for i, name in enumerate(constructors))


def tag_of(constructor):
    """The number of a constructor; of one whose type is not defined, one of its name."""
    tag = _TAGS.get(str(constructor))
    return crc32(constructor.encode()) & 0x7FFFFFFF if tag is None else tag


class ConstructorName(str):
    """The name of a constructor; name_hint and tag as `relay.Constructor` has them."""

    __slots__ = ()

    @property
    def name_hint(self):
        """It as text."""
        return str(self)

    @property
    def tag(self):
        """Its number."""
        return tag_of(self)


class Adt:
    """A value of an algebraic data type: a constructor's name and its fields.

    Adt("Cons", x, Adt("Nil")) makes one; `match` takes one apart:

        match tree:
            case rvm.Adt("Leaf", (x,)): ...
            case rvm.Adt("Node", (left, right)): ...

    Where the type is clear a program takes simpler values too: a list or tuple for a list, None for a
    constructor without fields, a tuple or a value alone for the constructor with so many fields.
    """

    __slots__ = ("constructor", "fields")
    __match_args__ = ("constructor", "fields")

    def __init__(self, constructor, *fields):
        self.constructor = ConstructorName(constructor)
        self.fields = fields

    @classmethod
    def _make(cls, constructor, fields):
        adt = cls.__new__(cls)
        adt.constructor, adt.fields = ConstructorName(constructor), fields
        return adt

    @property
    def tag(self):
        """The number of its constructor, as of `relay.Constructor`."""
        return tag_of(self.constructor)

    def __len__(self):
        return len(self.fields)

    def __getitem__(self, index):
        return self.fields[index]

    def to_list(self):
        """The elements, of a value that is a list: Cons(x, Cons(y, Nil)) is [x, y]."""
        elements, rest = [], self
        while rest.fields:
            if len(rest.fields) != 2 or not isinstance(rest.fields[1], Adt):
                raise TypeError(f"{self.constructor} is no list")
            elements.append(rest.fields[0])
            rest = rest.fields[1]
        return elements

    def __eq__(self, other):
        """Of the same constructors, and equal in all elements."""
        if not isinstance(other, Adt):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            a, b = stack.pop()
            if isinstance(a, Adt) and isinstance(b, Adt):
                if a.constructor != b.constructor or len(a.fields) != len(b.fields):
                    return False
                stack.extend(zip(a.fields, b.fields))
            elif isinstance(a, tuple) and isinstance(b, tuple):
                if len(a) != len(b):
                    return False
                stack.extend(zip(a, b))
            else:
                same = a == b
                same = same.all() if hasattr(same, "all") else same
                if not same or getattr(a, "shape", None) != getattr(b, "shape", None):
                    return False
        return True

    __hash__ = None

    def __repr__(self):
        parts, stack, size = [], [self], 0
        while stack and size < 2000:
            item = stack.pop()
            if isinstance(item, Adt):
                parts.append(item.constructor)
                if item.fields:
                    stack.append(_Text(")"))
                    for index, field in enumerate(reversed(item.fields)):
                        stack.append(field)
                        stack.append(_Text(", " if index + 1 < len(item.fields) else "("))
            else:
                parts.append(str(item) if isinstance(item, _Text) else repr(item))
            size += len(parts[-1])
        return "".join(parts) + ("..." if stack else "")


class _Text(str):
    pass
