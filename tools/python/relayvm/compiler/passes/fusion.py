"""FuseOps and DefuseOps, in TVM's form: what is fused is a function literal with the attribute Primitive, which is called."""
from .. import relay
from ..relay import Call, Constant, ExprMutator, Function, Op, TensorType, Tuple, TupleGetItem, TupleType, Var
from ._make import changed_functions, expression_pass
from .blocks import same_call
from .copies import applied

__all__ = ["DefuseOps", "FuseOps", "SplitArgs"]

# How operators go with others into one loop: TVM's TOpPattern.
ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8
RESHAPES = {"reshape", "dyn.reshape", "expand_dims", "squeeze", "nn.batch_flatten", "contrib_reverse_reshape"}


def pattern_of(op):
    """That of an operator; OPAQUE where it goes with none."""
    pattern = op.get_attr("TOpPattern")
    return OPAQUE if pattern is None else int(pattern)


class _Defuser(ExprMutator):
    def visit_call(self, call):
        if isinstance(call.op, Function) and not {"Compiler", "Composite"} & set(call.op.attrs):
            return self.visit(applied(call.op, [self.visit(a) for a in call.args]))
        return super().visit_call(call)


def DefuseOps():  # noqa: N802 (TVM's name)
    """A pass that puts the bodies of function literals that are called where they are called: the inverse of FuseOps."""
    return expression_pass("DefuseOps", lambda fn: _Defuser().visit(fn), 3, ["InferType"])


class _Splitter(ExprMutator):
    def __init__(self, limit):
        super().__init__()
        self._limit = limit

    def visit_call(self, call):
        new = super().visit_call(call)
        if _name(call) != "concatenate" or not isinstance(new.args[0], Tuple):
            return new
        kinds = [f._type and f.checked_type for f in call.args[0].fields]
        room = self._limit - _arguments(call._type and call.checked_type)
        if sum(map(_arguments, kinds)) < room:
            return new
        fields, taken = [], 0
        for field, size in zip(new.args[0].fields, map(_arguments, kinds)):
            if fields and taken + size > room:
                fields, taken = [self._part(call, fields)], size
            fields.append(field)
            taken += size
        return self._part(call, fields)

    @staticmethod
    def _part(call, fields):
        return same_call(call, call.op, [Call("annotation.stop_fusion", [Tuple(fields)])])


def _name(call):
    return call.op.name if isinstance(call.op, Op) else ""


def _arguments(kind):
    """How many arguments of a kernel a tensor takes: where sizes are known only when the program runs, each of these is one too."""
    if not isinstance(kind, TensorType):
        return 1
    unknown = sum(not isinstance(d, int) for d in kind.shape)
    return 1 + unknown + (len(kind.shape) if unknown else 0)


def SplitArgs(max_function_args):  # noqa: N802 (TVM's name)
    """A pass that takes concatenations apart which would be kernels of more arguments. 0: any number."""
    return expression_pass("SplitArgs", lambda fn: _Splitter(max_function_args).visit(fn) if max_function_args else fn, 1)


# --- Which nodes stand together ---


class _Node:
    """A node of the graph: what it is (pattern), who reads it (outputs), its post-dominator (parent), its group."""

    __slots__ = ("index", "expr", "pattern", "outputs", "is_extern", "parent", "depth", "path")

    def __init__(self, expr):
        self.index, self.expr, self.pattern, self.outputs, self.is_extern = -1, expr, OPAQUE, [], False
        self.parent, self.depth, self.path = None, 1, OPAQUE


class _Group:
    __slots__ = ("parent", "pattern", "root", "anchor", "count")

    def __init__(self, node):
        self.parent, self.pattern, self.root, self.count = None, node.pattern, node.expr, 1
        self.anchor = node.expr if node.pattern == OUT_FUSABLE else None

    def find(self):
        root = self
        while root.parent is not None:
            root = root.parent
        while self is not root:
            self.parent, self = root, self.parent
        return root


