"""Types of programs: those of `rvm.relay`, over the compiler's own, and dims."""
import enum
import functools
import re
import sys

from . import _native
from ..errors import InvalidArgument
from .dims import sizes
from .named_functions import get_global_func
from .objects import Node, Object


class _Sequence(tuple):
    """Nodes or types in their order: a tuple that is equal to a list of the same."""

    __slots__ = ()

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


class TypeKind(enum.IntEnum):
    """What a type variable stands for."""

    Type, ShapeVar, BaseType, Constraint, AdtHandle, TypeData = 0, 1, 2, 4, 5, 6


class _Parts:
    """In place of the compiler's form of a type, of one that it has none of: kind and parts, as its parts() gives them."""

    __slots__ = ("_parts",)

    def __init__(self, *parts):
        self._parts = parts

    def parts(self):
        return self._parts

    def __str__(self):
        from .text import text_of  # which needs the nodes
        return text_of(_type(self), is_whole=False)


def _composed(native, kind, *parts):
    """A type's handle of handles of others; where one of them is no form of the compiler's, `_Parts`."""
    flat = [h for part in parts for h in (part if isinstance(part, list) else [part])]
    if any(isinstance(h, _Parts) for h in flat):
        return _Parts(kind, *parts)
    try:
        return native(*parts)
    except ValueError:  # parts of two modules, of which closed ones may do without
        from .own_types import OwnTypes  # which needs what is here
        own = OwnTypes(is_open=True)
        return native(*([own.type(_type(h))._handle for h in part] if isinstance(part, list) else own.type(_type(part))._handle for part in parts))


class Type(Node):
    """A type. str() gives it as Relay writes it; types are equal by structure."""

    __slots__ = ("_handle",)

    def __init__(self, handle):
        self._handle = handle

    def __str__(self):
        text = str(self._handle)
        if "#" not in text:
            return text
        from .text import type_without_numbers  # which needs the nodes
        return type_without_numbers(self)

    def __repr__(self):
        return f"{type(self).__name__}({self})"

    def __eq__(self, other):
        if not isinstance(other, Type):
            return NotImplemented
        is_native = not isinstance(self._handle, _Parts) and not isinstance(other._handle, _Parts)
        if is_native and (self._handle != other._handle or not _KINDS_OF_VARS):
            return self._handle == other._handle
        from .structural import structural_equal  # which needs the nodes
        return structural_equal(self, other)

    def __hash__(self):
        return hash(type(self)) if isinstance(self._handle, _Parts) else hash(self._handle)

    @property
    def span(self):
        """Where it stands in the source: not known of types."""
        return None

    def __reduce__(self):  # copy.deepcopy and pickle, as in TVM
        from .json_graph import load_json, save_json  # which need the nodes
        return load_json, (save_json(self),)

    def astext(self, show_meta_data=True, annotate=None):
        """Relay text, with the version and the metadata."""
        from .text import text_of  # which needs the nodes
        return text_of(self, show_meta_data)


_WITHOUT_BITS = {"int": "int32", "uint": "uint32", "float": "float32"}


def dtype_name(dtype):
    """The name of a dtype: of text, of numpy's, or of Python's types, as numpy has them."""
    if isinstance(dtype, str):
        return _WITHOUT_BITS.get(dtype, dtype)
    import numpy
    return numpy.dtype(dtype).name


def is_dtype(value):
    """Whether it is numpy's or Python's name of a dtype."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, type) or numpy is not None and isinstance(value, numpy.dtype)


def is_strange_dtype(name):
    """Whether it is a dtype of TVM's that the compiler does not have: "int4", "float32x4"."""
    return isinstance(name, str) and re.fullmatch(r"(u?int|b?float)\d+(x\d+)?", name) is not None


class TensorType(Type):
    """shape: of ints, and of dims that are known when the program runs (`Dim`). dtype: "float32" ..."""

    __slots__ = ()
    __match_args__ = ("shape", "dtype")

    def __init__(self, shape, dtype="float32"):
        try:
            handle = _native.tensor_type(shape, dtype_name(dtype))
        except TypeError:
            if not is_strange_dtype(dtype):
                raise
            handle = _Parts("tensor", tuple(shape), dtype)
        super().__init__(handle)

    @property
    def shape(self):
        """The dims: ints and `Dim`s."""
        return _Sequence(sizes(self._handle.parts()[1]))

    @property
    def concrete_shape(self):
        """The dims, which all are numbers."""
        shape = self.shape
        if not all(isinstance(dim, int) for dim in shape):
            raise TypeError(f"{self}: some of its dims are known only when the program runs")
        return shape

    @property
    def dtype(self):
        """The type of the elements."""
        return self._handle.parts()[2]


