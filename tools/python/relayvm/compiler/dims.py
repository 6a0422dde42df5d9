"""Sizes in shapes: ints, and what stands for those that are known when a program runs."""
from . import _native
from .objects import Node


class _Number(Node):
    """What numbers with a dtype have."""

    __slots__ = ()
    span = None  # where it stands in a source: not known of numbers

    def astype(self, dtype, span=None):
        """It with another dtype."""
        return FloatImm(dtype, self) if str(dtype).startswith(("float", "bfloat")) else IntImm(str(dtype), int(self))

    def equal(self, other, span=None):
        """Whether it is the same number."""
        return self == other


class _IsOpen(type):
    def __instancecheck__(cls, value):
        return isinstance(value, str) and value == "?" or isinstance(value, _native.Dim) and value.is_unnamed


class Any(_Number, str, metaclass=_IsOpen):
    """A dim of any size, in a shape: var("x", shape=(Any(), 4)).

    isinstance(dim, Any) holds for those of inferred types too that no program names. A type with such a dim equals one that says what it is.
    """

    __slots__ = ()
    dtype, span = "int32", None

    def __new__(cls):
        return super().__new__(cls, "?")


def _folded(name):
    compute = getattr(int, name)

    def run(self, other):
        made = compute(self, other)
        return IntImm(self.dtype, made) if type(made) is int and not isinstance(other, bool) else made
    return run


class _Typed(_Number):
    def __new__(cls, dtype, value, span=None):
        made = super().__new__(cls, value)
        made.dtype = dtype
        return made


class IntImm(_Typed, int):
    """A size that is known, as TVM has it: an int with `value` and `dtype`, which what is computed of it with +, -, *, // and % has too."""

    @property
    def value(self):
        """The int."""
        return int(self)


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(IntImm, f"__{_name}__", _folded(f"__{_name}__"))
    setattr(IntImm, f"__r{_name}__", _folded(f"__r{_name}__"))


class FloatImm(_Typed, float):
    """A number with a dtype."""

    @property
    def value(self):
        """The float."""
        return float(self)


class StringImm(_Number, str):
    """A text."""

    dtype = "handle"

    def __new__(cls, value, span=None):
        return super().__new__(cls, value)

    @property
    def value(self):
        """The str."""
        return str(self)


class Range(Node):
    """Numbers from min, extent of them: Range(4) from 0, Range(2, 5) has 3."""

    def __init__(self, begin, end=None, span=None):
        self.min, self.extent = (IntImm("int32", 0), begin) if end is None else (begin, end - begin)
        self.min, self.extent = sizes([self.min, self.extent])
        self.span = span

    @classmethod
    def from_min_extent(cls, min_value, extent, span=None):
        """The one of a first number and a count."""
        return cls(min_value, min_value + extent, span)

    def __eq__(self, other):
        return isinstance(other, Range) and (self.min, self.extent) == (other.min, other.extent)

    __hash__ = None

    def __repr__(self):
        return f"Range({self.min}, {self.min + self.extent})"


def sizes(dims):
    """Dims of a shape: ints as `IntImm`."""
    return tuple([IntImm("int32", dim) if type(dim) is int else dim for dim in dims])


# As TVM's variables of sizes have them.
for _name in ("same_as", "script", "show"):
    setattr(_native.Dim, _name, getattr(Node, _name))
_native.Dim.astype = lambda self, dtype, span=None: self
_native.Dim.equal = lambda self, other, span=None: self == other
_native.Dim.span = property(lambda self: None, doc="Where it stands in a source: not known of sizes.")
_native.Dim.name = property(str, doc="It as text.")
_native.Dim.dtype = property(lambda self: "int32", doc="Sizes have one dtype.")
