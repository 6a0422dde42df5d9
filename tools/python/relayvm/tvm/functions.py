"""Functions of Python by name: `tvm.register_func`, `tvm.get_global_func`."""
from ..compiler.named_functions import get_global_func, register_func, remove_global_func

__all__ = ["get_global_func", "register_func", "remove_global_func"]
