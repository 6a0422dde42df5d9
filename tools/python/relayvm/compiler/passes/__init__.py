"""Passes over the nodes of `relay`, in Python: TVM's, where programs keep the form in which they were written.

Each file has a group of them, which its __all__ names; `find` looks a name up.
"""
from importlib import import_module
from pkgutil import iter_modules


def _modules():
    return [import_module("." + info.name, __name__) for info in iter_modules(__path__)]


def find(name):
    """The pass, or function, of that name; None where there is none."""
    for module in _modules():
        if name in getattr(module, "__all__", ()):
            return getattr(module, name)
    return None


def names():
    """Names of all."""
    return sorted({name for module in _modules() for name in getattr(module, "__all__", ())})
