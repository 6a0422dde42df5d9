"""Sparse weights of nn.dense: convert(func, params, blocksize, sparsity_threshold)."""
from ....compiler.passes.sparse_weights import convert_dense as convert

__all__ = ["convert"]
