"""How passes of this folder are made."""
from ..relay import Function

__all__ = []


def changed_functions(mod, change, who):
    """The module with change(function) in place of each; those of other engines, the host and kernels stay."""
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
    return mod._changed_to(made, f"pass {who}") if made else mod


def expression_pass(name, change, opt_level=0, required=()):
    """A pass that makes change(function) of each function."""
    from ..transform import FunctionPass
    return FunctionPass(name, lambda mod, _: changed_functions(mod, change, name), opt_level=opt_level, required=required)
