"""Objects as TVM's JSON has them: a graph of nodes, what is shared once. Of programs, types, attributes, and lists and dicts of them.

A node is {"type_key", "attrs": {name: text}, "keys", "data"}: attrs are plain values or numbers of nodes (0: none), data of lists and dicts
are numbers of nodes. Tensors stand apart, in base64.
"""
import ast
import base64
import json
import struct

import numpy

from . import _native, relay
from .attribute_classes import FIELDS, OF_OPERATORS
from .attribute_text import complete_attrs

# Fields of TVM's classes, in its order of visits; `=`: plain values, all others are objects.
_EXPR = "virtual_device_ span _checked_type_"
FIELDS_OF = {
    relay.Var: ("relay.Var", f"vid type_annotation {_EXPR}"),
    relay.GlobalVar: ("GlobalVar", "name_hint virtual_device_ span struct_info_ _checked_type_"),
    relay.Constant: ("relay.Constant", f"=data {_EXPR}"), relay.Call: ("relay.Call", f"op args attrs type_args {_EXPR}"),
    relay.Tuple: ("relay.Tuple", f"fields {_EXPR}"), relay.TupleGetItem: ("relay.TupleGetItem", f"tuple_value =index {_EXPR}"),
    relay.Let: ("relay.Let", "var value span _checked_type_ virtual_device_ body"), relay.If: ("relay.If", f"cond true_branch false_branch {_EXPR}"),
    relay.Function: ("relay.Function", f"params body ret_type type_params attrs {_EXPR}"),
    relay.Match: ("relay.Match", f"data clauses =complete {_EXPR}"), relay.Clause: ("relay.Clause", "lhs rhs"),
    relay.PatternWildcard: ("relay.PatternWildcard", "span"), relay.PatternVar: ("relay.PatternVar", "var span"),
    relay.PatternConstructor: ("relay.PatternConstructor", "constructor patterns span"), relay.PatternTuple: ("relay.PatternTuple", "patterns span"),
    relay.RefCreate: ("relay.RefCreate", f"value {_EXPR}"), relay.RefRead: ("relay.RefRead", f"ref {_EXPR}"),
    relay.RefWrite: ("relay.RefWrite", f"ref value {_EXPR}"),
    relay.Constructor: ("relay.Constructor", "name_hint inputs belong_to =tag span _checked_type_"),
    relay.TypeData: ("relay.TypeData", "header type_vars constructors span"), relay.GlobalTypeVar: ("GlobalTypeVar", "name_hint =kind"),
    relay.TensorType: ("relay.TensorType", "shape =dtype span"), relay.TupleType: ("TupleType", "fields span"),
    relay.FuncType: ("FuncType", "arg_types ret_type type_params type_constraints span"), relay.RefType: ("relay.RefType", "value span"),
    relay.TypeCall: ("TypeCall", "func args span"), relay.TypeVar: ("TypeVar", "name_hint =kind span"),
    relay.IncompleteType: ("IncompleteType", "=kind span"), relay.TypeRelation: ("TypeRelation", "func args =num_inputs attrs span"),
}
_DEVICES = {"cpu": 1, "cuda": 2}
_DTYPE_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 1}
_HEAD = "<QQiiiBBH"
_EACH_ITS_OWN = frozenset([int, float, bool, str])  # values that are written each time
_MAGIC = 0xDD5E40F096B4A13F
DIM_KINDS = {ast.Name: "tir.SizeVar", ast.Constant: "IntImm", ast.Add: "tir.Add", ast.Sub: "tir.Sub", ast.Mult: "tir.Mul",
             ast.FloorDiv: "tir.FloorDiv", ast.Mod: "tir.FloorMod", "floordiv": "tir.FloorDiv", "floormod": "tir.FloorMod", "min": "tir.Min",
             "max": "tir.Max"}


# --- Sizes and tensors ---


def dim_kind(tree):
    """TVM's class of a size."""
    return DIM_KINDS[type(tree.op) if isinstance(tree, ast.BinOp) else tree.func.id if isinstance(tree, ast.Call) else type(tree)]


