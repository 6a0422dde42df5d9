"""tvm.relay.data_dep_optimization: rewrites of a function together with its parameters."""
from . import simplify_fc_transpose

__all__ = ["simplify_fc_transpose"]
