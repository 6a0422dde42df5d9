"""Functions of Python by name: `tvm.register_func`, `tvm.get_global_func`."""
from ..compiler.named_functions import get_global_func, list_global_func_names, register_func, remove_global_func


class _Callable(type):
    def __instancecheck__(cls, value):
        return callable(value) and not isinstance(value, type)


class PackedFunc(metaclass=_Callable):
    """A function: those that are registered are Python's own."""


PackedFuncBase = Function = PackedFunc


def register_object(type_key=None):
    """Of TVM, where classes of C++ have classes of Python; gives the class as it is."""
    return type_key if isinstance(type_key, type) else lambda cls: cls


def register_extension(cls, fcreate=None):
    """The class as it is: values of any class go to functions of Python."""
    return cls


def convert_to_tvm_func(pyfunc):
    """The function."""
    return pyfunc


__all__ = ["Function", "PackedFunc", "PackedFuncBase", "convert_to_tvm_func", "get_global_func", "list_global_func_names", "register_extension",
           "register_func", "register_object", "remove_global_func"]
