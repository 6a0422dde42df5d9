"""Small changes of arithmetic, and the type of one expression."""
import numpy

from .. import inference, relay
from ..relay import Call, Constant
from .rewriter import PostOrderRewriter, function_pass, is_call


def DivToMul():  # noqa: N802 (TVM's name)
    """A pass that multiplies by the inverse of constants that are divided by: floats, none of them zero. The last bit may differ."""
    def rewrite(_, new):
        if not is_call(new, "divide") or not isinstance(new.args[1], Constant):
            return new
        divisor = new.args[1]
        if divisor.checked_type.dtype not in ("float16", "float32", "float64") or not numpy.all(divisor.data):
            return new
        inverse = (1 / divisor.data.astype("float64")).astype(divisor.checked_type.dtype)
        return Call("multiply", [new.args[0], Constant(inverse)], span=new.span)
    return function_pass("DivToMul", lambda f: PostOrderRewriter(rewrite).visit(f), required=["FoldConstant"])


def InferTypeLocal(expr):  # noqa: N802 (TVM's name)
    """The type of an expression, whose parts may know theirs already; its nodes know them from here on."""
    if not isinstance(expr, relay.Expr):
        raise TypeError(f"InferTypeLocal: expected an expression, found {type(expr).__name__}")
    return inference.infer(expr).checked_type


__all__ = ["DivToMul", "InferTypeLocal"]
