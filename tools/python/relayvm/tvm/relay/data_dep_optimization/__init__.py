"""tvm.relay.data_dep_optimization: rewrites of a function together with its parameters."""
from . import bsr_conv2d, bsr_dense, simplify_fc_transpose

__all__ = ["bsr_conv2d", "bsr_dense", "simplify_fc_transpose"]
