"""tvm.runtime."""
from ..nd import Device, NDArray
from . import vm

__all__ = ["Device", "NDArray", "vm"]
