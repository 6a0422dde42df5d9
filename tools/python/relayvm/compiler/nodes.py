"""The nodes of programs and their patterns: what `rvm.relay` makes programs of."""
from collections.abc import Mapping

from . import _native, operator_facts
from ..adt import define_tags, tag_of
from ..errors import Unsupported
from .objects import ANYWHERE, Node, Object
from .types import FuncType, GlobalTypeVar, TupleType, Type, TypeVar, _match_types, _Sequence, _type

_set = object.__setattr__


class Expr(Node):
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
        if name == "virtual_device_" and getattr(value, "device_type", 1) in (-1, 1, "cpu"):
            return  # there is the processor alone
        raise AttributeError(f"nodes do not change: make a new {type(self).__name__}")

    @property
    def checked_type(self):
        """The type. Raises ValueError for a node that no module was made of."""
        node = self
        while type(node) is Let and node._type is None:
            node = node.body
        if node is not self:
            return node.checked_type
        if node._type is None:
            raise ValueError(f"{node!r} has no type yet: types are those of the nodes of a Module (mod[name])")
        if not isinstance(node._type, Type):
            _set(node, "_type", _type(node._type))
        return node._type

    @property
    def virtual_device_(self):
        """Where its value is: there is the processor alone, and nothing says so."""
        return ANYWHERE

    @property
    def span(self):
        """Where it stands in the source, None where that is not known: file, line, column, length."""
        return self._span

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

    def __reduce__(self):  # copy.deepcopy and pickle, as in TVM
        from .json_graph import load_json, save_json  # which need the nodes
        return load_json, (save_json(self),)

    def __repr__(self):
        from .node_text import text  # which needs the nodes
        return text(self)

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


class Id(Object):
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
    _array_type = None  # a class of arrays for `data`: relayvm.tvm has one, with methods that TVM's have

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
        return data if self._array_type is None else data.view(self._array_type)

    @property
    def name(self):
        """Of the parameter that it was bound to (`bind_params_by_name`), or of the model; may be empty."""
        return self._handle.name


class GlobalVar(Expr):
    """A function of the module, by its name."""

    __slots__ = ("name_hint",)
    __match_args__ = ("name_hint",)

    def __init__(self, name_hint, type_annot=None):
        self._init(None, name_hint=name_hint.removeprefix("@"))
        _set(self, "_type", type_annot)

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

    @property
    def description(self):
        """What it computes, in a sentence or more."""
        return _operators().description_of(self.name)

    @property
    def arguments(self):
        """Its operands: rows with name, type_info ("Tensor") and description, and more (`describe_operators`)."""
        return list(_operators().arguments_of(self.name))

    @staticmethod
    def get(op_name):
        """The operator of that name."""
        return _get_op(op_name)

    @property
    def attrs_type_key(self):
        """The type_key of attributes of its calls: "relay.attrs.Conv2DAttrs", "" where TVM's operator has none."""
        return operator_facts.attributes_key(self.name)

    @property
    def support_level(self):
        """How common TVM has it: 1 (of every program) to 11."""
        return operator_facts.level_of(self.name)

    @property
    def op_type(self):
        """Its type, as far as TVM tells it: of so many types a type."""
        kinds = [TypeVar(f"in{i}") for i in range(max(self.num_inputs, 0))]
        result = TypeVar("out")
        return FuncType(kinds, result, [*kinds, result])

    # What Python knows of it besides, as in TVM: passes of Python read it.
    _attributes = {}  # (operator, name): (level, value)

    def get_attr(self, attr_name):
        """An attribute that was set, or None."""
        found = self._attributes.get((self.name, attr_name))
        return found[1] if found is not None else _operators().attribute_of(self.name, attr_name)

    def has_attr(self, attr_name):
        """Whether it was set."""
        return (self.name, attr_name) in self._attributes or _operators().attribute_of(self.name, attr_name) is not None

    def set_attr(self, attr_name, value, plevel=10):
        """Sets an attribute; one of a higher level stays."""
        if plevel >= self._attributes.get((self.name, attr_name), (plevel,))[0]:
            self._attributes[self.name, attr_name] = plevel, value

    def reset_attr(self, attr_name):
        """Takes an attribute away."""
        self._attributes.pop((self.name, attr_name), None)

    def _refuse(self):
        raise Unsupported(f"{self.name}: operators have their types from the compiler; operators of your own are functions of others, or plugins "
                          "(relayc --plugin)")

    def add_type_rel(self, rel_name, type_rel_func=None):
        """Of an operator of yours: refused, it is made of others, or a plugin."""
        self._refuse()

    def add_argument(self, name, type, description):
        """As `add_type_rel`."""
        self._refuse()

    def set_num_inputs(self, n):
        """As `add_type_rel`."""
        self._refuse()

    def set_support_level(self, level):
        """As `add_type_rel`."""
        self._refuse()

    def set_attrs_type_key(self, key):
        """As `add_type_rel`."""
        self._refuse()

    @staticmethod
    def list_op_names():
        """Names of all operators."""
        return sorted(_native.operator_names())