class TupleType(Type):
    """The type of tuples of `fields`."""

    __slots__ = ()
    __match_args__ = ("fields",)

    def __init__(self, fields):
        super().__init__(_composed(_native.tuple_type, "tuple", _handles(fields)))

    @property
    def fields(self):
        """Types of the fields."""
        return _types(self._handle.parts()[1])


class FuncType(Type):
    """The type of functions. type_constraints: `TypeRelation`s, which the compiler does not read."""

    __slots__ = ()
    __match_args__ = ("arg_types", "ret_type")

    def __init__(self, arg_types, ret_type, type_params=None, type_constraints=None):
        ret_type = IncompleteType() if ret_type is None else ret_type
        parts = _handles(type_params or ()), _handles(arg_types), ret_type._handle
        if type_constraints:
            super().__init__(_Parts("function", *parts, _handles(type_constraints)))
        else:
            super().__init__(_composed(_native.function_type, "function", *parts))

    @property
    def type_constraints(self):
        """What holds between its types."""
        return _types(self._handle.parts()[4:] and self._handle.parts()[4])

    @property
    def type_params(self):
        """The `TypeVar`s of a generic function."""
        return _types(self._handle.parts()[1])

    @property
    def arg_types(self):
        """Types of the parameters."""
        return _types(self._handle.parts()[2])

    @property
    def ret_type(self):
        """Type of the result."""
        return _type(self._handle.parts()[3])


class RefType(Type):
    """The type of references to a `value`."""

    __slots__ = ()
    __match_args__ = ("value",)

    def __init__(self, value):
        super().__init__(_composed(_native.ref_type, "ref", value._handle))

    @property
    def value(self):
        """What is referred to."""
        return _type(self._handle.parts()[1])


class GlobalTypeVar(Node, str):
    """The name of a type definition. Called with types, the type: GlobalTypeVar("List")(a)."""

    def __new__(cls, name_hint, kind=TypeKind.AdtHandle):
        made = super().__new__(cls, name_hint)
        made.kind = TypeKind(kind)
        return made

    @property
    def name_hint(self):
        """It as text."""
        return str(self)

    def __call__(self, *args):
        return TypeCall(self, args)


class TypeCall(Type):
    """The type of an ADT's values: List[int32] is TypeCall("List", [int32])."""

    __slots__ = ()
    __match_args__ = ("func", "args")

    def __init__(self, func, args=()):
        args = _handles(args)
        if getattr(func, "kind", TypeKind.AdtHandle) != TypeKind.AdtHandle or any(isinstance(h, _Parts) for h in args):
            super().__init__(_Parts("adt", func, args))
        else:
            super().__init__(_composed(functools.partial(_native.adt_type, str(func)), "adt", args))

    @property
    def func(self):
        """Name of the type definition."""
        func = self._handle.parts()[1]
        return func if isinstance(func, GlobalTypeVar) else GlobalTypeVar(func)

    @property
    def args(self):
        """Its arguments."""
        return _types(self._handle.parts()[2])


class TypeVar(Type):
    """A type parameter of a function or of a type definition. Those that the compiler knows are of the kind `TypeKind.Type`."""

    __slots__ = ()
    __match_args__ = ("name_hint",)

    def __init__(self, name_hint, kind=TypeKind.Type):
        super().__init__(_native.type_var(name_hint))
        if kind != TypeKind.Type:
            _KINDS_OF_VARS[self._handle.parts()[2]] = TypeKind(kind)

    @property
    def kind(self):
        """What it stands for."""
        return _KINDS_OF_VARS.get(self._handle.parts()[2], TypeKind.Type)

    def __call__(self, *args):
        return TypeCall(self, args)

    @property
    def name_hint(self):
        """Its name."""
        return self._handle.parts()[1]


_KINDS_OF_VARS = {}  # of type variables by number, of those that are of another kind than Type


class IncompleteType(Type):
    """A type that is not known yet, another one than all others. Of a variable: it is inferred."""

    __slots__ = ()

    def __init__(self, kind=TypeKind.Type):
        super().__init__(_Parts("incomplete", TypeKind(kind)))

    @property
    def kind(self):
        """What it stands for."""
        parts = self._handle.parts()
        return parts[1] if len(parts) > 1 else TypeKind.Type


class TypeConstraint(Type):
    """What must hold between types."""

    __slots__ = ()


class TypeRelation(TypeConstraint):
    """That a function (`EnvFunc`) relates types: the first num_inputs of `args` and the rest. The compiler has relations of its own."""

    __slots__ = ()
    __match_args__ = ("func", "args")

    def __init__(self, func, args, num_inputs, attrs=None):
        super().__init__(_Parts("relation", func, _handles(args), num_inputs, attrs))

    @property
    def func(self):
        """What relates them."""
        return self._handle.parts()[1]

    @property
    def args(self):
        """The types."""
        return _types(self._handle.parts()[2])

    @property
    def num_inputs(self):
        """How many of them are given."""
        return self._handle.parts()[3]

    @property
    def attrs(self):
        """What else the function reads."""
        return self._handle.parts()[4]