class _Graph:
    """Nodes of a function, operands before their users, with edges that say how they are read."""

    def __init__(self, body, params):
        self.nodes, self.order = {}, []
        for expr in relay._post_order(body, lambda e: () if isinstance(e, Function) and "Primitive" in e.attrs else e._children()):
            self._add(expr)
        for param in params:
            if id(param) in self.nodes:
                self._extern(param)
        self._extern(body)
        for i, node in enumerate(self.order):
            node.index = i
        for node in reversed(self.order):
            self._dominate(node)

    def _node(self, expr):
        if id(expr) not in self.nodes:
            self.nodes[id(expr)] = _Node(expr)
        return self.nodes[id(expr)]

    def _edge(self, child, user, pattern):
        self._node(child).outputs.append((user, pattern))

    def _extern(self, expr):
        self._node(expr).is_extern = True

    def _add(self, expr):
        if isinstance(expr, Op):
            return
        node = self._node(expr)
        if isinstance(expr, Constant):
            node.pattern = ELEMWISE if not expr.checked_type.shape else OPAQUE  # numbers are part of what reads them
        elif isinstance(expr, Call):
            self._add_call(expr, node)
        elif isinstance(expr, Tuple):
            self._add_tuple(expr, node)
        elif isinstance(expr, TupleGetItem):
            fields = expr.tuple_value._type is not None and isinstance(expr.tuple_value.checked_type, TupleType)
            is_tensors = fields and all(isinstance(t, TensorType) for t in expr.tuple_value.checked_type.fields)
            node.pattern = INJECTIVE if is_tensors else OPAQUE
            if is_tensors:
                self._edge(expr.tuple_value, node, INJECTIVE)
            else:
                self._extern(expr.tuple_value)
        elif isinstance(expr, Var):
            pass
        else:
            for child in expr._children():
                if not isinstance(child, Op):
                    self._extern(child)
            if isinstance(expr, Function):
                for param in expr.params:
                    self._extern(param)
        self.order.append(node)

    def _add_call(self, call, node):
        pattern = pattern_of(call.op) if isinstance(call.op, Op) else OPAQUE
        if not isinstance(call.op, Op):
            self._extern(call.op)
        node.pattern = pattern
        result = call._type and call.checked_type
        for arg in call.args:
            kind = arg._type and arg.checked_type
            read = pattern
            if pattern == BROADCAST and isinstance(kind, TensorType) and isinstance(result, TensorType) and _same_shape(kind, result):
                read = ELEMWISE
            self._edge(arg, node, read)

    def _add_tuple(self, expr, node):
        is_tensors = all(f._type is not None and isinstance(f.checked_type, TensorType) for f in expr.fields)
        node.pattern = TUPLE if is_tensors else OPAQUE
        for field in expr.fields:
            if is_tensors:
                self._edge(field, node, INJECTIVE)
            else:
                self._extern(field)

    @staticmethod
    def _dominate(node):
        """The nearest node through which all that read it go, and how it is read on the way there."""
        if node.is_extern or not node.outputs:
            return
        parent, path = None, ELEMWISE
        for i, (user, pattern) in enumerate(node.outputs):
            path = max(path, pattern)
            parent, path = (user, path) if i == 0 else _common_dominator(parent, user, path)
            if parent is None:
                break
        node.parent, node.path = parent, path
        node.depth = parent.depth + 1 if parent is not None else 1


def _common_dominator(a, b, path):
    while a is not b:
        if a is None or b is None:
            return None, OPAQUE
        if a.depth < b.depth:
            path = max(path, b.path)
            b = b.parent
        elif a.depth > b.depth:
            path = max(path, a.path)
            a = a.parent
        else:
            path = max(path, a.path, b.path)
            a, b = a.parent, b.parent
    return a, path


def _same_shape(a, b):
    return len(a.shape) == len(b.shape) and all(x == y and str(x) != "?" for x, y in zip(a.shape, b.shape))


class _Partition:
    """Groups of the nodes of a graph that stand together: each takes its way to its post-dominator along where all that stands there
    may be in one loop. In three goes: products take what is element by element after them, then views, then what tuples are made of."""

    def __init__(self, graph, level, max_depth):
        self.graph, self.max_depth = graph, max_depth
        self.groups = [_Group(node) for node in graph.order]
        if level > 0:
            for phase in range(3):
                for node in graph.order:
                    self._grow(node, phase)

    def group(self, expr):
        """That of a node."""
        return self._root(self.graph.nodes[id(expr)])

    def _root(self, node):
        return self.groups[node.index].find()

    def _grow(self, node, phase):
        kind, end = self.groups[node.index].pattern, node.parent
        if kind == OPAQUE or end is None or self._count(node, end) > self.max_depth:
            return
        end_kind = self.groups[end.index].pattern
        if phase == 2:
            into = self._root(end).pattern
            if kind <= INJECTIVE and end_kind == TUPLE and into <= INJECTIVE and self._fits(node, end, lambda k, is_end: k <= INJECTIVE):
                self._merge(node, end)
            return
        if self._root(node) is self._root(end) or end_kind == TUPLE:
            return
        if kind == OUT_FUSABLE:
            if phase == 0 and node.path == ELEMWISE and self._fits(node, end, lambda k, is_end: k <= BROADCAST):
                self._merge(node, end)
        elif kind <= BROADCAST:
            ends = (COMM_REDUCE, INJECTIVE, OUT_FUSABLE)
            if node.path <= COMM_REDUCE and \
                    self._fits(node, end, lambda k, is_end: k <= (BROADCAST if is_end else INJECTIVE) or is_end and k in ends):
                self._merge(node, end)
        elif kind in (INJECTIVE, TUPLE) and phase == 1 and self._fits(node, end, lambda k, is_end: k <= INJECTIVE):
            self._merge(node, end)

    def _count(self, node, end):
        """How many nodes the group of `end` has with what stands before it from `node` on."""
        return self._root(end).count + self.groups[node.index].count + \
            sum(self.groups[n.index].count for n in self._between(node, end) if n is not end)

    @staticmethod
    def _between(node, end):
        """Nodes on the ways from what reads it to `end`."""
        seen, todo = set(), [user for user, _ in node.outputs]
        while todo:
            n = todo.pop()
            if id(n) not in seen:
                seen.add(id(n))
                yield n
                if n is not end:
                    todo.extend(user for user, _ in n.outputs)

    def _fits(self, node, end, fits):
        return all(fits(self._root(n).pattern, n is end) for n in self._between(node, end))

    def _merge(self, node, end):
        for n in [node, *(m for m in self._between(node, end) if m is not end)]:
            child, target = self._root(n), self._root(end)
            if child is target:
                continue
            child.parent = target
            target.count += child.count
            if child.anchor is not None:
                target.anchor, target.pattern = child.anchor, max(child.pattern, target.pattern)


