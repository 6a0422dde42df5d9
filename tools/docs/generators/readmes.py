"""Pages that are a folder's README, or a section of one: what stands there is tested there, and is written once."""
import re

WALK = ("What follows is a section of `{readme}`. A test, `tests/walks/{test}`, makes the change as it is written here, compiles it, and "
        "looks for it where it should be. A block that names a file goes into that file; `before` and `over` say at which line.\n\n")
# page, title, README, its section ("": all behind its title), what goes before
PAGES = (
    ("contribute/operator.md", "Add a Relay operator", "kernels/op/README.md", "An operator, step by step", WALK.format(readme="kernels/op/README.md", test="add_operator.py")),
    ("contribute/onnx_operator.md", "Add an ONNX operator", "compiler/import/README.md", "An ONNX operator, step by step",
     WALK.format(readme="compiler/import/README.md", test="add_onnx_operator.py")),
    ("contribute/pass.md", "Add a pass", "compiler/transforms/README.md", "A pass, step by step",
     WALK.format(readme="compiler/transforms/README.md", test="add_pass.py")),
    ("contribute/opcode.md", "Add an opcode", "bytecode/README.md", "An opcode, step by step", WALK.format(readme="bytecode/README.md", test="add_opcode.py")),
    ("reference/rules.md", "Rules", "compiler/rules/README.md", "", "This is `compiler/rules/README.md`. [How to use rules](../howto/rules.md) has an example that runs.\n\n"),
    ("reference/engines.md", "Engines", "tools/examples/engines/README.md", "",
     "This is `tools/examples/engines/README.md`. [Other engines](../howto/other_engines.md) has an example that runs.\n\n"),
    ("reference/serve.md", "vmserve's parts", "tools/serve/README.md", "", "This is `tools/serve/README.md`. [Serving](../howto/serving.md) has an example that runs.\n\n"),
    ("reference/onnx_session.md", "ONNX Runtime's names", "tools/python/relayvm/onnx/README.md", "",
     "This is the README of `relayvm.onnx`. [From ONNX Runtime](../from/onnxruntime.md) has an example that runs.\n\n"),
    ("reference/python_package.md", "The Python package", "tools/python/README.md", "",
     "This is `tools/python/README.md`. [Use it from Python](../howto/python.md) has examples that run.\n\n"),
)


def with_files(text):
    """A block that names a file says so on the page, in a line of its own."""
    return re.sub(r"^```(\w+) (\S+)((?: (?:before|over) [^\n]+)?)\n", lambda m: f"`{m.group(2)}`{said(m.group(3))}:\n\n```{m.group(1)}\n", text, flags=re.M)


def said(place):
    how, _, line = place.strip().partition(" ")
    return f", {'in place of' if how == 'over' else 'before'} the line with ``` {line} ```" if how else ""


def pages(build):
    for page, title, readme, section, before in PAGES:
        text = build.read(readme)
        if section:
            text = re.split(r"^## ", text.split(f"\n## {section}\n")[1], flags=re.M)[0]
        else:
            text = text.split("\n", 1)[1]
        yield page, f"# {title}\n\n{before}{with_files(text).strip()}\n"
