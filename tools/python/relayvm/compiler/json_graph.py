"""Nodes as JSON and back: `tvm.ir.save_json`, `load_json`, `make_node`. An object graph, so that what is shared stays shared."""
import base64
import json
import sys

import numpy

from . import _native, relay
from .dims import FloatImm, IntImm

# Of each kind of node what its constructor takes, in order.
_FIELDS = {
    relay.Var: ("name_hint", "type_annotation"), relay.GlobalVar: ("name_hint",), relay.Constructor: ("name_hint", "inputs", "belong_to"),
    relay.Tuple: ("fields",), relay.TupleGetItem: ("tuple_value", "index"), relay.Let: ("var", "value", "body"),
    relay.If: ("cond", "true_branch", "false_branch"), relay.Match: ("data", "clauses", "complete"), relay.Clause: ("lhs", "rhs"),
    relay.RefCreate: ("value",), relay.RefRead: ("ref",), relay.RefWrite: ("ref", "value"), relay.PatternWildcard: (), relay.PatternVar: ("var",),
    relay.PatternConstructor: ("constructor", "patterns"), relay.PatternTuple: ("patterns",), relay.TypeData: ("header", "type_vars", "constructors"),
    relay.TensorType: ("shape", "dtype"), relay.TupleType: ("fields",), relay.FuncType: ("arg_types", "ret_type", "type_params", "type_constraints"),
    relay.RefType: ("value",), relay.TypeCall: ("func", "args"), relay.TypeRelation: ("func", "args", "num_inputs", "attrs"),
    relay.IncompleteType: ("kind",), relay.TypeVar: ("name_hint", "kind"), relay.GlobalTypeVar: ("name_hint", "kind"), relay.EnvFunc: ("name",),
    relay.Op: ("name",), relay.Call: ("op", "args", "attrs", "type_args"), relay.Function: ("params", "body", "ret_type", "type_params", "attrs"),
}
_BY_NAME = {kind.__name__: kind for kind in _FIELDS}
_MAKERS = {relay.Op: relay.Op.get, relay.EnvFunc: relay.EnvFunc.get}
_PREFIXES = ("relay.ir.", "relay.", "ir.")


class _Writer:
    def __init__(self):
        self.nodes, self.known, self.kept = [], {}, []

    def number(self, x):
        """Of what is written once: its number."""
        key = x._handle if isinstance(x, relay.TypeVar) else x if isinstance(x, _native.Dim) else id(x)
        if key not in self.known:
            self.kept.append(x)
            record = self.record(x)
            self.known[key] = len(self.nodes)
            self.nodes.append(record)
        return self.known[key]

    def record(self, x):
        if isinstance(x, relay.Constant):
            kind = x.checked_type
            return {"type_key": "Constant", "dtype": kind.dtype, "shape": list(kind.shape), "data": base64.b64encode(x.data.tobytes()).decode()}
        if isinstance(x, relay.Attrs):
            return {"type_key": x.type_key or "Attrs", "attrs": {k: self.value(v) for k, v in x.items()}}
        if isinstance(x, _native.Dim):
            return {"type_key": "Dim", "name": str(x)}
        if hasattr(x, "_names"):
            return {"type_key": "IRModule", "functions": {name: self.value(x[name]) for name in x._names},
                    "types": [self.value(data) for data in x.type_definitions.values()]}
        kind = next((kind for kind in type(x).__mro__ if kind in _FIELDS), None)
        if kind is None:
            raise TypeError(f"save_json: expected nodes, types, numbers, strings, lists and dicts of them, found {type(x).__name__}")
        return {"type_key": kind.__name__, "fields": [self.value(getattr(x, name)) for name in _FIELDS[kind]]}

    def value(self, x):
        if x is None or isinstance(x, (bool, int, float)) or type(x) is str:
            return x
        if isinstance(x, (list, tuple)):
            return [self.value(part) for part in x]
        if isinstance(x, dict):
            return {"dict": {str(k): self.value(v) for k, v in x.items()}}
        if isinstance(x, relay.Attrs) and x.type_key is None:
            return {"dict": {k: self.value(v) for k, v in x.items()}}
        return {"node": self.number(x)}


class _Reader:
    def __init__(self, graph):
        self.nodes = []
        for record in graph["nodes"]:
            self.nodes.append(self.node(record))

    def value(self, x):
        if isinstance(x, list):
            return [self.value(part) for part in x]
        if isinstance(x, dict):
            return self.nodes[x["node"]] if "node" in x else {k: self.value(v) for k, v in x["dict"].items()}
        return x

    def node(self, record):
        key = record["type_key"]
        if key == "Constant":
            dtype = "uint16" if record["dtype"] == "bfloat16" else record["dtype"]
            data = numpy.frombuffer(base64.b64decode(record["data"]), dtype).reshape(record["shape"])
            return relay.const(data, record["dtype"])
        if key == "Dim":
            return relay.size_var(record["name"]) if record["name"].isidentifier() else relay.Any()
        if key == "IRModule":
            return {self.value(data).header: self.value(data) for data in record["types"]}, {k: self.value(v) for k, v in record["functions"].items()}
        if "attrs" in record:
            return relay.Attrs({k: self.value(v) for k, v in record["attrs"].items()}, key)
        kind = _BY_NAME[key]
        return _MAKERS.get(kind, kind)(*map(self.value, record["fields"]))


def _deep(function, *args):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1_000_000))
    try:
        return function(*args)
    finally:
        sys.setrecursionlimit(limit)


def save_json(node):
    """Text that `load_json` makes the same of: of a node, a type, attributes, a module, or lists and dicts of them."""
    writer = _Writer()
    root = _deep(writer.value, node)
    return json.dumps({"root": root, "nodes": writer.nodes, "attrs": {"tvm_version": "0.14.0"}}, indent=1)


def load_json(json_str, make_module=None):
    """What `save_json` wrote. make_module(functions, type definitions): the module of one; relayvm's own where it is not given."""
    graph = json.loads(json_str)
    if not isinstance(graph, dict) or "nodes" not in graph or "root" not in graph:
        raise ValueError("load_json: expected what save_json wrote")
    read = _Reader(graph).value(graph["root"])
    if isinstance(read, tuple):
        if make_module is None:
            from ..tvm.ir.module import IRModule as make_module  # which needs this package
        return make_module(read[1], read[0])
    return read


def make_node(type_key, **kwargs):
    """A node by TVM's name of its kind ("relay.Constant", "IntImm"), or attributes ("relay.attrs.Conv2DAttrs", "attrs.TestAttrs")."""
    if "attrs." in type_key or type_key.endswith("Attrs"):
        return relay.Attrs({name: tuple(value) if isinstance(value, list) else value for name, value in kwargs.items()}, type_key)
    if type_key == "IntImm":
        return IntImm(kwargs.get("dtype", "int32"), kwargs["value"])
    if type_key == "FloatImm":
        return FloatImm(kwargs.get("dtype", "float32"), kwargs["value"])
    name = next((type_key.removeprefix(prefix) for prefix in _PREFIXES if type_key.startswith(prefix)), type_key)
    kind = relay.Constant if name == "Constant" else _BY_NAME.get(name)
    if kind is None:
        raise ValueError(f"make_node: there is no {type_key}{_native.did_you_mean(name, list(_BY_NAME))}")
    return _MAKERS.get(kind, kind)(**kwargs)
