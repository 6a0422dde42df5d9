"""A number that is the same for what is structurally equal (structural.py)."""
import hashlib
import marshal
from collections.abc import Mapping

from . import _native, relay
from .structural import _by_variable, _is_inferred
from .types import _Sequence

_PLAIN = frozenset([int, float, str, bool, bytes, type(None)])


def structural_hash(node, map_free_vars=False):
    """A number that is the same for what is structurally equal, in all processes."""
    written = _Hash(map_free_vars).run(node)
    return int.from_bytes(hashlib.blake2b(marshal.dumps(written, 2), digest_size=8).digest(), "little", signed=True)


def _is_plain(value):
    kind = type(value)
    return kind in _PLAIN or kind is tuple and all(map(_is_plain, value))


def _written_constant(x):
    view = memoryview(x._handle)
    data = view.tobytes()
    kind = x.checked_type.dtype if view.format == "H" else view.format  # bits of bfloat16 are those, too
    return kind, view.shape, data if len(data) <= 64 else hashlib.blake2b(data, digest_size=16).digest()


class _Hash:
    """What is there of a program but names, in an order in which what binds a variable comes first."""

    def __init__(self, map_free_vars):
        self.map_free_vars = map_free_vars
        self.numbers, self.seen = {}, {}  # of bound variables and of nodes, in the order in which they are met
        self.written, self.todo = [], []
        self.constants = {}  # what is written of them, by id
        self.kept = []  # whose ids are keys, where nothing else keeps them

    def run(self, node):
        todo = self.todo
        todo.append(node)
        while todo:
            x = todo.pop()
            writer = _WRITERS.get(type(x))
            if writer is None:
                writer = _WRITERS[type(x)] = _writer_of(x)
            writer(self, x)
        return self.written

    def add(self, *parts):
        """What comes next, in its order."""
        self.todo.extend(parts[::-1])

    def bind(self, key):
        self.numbers.setdefault(key, len(self.numbers))

    def is_new(self, node):
        """Whether a node is met for the first time; of another, its number is written."""
        number = self.seen.get(id(node))
        if number is None:
            self.seen[id(node)] = len(self.seen)
            return True
        self.written += ("node", number)
        return False

    # --- Expressions ---

    def plain(self, x):
        self.written.append(x)

    def variable(self, v):
        number = self.numbers.get(id(v))
        if number is None and not self.map_free_vars:
            self.written += ("free", id(v))
            return
        is_new = ("typed", id(v)) not in self.seen
        if number is None:
            self.bind(id(v))
        self.written += ("var", self.numbers[id(v)])
        if is_new:
            self.seen["typed", id(v)] = True
            if v.type_annotation is not None and v._handle is None:
                self.add(v.type_annotation)

    def constant(self, x):
        known = self.constants.get(id(x))
        if known is None:
            known = self.constants[id(x)] = _written_constant(x)
        self.written += known

    def operator(self, op):
        self.written.append(op.name)

    def call(self, x):
        if not self.is_new(x):
            return
        op, args, todo = x.op, x.args, self.todo
        self.written += ("Call", len(args))
        todo.extend(args[::-1])
        if type(op) is relay.Op:
            self.written.append(op.name)
            self.attributes(x._attrs)
            return
        todo.append(op)
        if x.attrs:
            todo.append(x.attrs)
        if x._type_args:
            todo.append(x._type_args)

    def attributes(self, native):
        attrs = native.attrs
        if not attrs:
            return
        if all(map(_is_plain, attrs.values())):
            self.written.append(tuple(attrs.items()))
        else:
            self.todo.append(attrs)

    def tuple(self, x):
        if not x.fields:
            self.written.append("()")
        elif self.is_new(x):
            self.add("Tuple", len(x.fields), *x.fields)

    def function(self, f):
        if not self.is_new(f):
            return
        for v in f.type_params:
            self.bind(v._handle)
        for v in f.params:
            self.bind(id(v))
            self.seen["typed", id(v)] = True
        types = list(f.checked_type.arg_types) if f._type is not None else [p.type_annotation for p in f.params]
        result = None if _is_inferred(f) else f.ret_type
        self.add("Function", [int(v.kind) for v in f.type_params], list(f.params), types, result, f.body, dict(f.attrs))

    def let(self, x):
        if self.is_new(x):
            self.bind(id(x.var))
            self.add("Let", x.var, x.value, x.body)

    def match(self, x):
        if self.is_new(x):
            self.add("Match", x.complete, x.data, *(part for clause in x.clauses for part in (clause.lhs, clause.rhs)))

    def field(self, x):
        if self.is_new(x):
            self.add("TupleGetItem", x.tuple_value, x.index)

    def expression(self, x):
        if self.is_new(x):
            self.add(type(x).__name__, len(x._children()), *x._children())

    def name(self, x):
        self.written += (type(x).__name__, x.name_hint, str(getattr(x, "belong_to", "")))

    # --- Patterns, types, the rest ---

    def pattern(self, x):
        if isinstance(x, relay.PatternVar):
            self.bind(id(x.var))
            self.add("PatternVar", x.var)
            return
        self.add(type(x).__name__, *x._patterns())
        if isinstance(x, relay.PatternConstructor):
            self.add(x.constructor)

    def type(self, x):
        if isinstance(x, relay.TensorType):
            self.add("Tensor", list(x.shape), x.dtype)
        elif isinstance(x, relay.TupleType):
            self.add("Tuple", list(x.fields))
        elif isinstance(x, relay.FuncType):
            for v in x.type_params:
                self.bind(v._handle)
            self.add("Func", [int(v.kind) for v in x.type_params], list(x.arg_types), x.ret_type, list(x.type_constraints))
        elif isinstance(x, relay.RefType):
            self.add("Ref", x.value)
        elif isinstance(x, relay.TypeCall):
            self.add("Adt", str(x.func), list(x.args))
        elif isinstance(x, relay.TypeVar):
            self.type_variable(x)
        elif isinstance(x, relay.TypeRelation):
            self.add("Relation", str(x.func), x.num_inputs, list(x.args), x.attrs)
        else:
            self.written += ("type", id(x._handle))

    def type_variable(self, x):
        if x._handle not in self.numbers and not self.map_free_vars:
            self.written += ("free", x._handle.parts()[2])
            return
        self.bind(x._handle)
        self.written += ("type", self.numbers[x._handle], int(x.kind))

    def type_data(self, x):
        self.add(str(x.header), list(x.type_vars), list(x.constructors))

    def dim(self, x):
        self.written.append("dim")

    def mapping(self, x):
        keys = {self.numbers.get(k, k): v for k, v in _by_variable(x).items()}
        self.add(len(keys), *(part for k in sorted(keys, key=str) for part in (str(k), keys[k])))

    def sequence(self, x):
        self.add(len(x), *x)

    def module(self, mod):
        self.add(*(part for name in sorted(mod._names) for part in (name, mod[name])))

    def text(self, x):
        self.written.append(str(x))


