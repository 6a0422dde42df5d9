"""Functions of Python by name, which passes look for: "relay.ext.ENGINE.optimize" of an engine gets a `Module` of each region and gives what
stands in its place."""
_FUNCTIONS = {}


def register_func(func_name, f=None, override=False):
    """Gives a function a name, or a decorator that does."""
    if callable(func_name):
        func_name, f = func_name.__name__, func_name

    def register(function):
        if func_name in _FUNCTIONS and not override:
            raise ValueError(f"register_func: there is a function {func_name} already; override=True replaces it")
        _FUNCTIONS[func_name] = function
        return function
    return register if f is None else register(f)


def get_global_func(name, allow_missing=False):
    """The function of a name; where there is none, ValueError, or None."""
    if name not in _FUNCTIONS and not allow_missing:
        raise ValueError(f"there is no function {name}; those that Python registered are {', '.join(_FUNCTIONS) or 'none'}")
    return _FUNCTIONS.get(name)


def remove_global_func(name):
    """Takes a name away."""
    _FUNCTIONS.pop(name, None)


def list_global_func_names():
    """The names of all."""
    return list(_FUNCTIONS)
