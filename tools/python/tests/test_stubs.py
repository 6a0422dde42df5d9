"""The stubs say what is there: names, methods and parameters."""
import ast
import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

import relayvm as rvm
from relayvm.compiler import operator_docs, operators


def parameters(function):
    return [p.name for p in inspect.signature(function).parameters.values()]


def exported_by(path):
    """The names in __all__ of a stub."""
    with open(path) as f:
        [listed] = [n.value for n in ast.parse(f.read()).body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"]
    return set(ast.literal_eval(listed))


def told_by(module):
    """The names in the stub of a module, which are checked to be there as the stub says."""
    with open(os.path.splitext(module.__file__)[0] + ".pyi") as f:
        tree = ast.parse(f.read())
    told = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names = exported_by(os.path.join(os.path.dirname(module.__file__), f"{node.module}.pyi"))
            assert all(getattr(module, name) is not None for name in names)
            told |= names
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            told |= {alias.asname for alias in node.names if alias.asname is not None and not alias.asname.startswith("_")}
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


@pytest.mark.parametrize("module", ["dask", "ray"])
def test_stubs_of_fleets(module):
    module = importlib.import_module(f"relayvm.{module}")
    assert told_by(module) == set(module.__all__)


@pytest.mark.parametrize("module", [rvm.relay, rvm.transform, rvm.analysis])
def test_stubs_of_parts(module):
    there = {name for name, value in vars(module).items()
             if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__ and callable(value)}
    told = told_by(module)
    there |= set(getattr(module, "__all__", ()))
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
                    "class OfPassesButDevice(TypedDict, total=False):\n",  # create_executor has a parameter of that name
                    *(f"    {row['keyword']}: {type_of(row)}\n" for row in rows if row["keyword"] != "device"),
                    "\nclass OfPasses(OfPassesButDevice, total=False):\n    device: str\n"])


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
    keys = {member.target.id for member in node.body if isinstance(member, ast.AnnAssign)}
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


def test_misspelt_options_are_found(assert_wrong):
    assert_wrong(MISSPELT, "rvm.compile(mod, precison")


def found_by_mypy(program):
    """Numbers of lines where mypy finds something, and all that it says."""
    api = pytest.importorskip("mypy.api", reason="pip install mypy")
    os.environ["MYPYPATH"] = os.path.dirname(os.path.dirname(rvm.__file__))
    out, err, _ = api.run([str(program), "--cache-dir", str(program.parent / "cache"), "--follow-imports=silent"])
    assert not err
    wrong = [line for line in out.splitlines() if ": error:" in line]
    assert all(program.name in line for line in wrong), out  # the stubs themselves are right
    return {int(line.split(":")[1]) for line in wrong}, out


