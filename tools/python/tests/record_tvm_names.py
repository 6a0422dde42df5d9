"""Writes tvm_names.json, the public names of TVM with their signatures, from a TVM that runs: `python3 record_tvm_names.py SOURCES > tvm_names.json`.
SOURCES: the folder python/ of TVM's own sources: names and parameters that they have not are a vendor's, and left out.

{module: {name: entry}}; an entry is "=tvm.x.name" (it is that one), ["value"], ["function", parameters] or ["class", parameters, {member: parameters,
"" where it has none, or null of what is no method}]. Parameters are text: "data, axis=-1, *rest". TVM v0.16 with Relay. "instances" has
expressions and the attributes of what they give.
"""
import ast
import importlib
import inspect
import json
import pathlib
import pkgutil
import re
import sys
import types

WHOLE = ["tvm.ir", "tvm.relay", "tvm.runtime", "tvm.target", "tvm.testing"]
SINGLE = ["tvm", "tvm.error", "tvm.parser", "tvm.support", "tvm.generic", "tvm.te", "tvm.tir", "tvm.arith", "tvm.driver", "tvm.driver.build_module",
          "tvm.topi",
          "tvm._ffi", "tvm._ffi.base", "tvm._ffi.registry", "tvm._ffi.runtime_ctypes", "tvm.contrib", "tvm.contrib.graph_executor",
          "tvm.contrib.graph_runtime", "tvm.contrib.debugger", "tvm.contrib.debugger.debug_executor", "tvm.contrib.debugger.debug_result",
          "tvm.contrib.utils", "tvm.contrib.cc", "tvm.contrib.dlpack", "tvm.contrib.download", "tvm.contrib.pickle_memoize", "tvm.contrib.tar",
          "tvm.contrib.ndk",
          "tvm.contrib.nvcc", "tvm.contrib.clang", "tvm.contrib.pipeline_executor", "tvm.contrib.pipeline_executor_build", "tvm.contrib.random",
          "tvm.contrib.cblas", "tvm.contrib.mkl", "tvm.contrib.cudnn", "tvm.contrib.cublas", "tvm.contrib.sparse", "tvm.contrib.emcc",
          "tvm.contrib.peak", "tvm.contrib.relay_viz", "tvm.contrib.relay_viz.interface", "tvm.contrib.relay_viz.terminal",
          "tvm.contrib.relay_viz.dot",
          "tvm.contrib.relay_viz.plotter", "tvm.contrib.tflite_runtime", "tvm.contrib.coreml_runtime", "tvm.contrib.thrust",
          "tvm.rpc", "tvm.autotvm", "tvm.auto_scheduler", "tvm.meta_schedule", "tvm.micro", "tvm.script"]
# Parts of these that are for other machines, or converters' own insides.
LEFT_OUT = ("tvm.relay.backend.contrib", "tvm.relay.op.contrib.", "tvm.relay.frontend.", "tvm.testing.plugin", "tvm.testing._ffi",
            "tvm.relay.op.strategy.", "tvm.relay.qnn.strategy.", "tvm.runtime.disco", "tvm.runtime.relax_vm", "tvm.relay.collage.")
