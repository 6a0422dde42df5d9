"""Graphs of functions for `pictures`: a node for each call, its constants inside of it, branches and loops as boxes in boxes, and what
is large folded into a node whose graph is apart.

A graph that has more than `most` nodes is cut into runs of nodes that stand one after the other in the order of the program, by the parts
of their names in the source (/encoder/layer.0/MatMul) where those have any, else by number. Runs cannot read each other in a circle.
"""
import math
import re

from ..pages import shortened
from . import _native, op_patterns, operators, relay
from .node_text import attr_text
from .node_text import text as node_text
from .pictures import Graph, Node

MOST = 60  # nodes of one graph
_DEEPEST = 6  # boxes in boxes
_INLINE = 24  # nodes of a box inside of another; larger ones are folded

_ACTIVATIONS = re.compile(r"relu|sigmoid|tanh|softmax|gelu|swish|clip|erf|hard")
_NORMS = re.compile(r"norm|lrn")
_PRODUCTS = re.compile(r"conv\d|dense|matmul|einsum|attention|lstm|gru")
_REDUCTIONS = re.compile(r"pool|^(all|any|arg\w+|max|mean|min|prod|sum|variance|cumsum|cumprod|topk|sort)$")
_BY_PATTERN = {0: "elementwise", 1: "elementwise", 2: "moving", 3: "reduction", 4: "product"}


def class_of(name):
    """The class of an operator by its name: a key of `pictures.COLOURS`."""
    plain = name.removeprefix("dyn.")
    for kind, names in (("product", _PRODUCTS), ("activation", _ACTIVATIONS), ("normalisation", _NORMS), ("reduction", _REDUCTIONS)):
        if names.search(plain):
            return kind
    if plain.startswith("qnn."):
        return "quantisation"
    return _BY_PATTERN.get(op_patterns.KINDS.get(plain), "other")


def type_text(expr):
    """The type of an expression, short: (1, 64, n) float32; empty where it is not known."""
    try:
        return _type_text(expr.checked_type)
    except (AttributeError, IndexError, ValueError):
        return ""


def _type_text(kind):
    if isinstance(kind, relay.TensorType):
        dims = ", ".join(map(str, kind.shape))
        return f"({dims}{',' if len(kind.shape) == 1 else ''}) {kind.dtype}" if kind.shape else kind.dtype
    if isinstance(kind, relay.TupleType):
        return f"({', '.join(map(_type_text, kind.fields))})"
    return str(kind)


def _operand_names(call):
    names = operators.operand_names(call.op.name)
    return [names[i] if i < len(names) else f"operand {i}" for i in range(len(call.args))]


def _attr_lines(call):
    """(attributes that differ from their defaults, all of them)"""
    schema = _native.operator_schema(call.op.name)
    defaults = {name: fallback for name, _, fallback in schema[1]} if schema is not None else {}
    values = dict(call.attrs or {})
    different = [f"{k}={attr_text(v)}" for k, v in values.items() if k not in defaults or v != defaults[k]]
    return different, [f"{k}={attr_text(v)}" for k, v in values.items() if v is not None]


def _packed(texts, width=46):
    """Texts, as many on a line as there is place for."""
    lines = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) + 2 <= width:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return lines


_ONNX = re.compile(r": node '(.*)' \((\w+)\)$")


def source_name(expr):
    """What the source calls an expression: the name of an ONNX node, FILE:LINE of text; empty where that is not known."""
    span = expr.span
    if span is None:
        return ""
    text = str(span)
    named = _ONNX.search(text)
    if named:
        return named[1] or named[2]
    file, _, rest = text.rpartition("/")
    return rest if span.line else ""


def scopes_of(expr):
    """The parts of its name in the source before the last: ("encoder", "layer.0")."""
    span = expr.span
    named = _ONNX.search(str(span)) if span is not None else None
    return tuple(part for part in named[1].split("/") if part)[:-1] if named else ()


