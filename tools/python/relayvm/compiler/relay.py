"""The nodes of programs, as TVM's users know them: `rvm.relay`.

    from relayvm import relay

    x = relay.var("x", shape=("n", 4))
    y = relay.nn.relu(relay.nn.dense(x, relay.const(w)) + 1.0)
    mod = rvm.IRModule.from_expr(relay.Function([x], y))

    def count(node):
        if isinstance(node, relay.Call) and node.op == relay.op.get("nn.dense"):
            print(node.checked_type, node.span)
    rvm.post_order_visit(mod["main"], count)

A function's body is a DAG: what several nodes use is one object, and nodes are equal when they are the same object. Nodes do not
change; `ExprMutator` makes others of them. Those of a `Module` know their type (checked_type) and their place in the source (span);
new ones get them when a module is made of them: IRModule, mod.with_functions, a pass (`transform.function_pass`).
"""
import contextlib
import enum
import functools
import gc
import sys
from collections.abc import Mapping

from . import _native
from .dims import Any, sizes  # noqa: F401 (Any is a name of TVM's relay)


class _Sequence(tuple):
    """Nodes or types in their order: a tuple that is equal to a list of the same."""

    __slots__ = ()

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if type(other) is list else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


# --- Types ---


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


class Type:
    """A type. str() gives it as Relay writes it; types are equal by structure."""

    __slots__ = ("_handle",)

    def __init__(self, handle):
        self._handle = handle

    def __str__(self):
        return str(self._handle)

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

    def astext(self, show_meta_data=True, annotate=None):
        """Relay text, with the version and the metadata."""
        from .text import text_of  # which needs the nodes
        return text_of(self, show_meta_data)


_WITHOUT_BITS = {"int": "int32", "uint": "uint32", "float": "float32"}


class TensorType(Type):
    """shape: of ints, and of dims that are known when the program runs (`Dim`). dtype: "float32" ..."""

    __slots__ = ()
    __match_args__ = ("shape", "dtype")

    def __init__(self, shape, dtype="float32"):
        super().__init__(_native.tensor_type(shape, _WITHOUT_BITS.get(dtype, dtype)))

    @property
    def shape(self):
        """The dims: ints and `Dim`s."""
        return sizes(self._handle.parts()[1])

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


class GlobalTypeVar(str):
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


class EnvFunc:
    """A function by its name, as types mention it: `EnvFunc.get`."""

    _all = {}

    def __init__(self, name):
        self.name = name

    @classmethod
    def get(cls, name):
        """The one of a name."""
        return cls._all.setdefault(name, cls(name))

    def __call__(self, *args):
        raise NotImplementedError(f"{self.name} is a name here: the compiler's relations are its own, and InferType applies them")

    def __repr__(self):
        return f"EnvFunc({self.name})"


Dim = _native.Dim  # a dim that is known when the program runs: an expression over symbols


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


