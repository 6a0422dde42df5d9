"""tvm._ffi.base."""
import numbers

from ..error import TVMError

string_types = (str,)
integer_types = (int,)
numeric_types = (numbers.Real,)


def py_str(text):
    """The text of bytes."""
    return text.decode("utf-8")


__all__ = ["TVMError", "integer_types", "numeric_types", "py_str", "string_types"]
