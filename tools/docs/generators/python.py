"""The Python package: every public name with its docstring, by Sphinx's autodoc."""
import json

from . import PYTHON

ASK = r"""
import inspect, json
import relayvm as rvm

def kind(module, name):
    found = getattr(module, name)
    return "module" if inspect.ismodule(found) else "class" if inspect.isclass(found) else "function" if callable(found) else "data"

names = sorted({*rvm.__all__, *rvm._COMPILER}, key=str.lower)
passes = [name for name in rvm.transform.__all__] if hasattr(rvm.transform, "__all__") else [n for n in dir(rvm.transform) if not n.startswith("_")]
print(json.dumps({"relayvm": [(n, kind(rvm, n)) for n in names], "transform": sorted(passes, key=str.lower)}))
"""
SECTIONS = (
    ("Compile", ("compile_model", "compile", "build", "create_executor", "parse", "Executable", "Module", "IRModule", "load_params",
                 "bind_params_by_name", "PassContext", "rewrite")),
    ("Read models of other systems", ("from_onnx", "from_pytorch", "from_tensorflow", "from_tflite", "from_keras", "from_mxnet", "list_operators",
                                      "describe_operators")),
    ("Run", ("load", "Model", "Function", "Argument", "Runtime", "default_runtime", "RunGroup", "Latencies", "State", "Value", "tensor", "Adt", "Device")),
    ("Graphs", ("load_graph", "GraphModule", "NodeTime")),
    ("Serve", ("serve", "Server")),
    ("Host functions", ("host_function", "HostFunction")),
    ("Look at programs", ("draw", "Drawing", "Profile", "ChromeTrace", "TracedValue", "region_jsons", "structural_equal", "structural_hash",
                          "assert_structural_equal", "post_order_visit", "RelayFunction", "ExprVisitor", "ExprMutator", "ExprFunctor")),
    ("Errors", ("Error", "InvalidArgument", "InvalidInput", "Unsupported", "NotFound", "FileNotFound", "OutOfRange", "ResourceExhausted",
                "FailedPrecondition", "Cancelled", "DeadlineExceeded", "InternalError", "Place")),
)


def pages(build):
    text = "Python API\n==========\n\n"
    if build.package is None:
        yield "reference/python.rst", text + "This build has no Python package.\n"
        return
    found = json.loads(build.run(f"{PYTHON} - <<'EOF'\n{ASK}\nEOF"))
    kinds = dict(found["relayvm"])
    missing = set(kinds) - {name for _, names in SECTIONS for name in names} - {"relay", "transform", "analysis"}
    if missing:
        raise RuntimeError(f"python.py: say in SECTIONS where these stand: {', '.join(sorted(missing))}")
    text += ("``import relayvm as rvm``. Everything here is of the package ``relayvm``; what compiles needs ``relayvm-compiler`` too. "
             "Passes are in ``rvm.transform`` (:doc:`passes`), operators in ``rvm.relay`` (:doc:`relay_operators`).\n\n"
             ".. py:module:: relayvm\n\n")
    for title, names in SECTIONS:
        text += f"{title}\n{'-' * len(title)}\n\n"
        for name in names:
            if name not in kinds:
                raise RuntimeError(f"python.py: relayvm has no {name}")
            if kinds[name] == "class":
                text += f".. autoclass:: relayvm.{name}\n   :members:\n\n"
            else:
                text += f".. auto{kinds[name]}:: relayvm.{name}\n\n"
    yield "reference/python.rst", text