_TYPES = {"tensor": TensorType, "tuple": TupleType, "function": FuncType, "ref": RefType, "adt": TypeCall, "var": TypeVar, "incomplete": IncompleteType,
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
        match pattern:
            case TypeVar():
                found.setdefault(pattern, kind)
            case TupleType() if isinstance(kind, TupleType):
                left.extend(zip(pattern.fields, kind.fields))
            case FuncType() if isinstance(kind, FuncType):
                left.extend(zip([*pattern.arg_types, pattern.ret_type], [*kind.arg_types, kind.ret_type]))
            case RefType() if isinstance(kind, RefType):
                left.append((pattern.value, kind.value))
            case TypeCall() if isinstance(kind, TypeCall):
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


# --- Expressions ---

from ..adt import define_tags, tag_of  # noqa: E402
from ..errors import InvalidArgument  # noqa: E402
from .spans import SequentialSpan, SourceName, Span  # noqa: E402 F401 (names of TVM's relay)

_set = object.__setattr__
_array_type = None  # a class of arrays for `Constant.data`: relayvm.tvm has one, with methods that TVM's have


class Expr:
    """What gives a value. Nodes are equal when they are the same object."""

    __slots__ = ("_type", "_span", "_bound", "__weakref__")
    _fields = ()  # what can be set of a new one, in the order of the constructor

    def _init(self, span=None, **fields):
        _set(self, "_type", None)
        _set(self, "_span", span)
        _set(self, "_bound", None)
        for name, value in fields.items():
            _set(self, name, value)

    def __setattr__(self, name, value):
        if name == "virtual_device_" and str(getattr(value, "device_type", "cpu")) == "cpu":
            return  # there is the processor alone
        raise AttributeError(f"nodes do not change: make a new {type(self).__name__}")

    @property
    def checked_type(self):
        """The type. Raises ValueError for a node that no module was made of."""
        node = self
        while type(node) is Let and node._type is None:
            node = node.body
        if node._type is None:
            raise ValueError(f"{node!r} has no type yet: types are those of the nodes of a Module (mod[name])")
        if not isinstance(node._type, Type):
            _set(node, "_type", _type(node._type))
        return node._type

    @property
    def span(self):
        """Where it stands in the source, None where that is not known: file, line, column, length."""
        return self._span

    def same_as(self, other):
        """Whether it is the same node."""
        return self is other

    def astype(self, dtype):
        """The value with another dtype: relay.cast."""
        return _get_op("cast")(self, dtype)

    def __call__(self, *args):
        return Call(self, args)

    # Arithmetic, as in TVM; numbers may stand on the other side here, and have the dtype of this one.
    def __neg__(self):
        return _get_op("negative")(self)

    def __add__(self, other):
        return _get_op("add")(self, other)

    def __radd__(self, other):
        return _get_op("add")(other, self)

    def __sub__(self, other):
        return _get_op("subtract")(self, other)

    def __rsub__(self, other):
        return _get_op("subtract")(other, self)

    def __mul__(self, other):
        return _get_op("multiply")(self, other)

    def __rmul__(self, other):
        return _get_op("multiply")(other, self)

    def __truediv__(self, other):
        return _get_op("divide")(self, other)

    def __rtruediv__(self, other):
        return _get_op("divide")(other, self)

    def __lt__(self, other):
        return _get_op("less")(self, other)

    def __le__(self, other):
        return _get_op("less_equal")(self, other)

    def __gt__(self, other):
        return _get_op("greater")(self, other)

    def __ge__(self, other):
        return _get_op("greater_equal")(self, other)

    def __bool__(self):
        return True  # it is there; whether its value is true, the program finds out

    __array_ufunc__ = None  # array + expression is the expression's

    def _children(self):
        return ()

    def astext(self, show_meta_data=True, annotate=None):
        """Relay text, with the version and the metadata. annotate: a function that gives the text behind an expression, a comment."""
        from .text import text_of  # which needs the nodes
        return text_of(self, show_meta_data, annotate)

    def __str__(self):
        from .text import text_of  # which needs the nodes
        return text_of(self, is_whole=False)

    def __repr__(self):
        return _text(self)

    def _repr_html_(self):
        from . import notebook  # which needs the nodes
        return notebook.of_function(self) if isinstance(self, Function) else notebook.of_expression(self)


_NO_TYPES = _Sequence()


def _check(what, values, kind):
    values = _Sequence(values)
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{what}: expected {kind.__name__}, found {type(value).__name__}")
    return values


class Var(Expr):
    """A variable: a parameter, or what a let or a pattern binds. Two of one name are two variables."""

    __slots__ = ("name_hint", "type_annotation", "_handle")
    __match_args__ = ("name_hint",)

    def __init__(self, name_hint, type_annotation=None, span=None):
        self._init(span, name_hint=str(name_hint), type_annotation=type_annotation, _handle=None)
        _set(self, "_type", type_annotation)


    @property
    def vid(self):
        """What tells it from others of its name."""
        return Id(self)


class Id:
    """What a variable is: two are equal that are of one variable."""

    __slots__ = ("variable",)

    def __init__(self, variable):
        self.variable = variable

    @property
    def name_hint(self):
        """The variable's name."""
        return self.variable.name_hint

    def __eq__(self, other):
        return isinstance(other, Id) and self.variable is other.variable

    def __hash__(self):
        return hash(self.variable)

    def __repr__(self):
        return f"Id({self.name_hint})"


class Constant(Expr):
    """A tensor of the program."""

    __slots__ = ("_handle",)
    __match_args__ = ("data",)

    def __init__(self, data, span=None, *, name=""):
        self._init(span, _handle=data if isinstance(data, _native.Constant) else _native.constant(data, name))

    @property
    def checked_type(self):
        """Its type, which is known always."""
        if self._type is None:
            return _type(self._handle.type)
        return super().checked_type

    @property
    def data(self):
        """The tensor as an array, not to be written: a view of its memory. Of bfloat16, the bits as uint16."""
        import numpy
        data = numpy.asarray(self._handle)
        return data if _array_type is None else data.view(_array_type)

    @property
    def name(self):
        """Of the parameter that it was bound to (`bind_params_by_name`), or of the model; may be empty."""
        return self._handle.name


class GlobalVar(Expr):
    """A function of the module, by its name."""

    __slots__ = ("name_hint",)
    __match_args__ = ("name_hint",)

    def __init__(self, name_hint, type_annotation=None):
        self._init(None, name_hint=name_hint.removeprefix("@"))
        _set(self, "_type", type_annotation)

    def __eq__(self, other):
        return isinstance(other, GlobalVar) and self.name_hint == other.name_hint

    def __hash__(self):
        return hash(self.name_hint)


def _name_of(name):
    return name.name_hint if isinstance(name, GlobalVar) else name


class Constructor(Expr):
    """A constructor of a type definition: mod.get_constructor("List", "Cons"). inputs: the types of its fields. belong_to: what it makes."""

    __slots__ = ("name_hint", "inputs", "belong_to")
    __match_args__ = ("name_hint", "inputs", "belong_to")

    def __init__(self, name_hint, inputs, belong_to):
        self._init(None, name_hint=name_hint, inputs=_Sequence(inputs), belong_to=GlobalTypeVar(belong_to))

    def __eq__(self, other):
        return isinstance(other, Constructor) and (self.belong_to, self.name_hint) == (other.belong_to, other.name_hint)

    def __hash__(self):
        return hash(self.name_hint)

    @property
    def tag(self):
        """Its number, which values of it have."""
        return tag_of(self.name_hint)


class _DocOfOp:
    """The __doc__ of the class, and of each operator its own."""

    def __init__(self, text):
        self.text = text

    def __get__(self, op, owner):
        return self.text if op is None else _operators().doc_of(op.name)


class Op(Expr):
    __doc__ = _DocOfOp("""An operator: `op.get`. There is one object for each. Called, it takes what TVM's Python function of that name takes, with
    the defaults of that; `Call` takes operands and attributes with the defaults that they have in text. help(relay.nn.conv2d) has them.""")

    __slots__ = ("name", "num_inputs", "_key")
    __match_args__ = ("name",)
    _all = {}

    def __init__(self, name):
        raise TypeError("operators are there already: relay.op.get(name)")

    @classmethod
    def _make(cls, name, num_inputs, key):
        op = object.__new__(cls)
        op._init(None, name=name, num_inputs=num_inputs, _key=key)
        return cls._all.setdefault(name, op)

    def __call__(self, *args, **attrs):
        return _operators().call(self.name, self, args, attrs)

    @property
    def __signature__(self):
        return _operators().whole_signature_of(self.name)

    @staticmethod
    def get(name):
        """The operator of that name."""
        return _get_op(name)

    # What Python knows of it besides, as in TVM: passes of Python read it.
    _attributes = {}  # (operator, name): (level, value)

    def get_attr(self, name):
        """An attribute that was set, or None."""
        found = self._attributes.get((self.name, name))
        return found[1] if found is not None else _operators().attribute_of(self.name, name)

    def has_attr(self, name):
        """Whether it was set."""
        return (self.name, name) in self._attributes or _operators().attribute_of(self.name, name) is not None

    def set_attr(self, name, value, plevel=10):
        """Sets an attribute; one of a higher level stays."""
        if plevel >= self._attributes.get((self.name, name), (plevel,))[0]:
            self._attributes[self.name, name] = plevel, value

    def reset_attr(self, name):
        """Takes an attribute away."""
        self._attributes.pop((self.name, name), None)

    @staticmethod
    def list_op_names():
        """Names of all operators."""
        return sorted(_native.operator_names())


class Attrs(Mapping):
    """Attributes of a call, complete: attrs["units"] or attrs.units. type_key: of those that `make_node` makes."""

    __slots__ = ("_values", "type_key")

    def __init__(self, values, type_key=None):
        self._values, self.type_key = dict(values), type_key

    def get_int(self, key):
        """A number."""
        return int(self[key])

    def get_int_tuple(self, key):
        """Numbers."""
        return tuple(map(int, self[key]))

    def get_str(self, key):
        """Text."""
        return str(self[key])

    def __getitem__(self, name):
        return self._values[name]

    def __getattr__(self, name):
        if name in Attrs.__slots__:  # a copy that is not filled yet
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"there is no attribute {name}; there are {', '.join(self._values)}") from None

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return f"Attrs({self._values})"


