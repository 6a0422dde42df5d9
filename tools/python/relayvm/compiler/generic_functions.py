"""Functions with a form for each kind of target: TVM's target.generic_func."""
import functools

from .objects import Object

_NATIVE = {}  # those that have names


class GenericFunc(Object):
    """A function that calls the one of the current target's keys: `register`ed, or the default. keys_of: gives those keys."""

    def __init__(self, name="", keys_of=tuple):
        self.name, self._keys_of, self._functions, self._default = name, keys_of, {}, None

    def set_default(self, func, allow_override=False):
        """Sets the function for other targets."""
        if self._default is not None and not allow_override:
            raise ValueError(f"{self.name}: there is a default already; allow_override=True replaces it")
        self._default = func

    def register(self, func, key_list, allow_override=False):
        """Sets the function for targets with one of these keys."""
        for key in [key_list] if isinstance(key_list, str) else key_list:
            if key in self._functions and not allow_override:
                raise ValueError(f"{self.name}: there is a function for {key} already; allow_override=True replaces it")
            self._functions[key] = func

    def get_packed_func(self):
        """The function that a call calls."""
        found = next((self._functions[key] for key in self._keys_of() if key in self._functions), self._default)
        if found is None:
            raise ValueError(f"{self.name}: there is no default, and no function for {', '.join(self._keys_of()) or 'no target'}")
        return found

    def __call__(self, *args, **kwargs):
        return self.get_packed_func()(*args, **kwargs)


def decorated(function, generic, overrides):
    """The function that users call, with `register(key, func=None, override=...)`, which is a decorator too."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        return generic(*args, **kwargs)

    def register(key, func=None, override=overrides):
        def add(made):
            generic.register(made, key, override)
            return made
        return add if func is None else add(func)
    call.register, call.get_packed_func = register, generic.get_packed_func
    return call


def native(name, keys_of):
    """The one of a name."""
    return _NATIVE.setdefault(name, GenericFunc(name, keys_of))