KEPT = ("tvm.relay.frontend.common", "tvm.relay.op.contrib.register", "tvm.relay.op.contrib.dnnl", "tvm.relay.op.strategy.generic")
# Members of all objects that are of C++, or of Relax.
OF_C = ("handle", "legacy_repr", "struct_info", "struct_info_")
INSTANCES = {
    "tvm.relay.var('x', shape=(2, 3))": None, "tvm.relay.const(1.0)": None, "tvm.relay.nn.relu(tvm.relay.var('x', shape=(2, 3)))": None,
    "tvm.relay.Tuple([tvm.relay.var('x')])": None, "tvm.relay.TupleGetItem(tvm.relay.Tuple([tvm.relay.var('x')]), 0)": None,
    "tvm.relay.Function([], tvm.relay.const(1.0))": None, "tvm.relay.Let(tvm.relay.var('x'), tvm.relay.const(1), tvm.relay.const(2))": None,
    "tvm.relay.If(tvm.relay.const(True), tvm.relay.const(1), tvm.relay.const(2))": None, "tvm.relay.RefCreate(tvm.relay.const(1))": None,
    "tvm.relay.RefRead(tvm.relay.var('r'))": None, "tvm.relay.RefWrite(tvm.relay.var('r'), tvm.relay.const(1))": None,
    "tvm.relay.GlobalVar('f')": None, "tvm.relay.op.get('add')": None, "tvm.relay.TensorType((2, 3))": None, "tvm.relay.TupleType([])": None,
    "tvm.relay.FuncType([], tvm.relay.TupleType([]))": None, "tvm.relay.RefType(tvm.relay.TupleType([]))": None, "tvm.relay.TypeVar('a')": None,
    "tvm.relay.GlobalTypeVar('L')": None, "tvm.relay.TypeCall(tvm.relay.GlobalTypeVar('L'), [])": None, "tvm.relay.IncompleteType()": None,
    "tvm.relay.Prelude().mod.get_type('List')[1]": None, "tvm.relay.Prelude().mod['hd']": None,
    "tvm.relay.PatternWildcard()": None, "tvm.relay.PatternVar(tvm.relay.var('x'))": None, "tvm.relay.PatternTuple([])": None,
    "tvm.relay.Clause(tvm.relay.PatternWildcard(), tvm.relay.const(1))": None,
    "tvm.relay.Match(tvm.relay.const(1), [tvm.relay.Clause(tvm.relay.PatternWildcard(), tvm.relay.const(1))])": None,
    "tvm.IRModule.from_expr(tvm.relay.const(1.0))": None, "tvm.nd.array([1.0, 2.0])": None, "tvm.cpu()": None, "tvm.target.Target('llvm')": None,
    "tvm.relay.transform.InferType()": None, "tvm.relay.transform.InferType().info": None, "tvm.transform.PassContext()": None,
    "tvm.relay.Span(tvm.relay.SourceName('f'), 1, 1, 2, 2)": None, "tvm.relay.dataflow_pattern.wildcard()": None,
    "tvm.relay.dataflow_pattern.is_op('add')(tvm.relay.dataflow_pattern.wildcard(), tvm.relay.dataflow_pattern.wildcard())": None,
    "tvm.tir.IntImm('int32', 1)": None, "tvm.tir.FloatImm('float32', 1.0)": None, "tvm.tir.StringImm('a')": None, "tvm.tir.Any()": None,
    "tvm.ir.Range(0, 4)": None, "tvm.te.var('n')": None, "tvm.runtime.ShapeTuple([1, 2])": None, "tvm.runtime.String('a')": None,
    "tvm.runtime.convert([1, 2])": None, "tvm.runtime.convert({'a': 1})": None, "tvm.relay.backend.Executor('graph')": None,
    "tvm.relay.backend.Runtime('cpp')": None, "tvm.relay.scalar_type('int32')": None,
}


def parameters(what):
    """The parameters as text, None where Python does not know them."""
    try:
        found = inspect.signature(what).parameters.values()
    except (TypeError, ValueError):
        return None
    return ", ".join(str(p.replace(annotation=p.empty, default=p.default if p.default is p.empty or is_plain(p.default) else Ellipsis))
                     for p in found)


