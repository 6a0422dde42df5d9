"""Channels of fixed values go: legalize_bias_add, for FTVMLegalize of nn.bias_add, on any target."""
from ....compiler.passes.strip_channels import legalize_bias_add

__all__ = ["legalize_bias_add"]