# --- The functions ---


class _Fuser(ExprMutator):
    def __init__(self, partition, graph, link_params):
        super().__init__()
        self._partition, self._graph, self._link, self._inputs = partition, graph, link_params, {}

    def _operand(self, expr, group):
        """What stands for an operand inside of a group: it, or a parameter."""
        new = self.visit(expr)
        if self._partition.group(expr) is group or self._link and isinstance(expr, Constant):
            return new
        params = self._inputs.setdefault(id(group), {})
        if id(new) not in params:
            params[id(new)] = Var(f"p{len(params)}", expr.checked_type if expr._type is not None else None), new
        return params[id(new)][0]

    def visit_call(self, call):
        if not isinstance(call.op, Op):
            return super().visit_call(call)
        if call.op.name == "annotation.stop_fusion":
            return self.visit(call.args[0])
        group = self._partition.group(call)
        for arg in call.args:  # what stands in the group has its parameters first
            self.visit(arg)
        return self._finish(call, same_call(call, call.op, [self._operand(a, group) for a in call.args]), group)

    def _finish(self, expr, new, group):
        if group.root is not expr:
            return new
        pairs = list(self._inputs.get(id(group), {}).values())
        attrs = {"Primitive": int(_has_call(new)), **({"relay.reshape_only": 1} if _only_reshapes(new) else {})}
        fn = Function([p for p, _ in pairs], new, expr.checked_type if expr._type is not None else None, attrs=attrs)
        return Call(fn, [value for _, value in pairs], span=expr.span)

    def visit_tuple(self, expr):
        group = self._partition.group(expr)
        if group.root is expr:
            return super().visit_tuple(expr)
        for field in expr.fields:
            self.visit(field)
        return Tuple([self._operand(f, group) for f in expr.fields], expr.span)

    def visit_tuple_getitem(self, expr):
        group = self._partition.group(expr)
        if group.root is expr and self._partition.group(expr.tuple_value) is not group:
            return super().visit_tuple_getitem(expr)
        return self._finish(expr, TupleGetItem(self._operand(expr.tuple_value, group), expr.index, expr.span), group)

    def visit_function(self, fn):
        return fn if "Primitive" in fn.attrs else super().visit_function(fn)


def _has_call(expr):
    return any(isinstance(node, Call) for node in relay._post_order(expr, lambda e: () if isinstance(e, Call) else e._children()))


def _only_reshapes(expr):
    while isinstance(expr, Call):
        if expr.op.name not in RESHAPES:
            return False
        expr = expr.args[0]
    return isinstance(expr, Var)


def _fused(fn, level, max_depth, link_params):
    if "Primitive" in fn.attrs:
        return fn
    graph = _Graph(fn.body, fn.params)
    body = _Fuser(_Partition(graph, level, max_depth), graph, link_params).visit(fn.body)
    return Function(fn.params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name) if body is not fn.body else fn


def FuseOps(fuse_opt_level=-1):  # noqa: N802 (TVM's name)
    """A pass that shows which operators would be fused, as TVM does it: function literals with the attribute Primitive, which are called.
    Compilation does its own fusion.

    fuse_opt_level: 0 for each operator by itself; else the context's opt_level counts.
    """
    from ..transform import FunctionPass

    def run(mod, context):
        level = context.opt_level if fuse_opt_level == -1 else fuse_opt_level
        depth = int(context.tvm_config.get("relay.FuseOps.max_depth", 256)) or 256
        link = bool(context.tvm_config.get("relay.FuseOps.link_params", False))
        return changed_functions(mod, lambda fn: _fused(fn, level, depth, link), "FuseOps")
    return FunctionPass("FuseOps", run, opt_level=0, required=["InferType"])
