"""Weights that are transposed once for all: convert(func, params)."""
from ....compiler.passes.transposed_weights import convert
from ....compiler.passes.transposed_weights import search_fc_transpose

__all__ = ["convert", "search_fc_transpose"]
