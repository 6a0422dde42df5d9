"""Sparse weights of nn.dense: convert(func, params, blocksize, sparsity_threshold)."""
from ....compiler.passes.sparse_weights import convert_dense as convert
from ....compiler.passes.rewriter import is_call
from ....compiler.passes.sparse_weights import SparseAnalysisResult, _search
from ....compiler.passes.sparse_weights import process_dense_params as process_params

__all__ = ["SparseAnalysisResult", "convert", "process_params"]


def _search_dense_op_weight(expr):  # a script of TVM's calls it
    return _search(expr, lambda call: is_call(call, "nn.dense"))