class _WithFields:
    """What TVM's TupleWrapper has besides fields."""

    __slots__ = ()

    def astuple(self):
        """It itself."""
        return self

    @property
    def tuple_value(self):
        """The same."""
        return self

    @property
    def size(self):
        """How many fields it has."""
        return len(self)


class Call(_WithFields, Expr):
    """A call: of an operator (`Op`, or its name) with attributes, or of a function. type_args: what the type parameters of a function stand
    for, which the compiler infers; attributes of a function's call are kept until it is compiled."""

    __slots__ = ("op", "args", "_attrs", "_type_args")
    __match_args__ = ("op", "args", "attrs")

    def __init__(self, op, args, attrs=None, type_args=None, span=None):
        if isinstance(op, str):
            op = _get_op(op)
        args = _check(f"arguments of {op.name}" if isinstance(op, Op) else "arguments of a call", args, Expr)
        made = None
        if isinstance(op, Op):
            made = _native.Call(op._key, dict(attrs or {}), len(args))
        elif not isinstance(op, Expr):
            raise TypeError(f"a call is of an operator or an expression, found {type(op).__name__}")
        elif attrs:
            made = attrs if isinstance(attrs, Attrs) else Attrs(attrs)
        self._init(span, op=op, args=args, _attrs=made, _type_args=_Sequence(type_args or ()))

    @property
    def attrs(self):
        """The operator's attributes, also those that have their defaults. Of calls of functions, those that they were made with, or None: they
        are for passes of Python and no part of a module."""
        return Attrs(self._attrs.attrs) if isinstance(self._attrs, _native.Call) else self._attrs

    @property
    def type_args(self):
        """What the type parameters of the callee stand for: the types that it was made with, or that are inferred; of an operator, the types
        of its operands."""
        if self._type_args or self._type is None:
            return self._type_args
        given = [arg.checked_type for arg in self.args]
        if isinstance(self.op, Op):
            return _Sequence(given)
        callee = self.op.checked_type
        found = {}
        for param, kind in zip([*callee.arg_types, callee.ret_type], [*given, self.checked_type]):
            _match_types(param, kind, found)
        return _Sequence(found.get(v, v) for v in callee.type_params)

    # Of a call that gives a tuple, as TVM's TupleWrapper: its fields.
    def __len__(self):
        size = _operators().number_of_fields(self)
        if size is None and isinstance(self._type and self.checked_type, TupleType):
            size = len(self.checked_type.fields)
        if size is None:
            raise TypeError(f"{self!r} is not known to give a tuple; relay.TupleGetItem takes a field of any")
        return size

    def __getitem__(self, index):
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"{self!r} gives a tuple of {size}, there is no field {index}")
        return TupleGetItem(self, index % size, self._span)

    def __iter__(self):
        return (TupleGetItem(self, i, self._span) for i in range(len(self)))

    def _children(self):
        return (self.op, *self.args)


def same_call(call, op, args):
    """A call of `op` with the attributes of another call."""
    if op is not call.op or len(args) != len(call.args):
        attrs = call.attrs if isinstance(op, Op) or not isinstance(call.op, Op) else None
        return Call(op, args, attrs, call._type_args, span=call.span)
    new = object.__new__(Call)  # the attributes are complete
    new._init(call._span, op=op, args=_check("arguments of a call", args, Expr), _attrs=call._attrs, _type_args=call._type_args)
    return new


def _plain_call(op, args, attrs):
    """A call of what was checked."""
    new = object.__new__(Call)
    new._init(op=op, args=_Sequence(args), _attrs=attrs, _type_args=_NO_TYPES)
    return new


class Tuple(_WithFields, Expr):
    """A tuple."""

    __slots__ = ("fields",)
    __match_args__ = ("fields",)

    def __init__(self, fields, span=None):
        self._init(span, fields=_check("fields of a tuple", fields, Expr))

    def __getitem__(self, index):
        return self.fields[index]

    def __len__(self):
        return len(self.fields)

    def _children(self):
        return self.fields


class TupleGetItem(Expr):
    """A field of a tuple."""

    __slots__ = ("tuple_value", "index")
    __match_args__ = ("tuple_value", "index")

    def __init__(self, tuple_value, index, span=None):
        _check("a tuple", [tuple_value], Expr)
        self._init(span, tuple_value=tuple_value, index=int(index))

    @property
    def checked_type(self):
        """The type: that of the tuple's field, where the tuple's is known."""
        if self._type is None and self.tuple_value._type is not None:
            return self.tuple_value.checked_type.fields[self.index]
        return super().checked_type

    def _children(self):
        return (self.tuple_value,)


class Let(Expr):
    """let var = value; body"""

    __slots__ = ("var", "value", "body")
    __match_args__ = ("var", "value", "body")

    def __init__(self, variable, value, body, span=None):
        _check("the variable of a let", [variable], Var)
        _check("a let", [value, body], Expr)
        self._init(span, var=variable, value=value, body=body)

    def _children(self):
        return (self.var, self.value, self.body)


class If(Expr):
    """if (cond) {true_branch} else {false_branch}"""

    __slots__ = ("cond", "true_branch", "false_branch")
    __match_args__ = ("cond", "true_branch", "false_branch")

    def __init__(self, cond, true_branch, false_branch, span=None):
        _check("an if", [cond, true_branch, false_branch], Expr)
        self._init(span, cond=cond, true_branch=true_branch, false_branch=false_branch)

    def _children(self):
        return (self.cond, self.true_branch, self.false_branch)