def found_by_pyright(program):
    """The same of pyright."""
    pyright = shutil.which("basedpyright") or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pip install basedpyright")
    paths = [os.path.dirname(os.path.dirname(rvm.__file__))]
    (program.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": paths, "typeCheckingMode": "standard"}))
    ran = subprocess.run([pyright, "--outputjson", "--pythonpath", sys.executable, program.name], cwd=program.parent, capture_output=True, text=True)
    said = [d for d in json.loads(ran.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    return {d["range"]["start"]["line"] + 1 for d in said}, ran.stdout


@pytest.fixture(params=[found_by_mypy, found_by_pyright], ids=["mypy", "pyright"])
def assert_wrong(request, tmp_path):
    """What asserts that a checker finds something in all lines of a program from one on that begins with this, and in no others."""
    def check(text, begins_with):
        program = tmp_path / "program.py"
        program.write_text(text)
        wrong, out = request.param(program)
        first = text[: text.index("\n" + begins_with) + 1].count("\n") + 1
        assert wrong == set(range(first, text.count("\n") + 1)), out
    return check


OF_OPERATORS = """
import numpy as np
from relayvm import analysis, relay
x = relay.var("x", shape=(1, 3, 8, 8))
w = relay.const(np.zeros((4, 3, 3, 3), "float32"))
y = relay.nn.conv2d(x, w, strides=(2, 2), padding=1, channels=4, kernel_size=3)
relay.nn.relu(y) + 1.0
relay.split(y, 2, axis=1)[0]
relay.reshape(y, (-1, 4))
relay.op.nn.dense(y, w, units=3)
relay.qnn.op.quantize(y, 1.0, 0)
relay.op.get("nn.relu")(y)
relay.concatenate([y, y], 0)
relay.Call(relay.nn.relu, [y])
relay.zeros((2, 3), "float32")
relay.zeros((2, 3), dtype=np.float32)
relay.sum(y, axis=[0], keepdims=True)
relay.topk(y, relay.const(3))
relay.dyn.reshape(y, y, allowzero=True)
relay.contrib_reverse_reshape(y, [2, -1], allowzero=False)
relay.std(y, 1)
relay.nn.pad(y, ((0, 0), (0, 0), (1, 1), (1, 1)), pad_mode="edge")
relay.image.resize2d(y, (4, 4), method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor")
relay.nn.conv2d.arguments[0].dtypes, relay.nn.conv2d.description.split()
analysis.free_vars(y)
relay.nn.conv2d(x, w, stride=(2, 2))
relay.nn.pad(y, ((0, 0), (0, 0), (1, 1), (1, 1)), pad_mode="egde")
relay.topk(y, 3, ret_type="value")
relay.image.resize2d(y, (4, 4), method="bilinear")
relay.scatter_elements(x, x, x, reduction="sum")
relay.nn.conv2d.argument
relay.nn.conv2d.arguments[0].dtype
relay.nn.conv2d(x, w, kernel_layout=3)
relay.nn.relu(x, 3)
relay.sum(x, keep_dims=True)
relay.sum(x, keepdims="yes")
relay.nn.conv3(x, w)
relay.rehsape(x, (1,))
relay.reshape(x, (1,), alowzero=True)
relay.nn.dense(x)
relay.op.nn.dense(x, w, unit=3)
relay.qnn.op.add(x, w)
relay.dyn.reshape(x, x, alowzero=True)
relay.std(y, axes=1)
analysis.free_var(y)
"""


def test_misspelt_attributes_of_operators_are_found(assert_wrong):
    assert_wrong(OF_OPERATORS, "relay.nn.conv2d(x, w, stride=")


OF_METHODS = """
import numpy as np
import relayvm as rvm
from relayvm import onnx, relay, transform
mod = rvm.parse("main.relay")
exe = rvm.compile(mod)
exe.save("model.vmx")
model = exe.load()
model.run(None, {"x": np.zeros(3)})
[argument.dtype for argument in model.inputs]
mod["main"].params[0].name_hint
mod.get_global_vars()
transform.FoldConstant()(mod)
class Names(relay.ExprVisitor):
    def visit_var(self, expr):
        print(expr.name_hint)
Names().visit(mod["main"])
session = onnx.InferenceSession("model.onnx")
session.run(None, {"x": np.zeros(3)})
session.get_inputs()[0].name
rvm.describe_operators()[0].operands[0].ranks
mod["main"].params[0].nam_hint
mod.get_global_var()
mod.astexts()
exe.saved("model.vmx")
exe.load(runtimes=None)
[argument.dtypes for argument in model.inputs]
Names().visits(mod["main"])
session.get_input()
session.runs(None, {})
session.get_inputs()[0].nam
rvm.describe_operators()[0].operand
rvm.descibe_operators()
rvm.Runtime(thread=2)
"""


def test_wrong_methods_are_found(assert_wrong):
    assert_wrong(OF_METHODS, "mod[\"main\"].params[0].nam_hint")


# --- Operators ---


def type_of_attribute(default, values=()):
    """What an attribute takes that has this default, and only these values where there are any."""
    if values and not any(" " in value for value in values):
        return f"Literal[{', '.join(map(repr, dict.fromkeys([*values, *([default] if default is not None else [])])))}]" + " | None" * (default is None)
    for kind, text in ((bool, "bool"), (str, "_Text"), ((int, tuple), "_Numbers | _relay.Expr | None"), (float, "_Operand")):
        if isinstance(default, kind):
            return text
    return "Any"


def parameters_of_operator(name):
    """The parameters in a stub, those of all attributes among them."""
    params, texts = list(operator_docs.signature_of(name).parameters.values()), []
    operands = set(operators.operand_names(name)) - set(operator_docs.attributes_of(name))
    values = {attr.parameter or attr.name: attr.values for attr in operator_docs.row_of(name).attributes}
    kinds = [p.kind for p in params]
    for i, p in enumerate(params):
        if p.kind == p.KEYWORD_ONLY and p.VAR_POSITIONAL not in kinds and kinds.index(p.KEYWORD_ONLY) == i:
            texts.append("*")
        is_operand = p.name in operands or p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)
        if p.default is p.empty:
            texts.append(f"{'*' * (p.kind == p.VAR_POSITIONAL)}{p.name}: {'_Operand' if is_operand else 'Any'}")
        else:
            texts.append(f"{p.name}: {'_Operand | None' if is_operand else type_of_attribute(p.default, values.get(p.name))} = {p.default!r}")
        if p.kind == p.POSITIONAL_ONLY and kinds[i + 1:i + 2] != [p.kind]:
            texts.append("/")
    if not {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY} & set(kinds):
        texts.append("*")
    texts += [f"{attr}: {type_of_attribute(default, values.get(attr))} = ..." for attr, (_, default) in operator_docs.more_attributes_of(name).items()]
    return ", ".join(["self", *texts, "span: Any = None"])


def docstring_of_operator(name):
    """What help() says behind the signature."""
    text = operator_docs.doc_of(name).partition("\n\n")[2].replace("\\", "\\\\")
    return textwrap.indent(f'"""{text}\n"""', " " * 8, lambda line: line.strip())


OTHER_RESULTS = {"nn.dropout", "nn.dropout_raw", "annotation.function_on_device", "random.threefry_key"}  # no call, or not always
HEAD = """# Made by tools/python/tests/test_stubs.py, of the table of operators.
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import relay as _relay

_Operand = _relay.Expr | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]
_Numbers = int | Sequence[Any] | np.ndarray[Any, Any] | np.generic
_Text = str | type[Any] | np.dtype[Any]

"""


def stub_of_operators():
    """The stub that the table of operators makes: `python3 test_stubs.py operators > .../compiler/relay_operators.pyi`."""
    there, spaces, out = set(rvm.compiler._native.operator_names()), {"": {}, "qnn": {"op": "_in_qnn"}}, [HEAD]
    for name in sorted(there | set(operators._SPECIAL)):
        space, _, last = name.rpartition(".")
        spaces.setdefault(space, {})[last] = kind = "_op_" + name.replace(".", "_")
        result = "_relay.Call" if name in there and name not in OTHER_RESULTS else "Any"
        out.append(f"class {kind}(_relay.Op):\n    def __call__({parameters_of_operator(name)}) -> {result}:  # type: ignore[override]\n"
                   f"{docstring_of_operator(name)}\n")
    for space in sorted(spaces, key=lambda s: -s.count(".")):
        parent, dot, last = space.rpartition(".")
        while space:
            spaces.setdefault(parent, {})[last] = "_in_" + space.replace(".", "_")
            space, (parent, dot, last) = parent, parent.rpartition(".")
    for space, members in sorted(spaces.items(), reverse=True):
        out.append(f"\nclass _in_{space.replace('.', '_')}:\n    def get(self, name: str) -> _relay.Op: ...\n"
                   "    def __call__(self, name: str) -> _relay.Op: ...\n" + "".join(f"    {last}: {kind}\n" for last, kind in sorted(members.items())))
    top = {name: kind for name, kind in sorted(spaces[""].items()) if name not in rvm.relay._INSTEAD}
    names = ", ".join(map(json.dumps, ["op", *top]))
    return "".join([*out, f"\n__all__ = [{names}]\n\nop: _in_\n", *(f"{name}: {kind}\n" for name, kind in top.items())])


def test_the_stub_of_operators_is_that_of_their_table():
    with open(os.path.join(os.path.dirname(rvm.__file__), "compiler", "relay_operators.pyi")) as f:
        assert f.read() == stub_of_operators()


if __name__ == "__main__":
    print(stub_of_operators() if sys.argv[1:] == ["operators"] else stub_of_pass_options(), end="")
