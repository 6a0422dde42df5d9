"""tvm.target.generic_func: functions with a form for each kind of target."""
from ..compiler.generic_functions import GenericFunc as _GenericFunc
from ..compiler.generic_functions import decorated, native


def _keys():
    from .target import Target  # which has this
    target = Target.current()
    return [] if target is None else [*target.keys, target.kind.name]


class GenericFunc(_GenericFunc):
    """A function that calls the one of the current target's keys."""

    def __init__(self, name=""):
        super().__init__(name, _keys)


def get_native_generic_func(name):
    """The `GenericFunc` of a name."""
    return native(name, _keys)


def override_native_generic_func(func_name):
    """A decorator: the function is the default of the one of a name, and gets `register`."""
    def decorate(function):
        generic = get_native_generic_func(func_name)
        generic.set_default(function, allow_override=True)
        return decorated(function, generic, True)
    return decorate


def generic_func(fdefault):
    """A decorator: the function is for targets that have none of their own, and gets `register`."""
    generic = GenericFunc(fdefault.__name__)
    generic.set_default(fdefault)
    return decorated(fdefault, generic, False)


__all__ = ["GenericFunc", "generic_func", "get_native_generic_func", "override_native_generic_func"]