class Function(Expr):
    """A function: one of a module, mod["main"], or a literal.

    ret_type: as written or inferred, None where it is to be inferred. attrs: such as Primitive, of kernels. name: of a function of a
    module, or of what a literal was bound to. module: that it was taken from.
    """

    __slots__ = ("params", "body", "type_params", "_ret_type", "_attrs", "name", "module", "_handle")
    __match_args__ = ("params", "body")

    def __init__(self, params, body, ret_type=None, type_params=None, attrs=None, span=None, *, name=""):
        _check("the body of a function", [body], Expr)
        self._init(span, params=_check("parameters", params, Var), body=body, _ret_type=ret_type, type_params=_Sequence(type_params or ()),
                   _attrs=dict(attrs or {}), name=name, module=None, _handle=None)

    @property
    def ret_type(self):
        if self._ret_type is None and self._handle is not None:
            handle = self._handle.result_type
            _set(self, "_ret_type", None if handle is None else _type(handle))
        return self._ret_type

    @property
    def attrs(self):
        """Its attributes."""
        if self._attrs is None:
            _set(self, "_attrs", self._handle.attrs)
        return Attrs(self._attrs)

    def with_attr(self, key, value=None):
        """The function with further attributes: a name and a value, or a dict."""
        more = key if isinstance(key, Mapping) else {key: value}
        return Function(self.params, self.body, self.ret_type, self.type_params, {**self.attrs, **more}, self.span, name=self.name)

    def _children(self):
        return (*self.params, self.body)


class Pattern:
    """What a clause of a match takes."""

    __slots__ = ("span",)

    def _patterns(self):
        return ()

    def __repr__(self):
        return _pattern_text(self)


class PatternWildcard(Pattern):
    """Anything: _"""

    __slots__ = ()

    def __init__(self, span=None):
        self.span = span


class PatternVar(Pattern):
    """Anything, which gets a name."""

    __slots__ = ("var",)
    __match_args__ = ("var",)

    def __init__(self, variable, span=None):
        self.var, self.span = _check("a pattern", [variable], Var)[0], span


class PatternConstructor(Pattern):
    """A value that a constructor made."""

    __slots__ = ("constructor", "patterns")
    __match_args__ = ("constructor", "patterns")

    def __init__(self, constructor, patterns=(), span=None):
        self.constructor, self.patterns, self.span = constructor, _check("a pattern", patterns, Pattern), span

    def _patterns(self):
        return self.patterns


class PatternTuple(Pattern):
    """A tuple."""

    __slots__ = ("patterns",)
    __match_args__ = ("patterns",)

    def __init__(self, patterns=(), span=None):
        self.patterns, self.span = _check("a pattern", patterns, Pattern), span

    def _patterns(self):
        return self.patterns


class Clause:
    """A clause of a match: pattern (lhs) and what it gives (rhs)."""

    __slots__ = ("lhs", "rhs")
    __match_args__ = ("lhs", "rhs")

    def __init__(self, lhs, rhs):
        _check("the pattern of a clause", [lhs], Pattern)
        _check("what a clause gives", [rhs], Expr)
        self.lhs, self.rhs = lhs, rhs

    def __repr__(self):
        return f"{self.lhs!r} => {self.rhs!r}"


class Match(Expr):
    """match (data) {clauses}; complete: one of them must take every value."""

    __slots__ = ("data", "clauses", "complete")
    __match_args__ = ("data", "clauses")

    def __init__(self, data, clauses, complete=True, span=None):
        _check("a match", [data], Expr)
        self._init(span, data=data, clauses=_check("clauses", clauses, Clause), complete=bool(complete))

    def _children(self):
        return (self.data, *(clause.rhs for clause in self.clauses))


class RefCreate(Expr):
    """ref(value)"""

    __slots__ = ("value",)
    __match_args__ = ("value",)

    def __init__(self, value, span=None):
        _check("a reference", [value], Expr)
        self._init(span, value=value)

    def _children(self):
        return (self.value,)


class RefRead(Expr):
    """ref_read(ref)"""

    __slots__ = ("ref",)
    __match_args__ = ("ref",)

    def __init__(self, ref, span=None):
        _check("ref_read", [ref], Expr)
        self._init(span, ref=ref)

    def _children(self):
        return (self.ref,)


class RefWrite(Expr):
    """ref_write(ref, value)"""

    __slots__ = ("ref", "value")
    __match_args__ = ("ref", "value")

    def __init__(self, ref, value, span=None):
        _check("ref_write", [ref, value], Expr)
        self._init(span, ref=ref, value=value)

    def _children(self):
        return (self.ref, self.value)


class Internal(Expr):
    """What only the compiler makes, in modules that have gone through passes. Passes keep it; args may be replaced.

    kind: "stated" (a type that the program states of a value), "dim" and "element" (sizes that expressions read), "shape_value" and
    "shape_by_rule" (shapes), "host_call" (the body of a host function), "trap" (a failure), "closure" (after LambdaLift).
    """

    __slots__ = ("args", "_handle")
    __match_args__ = ("kind", "args")

    def __init__(self, like, args, span=None):
        self._init(span, args=_check("arguments", args, Expr), _handle=like._handle if isinstance(like, Internal) else like)

    @property
    def kind(self):
        """What it is."""
        return self._handle.kind

    def _children(self):
        return self.args


class TypeData:
    """A type definition: header (its name), type_vars, constructors."""

    __slots__ = ("header", "type_vars", "constructors")
    __match_args__ = ("header", "type_vars", "constructors")

    def __init__(self, header, type_vars, constructors):
        self.header, self.type_vars = header if isinstance(header, GlobalTypeVar) else GlobalTypeVar(header), _Sequence(type_vars)
        self.constructors = _Sequence(constructors)
        define_tags(str(self.header), [c.name_hint for c in self.constructors])

    @property
    def fields(self):
        """The types of the constructors' fields, by the constructors' names."""
        return {c.name_hint: c.inputs for c in self.constructors}

    def _text(self):
        """The definition, as a program has it."""
        type_vars = f"[{', '.join(map(str, self.type_vars))}]" if self.type_vars else ""
        constructors = (c.name_hint + (f"({', '.join(map(str, c.inputs))})" if c.inputs else "") for c in self.constructors)
        return f"type {self.header}{type_vars} {{ {', '.join(constructors)} }}"

    def __repr__(self):
        return f"TypeData({self.header}: {', '.join(c.name_hint for c in self.constructors)})"


# --- Making nodes ---


