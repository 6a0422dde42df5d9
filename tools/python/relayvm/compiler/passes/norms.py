"""SimplifyInference in TVM's form: normalisation as the operators that it is made of, and no dropout.

The compiler's own pass of that name does the same on the way to kernels; its results are other expressions.
"""
from .. import relay
from .legalize import at_axis
from .rewriter import function_pass, is_call

__all__ = ["SimplifyInference"]


def _axis(call, data):
    axis, rank = call.attrs["axis"], len(data.shape)
    return axis + rank if axis < 0 else axis


def _batch_norm(call, data):
    x, gamma, beta, mean, variance = call.args
    scale = relay.const(1.0, data.dtype) / relay.sqrt(variance + relay.const(call.attrs["epsilon"], data.dtype))
    if call.attrs["scale"]:
        scale = scale * gamma
    shift = -mean * scale
    if call.attrs["center"]:
        shift = shift + beta
    axis, rank = _axis(call, data), len(data.shape)
    return x * at_axis(scale, axis, rank) + at_axis(shift, axis, rank)


def _normalised(x, call, dtype, axes):
    mean = relay.mean(x, axes, True, False)
    spread = relay.variance(x, axes, True, False, with_mean=mean)
    return (x - mean) / relay.sqrt(spread + relay.const(call.attrs["epsilon"], dtype))


def _scaled(out, call, data):
    _, gamma, beta = call.args
    axis, rank = _axis(call, data), len(data.shape)
    if call.attrs["scale"]:
        out = out * at_axis(gamma, axis, rank)
    return out + at_axis(beta, axis, rank) if call.attrs["center"] else out


def _layer_norm(call, data):
    return _scaled(_normalised(call.args[0], call, data.dtype, [call.attrs["axis"]]), call, data)


def _instance_norm(call, data):
    axis = _axis(call, data)
    return _scaled(_normalised(call.args[0], call, data.dtype, [i for i in range(1, len(data.shape)) if i != axis]), call, data)


def _group_norm(call, data):
    axis, groups = _axis(call, data), call.attrs["num_groups"]
    if not all(isinstance(dim, int) for dim in data.shape):
        return call
    split = [*data.shape[:axis], groups, data.shape[axis] // groups, *data.shape[axis + 1:]]
    out = _normalised(relay.reshape(call.args[0], split), call, data.dtype, list(range(axis + 1, len(split))))
    return _scaled(relay.reshape(out, data.shape), call, data)


def _l2_normalize(call, data):
    x = call.args[0]
    total = relay.sum(x * x, call.attrs["axis"], True, False)
    return x / relay.sqrt(relay.maximum(total, relay.const(call.attrs["eps"], data.dtype)))


_SIMPLER = {"nn.layer_norm": _layer_norm, "nn.instance_norm": _instance_norm, "nn.group_norm": _group_norm, "nn.l2_normalize": _l2_normalize}


class _Simplifier(relay.ExprMutator):
    def __init__(self):
        super().__init__()
        self._types = {}  # of the data of calls

    def visit_call(self, call):
        new = super().visit_call(call)
        if is_call(call, "nn.batch_norm"):
            self._types[new] = call.args[0].checked_type
        if is_call(call, *_SIMPLER):
            return _SIMPLER[call.op.name](new, call.args[0].checked_type)
        return new

    def visit_tuple_getitem(self, expr):
        new = super().visit_tuple_getitem(expr)
        if new.index == 0 and is_call(new.tuple_value, "nn.batch_norm"):
            return _batch_norm(new.tuple_value, self._types[new.tuple_value])
        return new.tuple_value.args[0] if new.index == 0 and is_call(new.tuple_value, "nn.dropout") else new


def SimplifyInference():  # noqa: N802 (TVM's name)
    """A pass that makes operators of normalisation those that they are made of, and leaves out nn.dropout."""
    return function_pass("SimplifyInference", lambda f: _Simplifier().visit(f))
