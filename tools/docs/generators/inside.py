"""What "How it works" shows: one small program in each of its forms, as the tools print them."""
import os
import re
import tempfile

PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32], %w: Tensor[(4, 3), float32]) {
  let %y = nn.dense(%x, %w);
  nn.relu(add(%y, 1f))
}
"""
SHAPE = "--shape 'x=(n, 3)' --target x86-64-v3"


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
                ("asm.txt", f"{relayc} --emit asm -o -"),
                ("memory.txt", f"{relayc} -o small.vmx && vmdump small.vmx --memory")):
            yield f"how/made/{name}", by_name(build.run(command, folder))
