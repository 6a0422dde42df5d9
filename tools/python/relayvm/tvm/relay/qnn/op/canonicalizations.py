"""tvm.relay.qnn.op.canonicalizations: tables of quantised functions."""
from .....compiler.passes.quantised import create_integer_lookup_op, create_integer_lookup_table, run_const_expr

__all__ = ["create_integer_lookup_op", "create_integer_lookup_table", "run_const_expr"]
