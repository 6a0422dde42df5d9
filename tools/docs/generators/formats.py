"""Formats of files: the schema and the layout of .vmx, and the JSON that tools write, shown by running them."""
import glob
import json
import os
import tempfile

from . import block, table


def shape(value, depth=0):
    """The form of a JSON value: objects with all their keys, lists with their first element."""
    if isinstance(value, dict):
        if not value:
            return "{}"
        pad = "  " * (depth + 1)
        return "{\n" + ",\n".join(f'{pad}"{key}": {shape(v, depth + 1)}' for key, v in value.items()) + "\n" + "  " * depth + "}"
    if isinstance(value, list):
        return f"[{shape(value[0], depth)}, ...]" if value else "[]"
    return {bool: "bool", int: "integer", float: "number", str: "string", type(None): "null"}[type(value)]


def comment_of(text):
    """The comment at the head of a source."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def versions(build):
    """What each version reads, of the files that it left in tests/released."""
    rows = []
    for folder in sorted(glob.glob(os.path.join(build.tree, "tests/released/[0-9]*"))):
        with open(os.path.join(folder, "cases.json")) as f:
            cases = json.load(f)
        rows.append((os.path.basename(folder), cases["format"], str(cases["bytecode"])))
    return ("`vmdump FILE` ends with the least that a file needs. A runtime reads older files, and newer ones that need no more than it has:\n\n"
            + table(("relayvm", "reads .vmx format up to", "bytecode up to"), rows))


def pages(build):
    schema = build.read("bytecode/program.fbs")
    layout = build.read("bytecode/file_format.h")
    head = "# File formats\n\n| file | made by | what |\n|---|---|---|\n"
    head += ("| `.vmx` | `relayc`, `vmasm`, `exe.save` | a program, its weights and machine code for one or several levels of processors |\n"
             "| a folder | `relayc --executor graph` | `graph.json` in TVM's schema, weights, kernels |\n"
             "| `.o`, `.h` | `relayc --executor aot` | native code of a program |\n"
             "| `.npy`, `.npz` | `vmrun --output`, `--state` | arrays as NumPy has them |\n"
             "| JSON | `--json`, `--profile`, `--trace`, `--tune-log` | [below](#json) |\n\n")
    text = head + "## vmx\n\nOf `bytecode/file_format.h`:\n\n" + block(comment_of(layout)) + "\nThe program's part is a flatbuffer. Its schema, "
    text += "`bytecode/program.fbs`, says how it may grow; [Versions](../versions.md) says what that means for you.\n\n" + block(schema)
    text += "\n" + versions(build)
    text += "\n## JSON\n\nThe form of what the tools write, taken from a run of each: keys, and the kind of each value. [JSON Schemas](schemas.md) say all that may be there.\n\n"
    with tempfile.TemporaryDirectory() as folder:
        newton = os.path.join(build.examples, "newton")
        build.run(f"relayc -q {newton}.onnx -o n.vmx && relayc -q {build.examples}/cnn.relay --params {build.examples}/cnn.npz -o c.vmx", folder)
        for command, file in ((f"vmrun n.vmx --input newton_numbers.npy --json", None),
                              (f"vmrun n.vmx --input newton_numbers.npy --repeat 10 --profile --json", None),
                              ("vmdump n.vmx --json", None)):
            said = build.run(command.replace("newton_", f"{newton}_"), folder)
            text += f"### {command.split()[0]} {' '.join(w for w in command.split() if w.startswith('--') and w != '--input')}\n\n"
            text += block(command.replace(folder + "/", ""), "text") + "\n" + block(shape(json.loads(said))) + "\n"
        build.run(f"vmrun n.vmx --input {newton}_numbers.npy --trace t.json && vmrun n.vmx --input {newton}_numbers.npy --profile p.json", folder)
        for option in ("trace", "profile"):
            with open(os.path.join(folder, option[0] + ".json")) as f:
                events = json.load(f)
            kinds = {}
            for event in events["traceEvents"]:
                kinds.setdefault((event.get("ph"), tuple(event)), event)
            text += f"### vmrun --{option} FILE.json\n\nA trace as Chromium's about:tracing and ui.perfetto.dev read it; one event of each kind:\n\n"
            text += block("\n".join(json.dumps(event) for event in list(kinds.values())[:12]), "json") + "\n"
    yield "reference/formats.md", text