class Attrs(Object, Mapping):
    """Attributes of a call, complete: attrs["units"] or attrs.units. type_key: TVM's name of their class, or None."""

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

    def list_field_info(self):
        """name and type_info (of the value that it has here) of each."""
        return [operator_facts.Operand(name, type(value).__name__) for name, value in self._values.items()]

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


_SINGLE = {"topk": "k"}  # attributes that are lists of one element to the compiler, and that element to TVM


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
        if not isinstance(self._attrs, _native.Call):
            return self._attrs
        attrs = self._attrs.attrs
        single = _SINGLE.get(self._attrs.op)
        if single is not None and isinstance(attrs[single], tuple):
            attrs[single] = attrs[single][0]
        return Attrs(attrs, self.op.attrs_type_key or None)

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
        """The type of the result, as far as it is written."""
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

    def with_attr(self, attr_key_or_dict, attr_value=None):
        """The function with further attributes: a name and a value, or a dict."""
        more = attr_key_or_dict if isinstance(attr_key_or_dict, Mapping) else {attr_key_or_dict: attr_value}
        return self._with_attrs({**self.attrs, **more})

    def with_attrs(self, attr_map):
        """The function with the attributes of a dict besides."""
        return self.with_attr(attr_map)

    def without_attr(self, attr_key):
        """The function without an attribute."""
        return self._with_attrs({key: value for key, value in self.attrs.items() if key != attr_key})

    def _with_attrs(self, attrs):
        return Function(self.params, self.body, self.ret_type, self.type_params, attrs, self.span, name=self.name)

    def _children(self):
        return (*self.params, self.body)


class Pattern(Node):
    """What a clause of a match takes."""

    __slots__ = ("span",)

    def _patterns(self):
        return ()

    def __repr__(self):
        from .node_text import pattern_text  # which needs the nodes
        return pattern_text(self)


class PatternWildcard(Pattern):
    """Anything: _"""

    __slots__ = ()

    def __init__(self, span=None):
        self.span = span


class PatternVar(Pattern):
    """Anything, which gets a name."""

    __slots__ = ("var",)
    __match_args__ = ("var",)

    def __init__(self, var, span=None):
        self.var, self.span = _check("a pattern", [var], Var)[0], span


class PatternConstructor(Pattern):
    """A value that a constructor made."""

    __slots__ = ("constructor", "patterns")
    __match_args__ = ("constructor", "patterns")

    def __init__(self, constructor, patterns=None, span=None):
        self.constructor, self.patterns, self.span = constructor, _check("a pattern", patterns or (), Pattern), span

    def _patterns(self):
        return self.patterns


class PatternTuple(Pattern):
    """A tuple."""

    __slots__ = ("patterns",)
    __match_args__ = ("patterns",)

    def __init__(self, patterns=None, span=None):
        self.patterns, self.span = _check("a pattern", patterns or (), Pattern), span

    def _patterns(self):
        return self.patterns


class Clause(Node):
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


class TypeData(Node):
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


def _get_op(name):
    op = Op._all.get(name)
    if op is None:
        found = _native.operator_arguments(name)
        if found is None:
            raise AttributeError(f"there is no operator {name}{_native.did_you_mean(name, _native.operator_names())}")
        op = Op._make(name, found[0] if isinstance(found, tuple) else found, name)
    return op


def _operators():
    from . import operators  # which needs what is above
    return operators