def _constant_text(constant):
    kind = constant.checked_type
    if math.prod(kind.concrete_shape) == 1:
        value = constant.data.reshape(-1)[0]
        return f"{value:.6g}" if kind.dtype.startswith("float") else str(value)
    return _type_text(kind)


def _here(expr):
    """What an expression is made of that stands in the same scope."""
    if isinstance(expr, relay.Call):
        return expr.args if isinstance(expr.op, (relay.Op, relay.GlobalVar, relay.Constructor, relay.Function)) else (expr.op, *expr.args)
    if isinstance(expr, relay.Let):
        return (expr.value, expr.body)
    if isinstance(expr, relay.If):
        return (expr.cond,)
    if isinstance(expr, relay.Match):
        return (expr.data,)
    if isinstance(expr, relay.Function):
        return ()
    return expr._children()


class _Scope:
    """A function's body, or a branch: the expressions that are computed there."""

    def __init__(self, root, outer=None):
        self.outer, self.depth = outer, 0 if outer is None else outer.depth + 1
        self.nodes, self.outside, self.scopes, self.labels = {}, {}, {}, {} if outer is None else outer.labels
        order = relay._post_order(root, lambda e: () if self._known_outside(e) else _here(e))
        self.here = set(order)
        self.bound = {expr.var: expr.value for expr in order if isinstance(expr, relay.Let)}
        self.order, self.root = order, root

    def _known_outside(self, expr):
        scope = self.outer
        while scope is not None:
            if expr in scope.here and not isinstance(expr, (relay.Constant, relay.Op)) or expr in scope.bound:
                return True
            scope = scope.outer
        return False

    def _resolved(self, expr):
        """What computes an expression, and which field of that it is."""
        field = ""
        while True:
            if isinstance(expr, relay.TupleGetItem) and expr in self.here:
                field, expr = f".{expr.index}{field}", expr.tuple_value
            elif isinstance(expr, relay.Let):
                expr = expr.body
            elif isinstance(expr, relay.Var) and expr in self.bound:
                expr = self.bound[expr]
            else:
                return expr, field

    def _source(self, expr):
        """The node that computes an expression, and which field of it."""
        expr, field = self._resolved(expr)
        return self.nodes.get(expr) or self._from_outside(expr), field

    def _from_outside(self, expr):
        node = self.outside.get(expr)
        if node is None:
            text, kind = self.labels.get(expr) or node_text(expr, 1), shortened(type_text(expr), 40)
            node = self.outside[expr] = Node(shortened(text, 40), "outer", [kind] if kind else [], tip="from outside of this box")
        return node

    def build(self, params=()):
        for i, param in enumerate(params):
            self.labels[param] = param.name_hint or f"_{i + 1}"
            self.nodes[param] = Node(self.labels[param], "input", [type_text(param)])
            self.here.add(param)
        made = []
        for expr in self.order:
            if expr in self.nodes or not self._is_drawn(expr):
                continue
            node = Node("")
            self.nodes[expr] = node
            made.append((expr, node))
        for expr, node in made:
            self._fill(expr, node)
        return self

    def _is_drawn(self, expr):
        if isinstance(expr, (relay.Op, relay.TupleGetItem, relay.Let, relay.Var, relay.Constant, relay.GlobalVar, relay.Constructor)):
            return False
        return not self._known_outside(expr)

    def _fill(self, expr, node):
        node.kind, place = "control", source_name(expr)
        kind = type_text(expr)
        if isinstance(expr, relay.Call):
            self._fill_call(expr, node)
        elif isinstance(expr, relay.Tuple):
            node.title, node.kind = "tuple", "other"
            self._read(node, expr.fields)
        elif isinstance(expr, relay.If):
            node.title = "if"
            self._read(node, [expr.cond], ["condition"])
            self._enter(node, [("then", expr.true_branch, ()), ("else", expr.false_branch, ())])
        elif isinstance(expr, relay.Match):
            node.title = "match"
            self._read(node, [expr.data])
            self._enter(node, [(repr(c.lhs), c.rhs, [p.var for p in relay._post_order(c.lhs, lambda p: p._patterns()) if isinstance(p, relay.PatternVar)])
                               for c in expr.clauses])
        elif isinstance(expr, relay.Function):
            name = next((variable.name_hint for variable, value in self.bound.items() if value is expr), "")
            node.title = f"fn %{name}" if name else f"fn {expr.attrs.get('Composite', '')}".strip()
            self._enter(node, [("", expr.body, expr.params)])
        elif isinstance(expr, relay.Internal):
            node.title = expr.kind
            self._read(node, expr.args)
        else:
            node.title = {relay.RefCreate: "ref", relay.RefRead: "ref_read", relay.RefWrite: "ref_write"}.get(type(expr)) or node_text(expr, 1)
            self._read(node, expr._children())
        if not isinstance(expr, relay.Function) and kind:
            node.lines.append(f"-> {kind}")
        if place:
            node.lines.insert(0, place)
        self.scopes[node] = scopes_of(expr)
        node.tip = "\n".join(filter(None, [node.title, node.tip, kind, str(expr.span) if expr.span is not None else ""]))

    def _fill_call(self, call, node):
        op = call.op
        if isinstance(op, relay.Op):
            node.title, node.kind = op.name, class_of(op.name)
            different, whole = _attr_lines(call)
            node.lines += _packed(different)
            node.tip = "\n".join(whole)
            self._read(node, call.args, _operand_names(call))
        elif isinstance(op, relay.Function):
            name = op.attrs.get("Composite") or op.attrs.get("Compiler") or ("kernel" if "Primitive" in op.attrs else "fn")
            node.title = f"{name}(...)"
            self._read(node, call.args, [p.name_hint for p in op.params])
            self._enter(node, [("", op.body, op.params)])
        else:
            node.title = node_text(op, 1) if isinstance(op, (relay.GlobalVar, relay.Constructor)) else f"call of {node_text(op, 1)}"
            node.kind = "other" if isinstance(op, relay.Constructor) else "control"
            self._read(node, call.args)
            if not isinstance(op, (relay.GlobalVar, relay.Constructor)):
                self._read(node, [op], ["function"])

    def _read(self, node, exprs, names=()):
        for i, expr in enumerate(exprs):
            name = f"{names[i]} " if i < len(names) else ""
            value = self._resolved(expr)[0]
            if isinstance(value, relay.Constant):
                node.lines.append(f"{name}<{value.name + ' ' if value.name else ''}{_constant_text(value)}>")
            elif isinstance(value, (relay.GlobalVar, relay.Constructor)):
                node.lines.append(f"{name}{node_text(value)}")
            else:
                node.inputs.append(self._source(expr))

    def _enter(self, node, parts):
        if self.depth >= _DEEPEST:
            node.lines.append("(what is deeper is not drawn)")
            return
        for title, root, params in parts:
            inner = _Scope(root, self).build(params)
            node.parts.append((title, inner.graph()))
            for expr in inner.outside:
                source = self._source(expr)[0]
                if source is not node and (source, "") not in node.inputs:
                    node.inputs.append((source, ""))

    def graph(self, names=()):
        """The whole graph, with its results at the end."""
        root = self._resolved(self.root)[0]
        nodes, fields = dict(self.nodes), [self.root]
        if isinstance(root, relay.Tuple) and len(root.fields) > 0 and not any(source is nodes.get(root) for n in nodes.values() for source, _ in n.inputs):
            nodes.pop(root, None)
            fields = root.fields
        outputs = []
        for i, expr in enumerate(fields):
            name = names[i] if len(names) == len(fields) else "result" if len(fields) == 1 else f"result.{i}"
            outputs.append(Node(name, "output", [type_text(expr)]))
            self._read(outputs[-1], [expr])
        return Graph(_in_order([*nodes.values(), *self.outside.values(), *outputs]))


