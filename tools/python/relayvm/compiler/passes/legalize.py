"""Legalize: functions of operators say what takes the place of their calls; CanonicalizeOps and other small rewrites of calls."""
import numpy

from .. import relay
from ..regions import register_op_attr
from .layout_rules import ELEMENTWISE
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["CanonicalizeCast", "CanonicalizeOps", "FastMath", "Legalize"]


def Legalize(legalize_map_attr_name="FTVMLegalize"):  # noqa: N802 (TVM's name)
    """A pass that asks functions of operators (`register_legalize`) for what takes the place of their calls.

    function(attrs, inputs, types): inputs are the new operands, types theirs as written and that of the result. It gives a call, or None.
    """
    def rewrite(call, new):
        function = call.op.get_attr(legalize_map_attr_name) if isinstance(call.op, relay.Op) else None
        if function is None:
            return new
        result = function(call.attrs, list(new.args), [a.checked_type for a in call.args] + [call.checked_type])
        if result is None:
            return new
        if not isinstance(result, relay.Call):
            raise TypeError(f"{legalize_map_attr_name} of {call.op.name}: expected a call in place of a call, found {type(result).__name__}")
        return result
    return function_pass("Legalize", lambda f: PostOrderRewriter(rewrite).visit(f), opt_level=1)


def register_legalize(op_name, legal_op=None, level=10):
    """A function that Legalize asks, or a decorator for one."""
    return register_op_attr(op_name, "FTVMLegalize", legal_op, level)


@register_legalize("clip", level=0)
def _clip_of_requantize(attrs, inputs, types):
    """A clip to what the dtype holds anyway goes."""
    if not is_call(inputs[0], "qnn.requantize"):
        return None
    bounds = numpy.iinfo(types[0].dtype)
    return inputs[0] if attrs.a_min <= bounds.min and attrs.a_max >= bounds.max else None


def at_axis(vector, axis, rank):
    """A vector as it is broadcast along an axis of tensors of a rank."""
    behind = rank - axis - 1
    return relay.expand_dims(vector, 1, behind) if behind else vector


def CanonicalizeOps():  # noqa: N802 (TVM's name)
    """A pass that makes an add of each nn.bias_add."""
    def rewrite(call, new):
        if not is_call(new, "nn.bias_add"):
            return new
        rank, axis = len(call.args[0].checked_type.shape), new.attrs["axis"]
        return relay.add(new.args[0], at_axis(new.args[1], axis + rank if axis < 0 else axis, rank))
    return function_pass("CanonicalizeOps", lambda f: PostOrderRewriter(rewrite).visit(f), opt_level=3)


def CanonicalizeCast():  # noqa: N802 (TVM's name)
    """A pass that gives each of several elementwise operators its own copy of a cast to a wider dtype, which then goes into its kernel: so
    what is computed before is stored in the narrower one.
    """
    def change(function):
        used = set()

        class Copy(relay.ExprMutator):
            def visit_call(self, call):
                new = super().visit_call(call)
                if not is_call(call, *ELEMENTWISE):
                    return new
                args = [self.own(old, arg) for old, arg in zip(call.args, new.args)]
                return new if all(a is b for a, b in zip(args, new.args)) else relay.Call(call.op, args, call.attrs, span=call.span)

            @staticmethod
            def own(old, new):
                if not is_call(old, "cast") or not _bits(old.args[0].checked_type.dtype) < _bits(old.attrs["dtype"]):
                    return new
                if old not in used:
                    used.add(old)
                    return new
                return relay.Call(new.op, new.args, new.attrs, span=new.span)
        return Copy().visit(function)
    return function_pass("CanonicalizeCast", change, opt_level=3)


def _bits(dtype):
    return int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz") or 1)


def FastMath():  # noqa: N802 (TVM's name)
    """A pass that computes exp, erf, tanh and nn.softmax by approximations."""
    fast = {"exp": "fast_exp", "erf": "fast_erf", "tanh": "fast_tanh", "nn.softmax": "nn.fast_softmax"}

    def rewrite(call, new):
        if not is_call(new, *fast):
            return new
        return relay.Call(fast[new.op.name], new.args, dict(new.attrs), span=new.span)
    return function_pass("FastMath", lambda f: PostOrderRewriter(rewrite).visit(f), opt_level=4)
