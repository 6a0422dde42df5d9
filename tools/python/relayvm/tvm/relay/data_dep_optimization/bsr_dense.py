"""Sparse weights of nn.dense: convert(func, params, blocksize, sparsity_threshold)."""
from ....compiler.passes.sparse_weights import convert_dense as convert
from ....compiler.passes.sparse_weights import SparseAnalysisResult
from ....compiler.passes.sparse_weights import process_dense_params as process_params

__all__ = ["SparseAnalysisResult", "convert", "process_params"]