def var(name_hint, type_annotation=None, shape=None, dtype="float32", span=None):
    """A new variable. With `shape`, a tensor: its dims are ints, names ("n"; the same name is the same size), None for any."""
    if shape is not None:
        if type_annotation is not None:
            raise ValueError("var: a type or a shape, not both")
        type_annotation = TensorType(shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = scalar_type(type_annotation)
    return Var(name_hint, type_annotation, span)


def const(value, dtype=None, span=None, *, name=""):
    """A constant: of an array, whose memory is shared where it is 64-byte aligned and compact and must not change; of a number or
    lists of numbers. Where no dtype is given, float64 and int64, which numpy makes of numbers and lists, become float32 and int32, as in
    TVM."""
    if not hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        import numpy
        value = numpy.asarray(value)
    if dtype is None:
        dtype = {"float64": "float32", "int64": "int32"}.get(str(getattr(value, "dtype", "")))
        if dtype == "int32" and value.size and not (-1 << 31 <= value.min() and value.max() < 1 << 31):
            raise ValueError(f"const: {value.min()} to {value.max()} is more than int32 holds, which is what ints become here: give dtype=\"int64\"")
    if dtype is not None:
        value = value.astype(dtype, copy=False)
    return Constant(value, span, name=name)


def _get_op(name):
    op = Op._all.get(name)
    if op is None:
        found = _native.operator_arguments(name)
        if found is None:
            raise AttributeError(f"there is no operator {name}{_native.did_you_mean(name, _native.operator_names())}")
        op = Op._make(name, found[0] if isinstance(found, tuple) else found, name)
    return op


class _Operators:
    """Operators by name: relay.op.nn.dense, relay.op.get("nn.dense")."""

    def __init__(self, prefix=""):
        self._prefix = prefix

    def get(self, name):
        """The operator of that name."""
        return _get_op(self._prefix + name)

    def __call__(self, name):
        return self.get(name)

    def __getattr__(self, name):
        full = self._prefix + name
        if not name.startswith("__"):
            if _native.operator_arguments(full) is not None:
                return _get_op(full)
            function = _operators().function_of(full)
            if function is not None:
                return function
            if full == "qnn.op":  # where TVM has them
                return self
            if full in ("nn.Constant", "nn.const"):
                return {"nn.Constant": Constant, "nn.const": const}[full]
            if any(n.startswith(full + ".") for n in _native.operator_names()):
                made = self.__dict__[name] = _Operators(full + ".")  # it is asked for often
                return made
        raise AttributeError(f"there is no operator {full}{_native.did_you_mean(full, _native.operator_names())}")

    def __dir__(self):
        return sorted({n[len(self._prefix):].split(".")[0] for n in _native.operator_names() if n.startswith(self._prefix)} | {"get"})


op = _Operators()


def _operators():
    from . import operators  # which needs what is above
    return operators


class TupleWrapper:
    """A tuple expression whose fields can be taken by [i]: as TVM's, here a `Tuple` of its fields. Calls that give tuples need none."""

    def __new__(cls, tuple_value, size):
        return tuple_value if isinstance(tuple_value, Tuple) else Tuple([TupleGetItem(tuple_value, i) for i in range(size)])


def bind(expr, binds):
    """The expression with others in place of variables, {var: expression}; of a function, these are no parameters of the new one."""
    class Bind(ExprMutator):
        def visit_var(self, var):
            return binds.get(var, var)

    mutator = Bind()
    if not isinstance(expr, Function):
        return mutator.visit(expr)
    return Function([p for p in expr.params if p not in binds], mutator.visit(expr.body), expr.ret_type, expr.type_params, expr.attrs, expr.span)


class ScopeBuilder:
    """Lets and ifs in the order in which they are written.

        sb = relay.ScopeBuilder()
        t = sb.let("t", relay.add(x, y))
        with sb.if_scope(relay.less(t, x)):
            sb.ret(t)
        with sb.else_scope():
            sb.ret(x)
        body = sb.get()
    """

    def __init__(self):
        self._scopes = [[]]
        self._results = [None]

    def let(self, variable, value):
        """Binds a value to a variable, or to a new one of that name; gives the variable."""
        if isinstance(variable, (str, tuple)):
            variable = var(*((variable,) if isinstance(variable, str) else variable))
        self._scopes[-1].append((variable, value))
        return variable

    def ret(self, value):
        """What the scope gives: its last line."""
        if self._results[-1] is not None:
            raise ValueError("ScopeBuilder: this scope has a result already")
        self._results[-1] = value

    def if_scope(self, cond):
        """with sb.if_scope(cond): the branch for a condition that holds. An else_scope follows."""
        return self._branch(lambda body: self.ret(("if", cond, body)))

    def else_scope(self):
        """with sb.else_scope(): the other branch."""
        pending = self._results[-1]
        if not isinstance(pending, tuple):
            raise ValueError("ScopeBuilder: else_scope comes after an if_scope")

        def end(body):
            self._results[-1] = If(pending[1], pending[2], body)
        return self._branch(end)

    @contextlib.contextmanager
    def _branch(self, end):
        self._scopes.append([])
        self._results.append(None)
        yield
        body = self.get()
        self._scopes.pop()
        self._results.pop()
        end(body)

    def get(self):
        """The expression."""
        result = self._results[-1]
        if result is None:
            raise ValueError("ScopeBuilder: a scope has no result: call ret")
        if isinstance(result, tuple):
            raise ValueError("ScopeBuilder: an if_scope has no else_scope")
        for variable, value in reversed(self._scopes[-1]):
            result = Let(variable, value, result)
        return result


def _free_vars(expr):
    """Variables that an expression reads and does not bind, in the order in which they are met."""
    found, bound = [], set()

    def see(node):
        if isinstance(node, Var):
            found.append(node)
        elif isinstance(node, Function):
            bound.update(node.params)
        elif isinstance(node, Let):
            bound.add(node.var)
        elif isinstance(node, Match):
            for clause in node.clauses:
                for pattern in _post_order(clause.lhs, lambda p: p._patterns()):
                    if isinstance(pattern, PatternVar):
                        bound.add(pattern.var)
    post_order_visit(expr, see)
    return [v for v in found if v not in bound]


def _all_vars(expr):
    """All variables of an expression, in the order in which they are met: those that something binds where it does."""
    found = {}
    for node in _post_order(expr, _parts):
        if isinstance(node, Var):
            found.setdefault(node)
    return list(found)


def _elsewhere(name):
    """What TVM has in relay and relayvm elsewhere."""
    from types import SimpleNamespace
    import relayvm
    match name:
        case "analysis":
            return relayvm.analysis
        case "expr_functor":
            return SimpleNamespace(ExprFunctor=ExprFunctor, ExprMutator=ExprMutator, ExprVisitor=ExprVisitor)
        case "dataflow_pattern":
            from . import dataflow_pattern  # which needs what is above
            return dataflow_pattern
        case "expr":
            return sys.modules[__name__]
        case "TypeFunctor" | "TypeMutator" | "TypeVisitor":
            from . import type_functors  # which needs what is above
            return getattr(type_functors, name)
        case "build" | "transform":
            return getattr(relayvm, name)
        case "fromtext":
            return relayvm.parse
        case "frontend":
            return SimpleNamespace(**{f"from_{format}": getattr(relayvm, f"from_{format}") for format in _FRONTENDS})
        case "create_executor":
            def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
                return relayvm.create_executor(kind, mod, params, target)
            create_executor.__doc__ = relayvm.create_executor.__doc__
            return create_executor
    return None


_FRONTENDS = ("keras", "mxnet", "onnx", "pytorch", "tensorflow", "tflite")
_INSTEAD = {
    "Prelude": "programs write the types that they use: type List[A] { Cons(A, List[A]), Nil }",
    "build_module": "rvm.compile, rvm.build",
    "load_param_dict": "rvm.load_params",
    "prelude": "programs write the types that they use: type List[A] { Cons(A, List[A]), Nil }",
    "save_param_dict": "numpy.savez, whose .npz `params` takes",
    "testing": "models come as text (rvm.parse) or as ONNX (rvm.from_onnx)",
    "vm": "rvm.compile makes programs for the VM",
}


def __getattr__(name):  # relay.add, relay.nn.dense
    if name.startswith("__"):
        raise AttributeError(name)
    if name in Op._all and "." not in name:  # as often
        return Op._all[name]
    found = _elsewhere(name)
    if found is not None:
        return found
    if name in _INSTEAD:
        raise AttributeError(f"relay.{name} is not there; instead: {_INSTEAD[name]}")
    try:
        return getattr(op, name)
    except AttributeError:
        names = [n for n in globals() if not n.startswith("_")] + _native.operator_names() + list(_FRONTENDS)
        raise AttributeError(f"there is no operator {name}, and nothing else of that name{_native.did_you_mean(name, names)}") from None


# --- Text ---

_DEPTH = 4  # of the text of a node


def _pattern_text(p):
    if isinstance(p, PatternVar):
        return "%" + p.var.name_hint
    fields = ", ".join(map(_pattern_text, p._patterns()))
    if isinstance(p, PatternConstructor):
        return p.constructor.name_hint + (f"({fields})" if fields else "")
    return f"({fields})" if isinstance(p, PatternTuple) else "_"


def _attr_text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_attr_text, value))}]"
    return str(value)


