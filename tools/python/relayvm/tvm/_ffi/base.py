"""tvm._ffi.base."""
import numbers

from ... import __version__
from ..elsewhere import elsewhere
from ..error import TVMError, register_error

string_types = (str,)
integer_types = (int,)
numeric_types = (numbers.Real,)
ERROR_TYPE = {"ValueError": ValueError, "TypeError": TypeError, "AttributeError": AttributeError, "IndexError": IndexError, "KeyError": KeyError}


def py_str(x):
    """The text of bytes."""
    return x.decode("utf-8")


def decorate(func, fwrapped):
    """A function that calls fwrapped(func, *args)."""
    import functools

    @functools.wraps(func)
    def run(*args, **kwargs):
        return fwrapped(func, *args, **kwargs)
    return run


_OF_C = ("c2pyerror", "c_array", "c_str", "check_call", "get_last_ffi_error", "py2cerror", "raise_last_ffi_error", "libinfo")


def __getattr__(name):
    if name in _OF_C:
        return elsewhere(f"_ffi.base.{name}", "calls from Python to C++ are the package's own; errors are Python's")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ERROR_TYPE", "TVMError", "__version__", "decorate", "integer_types", "numeric_types", "py_str", "register_error", "string_types"]
