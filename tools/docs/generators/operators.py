"""Operators: those of each format of models, as relayc lists them, and Relay's, as the Python package describes them."""
import json
import re

from . import PYTHON, block, cell, code, index, table

FORMATS = {  # what relayc calls it: title and words of the page
    "onnx": ("ONNX operators", "An operator is supported from the opset given on; where there are several, its meaning changed there."),
    "torchscript": ("TorchScript operators", "`torch.jit.save`'s files, `.pt`."),
    "torch_export": ("torch.export operators", "`torch.export.save`'s files, `.pt2`."),
    "tflite": ("TensorFlow Lite operators", "Quantised operators round as its reference kernels do."),
    "tensorflow": ("TensorFlow operators", "SavedModels, frozen graphs, TensorFlow.js' `model.json`."),
    "mxnet": ("MXNet operators", "`net-symbol.json` with `net-0000.params`."),
    "keras": ("Keras layers", "Keras 2 and 3: `.keras`, `.h5`."),
}
# The folders of importers whose operators' dtypes are measured, on a page beside them.
DTYPES = {"onnx": "onnx", "torchscript": "torch", "tensorflow": "tensorflow", "tflite": "tflite", "mxnet": "mxnet"}
RELAY = r"""
import json
import relayvm as rvm

def attribute(a):
    details = [d for d in (f"one of {', '.join(a.values)}" if len(a.values) > 1 else a.type,) if d and d != "any value"]
    return [a.name, "" if a.is_required else repr(a.default if a.parameter is None else a.parameter_default), "; ".join(details), a.description]

print(json.dumps([{
    "name": r.name, "call": f"{r.name}{r.signature}", "summary": r.summary, "formula": r.formula or "", "holds": r.formula_holds,
    "operands": [[o.name, o.type_text + (", may be left out" if o.is_optional else ""), o.description] for o in r.operands],
    "results": [[o.name, o.shape, o.dtype] for o in r.results], "attributes": [attribute(a) for a in r.attributes]}
    for r in rvm.describe_operators()]))
"""
GROUPS = (("nn.", "nn", "Neural networks"), ("image.", "image", "Images"), ("vision.", "vision", "Boxes and detection"), ("qnn.", "qnn", "Quantised"),
          ("random.", "random", "Random numbers"), ("dyn.", "dyn", "Sizes that are data"), ("", "general", "General"))


def group_of(name):
    return next(i for i, (prefix, _, _) in enumerate(GROUPS) if name.startswith(prefix))


def describe(row):
    text = f"## {row['name']}\n\n" + block(row["call"], "python") + f"\n{cell(row['summary'])}\n\n"
    if row["formula"]:
        text += f"In NumPy{cell(' ' + row['holds'] if row['holds'] else '')}: {code(row['formula'])}\n\n"
    if row["operands"]:
        text += table(("operand", "type", "what"), [(code(name), cell(kind), cell(what)) for name, kind, what in row["operands"]]) + "\n"
    gives = [" ".join(part for part in (code(name) if name else "", cell(shape), f"({cell(dtype)})" if dtype else "") if part)
             for name, shape, dtype in row["results"]]
    text += "Gives " + ("a tuple: " if len(gives) > 1 else "") + "; ".join(gives) + ".\n\n" if gives else ""
    if row["attributes"]:
        text += table(("attribute", "default", "takes", "what"),
                      [(code(name), code(default) if default else "*required*", cell(kind), cell(what))
                       for name, default, kind, what in row["attributes"]]) + "\n"
    return text


def pages(build):
    said = build.run("relayc --list-operators '?'; true", check=False)[1]
    found = [name for name in re.search(r"not in \{(.*)\}", said).group(1).split(",") if name != "relay"]
    if set(found) != set(FORMATS):
        raise RuntimeError(f"operators.py knows the formats {', '.join(FORMATS)}; relayc reads {', '.join(found)}")
    for name, (title, about) in FORMATS.items():
        listed = build.run(f"relayc --list-operators {name}")
        rows = listed[listed.index("\n| ") + 1:] if "\n| " in listed else listed
        operators = re.findall(r"^\| ([\w.:]+) \|", rows, re.M)[1:]
        text = f"# {title}\n\n{index('supported ' + title, 'which operators are supported')}Made by `relayc --list-operators {name}`: {len(operators)} rows. {about}\n\n"
        text += "What is not supported is named all at once when a model is read, with its place in the model.\n\n"
        if name in DTYPES:
            rows += "\n## Dtypes\n\n" + build.read(f"compiler/import/{DTYPES[name]}/DTYPES.md").split("\n\n", 1)[1]
        yield f"reference/operators_{name}.md", text + rows
    if build.package is None:
        yield "reference/relay_operators.md", "# Relay operators\n\nThis build has no Python package, which describes them.\n"
        return
    rows = json.loads(build.run(f"{PYTHON} - <<'EOF'\n{RELAY}\nEOF"))
    groups = [[row for row in rows if group_of(row["name"]) == i] for i in range(len(GROUPS))]
    text = (f"# Relay operators\n\nMade of `rvm.describe_operators()`, which is the compiler's table of operators with words: {len(rows)} rows. "
            "`help(rvm.relay.nn.conv2d)` shows one of them. Dtypes, ranks and values are measured on the operators themselves.\n\n")
    for (_, short, title), members in zip(GROUPS, groups):
        if not members:
            continue
        links = ", ".join(f"[{row['name']}](relay_{short}.md#{row['name'].replace('.', '').lower()})" for row in members)
        text += f"## {title}\n\n{links}\n\n"
        yield f"reference/relay_{short}.md", (f"# Relay operators: {title.lower()}\n\nIn a call, numbers and arrays become constants. "
                                              "[All operators](relay_operators.md).\n\n" + "".join(map(describe, members)))
    names = [short for (_, short, _), members in zip(GROUPS, groups) if members]
    yield "reference/relay_operators.md", text + "```{toctree}\n:hidden:\n" + "\n".join(f"relay_{n}" for n in names) + "\n```\n"