class EnvFunc(Object):
    """A function by its name, as types mention it: `EnvFunc.get`."""

    _all = {}

    def __init__(self, name):
        self.name = name

    @classmethod
    def get(cls, name):
        """The one of a name."""
        return cls._all.setdefault(name, cls(name))

    @property
    def func(self):
        """The function that Python registered by the name, or None."""
        return get_global_func(self.name, allow_missing=True)

    def __call__(self, *args):
        if self.func is not None:
            return self.func(*args)
        raise NotImplementedError(f"{self.name} is a name here: the compiler's relations are its own, and InferType applies them")

    def __repr__(self):
        return f"EnvFunc({self.name})"


Dim = _native.Dim
Dim.__doc__ = "A dim that is known when the program runs: an expression over symbols."


def _dim_arithmetic():
    def method(compute, is_reflected=False):
        def run(self, other):
            if isinstance(other, float) and other.is_integer():
                other = int(other)
            if not isinstance(other, (int, Dim)):
                return NotImplemented
            if compute in (_native.dim_floor_divide, _native.dim_floor_mod) and (self if is_reflected else other) == 0:
                raise ZeroDivisionError("a dim by zero")
            return compute(other, self) if is_reflected else compute(self, other)
        return run
    for name, compute in {"add": _native.dim_add, "sub": _native.dim_subtract, "mul": _native.dim_multiply,
                          "floordiv": _native.dim_floor_divide, "mod": _native.dim_floor_mod}.items():
        setattr(Dim, f"__{name}__", method(compute))
        setattr(Dim, f"__r{name}__", method(compute, is_reflected=True))


_dim_arithmetic()


def size_var(name):
    """A dim that is known when the program runs, another one than all others of that name. +, -, *, //, % of such and ints are dims too."""
    return _native.dim_symbol(name)


class PrimType(Type):
    """The type of a number, which kernels of TVM's have and programs do not."""

    __slots__ = ()
    __match_args__ = ("dtype",)

    def __init__(self, dtype):
        super().__init__(_Parts("number", dtype))

    @property
    def dtype(self):
        """Its dtype."""
        return self._handle.parts()[1]

    def __eq__(self, other):
        return type(other) is type(self) and self._handle.parts()[1:] == other._handle.parts()[1:]

    __hash__ = Type.__hash__

    def __str__(self):
        return self.dtype


class PointerType(PrimType):
    """The type of an address, which kernels of TVM's have and programs do not."""

    __slots__ = ()
    __match_args__ = ("element_type", "storage_scope")
    dtype = "handle"

    def __init__(self, element_type, storage_scope=""):
        Type.__init__(self, _Parts("address", element_type, storage_scope))

    @property
    def element_type(self):
        """The type of what is there."""
        return self._handle.parts()[1]

    @property
    def storage_scope(self):
        """The memory that it is in."""
        return self._handle.parts()[2]

    def __str__(self):
        return f"handle({self.element_type}, {self.storage_scope!r})"


_TYPES = {"number": PrimType, "address": PointerType, "tensor": TensorType, "tuple": TupleType, "function": FuncType, "ref": RefType,
          "adt": TypeCall, "var": TypeVar, "incomplete": IncompleteType,
          "relation": TypeRelation}


def _type(handle):
    made = object.__new__(_TYPES.get(handle.parts()[0], Type))
    made._handle = handle
    return made


def _types(handles):
    return _Sequence(_type(handle) for handle in handles)


def _match_types(pattern, kind, found):
    """Adds to `found` what the type variables of a type stand for, where it is another."""
    left = [(pattern, kind)]
    while left:
        pattern, kind = left.pop()
        if isinstance(pattern, TypeVar):
            found.setdefault(pattern, kind)
        elif isinstance(pattern, TupleType) and isinstance(kind, TupleType):
            left.extend(zip(pattern.fields, kind.fields))
        elif isinstance(pattern, FuncType) and isinstance(kind, FuncType):
            left.extend(zip([*pattern.arg_types, pattern.ret_type], [*kind.arg_types, kind.ret_type]))
        elif isinstance(pattern, RefType) and isinstance(kind, RefType):
            left.append((pattern.value, kind.value))
        elif isinstance(pattern, TypeCall) and isinstance(kind, TypeCall):
            left.extend(zip(pattern.args, kind.args))


def _handles(types):
    types = list(types)
    for t in types:
        if not isinstance(t, Type):
            raise InvalidArgument(f"expected a type, found {type(t).__name__}")
    return [t._handle for t in types]


def scalar_type(dtype):
    """The type of tensors of rank 0."""
    return TensorType((), dtype)
