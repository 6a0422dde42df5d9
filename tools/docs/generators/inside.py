"""What "How it works" shows: one small program in each of its forms, as the tools print them."""
import os
import re
import shlex
import tempfile

from . import PYTHON

PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32], %w: Tensor[(4, 3), float32]) {
  let %y = nn.dense(%x, %w);
  nn.relu(add(%y, 1f))
}
"""
SHAPE = "--shape 'x=(n, 3)' --target x86-64-v3"

DRAW = 'import relayvm as rvm; print(rvm.draw(rvm.parse(open("lstm.relay").read()))._repr_svg_())'


def busiest(lines, count=24):
    """The lines of an assembly that multiply and add most."""
    sums = ["vfmadd" in line for line in lines]
    start = max(range(max(1, len(lines) - count)), key=lambda i: sum(sums[i:i + count]))
    return "\n".join(lines[start:start + count]) + "\n"


def by_name(text):
    """The text of a program with its dims by name; as text has them, they stand in a section of metadata behind it."""
    program, _, _ = text.partition("#[metadata]")
    names = re.findall(r'"repr_str": "(\w+)"', text)
    return re.sub(r"meta\[tir\.SizeVar\]\[(\d+)\]", lambda m: names[int(m.group(1))], program).strip() + "\n"


def pages(build):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "small.relay"), "w") as f:
            f.write(PROGRAM)
        yield "how/made/small.relay", PROGRAM
        relayc = f"relayc -q small.relay {SHAPE}"
        for name, command in (
                ("typed.txt", f"{relayc} -o small.vmx --print-ir-after CheckTypes 2>&1"),
                ("fused.txt", f"{relayc} -o small.vmx --print-ir-after FuseOps 2>&1"),
                ("bytecode.txt", f"{relayc} --emit bytecode -o -"),
                ("memory.txt", f"{relayc} -o small.vmx && vmdump small.vmx --memory")):
            yield f"how/made/{name}", by_name(build.run(command, folder))
        yield "how/made/asm.txt", busiest(build.run(f"{relayc} --emit asm -o -", folder).splitlines())
    if build.package:
        yield "how/made/lstm.svg", build.run(f"{PYTHON} -c {shlex.quote(DRAW)}", build.examples)
