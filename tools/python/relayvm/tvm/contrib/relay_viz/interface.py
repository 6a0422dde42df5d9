"""tvm.contrib.relay_viz.interface: a parser makes nodes and edges of expressions, a plotter shows graphs of these."""
import abc

from ....compiler import relay as _relay

UNKNOWN_TYPE = "unknown"


class VizNode:
    """A node: identity, type_name, and detail, lines of what else there is to say."""

    def __init__(self, node_id, node_type, node_detail):
        self.identity, self.type_name, self.detail = node_id, node_type, node_detail

    def __repr__(self):
        return f"VizNode({self.identity}: {self.type_name} {', '.join(self.detail.splitlines())})"


class VizEdge:
    """An edge, from the node that is read (start) to that which reads it (end), by their identities."""

    def __init__(self, start_node, end_node):
        self.start, self.end = start_node, end_node


class VizParser(abc.ABC):
    """Makes nodes and edges of expressions."""

    @abc.abstractmethod
    def get_node_edges(self, node, relay_param, node_to_id):
        """(a `VizNode`, or None where the expression has none; a list of `VizEdge`s). node_to_id: identities by expression."""


class VizGraph(abc.ABC):
    """A graph, which takes nodes and edges: each node after those that it reads."""

    @abc.abstractmethod
    def node(self, viz_node):
        """Takes a node."""

    @abc.abstractmethod
    def edge(self, viz_edge):
        """Takes an edge."""


class Plotter(abc.ABC):
    """Shows graphs."""

    @abc.abstractmethod
    def create_graph(self, name):
        """A new `VizGraph`."""

    @abc.abstractmethod
    def render(self, filename):
        """Shows, or writes, them all."""


def _lines(attrs):
    return [f"{key}: {value}" for key, value in (attrs or {}).items()]


def _of_var(var, relay_param):
    lines = [f"name_hint: {var.name_hint}"]
    kind = var.type_annotation
    if isinstance(kind, _relay.TensorType):
        lines += [f"shape: {tuple(kind.shape)}", f"dtype: {kind.dtype}"]
    elif kind is not None:
        lines.append(f"type_annotation: {kind}")
    return "Var(Param)" if var.name_hint in relay_param else "Var(Input)", lines


def _of_callee(op, attrs):
    if isinstance(op, _relay.Op):
        return op.name, _lines(attrs)
    if isinstance(op, _relay.Function):
        return op.attrs.get("Composite", "Anonymous Func"), _lines(op.attrs)
    return ("GlobalVar", [f"GlobalVar.name_hint: {op.name_hint}"]) if isinstance(op, _relay.GlobalVar) else (type(op).__name__, [])


class DefaultVizParser(VizParser):
    """A node for each call, function, tuple, field, variable and constant."""

    def get_node_edges(self, node, relay_param, node_to_id):
        """(the node, edges from what it is made of)"""
        if isinstance(node, _relay.Var):
            title, lines, parts = *_of_var(node, relay_param), ()
        elif isinstance(node, _relay.Call):
            title, lines = _of_callee(node.op, node.attrs)
            title, parts = f"Call {title}", node.args
        elif isinstance(node, _relay.Function):
            title, lines, parts = f"Func {node.attrs.get('Composite', '')}", _lines(node.attrs), [node.body]
        elif isinstance(node, _relay.Tuple):
            title, lines, parts = "Tuple", [], node.fields
        elif isinstance(node, _relay.TupleGetItem):
            title, lines, parts = "TupleGetItem", [f"idx: {node.index}"], [node.tuple_value]
        elif isinstance(node, _relay.Constant):
            title, lines, parts = "Const", [f"shape: {node.data.shape}, dtype: {node.data.dtype}"], ()
        elif isinstance(node, (_relay.GlobalVar, _relay.Op)):
            return None, []
        else:
            title, lines, parts = UNKNOWN_TYPE, [f"don't know how to parse {type(node)}"], ()
        own = node_to_id[node]
        return VizNode(own, title, "\n".join(lines)), [VizEdge(node_to_id[part], own) for part in parts]


__all__ = ["DefaultVizParser", "Plotter", "UNKNOWN_TYPE", "VizEdge", "VizGraph", "VizNode", "VizParser"]
