"""Nodes as TVM's JSON and back: `tvm.ir.save_json`, `load_json`, `make_node`. An object graph, so that what is shared stays shared."""
import json

from . import _native, relay
from .dims import FloatImm, IntImm, sizes
from .attribute_classes import FIELDS
from .attribute_text import _IN_PLACE_OF_NONE, schema_of
from .node_graph import FIELDS_OF, Writer, constant_of_text, json_text

# Of each kind of node what its constructor takes, in order.
_TAKES = {
    relay.Var: ("vid", "type_annotation"), relay.GlobalVar: ("name_hint",), relay.Constructor: ("name_hint", "inputs", "belong_to"),
    relay.Tuple: ("fields",), relay.TupleGetItem: ("tuple_value", "=index"), relay.Let: ("var", "value", "body"),
    relay.If: ("cond", "true_branch", "false_branch"), relay.Match: ("data", "clauses", "=complete"), relay.Clause: ("lhs", "rhs"),
    relay.RefCreate: ("value",), relay.RefRead: ("ref",), relay.RefWrite: ("ref", "value"), relay.PatternWildcard: (), relay.PatternVar: ("var",),
    relay.PatternConstructor: ("constructor", "patterns"), relay.PatternTuple: ("patterns",), relay.TypeData: ("header", "type_vars", "constructors"),
    relay.TensorType: ("shape", "=dtype"), relay.TupleType: ("fields",), relay.FuncType: ("arg_types", "ret_type", "type_params", "type_constraints"),
    relay.RefType: ("value",), relay.TypeCall: ("func", "args"), relay.TypeRelation: ("func", "args", "=num_inputs", "attrs"),
    relay.IncompleteType: ("=kind",), relay.TypeVar: ("name_hint", "=kind"), relay.GlobalTypeVar: ("name_hint", "=kind"),
    relay.Function: ("params", "body", "ret_type", "type_params", "attrs"),
}
_KINDS = {key: kind for kind, (key, _) in FIELDS_OF.items()}
_BY_NAME = {kind.__name__: kind for kind in (*FIELDS_OF, relay.EnvFunc, relay.Op)}
_MAKERS = {relay.Op: relay.Op.get, relay.EnvFunc: relay.EnvFunc.get}
_PREFIXES = ("relay.ir.", "relay.", "ir.")
_SKIPPED = frozenset(["virtual_device_", "struct_info_"])
_DIMS = {"tir.Add": lambda a, b: a + b, "tir.Sub": lambda a, b: a - b, "tir.Mul": lambda a, b: a * b, "tir.FloorDiv": lambda a, b: a // b,
         "tir.FloorMod": lambda a, b: a % b}
_OBJECTS = {"relay.Id": ("name_hint",), "DictAttrs": ("__dict__",), "Span": ("source_name",), "tir.SizeVar": ("name",), "tir.Var": ("name",),
            "IRModule": ("functions", "type_definitions", "attrs"), **dict.fromkeys(_DIMS, ("a", "b"))}
_NO_PARTS = frozenset(["IntImm", "FloatImm", "runtime.NDArray", "runtime.String", "Op", "EnvFunc", "SourceName", "VirtualDevice",
                       "tir.Any", "PrimType", "SourceMap"])


class _Program:
    """A module's parts."""

    def __init__(self, functions, types, attrs):
        self.functions, self.types, self.attrs = functions, types, attrs


