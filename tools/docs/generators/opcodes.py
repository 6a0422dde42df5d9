"""The opcodes, from bytecode/opcodes.def."""
import re

from . import block, cell, code, index, table

KINDS = {"SCALAR": "scalar", "FALLIBLE": "scalar, may fail", "BRANCH": "branch", "OP": ""}


def pages(build):
    source = build.read("bytecode/opcodes.def")
    operands = re.search(r"//   operand kind.*?(?=\n//\n)", source, re.S).group(0)
    text = ("# Opcodes\n\nMade of `bytecode/opcodes.def`, the one table of them. `relayc MODEL --emit bytecode -o -` and `vmdump "
            "FILE --bytecode` show programs in this form, and `vmasm` reads it.\n\n"
            "An instruction is 16-bit units: the opcode, then the operands in order. Scalars are 64-bit registers `i0, i1 ...`; "
            "objects (tensors, tuples, closures) are registers `r0, r1 ...`.\n\n"
            + block("\n".join(line[2:].removeprefix("   ") for line in operands.splitlines())))
    rows, since, count = [], 1, 0

    def flush():
        nonlocal rows, text
        if rows:
            text += table(("mnemonic", "does", "operands", "kind", "since"), rows)
        rows = []

    for line in source.splitlines():
        section = re.match(r"// --- (.*) ---$", line)
        version = re.match(r"SINCE\((\d+)\)", line)
        row = re.match(r'(SCALAR|FALLIBLE|BRANCH|OP)\(k\w+,\s*"([^"]+)",\s*"([^"]*)",?\s*(.*)\)$', line)
        if section:
            flush()
            text += f"\n## {section.group(1)}\n\n"
        elif version:
            since = int(version.group(1))
        elif row:
            count += 1
            rows.append((code(row.group(2)), cell(row.group(3)), row.group(4), KINDS[row.group(1)], str(since)))
    flush()
    yield "reference/opcodes.md", text + f"\n{count} opcodes. *Since* is the version of the bytecode that a file states which uses them.\n"
