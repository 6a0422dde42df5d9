"""Sparse weights of nn.conv2d: convert for parameters, convert2 for constants."""
from ....compiler.passes.sparse_weights import convert_constant_conv2d as convert2
from ....compiler.passes.sparse_weights import convert_conv2d as convert

__all__ = ["convert", "convert2"]