def is_plain(value):
    if isinstance(value, (tuple, list)):
        return all(map(is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def members(kind):
    """Public members of a class of TVM's, with those of its bases."""
    found = {}
    for base in reversed(kind.__mro__):
        if base.__module__.split(".")[0] != "tvm" or base.__module__ == "tvm._ffi":
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in OF_C:
                continue
            value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            found[name] = (parameters(value) or "") if callable(value) and not isinstance(value, type) else None
    return found


def entry(module, name, what):
    home = getattr(what, "__module__", None)
    if isinstance(what, types.ModuleType):
        return "=" + what.__name__ if what.__name__ != module + "." + name else ["module"]
    if isinstance(home, str) and isinstance(what, (type, types.FunctionType)):
        if home != module or what.__qualname__ != name:
            at = sys.modules.get(home)
            if "." not in what.__qualname__ and getattr(at, what.__qualname__, None) is what and home.split(".")[0] == "tvm":
                return "=" + home + "." + what.__qualname__
    if isinstance(what, type):
        return ["class", parameters(what.__init__) if "__init__" in what.__dict__ or parameters(what) else "", members(what)]
    return ["function", parameters(what) or ""] if callable(what) else ["value"]


def is_of_tvm(what):
    if isinstance(what, types.ModuleType):
        return what.__name__.split(".")[0] == "tvm"
    home = getattr(what, "__module__", None) or type(what).__module__
    return home.split(".")[0] in ("tvm", "builtins", "ctypes")


def names_of(module):
    """Of a file that is no package, without the modules that it imports."""
    is_package = hasattr(module, "__path__")
    return {name: entry(module.__name__, name, what) for name, what in sorted(vars(module).items())
            if not name.startswith("_") and is_of_tvm(what) and what.__class__ is not types.ModuleType or is_package and is_part(module, name, what)}


def is_part(module, name, what):
    """Whether a module is a part of a package, or one that TVM's users reach by it."""
    return isinstance(what, types.ModuleType) and not name.startswith("_") and what.__name__.startswith("tvm.")


def modules():
    found = list(SINGLE)
    for root in WHOLE:
        package = importlib.import_module(root)
        found.append(root)
        found += [info.name for info in pkgutil.walk_packages(package.__path__, root + ".", onerror=lambda name: None)]
    return [name for name in found if not any(part.startswith("_") and part != "_ffi" for part in name.split(".")[1:])
            and (not name.startswith(LEFT_OUT) or name.startswith(KEPT))]


class Sources:
    """What TVM's own sources have."""

    def __init__(self, folder):
        self.signatures, self.words = {}, {"instances": set()}  # of functions: parameters; of modules: words
        for path in pathlib.Path(folder).rglob("*.py"):
            text = path.read_text()
            module = ".".join(path.relative_to(folder).with_suffix("").parts).replace(".__init__", "")
            self.words[module] = set(re.findall(r"\w+", text))
            for node in ast.parse(text).body:
                self._add(module + "." + getattr(node, "name", ""), node)

    def _add(self, name, node):
        if isinstance(node, ast.FunctionDef):
            self.signatures[name] = [a.arg for a in [*node.args.args, *node.args.kwonlyargs]]
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                self._add(name + "." + getattr(part, "name", ""), part)

    def own(self, name, text):
        """Parameters without those that a vendor added."""
        known = self.signatures.get(name)
        if not text or known is None:
            return text
        parts = re.findall(r"(?:[^,(\[]|\([^)]*\)|\[[^\]]*\])+", text)
        return ", ".join(p.strip() for p in parts if p.strip().startswith("*") or re.match(r"\s*\w+", p)[0].strip() in known)

    def has(self, module, name, told):
        """Whether a name is TVM's own: a function or class of the module, or what the module that it is of has."""
        if isinstance(told, str):
            module, _, name = told[1:].rpartition(".")
            return module + "." + name in self.words or name in self.words.get(module, ())
        return name in self.words[module] and (told[0] != "module" or f"{module}.{name}" in self.words)

    def filtered(self, module, names):
        found = {name: told for name, told in names.items() if self.has(module, name, told)}
        for name, entry in found.items():
            if entry[0] in ("function", "class"):
                entry[1] = self.own(f"{module}.{name}" + (".__init__" if entry[0] == "class" else ""), entry[1])
            if entry[0] == "class":
                entry[2] = {key: self.own(f"{module}.{name}.{key}", value) for key, value in entry[2].items()}
        return found


def main():
    import tvm
    sources = Sources(sys.argv[1])
    import tvm.relay.testing
    table, failed = {}, []
    for name in modules():
        if name not in sources.words:
            continue
        try:
            module = importlib.import_module(name)
        except BaseException as error:
            failed.append(f"{name}: {type(error).__name__} {error}"[:200])
            continue
        table[name] = sources.filtered(name, names_of(module))
    space = {"tvm": tvm}
    for text in INSTANCES:
        try:
            INSTANCES[text] = sorted({name for name in dir(eval(text, space)) if not name.startswith("_") and name not in OF_C})
        except Exception as error:
            failed.append(f"{text}: {type(error).__name__} {str(error)[:100]}")
    table["instances"] = INSTANCES
    print("\n".join(failed), file=sys.stderr)
    lines = ",\n".join(json.dumps(name) + ": {\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in names.items()) + "}"
                       for name, names in table.items())
    print("{" + lines + "}")


if __name__ == "__main__":
    main()
