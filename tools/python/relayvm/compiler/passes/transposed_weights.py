"""Weights that are transposed before a nn.dense are so once for all: search_fc_transpose finds them, SimplifyFCTranspose takes others."""
from .. import relay
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["SimplifyFCTranspose"]


def _transposed(call):
    """The variable whose transpose is the weight of a nn.dense, or None."""
    if not is_call(call, "nn.dense") or not is_call(call.args[1], "transpose"):
        return None
    axes, weight = call.args[1].attrs["axes"], call.args[1].args[0]
    return weight if isinstance(weight, relay.Var) and (not axes or tuple(axes) in ((1, 0), (-1, -2), (1, -2), (-1, 0))) else None


def search_fc_transpose(expr):
    """Names of the variables whose transposes are weights of nn.dense."""
    found = {}

    def see(node):
        weight = _transposed(node)
        if weight is not None:
            found[weight.name_hint] = None
    relay.post_order_visit(expr, see)
    return list(found)


def SimplifyFCTranspose(target_weight_name):  # noqa: N802 (TVM's name)
    """A pass that reads a variable NAME.T, which is transposed already, where a nn.dense reads the transpose of NAME."""
    names = set(map(str, target_weight_name))

    def change(function):
        made = {}

        def rewrite(call, new):
            weight = _transposed(call)
            if weight is None or weight.name_hint not in names:
                return new
            if weight not in made:
                kind = weight.checked_type
                made[weight] = relay.Var(weight.name_hint + ".T", relay.TensorType(tuple(reversed(kind.shape)), kind.dtype))
            return relay.Call(new.op, [new.args[0], made[weight]], new.attrs, span=new.span)
        body = PostOrderRewriter(rewrite).visit(function.body)
        if not made:
            return function
        left = set(relay._all_vars(body))
        params = [q for p in function.params for q in ([p] if p in left or p not in made else []) + ([made[p]] if p in made else [])]
        return relay.Function(params, body, function.ret_type, function.type_params, function.attrs, name=function.name)
    return function_pass("SimplifyFCTranspose", change)


def convert(func, params):
    """(the function, the parameters) with weights that are transposed already where a nn.dense reads transposes of them."""
    from .. import Module
    import numpy
    names = [name for name in search_fc_transpose(func) if name in params]
    new = {name: value for name, value in params.items() if name not in names}
    for name in names:
        value = params[name]
        value = value.numpy() if hasattr(value, "numpy") else numpy.asarray(value)
        new[name + ".T"] = numpy.ascontiguousarray(value.T)
    function = SimplifyFCTranspose(names)(Module.from_expr(func))["main"]
    kept = {p.name_hint for p in function.params}
    return function, {**new, **{name: params[name] for name in names if name in kept}}