def _constant_text(c):
    kind = c.checked_type
    if kind.shape:
        return f"const {kind}"
    return f"{c.data} /* {kind.dtype} */"


def _text(e, depth=_DEPTH):
    """Relay text on one line; ... for what is deep inside."""
    def inner(*nodes):
        return ", ".join(_text(n, depth - 1) for n in nodes)

    match e:
        case Var():
            return f"%{e.name_hint or '_'}"
        case GlobalVar():
            return f"@{e.name_hint}"
        case Constructor():
            return e.name_hint
        case Op():
            return e.name
        case Constant():
            return _constant_text(e)
    if depth == 0:
        return "..."
    match e:
        case Call():
            attrs = "".join(f", {k}={_attr_text(v)}" for k, v in (e.attrs or {}).items() if v is not None)
            return f"{inner(e.op)}({inner(*e.args)}{attrs})"
        case Tuple():
            return f"({inner(*e.fields)}{',' if len(e) == 1 else ''})"
        case TupleGetItem():
            return f"{inner(e.tuple_value)}.{e.index}"
        case Let():
            return f"let {inner(e.var)} = {inner(e.value)}; {inner(e.body)}"
        case If():
            return f"if ({inner(e.cond)}) {{ {inner(e.true_branch)} }} else {{ {inner(e.false_branch)} }}"
        case Function():
            params = ", ".join(f"{inner(p)}: {p.checked_type}" if p._type is not None else inner(p) for p in e.params)
            return f"fn ({params}) {{ {inner(e.body)} }}"
        case Match():
            clauses = ", ".join(f"{c.lhs!r} => {{ {inner(c.rhs)} }}" for c in e.clauses)
            return f"match{'' if e.complete else '?'} ({inner(e.data)}) {{ {clauses} }}"
        case RefCreate():
            return f"ref({inner(e.value)})"
        case RefRead():
            return f"ref_read({inner(e.ref)})"
        case RefWrite():
            return f"ref_write({inner(e.ref, e.value)})"
        case Internal():
            return f"{e.kind}({inner(*e.args)})"
    return object.__repr__(e)


# --- From and to the compiler ---


def _all_stays(function):
    """Of a function that makes many objects and drops few: garbage is not looked for meanwhile."""
    @functools.wraps(function)
    def run(*args):
        if not gc.isenabled():
            return function(*args)
        gc.disable()
        try:
            return function(*args)
        finally:
            gc.enable()
    return run


def _of_record(cls, record, **fields):
    node = object.__new__(cls)
    for name, value in fields.items():
        _set(node, name, value)
    _set(node, "_type", record[3])
    _set(node, "_span", record[4])
    _set(node, "_bound", record[5])
    return node


def _op_of(call):
    return Op._all.get(call.op) or Op._make(call.op, call.num_args, call.op if _native.operator_arguments(call.op) is not None else call)


# Of a record and its operands (and the module): the node.
_MAKERS = {
    "constant": lambda r, o, m: _of_record(Constant, r, _handle=r[2]),
    "global": lambda r, o, m: m.get_global_var(r[2]),
    "constructor": lambda r, o, m: m.get_constructor(*r[2]),
    "op_call": lambda r, o, m: _of_record(Call, r, op=_op_of(r[2]), args=_Sequence(o), _attrs=r[2], _type_args=_NO_TYPES),
    "call": lambda r, o, m: _of_record(Call, r, op=o[0], args=_Sequence(o[1:]), _attrs=None, _type_args=_NO_TYPES),
    "tuple": lambda r, o, m: _of_record(Tuple, r, fields=_Sequence(o)),
    "get": lambda r, o, m: _of_record(TupleGetItem, r, tuple_value=o[0], index=r[2]),
    "let": lambda r, o, m: _of_record(Let, r, var=o[0], value=o[1], body=o[2]),
    "function": lambda r, o, m: _of_record(Function, r, params=_Sequence(o[:-1]), body=o[-1], _ret_type=None, type_params=_types(r[2].type_params),
                                           _attrs=None, name=r[2].name, module=None, _handle=r[2]),
    "if": lambda r, o, m: _of_record(If, r, cond=o[0], true_branch=o[1], false_branch=o[2]),
    "match": lambda r, o, m: _of_record(Match, r, data=o[0], clauses=_Sequence(o[1:]), complete=r[2]),
    "clause": lambda r, o, m: Clause(*o),
    "pattern_any": lambda r, o, m: PatternWildcard(r[4]),
    "pattern_var": lambda r, o, m: PatternVar(o[0], r[4]),
    "pattern_constructor": lambda r, o, m: PatternConstructor(m.get_constructor(*r[2]), o, r[4]),
    "pattern_tuple": lambda r, o, m: PatternTuple(o, r[4]),
    "ref_create": lambda r, o, m: _of_record(RefCreate, r, value=o[0]),
    "ref_read": lambda r, o, m: _of_record(RefRead, r, ref=o[0]),
    "ref_write": lambda r, o, m: _of_record(RefWrite, r, ref=o[0], value=o[1]),
    "internal": lambda r, o, m: _of_record(Internal, r, args=_Sequence(o), _handle=r[2]),
}


