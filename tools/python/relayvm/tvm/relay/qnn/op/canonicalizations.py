"""tvm.relay.qnn.op.canonicalizations: tables of quantised functions."""
from .....compiler.passes.quantised import create_integer_lookup_op, create_integer_lookup_table, run_const_expr
from .....compiler.relay import Constant


def get_scalar_from_constant(expr):
    """The number of a constant of one: an int32 or a float32."""
    if not isinstance(expr, Constant) or expr.data.shape:
        raise ValueError(f"expected a constant of rank 0, found {expr!r}")
    return expr.data.item()


__all__ = ["create_integer_lookup_op", "create_integer_lookup_table", "get_scalar_from_constant", "run_const_expr"]