def dim_tree(text):
    """What a size's text says; None of one that only the program knows."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    known = (ast.BinOp, ast.operator, ast.Call, ast.Name, ast.Constant, ast.expr_context)
    is_known = all(isinstance(part, known) and (not isinstance(part, ast.Call) or part.func.id in DIM_KINDS) for part in ast.walk(tree))
    return _in_pairs(tree) if is_known else None


def _in_pairs(tree):
    """The least and the greatest of more than two sizes: of two, one after the other."""
    if isinstance(tree, ast.BinOp):
        tree.left, tree.right = _in_pairs(tree.left), _in_pairs(tree.right)
    if isinstance(tree, ast.Call):
        tree.args = [_in_pairs(part) for part in tree.args]
        while len(tree.args) > 2:
            tree.args = [ast.Call(tree.func, tree.args[:2], []), *tree.args[2:]]
    return tree


def tensor_text(constant):
    """A tensor in base64."""
    kind = constant.checked_type
    dtype, shape, data = kind.dtype, kind.shape, memoryview(constant._handle).tobytes()
    name = dtype.rstrip("0123456789")
    head = struct.pack(_HEAD, _MAGIC, 0, 1, 0, len(shape), _DTYPE_CODES[name], int(dtype[len(name):] or 1), 1)
    return base64.b64encode(head + struct.pack(f"<{len(shape)}qq", *shape, len(data)) + data).decode()


def constant_of_text(text):
    """The constant of a tensor in base64."""
    data = base64.b64decode(text)
    size = struct.calcsize(_HEAD)
    magic, _, _, _, rank, code, bits, lanes = struct.unpack_from(_HEAD, data)
    if magic != _MAGIC or lanes != 1:
        raise ValueError("load_json: a tensor that is none of TVM's")
    dtype = "bool" if code == 1 and bits == 1 else f"{('int', 'uint', 'float', '', 'bfloat')[code]}{bits}"
    shape = struct.unpack_from(f"<{rank}q", data, size)
    array = numpy.frombuffer(data, "uint16" if dtype == "bfloat16" else dtype, offset=size + 8 * rank + 8).reshape(shape)
    return relay.const(array, dtype)


# --- Writing ---


class _Object:
    """An object of TVM's that no object here is: its class and fields, (name, value) or (=name, text)."""

    __slots__ = ("type_key", "fields", "text")

    def __init__(self, type_key, fields=(), text=None):
        self.type_key, self.fields, self.text = type_key, fields, text


def _integer(value):
    dtype = "bool" if isinstance(value, bool) else "int32" if -1 << 31 <= value < 1 << 31 else "int64"
    return _Object("IntImm", (("=dtype", dtype), ("span", None), ("=value", str(int(value)))))


def _plain(value, kind):
    if kind == "b":
        return str(int(bool(value)))
    if kind == "d":
        return f"{float(value or 0):.17g}"
    if value is None:
        return "" if kind in "st" else "0"
    return str(int(value)) if kind == "i" else str(value)


