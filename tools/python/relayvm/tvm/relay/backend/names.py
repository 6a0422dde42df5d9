"""Names of functions in C, as tvm.relay.backend.name_transforms and utils make them."""
import enum
import re

from ...error import TVMError


class CallType(enum.Enum):
    """How TVM's kernels are called."""

    Packed, CPacked, Unpacked = 1, 2, 3


def mangle_module_name(mod_name):
    """The name of a program with TVM's prefix."""
    return f"tvmgen_{mod_name}" if mod_name else "tvmgen"


def sanitize_name(original_name):
    """A name with _ in place of what C has not in names."""
    if not original_name:
        raise TVMError("Name is empty")
    return re.sub(r"[^A-Za-z0-9_]", "_", original_name)


def _checked(kind, name):
    if not name:
        raise TVMError(f"{kind} name is empty")
    if not name.startswith("TVM"):
        raise TVMError(f"{kind} not TVM prefixed")
    return name


def to_c_function_style(original_name):
    """TVMGen_Main_func: TVMGenMainFunc"""
    words = _checked("Function", original_name)[3:].split("_")
    return "TVM" + "".join(word[:1].upper() + word[1:] for word in words)


def to_c_variable_style(original_name):
    """TVMGen_Device: tvmgen_device"""
    return _checked("Variable", original_name).lower()


def to_c_constant_style(original_name):
    """TVMGen_Device: TVMGEN_DEVICE"""
    return _checked("Constant", original_name).upper()


def _joined(names):
    names = [names] if isinstance(names, str) else list(names)
    if not names or not all(names):
        raise TVMError("Name is empty")
    return "_".join(names)


def prefix_name(names):
    """Names with TVM's prefix: TVM_Device_t"""
    return "TVM_" + _joined(names)


def prefix_generated_name(names):
    """Names with the prefix of what TVM generates: TVMGen_a_B"""
    return "TVMGen_" + _joined(names)


__all__ = ["CallType", "TVMError", "mangle_module_name", "prefix_generated_name", "prefix_name", "sanitize_name", "to_c_constant_style",
           "to_c_function_style", "to_c_variable_style"]
