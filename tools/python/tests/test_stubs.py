"""The stubs say what is there: names, methods and parameters."""
import ast
import inspect
import os

import pytest

import relayvm as rvm


def parameters(function):
    return [p.name for p in inspect.signature(function).parameters.values()]


def told_by(module):
    """The names in the stub of a module, which are checked to be there as the stub says."""
    with open(os.path.splitext(module.__file__)[0] + ".pyi") as f:
        tree = ast.parse(f.read())
    told = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            told |= {alias.asname for alias in node.names if alias.asname is not None}
        elif isinstance(node, ast.AnnAssign):
            told.add(node.target.id)
        elif isinstance(node, ast.Assign):
            told |= {target.id for target in node.targets if not target.id.startswith("_")}
        elif isinstance(node, ast.FunctionDef):
            told.add(node.name)
            a = node.args
            names = [x.arg for x in [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs,
                                     *([a.kwarg] if a.kwarg else [])]]
            if node.name != "__getattr__":
                assert names == parameters(getattr(module, node.name)), node.name
        elif isinstance(node, ast.ClassDef) and node.name != "Row":
            told.add(node.name)
            there = getattr(module, node.name)
            for member in node.body:
                if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                assert hasattr(there, member.name), f"{node.name}.{member.name}"
                attribute = inspect.getattr_static(there, member.name)
                if isinstance(attribute, property):
                    assert any(getattr(d, "id", "") == "property" for d in member.decorator_list), f"{node.name}.{member.name}"
            public = {n for n, v in vars(there).items() if not n.startswith("_") and (callable(v) or isinstance(v, property))}
            missing = public - {m.name for m in node.body if hasattr(m, "name")}
            assert not missing, f"{node.name}: {missing}"
    return told


def test_stubs_agree_with_what_is_there():
    assert told_by(rvm) == set(rvm.__all__) | set(rvm._COMPILER) | {"__version__"}


@pytest.mark.parametrize("module", [rvm.relay, rvm.transform])
def test_stubs_of_parts(module):
    there = {name for name, value in vars(module).items()
             if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__ and callable(value)}
    told = told_by(module)
    assert there <= told, there - told
    for name in there:
        assert getattr(module, name).__doc__, name


def test_everything_public_has_a_docstring():
    for name in [*rvm.__all__, *rvm._COMPILER]:
        thing = getattr(rvm, name)
        assert thing.__doc__, name
