"""Parts and numbers of programs, as TVM's relay.analysis has them."""
import math

from . import relay
from .hashes import structural_hash


def _roots(of):
    return [of] if isinstance(of, relay.Expr) else [of[name] for name in of._names]


def _nodes(of):
    return [node for root in _roots(of) for node in relay._post_order(root, lambda e: e._children())]


def all_dtypes(expr):
    """The dtypes of all tensors in an expression with types."""
    found, left = set(), [node.checked_type for node in _nodes(expr) if not isinstance(node, (relay.Op, relay.Constructor))]
    while left:
        kind = left.pop()
        if isinstance(kind, relay.TensorType):
            found.add(kind.dtype)
        elif isinstance(kind, relay.TupleType):
            left.extend(kind.fields)
        elif isinstance(kind, relay.RefType):
            left.append(kind.value)
        elif isinstance(kind, relay.FuncType):
            left.extend([*kind.arg_types, kind.ret_type])
        elif isinstance(kind, relay.TypeCall):
            left.extend(kind.args)
    return found


def check_constant(expr):
    """Whether it is a constant, or a tuple of such."""
    return isinstance(expr, relay.Constant) or isinstance(expr, relay.Tuple) and all(map(check_constant, expr.fields))


def extract_fused_functions(mod):
    """{GlobalVar: function} of the kernels that SimplifyInference and FuseOps make, of those that are alike one."""
    from .passes.fusion import FuseOps  # which needs this package
    from .passes.norms import SimplifyInference
    mod = FuseOps(3)(SimplifyInference()(mod))
    kernels = [node for node in _nodes(mod) if isinstance(node, relay.Function) and node.attrs.get("Primitive")]
    alike = {}
    for kernel in kernels:
        alike.setdefault(structural_hash(kernel), kernel)
    return {relay.GlobalVar(f"fused_{i}"): kernel for i, kernel in enumerate(alike.values())}


def extract_intermdeiate_expr(mod, expr_id):
    """A module of an expression inside of main, and of what it needs: the one of a number, counted from 0, operands first. Calls, tuples and
    their fields count."""
    nodes = [node for node in relay._post_order(mod["main"], lambda e: e._children())
             if isinstance(node, (relay.Call, relay.Tuple, relay.TupleGetItem))]
    if not 0 <= expr_id < len(nodes):
        raise ValueError(f"extract_intermdeiate_expr: expected a number below {len(nodes)}, found {expr_id}")
    return type(mod).from_expr(nodes[expr_id])


# --- Multiplications ---


def _name(call):
    return getattr(call.op, "name", None) if isinstance(call.op, relay.Op) else None


def get_total_mac_number(expr):
    """How many multiplications (with an addition each) its convolutions, products of matrices and dense layers do; of an expression with types."""
    return sum(multiplications_of(node) for node in _nodes(expr) if isinstance(node, relay.Call))


def multiplications_of(call):
    """Those of a call with sizes that are known; 0 of what is no convolution or product."""
    name = _name(call) or ""
    if not name.startswith(("nn.conv", "nn.contrib_conv", "nn.dense", "nn.matmul", "nn.batch_matmul", "nn.contrib_dense")):
        return 0
    result = call.checked_type
    if not isinstance(result, relay.TensorType):
        return 0
    first, second = (arg.checked_type.concrete_shape for arg in call.args[:2])
    outputs = math.prod(result.concrete_shape)
    if "conv" not in name:
        return outputs * (first[-2] if call.attrs.get("transpose_a") else first[-1])
    channels = math.prod(n for letter, n in zip(_letters(call.attrs.kernel_layout), second) if letter in "Oo")
    each = math.prod(second) // channels
    return outputs * each // (call.attrs.groups if "transpose" in name else 1)


def _letters(layout):
    return [c for c in layout if c.isalpha()]


class _LayerCounter(relay.ExprVisitor):
    """Goes from the result to what it is made of, each node once."""

    def __init__(self, names):
        super().__init__()
        self._names, self._layers, self.deepest = set(names), 0, 0

    def visit_call(self, call):
        self._layers += _name(call) in self._names
        here = self._layers
        self.deepest = max(self.deepest, here)
        for arg in call.args:
            self.visit(arg)
            self._layers = here


def count_layers(expr, valid_ops):
    """How many layers of calls of these operators an expression, or a module's main, has; those in fields of a tuple stand behind each other."""
    counter = _LayerCounter(valid_ops)
    counter.visit(expr if isinstance(expr, relay.Expr) else expr["main"])
    return counter.deepest


class LayerCounter(relay.ExprVisitor):
    """Counts calls of operators on the longest way through what it visits: count()."""

    def __init__(self, valid_ops):
        super().__init__()
        self.valid_ops, self._count = list(valid_ops), 0

    def visit(self, expr):
        """Counts those of an expression."""
        self._count = max(self._count, count_layers(expr, self.valid_ops))

    def count(self):
        """How many they are."""
        return self._count


# --- Blocks ---


def get_calibration_data(mod, data):
    """What goes in and comes out of each function for an engine (with the attribute Compiler) when main runs: {GlobalVar: {"inputs": [...],
    "outputs": [...]}}. data: the values of main's parameters, by name."""
    from . import executor  # which needs this package
    main = mod["main"]
    calls = [node for node in relay._post_order(main, lambda e: e._children())
             if isinstance(node, relay.Call) and isinstance(node.op, relay.GlobalVar) and mod[node.op].attrs.get("Compiler")]
    outputs = [_fields(call, mod[call.op]) for call in calls]
    watched = relay.Function(main.params, relay.Tuple([part for call, out in zip(calls, outputs) for part in [*call.args, *out]]))
    plain = {name: _without_compiler(mod[name]) for name in mod._names if name != "main"}
    run = executor.create_executor("vm", type(mod)({**plain, "main": watched}, mod)).evaluate()
    values = list(run(**{p.name_hint: _array(data[p.name_hint]) for p in main.params}))
    found = {}
    for call, out in zip(calls, outputs):
        found[mod.get_global_var(relay._name_of(call.op))] = {"inputs": _taken(values, len(call.args)), "outputs": _taken(values, len(out))}
    return found


def _fields(call, function):
    if isinstance(function.body, relay.Tuple):
        return [relay.TupleGetItem(call, i) for i in range(len(function.body.fields))]
    return [call]


def _without_compiler(function):
    kept = {name: value for name, value in function.attrs.items() if name not in ("Compiler", "Primitive", "Inline", "global_symbol")}
    return relay.Function(function.params, function.body, function.ret_type, function.type_params, kept)


def _array(value):
    return value.numpy() if hasattr(value, "numpy") else value


def _taken(values, count):
    taken, values[:count] = values[:count], []
    return taken