class Writer:
    """Numbers objects, each once, and what it is made of behind it."""

    def __init__(self, is_typed=False):
        self.is_typed = is_typed  # whether constants say their types: from the first node on that does
        self.nodes, self.tensors = [{"type_key": ""}], []
        self._numbers, self._kept = {}, []
        self._device = _virtual_device(None)
        self._ids = {}  # of variables
        self._dims, self._sources = {}, {}  # by name

    def graph(self, root):
        """The JSON of an object and all that it is made of."""
        number = self.number(root)
        return {"root": number, "nodes": self.nodes, "b64ndarrays": self.tensors, "attrs": {"tvm_version": "0.14.0"}}

    def number(self, root):
        """The number of an object, whose parts are numbered without recursion."""
        number, parts = self._enter(root)
        stack = [(number, iter(parts))]
        while stack:
            at, rest = stack[-1]
            for name, part in rest:
                part_number, inner = self._enter(part)
                node = self.nodes[at]
                if name is None:
                    node["data"].append(part_number)
                else:
                    node["attrs"][name] = str(part_number)
                if inner:
                    stack.append((part_number, iter(inner)))
                    break
            else:
                node = self.nodes[at]
                if "attrs" in node:
                    node["attrs"] = dict(sorted(node["attrs"].items()))
                stack.pop()
        return number

    def _enter(self, x):
        """(the number of an object, its parts where it is new)."""
        if x is None:
            return 0, ()
        number = len(self.nodes)
        if type(x) not in _EACH_ITS_OWN:
            key = x._handle if isinstance(x, relay.Type) else (x if type(x) is relay.GlobalTypeVar else id(x))
            known = self._numbers.setdefault(key, number)
            if known != number:
                return known, ()
            self._kept.append(x)
        node = {}
        self.nodes.append(node)
        return number, self._describe(node, x)

    def _describe(self, node, x):
        """Fills in the plain part of a node; the rest are its parts: (name, or None of a list's element, object)."""
        if type(x) is int:
            dtype = "int32" if -1 << 31 <= x < 1 << 31 else "int64"
            node.update(type_key="IntImm", attrs={"dtype": dtype, "span": "0", "value": str(x)})
            return ()
        if isinstance(x, _Object):
            return self._fill(node, x)
        if isinstance(x, (bool, int)):
            return self._fill(node, _integer(x))
        if isinstance(x, float):
            return self._fill(node, _Object("FloatImm", (("=dtype", "float32"), ("span", None), ("=value", f"{x:.17g}"))))
        if isinstance(x, str) and not isinstance(x, relay.GlobalTypeVar):
            return self._fill(node, _Object("runtime.String", text=x))
        if isinstance(x, (list, tuple)):
            node.update(type_key="Array", data=[])
            return [(None, part) for part in x]
        if isinstance(x, dict):
            return self._map(node, x)
        return self._fill(node, self._object(x))

    def _fill(self, node, made):
        node["type_key"] = made.type_key
        if made.text:
            node["repr_str"] = made.text
        if made.text is not None:
            return []
        node["attrs"] = {name[1:]: value for name, value in made.fields if name[0] == "="}
        return [(name, value) for name, value in made.fields if name[0] != "="]

    def _map(self, node, x):
        node["type_key"] = "Map"
        if all(isinstance(key, str) and not isinstance(key, relay.GlobalTypeVar) for key in x):
            node.update(keys=list(x), data=[])
            return [(None, value) for value in x.values()]
        node["data"] = []
        return [(None, part) for pair in x.items() for part in pair]

    def _object(self, x):
        if isinstance(x, relay.Op):
            return _Object("Op", text=x.name)
        if isinstance(x, relay.EnvFunc):
            return _Object("EnvFunc", text=x.name)
        if isinstance(x, _native.Dim):
            return self._dim(dim_tree(str(x)))
        if isinstance(x, relay.Attrs):
            return _of_class(x.type_key, FIELDS.get(x.type_key), x) if x.type_key else _Object("DictAttrs", (("__dict__", dict(x)),))
        if hasattr(x, "tobytes"):  # an array
            return _Object("runtime.NDArray", text=tensor_text(relay.Constant(x)))
        if isinstance(x, relay.Span):
            return _Object("Span", (("source_name", self._source(x.source_name.name)),
                                    *((f"={name}", str(getattr(x, name))) for name in ("line", "column", "end_line", "end_column"))))
        if hasattr(x, "memory_scope"):
            return _virtual_device(x)
        if hasattr(x, "_names"):
            return self._module(x)
        kind = next((kind for kind in type(x).__mro__ if kind in FIELDS_OF), None)
        if kind is None:
            raise TypeError(f"save_json: expected nodes, types, numbers, strings, lists and dicts of them, found {type(x).__name__}")
        type_key, names = FIELDS_OF[kind]
        return _Object(type_key, tuple((name, self._field(x, name)) for name in names.split()))

    def _source(self, name):
        return self._sources.setdefault(name, _Object("SourceName", text=name))

    def _field(self, x, name):
        if name == "virtual_device_":
            return None if isinstance(x, (relay.GlobalVar, relay.Match)) else self._device
        if name == "span":
            span = getattr(x, "_span", None) or getattr(x, "span", None)
            return span if span is not None and (type(span) is not _native.Span or span.is_written) else None
        if name == "_checked_type_":
            return self._checked_type(x)
        if name == "struct_info_":
            return None
        if name == "vid":
            return self._ids.setdefault(x, _Object("relay.Id", (("name_hint", x.name_hint),)))
        if name == "=data":
            self.tensors.append(tensor_text(x))
            return str(len(self.tensors) - 1)
        if name == "=tag":
            return "-1"
        if name == "attrs":
            return self._attrs(x)
        if name == "name_hint":
            return str(x.name_hint)
        if name in ("belong_to", "func") and isinstance(getattr(x, name), str):
            return relay.GlobalTypeVar(getattr(x, name)) if not isinstance(getattr(x, name), relay.GlobalTypeVar) else getattr(x, name)
        if name == "shape":
            return [self._size(dim) for dim in x.shape]
        value = getattr(x, name.lstrip("="))
        if name[0] == "=":
            return str(int(value)) if not isinstance(value, str) else value
        return list(value) if isinstance(value, tuple) else value

    def _checked_type(self, x):
        if isinstance(x, relay.Constant):
            return self._object(x.checked_type) if self.is_typed else None  # each has its own
        if x._type is None or isinstance(x, relay.Constructor):
            return None
        self.is_typed = self.is_typed or not isinstance(x, relay.Var)
        return x.checked_type if not isinstance(x, relay.Var) or self.is_typed else None

    def _attrs(self, x):
        if isinstance(x, relay.Function):
            return _Object("DictAttrs", (("__dict__", dict(x.attrs)),)) if x.attrs else None
        if not isinstance(x, relay.Call):
            return x.attrs
        if not isinstance(x.op, relay.Op):
            return x.attrs if x.attrs else None
        return attributes_object(x)

    # --- Sizes ---

    def size_object(self, tree):
        """The object of a size that a text says (`dim_tree`)."""
        return self._dim(tree)

    def _size(self, dim):
        if isinstance(dim, int):
            return int(dim)
        tree = dim_tree(str(dim))
        return _Object("tir.Any", (("=dtype", "int32"), ("span", None))) if tree is None else self._dim(tree)

    def _dim(self, tree):
        if isinstance(tree, ast.Constant):
            return _integer(tree.value)
        if isinstance(tree, ast.Name):
            if tree.id not in self._dims:
                self._dims[tree.id] = _Object("tir.SizeVar", (("=dtype", "int32"), ("name", tree.id),
                                                              ("type_annotation", _Object("PrimType", (("=dtype", "int32"),))), ("span", None)))
            return self._dims[tree.id]
        a, b = [tree.left, tree.right] if isinstance(tree, ast.BinOp) else tree.args
        return _Object(dim_kind(tree), (("=dtype", "int32"), ("a", self._dim(a)), ("b", self._dim(b)), ("span", None)))

    def _module(self, mod):
        functions = {mod.get_global_var(name): mod[name] for name in mod._names}
        types = {data.header: data for data in mod.type_definitions.values()}
        return _Object("IRModule", (
            ("functions", functions), ("type_definitions", types), ("global_var_map_", {var.name_hint: var for var in functions}),
            ("global_type_var_map_", {str(var): var for var in types}), ("source_map", _Object("SourceMap", (("source_map", {}),))),
            ("attrs", getattr(mod, "attrs", None)), ("global_infos", {})))


