"""Weights that are transposed once for all: convert(func, params)."""
from ....compiler.passes.transposed_weights import convert

__all__ = ["convert"]
