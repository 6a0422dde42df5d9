"""tvm._ffi.base."""
from ..error import TVMError

__all__ = ["TVMError"]