def _in_order(nodes):
    """Nodes, each after those that it reads."""
    return relay._post_order(_Root(nodes), lambda n: [s for s, _ in n.inputs])[:-1]


class _Root:
    def __init__(self, nodes):
        self.inputs = [(node, "") for node in nodes]


def output_names(function):
    """Names of a function's results, where the program has them."""
    names = function.attrs.get("output_names")
    return tuple(names) if isinstance(names, (list, tuple)) else (names,) if isinstance(names, str) else ()


def graph_of(function):
    """The graph of a `relay.Function`, and of its nodes the parts of their names: (Graph, {Node: ("encoder", "layer.0")})."""
    scope = _Scope(function.body).build(function.params)
    return scope.graph(output_names(function)), scope.scopes


# --- Folding ---


def size_of(graph):
    """Nodes, those inside of others too."""
    return sum(1 + sum(size_of(inner) for _, inner in node.parts) for node in graph.nodes)


def fold(graph, scopes, most=MOST):
    """(The graph of at most so many nodes or a few more, [(title, Graph, scopes of its nodes)] of what is folded away in it.)"""
    apart = []
    for node in graph.nodes:
        for title, inner in [p for p in node.parts if size_of(p[1]) > _INLINE]:
            name = " ".join(filter(None, [node.title, title]))
            node.parts.remove((title, inner))
            node.lines.append(f"{title + ': ' if title else ''}{size_of(inner)} nodes, below: {name}")
            apart.append((name, inner, {}))
    if len(graph.nodes) <= most:
        return graph, apart
    fixed = [n for n in graph.nodes if n.kind in ("input", "output", "outer")]
    runs = _runs([n for n in graph.nodes if n not in set(fixed)], scopes, most)
    return _folded(graph, runs, scopes, apart), apart