class _Reader:
    """Makes objects of a graph, those that they are made of first, without recursion."""

    def __init__(self, graph):
        self._records, self._tensors = graph["nodes"], graph.get("b64ndarrays", [])
        self._made = {0: None}

    def read(self, root):
        stack = [root]
        while stack:
            number = stack[-1]
            missing = [part for part in self._parts(self._records[number]) if part not in self._made]
            if number in self._made or not missing:
                if number not in self._made:
                    self._made[number] = self._object(self._records[number])
                stack.pop()
            else:
                stack.extend(reversed(missing))
        return self._made[root]

    def _parts(self, record):
        key, attrs = record["type_key"], record.get("attrs", {})
        if key in _NO_PARTS:
            return ()
        if key in ("Array", "Map"):
            return record.get("data", ())
        if key in _KINDS:
            names = [name for name in FIELDS_OF[_KINDS[key]][1].split() if name[0] != "=" and name not in _SKIPPED]
        elif key in FIELDS:
            names = [field.name for field in FIELDS[key] if field.kind == "o"]
        else:
            names = _OBJECTS.get(key, attrs)
        return [int(attrs[name]) for name in names if name in attrs]

    def _of(self, record, name):
        """A field, as an object or a plain value."""
        attrs = record.get("attrs", {})
        if name[0] == "=":
            return attrs[name[1:]] if name == "=dtype" else int(attrs[name[1:]])
        return self._made[int(attrs.get(name, 0))]

    def _object(self, record):
        key = record["type_key"]
        if key in _KINDS:
            return self._node(_KINDS[key], record)
        if key == "Array":
            return [self._made[i] for i in record.get("data", ())]
        if key == "Map":
            values = [self._made[i] for i in record.get("data", ())]
            return dict(zip(record["keys"], values)) if "keys" in record else dict(zip(values[::2], values[1::2]))
        if key == "IntImm":
            value = self._of(record, "=value")
            return bool(value) if record["attrs"]["dtype"] == "bool" else value
        if key == "FloatImm":
            return float(record["attrs"]["value"])
        if key in ("runtime.String", "SourceName"):
            return record.get("repr_str", "")
        if key == "runtime.NDArray":
            return constant_of_text(record["repr_str"]).data
        if key in ("Op", "EnvFunc"):
            return _MAKERS[_BY_NAME[key]](record["repr_str"])
        if key == "relay.Id":
            return self._of(record, "name_hint")
        if key == "Span":
            return relay.Span(self._of(record, "source_name"), *(self._of(record, f"={n}") for n in ("line", "end_line", "column", "end_column")))
        if key == "DictAttrs":
            return self._of(record, "__dict__") or {}
        if key == "IRModule":
            return _Program(*(self._of(record, name) for name in ("functions", "type_definitions", "attrs")))
        if key in ("VirtualDevice", "PrimType", "SourceMap"):
            return None
        return self._size(key, record) if key.startswith("tir.") else self._attrs(key, record)

    def _size(self, key, record):
        if key in ("tir.SizeVar", "tir.Var"):
            return relay.size_var(self._of(record, "name"))
        if key in _DIMS:
            return _DIMS[key](self._of(record, "a"), self._of(record, "b"))
        return relay.Any()

    def _attrs(self, key, record):
        kinds = {field.name: field.kind for field in FIELDS.get(key, ())}
        values = {}
        for name, text in record.get("attrs", {}).items():
            kind = kinds.get(name, "o")
            if kind == "i":
                values[name] = int(text)
            elif kind == "d":
                values[name] = float(text)
            elif kind == "b":
                values[name] = text == "1"
            elif kind == "o":
                values[name] = _tuples(self._made[int(text)])
            else:
                values[name] = text
        return relay.Attrs(values, key)

    def _node(self, kind, record):
        span = self._of(record, "span") if "span" in FIELDS_OF[kind][1] else None
        if kind is relay.Constant:
            node = constant_of_text(self._tensors[self._of(record, "=data")])
        elif kind is relay.Call:
            node = self._call(record)
        else:
            node = kind(*(self._of(record, name) for name in _TAKES[kind]))
        if isinstance(node, relay.Expr):
            relay._set(node, "_span", span)
            checked = self._of(record, "_checked_type_")
            if checked is not None and kind not in (relay.Constant, relay.Constructor):
                relay._set(node, "_type", checked)
        elif isinstance(node, relay.Pattern):
            node.span = span
        return node

    def _call(self, record):
        op, args, attrs, type_args = (self._of(record, name) for name in ("op", "args", "attrs", "type_args"))
        if not isinstance(op, relay.Op):
            return relay.Call(op, args, attrs, type_args)
        attrs = attrs or relay.Attrs({})
        known = {name: fallback for name, _, fallback in schema_of(op.name) or ()}
        fill = _IN_PLACE_OF_NONE.get(op.name, {})
        open_dtypes = {field.name for field in FIELDS.get(attrs.type_key, ()) if field.kind == "t" and attrs[field.name] == ""}
        given = {name: value for name, value in attrs.items()
                 if name in known and not isinstance(value, relay.Expr) and (value is not None or known[name] is None)
                 and name not in open_dtypes and not (name in fill and value == fill[name])}
        return relay.Call(op, args, given)


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@relay._all_stays
def save_json(node):
    """Text that `load_json`, and TVM's, make the same of: of a node, a type, attributes, a module, or lists and dicts of them."""
    return json_text(Writer().graph(node))


@relay._all_stays
def load_json(json_str, make_module=None):
    """What `save_json`, or TVM's, wrote. make_module(functions, type definitions): the module of one; tvm.ir's where it is not given."""
    graph = json.loads(json_str)
    if not isinstance(graph, dict) or "nodes" not in graph or "root" not in graph:
        raise ValueError("load_json: expected what save_json wrote")
    read = _Reader(graph).read(graph["root"])
    if not isinstance(read, _Program):
        return _with_numbers(read) if isinstance(read, (list, dict)) else read
    if make_module is not None:
        return make_module(read.functions, read.types)
    from ..tvm.ir.module import IRModule  # which needs this package
    return IRModule(read.functions, read.types, read.attrs)


def _with_numbers(x):
    """Numbers of lists and dicts as those that have a dtype."""
    if isinstance(x, (list, dict)):
        return [_with_numbers(part) for part in x] if isinstance(x, list) else {key: _with_numbers(part) for key, part in x.items()}
    return IntImm("int32", x) if type(x) is int else FloatImm("float32", x) if type(x) is float else x


def make_node(type_key, **kwargs):
    """A node by TVM's name of its kind ("relay.Constant", "IntImm"), or attributes ("relay.attrs.Conv2DAttrs", "attrs.TestAttrs")."""
    if type_key == "DictAttrs":
        return relay.Attrs({name: _with_numbers(list(value) if isinstance(value, tuple) else value) for name, value in kwargs.items()}, type_key)
    if "attrs." in type_key or type_key.endswith("Attrs"):
        return relay.Attrs({name: sizes(value) if isinstance(value, (list, tuple)) else value for name, value in kwargs.items()}, type_key)
    if type_key == "IntImm":
        return IntImm(kwargs.get("dtype", "int32"), kwargs["value"])
    if type_key == "FloatImm":
        return FloatImm(kwargs.get("dtype", "float32"), kwargs["value"])
    name = next((type_key.removeprefix(prefix) for prefix in _PREFIXES if type_key.startswith(prefix)), type_key)
    kind = relay.Constant if name == "Constant" else _BY_NAME.get(name)
    if kind is None:
        raise ValueError(f"make_node: there is no {type_key}{_native.did_you_mean(name, list(_BY_NAME))}")
    return _MAKERS.get(kind, kind)(**kwargs)