def _writer_of(x):
    """What writes an object of a class that is no other's."""
    for kind, writer in _OF_CLASSES.items():
        if isinstance(x, kind):
            return writer
    return _Hash.module if hasattr(x, "_names") else _Hash.text


_WRITERS = {**dict.fromkeys(_PLAIN, _Hash.plain), relay.Var: _Hash.variable, relay.Constant: _Hash.constant, relay.Op: _Hash.operator,
            relay.Call: _Hash.call, relay.Tuple: _Hash.tuple, relay.Function: _Hash.function, relay.Let: _Hash.let, relay.Match: _Hash.match,
            relay.TupleGetItem: _Hash.field, relay.GlobalVar: _Hash.name, relay.Constructor: _Hash.name, tuple: _Hash.sequence,
            list: _Hash.sequence, _Sequence: _Hash.sequence, dict: _Hash.mapping, _native.Dim: _Hash.dim}
_OF_CLASSES = {int: lambda hashed, x: hashed.plain(int(x)), float: lambda hashed, x: hashed.plain(float(x)),
               str: lambda hashed, x: hashed.plain(str(x)), relay.Expr: _Hash.expression, relay.Type: _Hash.type, relay.Pattern: _Hash.pattern,
               relay.TypeData: _Hash.type_data, Mapping: _Hash.mapping, list: _Hash.sequence, tuple: _Hash.sequence}
