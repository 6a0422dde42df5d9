"""The stubs say what is there: names, methods and parameters."""
import ast
import inspect
import json
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
        elif isinstance(node, ast.ClassDef) and node.name != "Row" and not node.name.startswith("_"):
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
            missing = public - {m.name for m in node.body if hasattr(m, "name")} - {m.target.id for m in node.body if isinstance(m, ast.AnnAssign)}
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


def stub_of_pass_options():
    """The stub that the rows of the compiler's passes make: `python3 test_stubs.py > .../compiler/pass_options.pyi`."""
    def type_of(row):
        if row["is_flag"]:
            return "bool"
        if row["form"] == "N":
            return "int"
        if row["values"]:
            return f"Literal[{', '.join(json.dumps(value) for value in row['values'])}]"
        many = "str | Sequence[str]" if row["repeats"] else "str"
        return f"{many} | Mapping[str, str | Sequence[str]]" if "=" in row["form"] else many

    rows = sorted(rvm.compiler._native.pass_options([]), key=lambda row: row["keyword"])
    return "".join(["# Made by tools/python/tests/test_stubs.py, of the rows of the compiler's passes.\n"
                    "from collections.abc import Mapping, Sequence\n"
                    "from typing import Literal, TypedDict\n\n"
                    "class OfPasses(TypedDict, total=False):\n", *(f"    {row['keyword']}: {type_of(row)}\n" for row in rows)])


def test_the_stub_of_pass_options_is_that_of_their_rows():
    with open(os.path.join(os.path.dirname(rvm.__file__), "compiler", "pass_options.pyi")) as f:
        assert f.read() == stub_of_pass_options()


def options_of(name):
    """The keys of a TypedDict of the stubs, its bases' too."""
    folder = os.path.dirname(rvm.__file__)
    nodes = []
    for stub in ("__init__.pyi", os.path.join("compiler", "pass_options.pyi")):
        with open(os.path.join(folder, stub)) as f:
            nodes += ast.parse(f.read()).body
    node = next(n for n in nodes if isinstance(n, ast.ClassDef) and n.name == name)
    keys = {member.target.id for member in node.body}
    return keys.union(*(options_of(base.id) for base in node.bases if base.id != "TypedDict"))


IDENTITY = '#[version = "0.0.5"] def @main(%x: float32) { %x }'


def test_options_are_those_of_the_compiler():
    with pytest.raises(TypeError, match="there is no option precison; did you mean precision") as wrong:
        rvm.compile(rvm.parse(IDENTITY), precison="bf16")
    there = set(str(wrong.value).split("options: ")[1].split(", "))
    # pass is a word of the language; target and params are parameters.
    assert options_of("_ModelOptions") == there - {"pass"}
    assert options_of("_PassOptions") <= there


MISSPELT = """
import relayvm as rvm
from relayvm import transform
mod = rvm.parse("main.relay")
rvm.compile(mod, precision="bf16", batching=True, opt_level=2, num_threads=2, dims={"n": 3}, params="w.npz")
rvm.compile_model("m.onnx", precision="fp32", target="native", shape={"x": (1, None)}, params={})
rvm.create_executor("graph", mod, weights="q8", opt_level=1)
rvm.build(mod, "llvm", opt_level=3, exact=True)
transform.Pass("FoldConstant", opt_level=3, target="native")
with rvm.PassContext(opt_level=3, weights="q4"):
    pass
rvm.compile(mod, precison="bf16")
rvm.compile(mod, precision="int8")
rvm.compile(mod, batching="yes")
rvm.compile_model("m.onnx", wieghts="q8")
rvm.create_executor("graph", mod, num_thread=2)
rvm.build(mod, "llvm", optlevel=3)
transform.Pass("FoldConstant", optlevel=3)
transform.Sequential([], exakt=True)
rvm.PassContext(weigths="q4")
"""


def test_misspelt_options_are_found(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(MISSPELT)
    os.environ["MYPYPATH"] = os.path.dirname(os.path.dirname(rvm.__file__))
    out, _, _ = api.run([str(program), "--cache-dir", str(tmp_path / "cache"), "--follow-imports=silent"])
    first = MISSPELT[: MISSPELT.index("rvm.compile(mod, precison")].count("\n") + 1
    wrong = {int(line.split(":")[1]) for line in out.splitlines() if ": error:" in line and "program.py" in line}
    assert wrong == set(range(first, first + 9)), out


if __name__ == "__main__":
    print(stub_of_pass_options(), end="")
