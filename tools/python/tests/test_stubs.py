"""The stubs say what is there: names, methods and parameters."""
import ast
import inspect
import os

import relayvm as rvm

PATH = os.path.join(os.path.dirname(rvm.__file__), "__init__.pyi")


def parameters(function):
    return [p.name for p in inspect.signature(function).parameters.values()]


def test_stubs_agree_with_what_is_there():
    with open(PATH) as f:
        tree = ast.parse(f.read())
    told = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            told |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            told.add(node.name)
            a = node.args
            names = [x.arg for x in [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs,
                                     *([a.kwarg] if a.kwarg else [])]]
            assert names == parameters(getattr(rvm, node.name)), node.name
        elif isinstance(node, ast.ClassDef) and node.name != "Row":
            told.add(node.name)
            there = getattr(rvm, node.name)
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
    assert set(rvm.__all__) | set(rvm._COMPILER) == told


def test_everything_public_has_a_docstring():
    for name in [*rvm.__all__, *rvm._COMPILER]:
        thing = getattr(rvm, name)
        assert thing.__doc__, name
