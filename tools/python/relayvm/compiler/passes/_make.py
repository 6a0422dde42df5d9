"""How passes of this folder are made."""
from ..relay import Function

__all__ = []


def changed_functions(mod, change, who, needs_types=True):
    """The module with change(function) in place of each; those of other engines, the host and kernels stay. needs_types: whether types of
    the new ones are inferred."""
    made = {}
    for name in mod._names:
        fn = mod[name]
        if {"host", "Primitive", "Compiler"} & set(fn.attrs):
            continue
        result = change(fn)
        if not isinstance(result, Function):
            raise TypeError(f"pass {who}: expected a relay.Function for @{name}, found {type(result).__name__}")
        if result is not fn:
            made[name] = result
    return mod._changed_to(made, f"pass {who}", needs_types) if made else mod


def expression_pass(name, change, opt_level=0, required=(), needs_types=True):
    """A pass that makes change(function) of each function. needs_types: whether that reads types."""
    from ..transform import FunctionPass
    return FunctionPass(name, lambda mod, _: changed_functions(mod, change, name, needs_types), opt_level=opt_level, required=required,
                        needs_types=needs_types)