def _runs(nodes, scopes, most):
    """[(title, nodes)]: by the first part of names in which they differ, where that makes few enough; else by number."""
    names = [scopes.get(node, ()) for node in nodes]
    common = 0
    while names and all(len(n) > common and n[common] == names[0][common] for n in names):
        common += 1
    runs = []
    for node, name in zip(nodes, names):
        key = "/".join(name[:common + 1])
        if len(name) > common and runs and runs[-1][0] == key:
            runs[-1][1].append(node)
        else:
            runs.append((key if len(name) > common else "", [node]))
    if len(runs) <= most and max(len(run) for _, run in runs) < len(nodes):
        return runs
    step = max(most, math.ceil(len(nodes) / most))
    return [(f"nodes {i + 1} to {min(i + step, len(nodes))}", nodes[i:i + step]) for i in range(0, len(nodes), step)]


def _folded(graph, runs, scopes, apart):
    stands_for, count = {}, {}
    runs = [(title, nodes) for title, nodes in runs if len(nodes) > 2]
    for i, (title, nodes) in enumerate(runs):
        count[title] = count.get(title, 0) + 1
        title = title if count[title] == 1 else f"{title} ({count[title]})"
        run = Node(title or "...", "folded", [f"{sum(1 + sum(size_of(g) for _, g in n.parts) for n in nodes)} nodes, below"])
        stands_for.update((node, run) for node in nodes)
        runs[i] = run, nodes
    inputs = {}
    for node in graph.nodes:
        target = stands_for.get(node, node)
        read = inputs.setdefault(target, {})
        for source, text in node.inputs:
            source = stands_for.get(source, source)
            if source is not target:
                read[source, text if target is node else ""] = None
    for run, nodes in runs:
        apart.append((run.title, _cut_out(nodes), {n: scopes.get(n, ()) for n in nodes}))
    for node, read in inputs.items():
        node.inputs = list(read)
    return Graph(_in_order(inputs))


def _cut_out(nodes):
    """A graph of these nodes: what they read besides stands for itself, dashed."""
    inside, outside = set(nodes), {}
    for node in nodes:
        for i, (source, text) in enumerate(node.inputs):
            if source not in inside:
                there = outside.setdefault(source, Node(source.title, "outer", source.lines[-1:], tip=source.tip))
                node.inputs[i] = there, text
    return Graph([*outside.values(), *nodes])
