"""tvm.topi.nn: numbers that programs use."""
from . import qnn

__all__ = ["qnn"]