def _make_var(record, operands, module):
    node = _of_record(Var, record, name_hint=record[2].name, type_annotation=None, _handle=record[2])
    if record[3] is not None and not isinstance(node.checked_type, IncompleteType):
        _set(node, "type_annotation", node.checked_type)
    return node


_MAKERS["var"] = _make_var


@_all_stays
def _function_node(module, name):
    """The nodes of a function of a `Module`."""
    from . import calls_in_place  # which needs the nodes
    nodes, records = [], module._typed.records(name)
    is_wanted = getattr(module, "_has_calls_in_place", False) and calls_in_place.may_apply(records)
    builder = calls_in_place.Builder(records) if is_wanted else None
    for record in records:
        node = _MAKERS[record[0]](record, [nodes[i] for i in record[1]], module)
        nodes.append(node if builder is None else builder.add(node, record))
    _set(nodes[-1], "module", module)
    _set(nodes[-1], "name", name)
    return nodes[-1]


def _parts(node):
    """What a record has as operands."""
    if type(node) is Call:
        return node.args if isinstance(node.op, Op) else (node.op, *node.args)
    if type(node) is Match:
        return (node.data, *node.clauses)
    if type(node) is Clause:
        return (node.lhs, node.rhs)
    if type(node) is PatternVar:
        return (node.var,)
    return node._patterns() if isinstance(node, Pattern) else node._children()


def _optional(kind):
    if kind is None or isinstance(kind, IncompleteType):
        return None
    if isinstance(kind._handle, _Parts):
        raise TypeError(f"{kind}: the compiler has no types with parts that are not known; leave the type out, and it is inferred")
    return kind._handle


def _payload(node):
    match node:
        case Var():
            return node._handle or (node.name_hint, _optional(node.type_annotation))
        case Constant():
            return node._handle
        case GlobalVar():
            return node.name_hint
        case Constructor():
            return (node.belong_to, node.name_hint)
        case Call():
            return node._attrs if isinstance(node._attrs, _native.Call) else None
        case TupleGetItem():
            return node.index
        case Function():
            return node._handle or (_handles(node.type_params), _optional(node.ret_type), dict(node.attrs))
        case Match():
            return node.complete
        case PatternConstructor():
            return (node.constructor.belong_to, node.constructor.name_hint)
        case Internal():
            return node._handle


_KINDS = {Var: "var", Constant: "constant", GlobalVar: "global", Constructor: "constructor", Call: "call", Tuple: "tuple",
          TupleGetItem: "get", Let: "let", Function: "function", If: "if", Match: "match", Clause: "clause",
          PatternWildcard: "pattern_any", PatternVar: "pattern_var", PatternConstructor: "pattern_constructor",
          PatternTuple: "pattern_tuple", RefCreate: "ref_create", RefRead: "ref_read", RefWrite: "ref_write", Internal: "internal"}


@_all_stays
def _post_order(root, parts):
    """Distinct nodes, each after what it is made of."""
    order, seen, stack = [], {id(root)}, [(root, iter(parts(root)))]
    while stack:
        node, rest = stack[-1]
        for part in rest:
            if id(part) not in seen:
                seen.add(id(part))
                stack.append((part, iter(parts(part))))
                break
        else:
            order.append(node)
            stack.pop()
    return order


@_all_stays
def _function_records(function, span=None):
    """What the compiler makes a function of. span: where it stands, if it does not know."""
    if not isinstance(function, Function):
        raise TypeError(f"expected a relay.Function, found {type(function).__name__}")
    order = _post_order(function, _parts)
    positions = {id(node): i for i, node in enumerate(order)}
    # New nodes stand where their users stand.
    spans = {id(function): span}
    for node in reversed(order):
        span = getattr(node, "_span", None) or spans.get(id(node))
        spans[id(node)] = span
        for part in _parts(node):
            if spans.get(id(part)) is None:
                spans[id(part)] = span
    records = []
    for node in order:
        kind = _KINDS.get(type(node))
        if kind is None:
            raise TypeError(f"a {type(node).__name__} stands for no value: {node!r}")
        if kind == "call" and isinstance(node.op, Op):
            kind = "op_call"
        span = node.span if isinstance(node, Pattern) else spans[id(node)]
        span = span if isinstance(span, _native.Span) else None
        records.append((kind, tuple(positions[id(p)] for p in _parts(node)), _payload(node), None, span,
                        getattr(node, "_bound", None)))
    return records


# --- Walks ---


def post_order_visit(expr, callback):
    """Calls callback(node) for each distinct node of an expression or of all functions of a module: operands first."""
    roots = [expr] if isinstance(expr, Expr) else [expr[name] for name in expr._names]
    for root in roots:
        for node in _post_order(root, lambda e: e._children()):
            callback(node)


_METHODS = {Var: "visit_var", Constant: "visit_constant", GlobalVar: "visit_global_var", Constructor: "visit_constructor", Op: "visit_op",
            Call: "visit_call", Tuple: "visit_tuple", TupleGetItem: "visit_tuple_getitem", Let: "visit_let", Function: "visit_function",
            If: "visit_if", Match: "visit_match", RefCreate: "visit_ref_create", RefRead: "visit_ref_read", RefWrite: "visit_ref_write",
            Internal: "visit_internal"}


