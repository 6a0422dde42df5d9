"""Types of expressions that are no part of a module yet."""
import weakref

from . import relay

_dtypes = weakref.WeakKeyDictionary()  # of tensors, as far as they were asked for
_OF_FIRST = frozenset("""abs acos acosh add asin asinh atan atanh ceil clip copy cos cosh divide erf exp expand_dims floor floor_divide floor_mod
log log10 log2 max maximum mean min minimum mod multiply negative nn.batch_flatten nn.bias_add nn.global_avg_pool2d nn.leaky_relu
nn.log_softmax nn.max_pool2d nn.avg_pool2d nn.pad nn.prelu nn.relu nn.softmax power prod reshape round rsqrt sigmoid sign sin sinh sqrt squeeze
strided_slice subtract sum tan tanh transpose trunc""".split())  # operators whose result has the dtype of their first operand
_OF_ATTRIBUTE = {"cast": "dtype", "ones": "dtype", "qnn.dequantize": "out_dtype", "qnn.quantize": "out_dtype", "qnn.requantize": "out_dtype",
                 "zeros": "dtype"}
_without = weakref.WeakSet()  # nodes that read variables without types

def _is_open(node):
    """Whether its type is not known."""
    return getattr(node, "_type", node) is None and not isinstance(node, (relay.Op, relay.GlobalVar, relay.Constructor))


class _Copy(relay.ExprMutator):
    """Nodes of new operands, asked for one at a time."""

    def __init__(self, known):
        super().__init__()
        self._depth = 1
        self.memo_map.update(known)


def infer(expr, mod=None):
    """The expression, whose nodes know their types from here on: those that do already are taken as they are.

    mod: a `Module` that has the functions and types which it names. Raises InvalidInput where it is wrong, or where types of variables
    that are not written do not follow from how they are read.
    """
    from . import Module
    if not _is_open(expr):
        return expr
    order = relay._post_order(expr, lambda e: e._children() if _is_open(e) else ())
    known = {node: relay.Var(f"known{i}", node.checked_type) for i, node in enumerate(order)
             if not _is_open(node) and not isinstance(node, (relay.Op, relay.Constant, relay.Constructor))
             and not (isinstance(node, relay.GlobalVar) and (mod is not None or node._type is None))}
    copy = _Copy(known)
    made = {copy.visit(node): node for node in order if _is_open(node)}
    body = copy.memo_map[expr]
    function = relay.Function(relay._free_vars(body), body)
    name = "_inferred"
    while mod is not None and name in mod._names:
        name += "_"
    typed = Module((mod if mod is not None else Module())._made_with({name: function}))[name]
    ours, theirs = (relay._post_order(f, relay._parts) for f in (function, typed))
    if [type(node) for node in ours] != [type(node) for node in theirs]:
        ours, theirs = [body], [typed.body]  # the compiler made another form of it
    for mine, other in zip(ours, theirs):
        if mine in made:
            relay._set(made[mine], "_type", other._type)
    return expr


def type_of(expr, mod=None):
    """The type of an expression; None where it does not follow."""
    from ..errors import Error
    try:
        return infer(expr, mod).checked_type
    except (Error, ValueError, TypeError):
        return None


def type_at_hand(expr):
    """The type of an expression, where all variables that it reads have theirs; else None. Quick for expressions that grow node by node."""
    if not _is_open(expr):
        return expr.checked_type
    stack, seen = [expr], {expr}
    while stack:
        node = stack.pop()
        if isinstance(node, relay.Var) or node in _without:
            _without.add(expr)
            return None
        for part in node._children():
            if _is_open(part) and part not in seen:
                seen.add(part)
                stack.append(part)
    return type_of(expr)


def dtype_at_hand(expr):
    """The dtype of a tensor, where all variables that it reads have their types; else None. Quicker than its type."""
    chain = []
    while _is_open(expr) and expr not in _dtypes:
        name = expr.op.name if isinstance(expr, relay.Call) and isinstance(expr.op, relay.Op) else None
        if name not in _OF_FIRST:
            break
        chain.append(expr)
        expr = expr.args[0]
    if expr in _dtypes:
        dtype = _dtypes[expr]
    elif isinstance(expr, relay.Call) and _is_open(expr) and getattr(expr.op, "name", None) in _OF_ATTRIBUTE:
        dtype = expr.attrs[_OF_ATTRIBUTE[expr.op.name]]
    else:
        dtype = getattr(type_at_hand(expr), "dtype", None)
    for node in chain:
        _dtypes[node] = dtype
    return dtype
