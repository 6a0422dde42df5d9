"""Every public class, function, method and property has a docstring."""
import importlib
import inspect
import pkgutil

import pytest

import relayvm

# What a module of relayvm.tvm names is ours, and is walked there; what a name there only refuses says so when it is called.
SKIPPED = ("relayvm.tvm",)


def modules():
    found = ["relayvm"]
    for info in pkgutil.walk_packages(relayvm.__path__, "relayvm."):
        if not any(part.startswith("_") for part in info.name.split(".")) and not info.name.startswith(SKIPPED):
            found.append(info.name)
    return found


def imported(name):
    """The module; the test is left out where a package that it stands on is not there, or is older than that."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("relayvm"):
            raise
        pytest.skip(f"needs {error.name}")


def said(thing):
    return inspect.getdoc(thing) if not isinstance(thing, (staticmethod, classmethod)) else inspect.getdoc(thing.__func__)


def undocumented(module):
    """Names of what has no docstring: of what the module defines, its classes' methods and properties among them."""
    for name, thing in vars(module).items():
        is_own = not name.startswith("_") and getattr(thing, "__module__", None) in (module.__name__, module.__name__ + "._native")
        if not is_own or not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        if not said(thing):
            yield name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                is_method = isinstance(value, (property, staticmethod, classmethod)) or inspect.isroutine(value) and callable(value)
                if is_method and not member.startswith("_") and not said(value) and not said(getattr(thing, member)):
                    yield f"{name}.{member}"


@pytest.mark.parametrize("name", modules())
def test_what_a_module_has_is_documented(name):
    module = imported(name)
    assert module.__doc__ or name.endswith("__init__")
    assert not list(undocumented(module))


def test_the_walk_finds_what_is_missing():
    class Undocumented:
        """A class."""

        def there(self):
            """A method."""

        def missing(self):
            pass

        @property
        def of_it(self):
            return 1

        def visit(self):
            pass

    class Module:
        __name__ = __name__
    module = Module()
    module.Undocumented, module._hidden = Undocumented, lambda: None
    assert list(undocumented(module)) == ["Undocumented.missing", "Undocumented.of_it", "Undocumented.visit"]


def test_the_walk_reaches_all_packages():
    assert {"relayvm.model", "relayvm.compiler.functors", "relayvm.onnx.session", "relayvm.torch.modules"} <= set(modules())