def _virtual_device(place):
    """Where values are (tvm.target.VirtualDevice); None: anywhere."""
    device = getattr(place, "device", None)
    return _Object("VirtualDevice", (
        ("=device_type_int", str(-1 if device is None else _DEVICES.get(device.device_type, -1))),
        ("=virtual_device_id", str(-1 if device is None else device.device_id)), ("target", None),
        ("memory_scope", _Object("runtime.String", text=getattr(place, "memory_scope", "") or ""))))


def attributes_object(call):
    """The attributes of a call of an operator as an object of TVM's; None where the operator has none."""
    known = OF_OPERATORS.get(call.op.name)
    if known is None:
        return _Object("DictAttrs", (("__dict__", dict(call.attrs)),)) if call.attrs else None
    return _of_class(known.type_key, known.fields, complete_attrs(call))


def _of_class(type_key, fields, attrs):
    """Attributes as an object of a class; fields: None of a class that is not known, whose values all are objects."""
    if fields is None:
        return _Object(type_key, tuple(attrs.items()))
    return _Object(type_key, tuple(
        (field.name, attrs.get(field.name)) if field.kind == "o" else (f"={field.name}", _plain(attrs.get(field.name), field.kind))
        for field in fields))


# --- The text ---


def json_text(graph):
    """A graph as TVM's writer lays it out."""
    nodes = ", \n    ".join([_node_text(node) for node in graph["nodes"]])
    tensors = ", \n    ".join(f'"{text}"' for text in graph["b64ndarrays"])
    tensors = f"[\n    {tensors}\n  ]" if tensors else "[]"
    return (f'{{\n  "root": {graph["root"]}, \n  "nodes": [\n    {nodes}\n  ], \n  "b64ndarrays": {tensors}, \n'
            f'  "attrs": {{"tvm_version": "{graph["attrs"]["tvm_version"]}"}}\n}}')


_quoted = json.encoder.encode_basestring


def _node_text(node):
    parts = [f'"type_key": "{node["type_key"]}"']
    if "repr_str" in node:
        parts.append(f'"repr_str": {_quoted(node["repr_str"])}')
    attrs = node.get("attrs")
    if attrs:
        inner = [f'"{name}": {_quoted(value)}' for name, value in attrs.items()]
        parts.append(f'"attrs": {{{inner[0]}}}' if len(inner) == 1 else '"attrs": {\n        ' + ", \n        ".join(inner) + "\n      }")
    if node.get("keys"):
        parts.append('"keys": [\n        ' + ", \n        ".join(map(_quoted, node["keys"])) + "\n      ]")
    data = node.get("data")
    if data:
        numbers = ", \n        ".join(map(str, data)) if len(data) > 10 else None
        parts.append(f'"data": [\n        {numbers}\n      ]' if numbers else f'"data": [{", ".join(map(str, data))}]')
    return "{\n      " + ", \n      ".join(parts) + "\n    }"