class ExprFunctor:
    """A walk with a method for each kind of node, visit_call(call) ..., once for each node: visit(expr) remembers results in memo_map.

    A chain of any length may be walked: Python's limit of recursion is lifted meanwhile, which Python functions alone need.
    """

    def __init__(self):
        self.memo_map = {}
        self._depth = 0

    def visit(self, expr):
        """What the method for the kind of `expr` gives."""
        known = self.memo_map.get(expr)
        if known is not None or expr in self.memo_map:
            return known
        method = _METHODS.get(type(expr))
        if method is None:
            raise TypeError(f"visit: expected an expression, found {type(expr).__name__}")
        if self._depth == 0:
            return self._visit_first(expr, method)
        result = getattr(self, method)(expr)
        self.memo_map[expr] = result
        return result

    def _visit_first(self, expr, method):
        limit = sys.getrecursionlimit()
        # Several functions call each other for a node.
        needed = 1000 + limit + 12 * len(_post_order(expr, lambda e: e._children()))
        sys.setrecursionlimit(max(limit, needed))
        self._depth = 1
        try:
            result = getattr(self, method)(expr)
        finally:
            self._depth = 0
            sys.setrecursionlimit(limit)
        self.memo_map[expr] = result
        return result


def _not_visited(name):
    def method(self, expr):
        raise NotImplementedError(f"{type(self).__name__} has no {name}, which {type(expr).__name__} needs")
    return method


def _set_methods(functor, make, doc, names=tuple(_METHODS.values())):
    """Gives a class a method for each kind of node, with a docstring."""
    kinds = {name: kind.__name__ for kind, name in _METHODS.items()}
    for name in names:
        method = make(name)
        method.__name__, method.__qualname__, method.__doc__ = name, f"{functor.__name__}.{name}", doc.format(kinds[name])
        setattr(functor, name, method)


_set_methods(ExprFunctor, _not_visited, "Of a `{}`: override it. What it gives is what `visit` gives. Without it, NotImplementedError.")


class ExprVisitor(ExprFunctor):
    """Visits what each node is made of. Override the methods for the kinds that are of interest, and call super()'s to go on."""


def _visits_parts(name):
    def method(self, expr):
        for part in expr._children():
            self.visit(part)
    return method


_set_methods(ExprVisitor, _visits_parts, "Of a `{}`: visits what it is made of. Override it, and call super()'s to go on inside.")


class ExprMutator(ExprFunctor):
    """Makes a new expression: override the methods for what is to be replaced.

    What is shared stays shared, and what does not change stays the same object. New nodes get the span of those that they replace.
    """

    def visit(self, expr):
        """What becomes of an expression: of each node once, however many use it."""
        result = super().visit(expr)
        if result is not expr and isinstance(result, Expr) and result._span is None:
            _set(result, "_span", expr._span)
        return result

    def _visit_all(self, exprs):
        changed, results = False, []
        for e in exprs:
            result = self.visit(e)
            changed = changed or result is not e
            results.append(result)
        return changed, results

    def visit_call(self, call):
        """Of a `Call`: one of the same attributes, of what its op and args become."""
        changed, (op, *args) = self._visit_all(call._children())
        return same_call(call, op, args) if changed else call

    def visit_tuple(self, expr):
        """Of a `Tuple`: one of what its fields become."""
        changed, fields = self._visit_all(expr.fields)
        return Tuple(fields, expr.span) if changed else expr

    def visit_tuple_getitem(self, expr):
        """Of a `TupleGetItem`: the same field of what the tuple becomes."""
        changed, (value,) = self._visit_all([expr.tuple_value])
        return TupleGetItem(value, expr.index, expr.span) if changed else expr

    def visit_let(self, let):
        """Of a `Let`: one of what its variable, value and body become, in that order."""
        changed, (variable, value, body) = self._visit_all([let.var, let.value, let.body])
        return Let(variable, value, body, let.span) if changed else let

    def visit_function(self, fn):
        """Of a `Function`: one of what its params and body become, with its attributes; ret_type stays: give another where it changes."""
        changed, (*params, body) = self._visit_all([*fn.params, fn.body])
        return Function(params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name) if changed else fn

    def visit_if(self, expr):
        """Of an `If`: one of what its condition and branches become."""
        changed, (cond, yes, no) = self._visit_all([expr.cond, expr.true_branch, expr.false_branch])
        return If(cond, yes, no, expr.span) if changed else expr

    def visit_match(self, expr):
        """Of a `Match`: one of what its data, patterns (visit_pattern) and results become."""
        data = self.visit(expr.data)
        changed, clauses = data is not expr.data, []
        for clause in expr.clauses:
            lhs, rhs = self.visit_pattern(clause.lhs), self.visit(clause.rhs)
            same = lhs is clause.lhs and rhs is clause.rhs
            clauses.append(clause if same else Clause(lhs, rhs))
            changed = changed or not same
        return Match(data, clauses, expr.complete, expr.span) if changed else expr

    def visit_pattern(self, pattern):
        """Patterns with the variables that visit_var gives."""
        if isinstance(pattern, PatternVar):
            variable = self.visit(pattern.var)
            return pattern if variable is pattern.var else PatternVar(variable, pattern.span)
        parts = [self.visit_pattern(p) for p in pattern._patterns()]
        if all(new is old for new, old in zip(parts, pattern._patterns())):
            return pattern
        if isinstance(pattern, PatternConstructor):
            return PatternConstructor(pattern.constructor, parts, pattern.span)
        return PatternTuple(parts, pattern.span)

    def visit_ref_create(self, expr):
        """Of a `RefCreate`: one of what its value becomes."""
        changed, (value,) = self._visit_all([expr.value])
        return RefCreate(value, expr.span) if changed else expr

    def visit_ref_read(self, expr):
        """Of a `RefRead`: one of what the reference becomes."""
        changed, (ref,) = self._visit_all([expr.ref])
        return RefRead(ref, expr.span) if changed else expr

    def visit_ref_write(self, expr):
        """Of a `RefWrite`: one of what the reference and the value become."""
        changed, (ref, value) = self._visit_all([expr.ref, expr.value])
        return RefWrite(ref, value, expr.span) if changed else expr

    def visit_internal(self, expr):
        """Of an `Internal`: one of the same kind, of what its args become."""
        changed, args = self._visit_all(expr.args)
        return Internal(expr, args, expr.span) if changed else expr


def _stays(name):
    def method(self, expr):
        return expr
    return method


_set_methods(ExprMutator, _stays, "Of a `{}`: it stays. Override it to put another expression in its place.",
             ("visit_var", "visit_constant", "visit_global_var", "visit_constructor", "visit_op"))
