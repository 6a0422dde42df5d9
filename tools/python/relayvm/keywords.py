"""Misspelt keywords of functions, said as such."""
import functools


def spelt(function):
    """The function, whose TypeError for a keyword that it does not have says the nearest that it has."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError:
            _check(function, kwargs)
            raise
    return call


def _check(function, kwargs):
    import difflib  # which only mistakes need
    import inspect
    params = inspect.signature(function).parameters
    if any(p.kind == p.VAR_KEYWORD for p in params.values()):
        return
    for name in kwargs:
        if name not in params:
            known = [p for p in params if p != "self"]
            near = difflib.get_close_matches(name, known, 1)
            what = function.__qualname__.removesuffix(".__init__")
            raise TypeError(f"{what}: there is no parameter {name}{f'; did you mean {near[0]}?' if near else ''}; it takes {', '.join(known)}") from None
