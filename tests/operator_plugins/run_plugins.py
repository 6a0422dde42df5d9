#!/usr/bin/python3
"""Custom operators from shared libraries: in Relay text and in ONNX models, compiled, run, and refused.

usage: run_plugins.py BIN_FOLDER LIBRARY_FOLDER EXAMPLES_FOLDER

Closes with the line "N passed, N failed".
"""
import json
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tool_checks import ToolChecks

BIN, LIBRARIES, EXAMPLES = (os.path.abspath(a) for a in sys.argv[1:])
EXAMPLE = os.path.join(LIBRARIES, "libexample_operators.so")
BAD = os.path.join(LIBRARIES, "libbad_operators.so")
WINDOWS = os.path.join(EXAMPLES, "operators", "windows.relay")
folder = tempfile.TemporaryDirectory()
checks = ToolChecks(BIN, folder.name)
run, check = checks.run, checks.check


def write(name, content):
    path = os.path.join(folder.name, name)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return path


# --- What the operators give, by numbers of our own ---
ROWS = [[1.0, 2.0, 3.0, -8.0, 0.5], [0.0, -1.0, 2.0, 2.0, -4.0]]


def windows(row, size, factor):
    return [sum(row[i:i + size]) * factor for i in range(len(row) - size + 1)]


def hardswish(x):
    return x * min(max(x / 6 + 0.5, 0), 1)


def expect_windows(what, outcome, size, factor, ranges=1):
    code, out, err = outcome
    try:
        sums, swished = (field["data"] for field in json.loads(out)["tuple"])
        wanted = [windows(row, size, factor) for row in ROWS]
        good = all(abs(a - b) < 1e-5 for x, y in zip(sums, wanted) for a, b in zip(x, y))
        good &= all(abs(a - hardswish(b)) < 1e-5 for x, y in zip(swished, wanted) for a, b in zip(x, y))
        good &= len(sums[0]) == len(ROWS[0]) - size + 1
    except (ValueError, KeyError, IndexError, TypeError):
        good = False
    checks.count(good and code == 0, f"{what}: status {code}\n{out}{err}")


INPUT = ["--input", json.dumps(ROWS), "--json"]
check("compile", run("relayc", WINDOWS, "--plugin", EXAMPLE, "-o", "windows.vmx"), 0)
expect_windows("run", run("vmrun", "windows.vmx", "--plugin", EXAMPLE, *INPUT), 3, 0.5)
for level in range(4):
    expect_windows(f"-O{level}", run("relayrun", WINDOWS, f"-O{level}", "--plugin", EXAMPLE, *INPUT), 3, 0.5)
expect_windows("reference", run("relayrun", WINDOWS, "--plugin", EXAMPLE, "--executor", "reference", *INPUT), 3, 0.5)
check("the program names what it needs", run("vmrun", "windows.vmx", *INPUT), 2,
      "the program needs kernel 'example.windows', which neither this runtime nor the host has")
# A host in C, with the example's library and with one that is none.
outcome = run("operator_host", "windows.vmx", EXAMPLE)
check("C host", outcome, 0)
wanted = [w for row in ROWS for w in windows(row, 3, 0.5)]
check("C host's numbers", (outcome[1].split() != [f"{w:g}" for w in wanted], outcome[1], ""), 0)
check("C host without a library", run("operator_host", "windows.vmx", WINDOWS), 2, "windows.relay")
check("too short a row", run("vmrun", "windows.vmx", "--plugin", EXAMPLE, "--input", "2x2xf32=1"), 3, "the last axis")
check("without the library", run("relayc", WINDOWS, "-o", os.devnull), 2, "example")
check("twice", run("relayc", WINDOWS, "--plugin", EXAMPLE, "--plugin", EXAMPLE, "-o", os.devnull), 0)
text = run("relayc", WINDOWS, "--plugin", EXAMPLE, "--emit", "relay", "-o", "-")
check("text", text, 0, "example.windows(", "size=3", "factor=0.5f")
again = write("again.relay", text[1])
expect_windows("its text", run("relayrun", again, "--plugin", EXAMPLE, *INPUT), 3, 0.5)
for what, call, message in [
        ("another dtype", "example.windows(cast(%x, dtype=\"int32\"), size=3)", "expected a tensor of float32"),
        ("a missing attribute", "example.windows(%x)", "size"),
        ("an unknown attribute", "example.windows(%x, size=3, sice=4)", "sice"),
        ("a bad attribute", "example.windows(%x, size=0)", "expected a size of 1 or more"),
        ("a wrong kind of attribute", "example.windows(%x, size=\"a\")", "size"),
        ("two inputs", "example.windows(%x, %x, size=3)", "1 argument, 2 given"),
        ("a row that is too short", "example.windows(zeros(shape=[2, 2], dtype=\"float32\"), size=3)", "the last axis")]:
    source = write("wrong.relay", f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(?, ?), float32]) {{ {call} }}\n')
    check(what, run("relayc", source, "--plugin", EXAMPLE, "-o", os.devnull), 2, message, "wrong.relay:2")

# --- Type functions that do what they may not ---
for name, call, message in [
        ("nothing", "", "its type function gives no result 0"),
        ("negative", "", "dim 0 of result 0 is -3"),
        ("high_rank", "", "result 0 has rank 300, the limit is 255"),
        ("bad_type", "", "result 0 has unknown dtype 77"),
        ("bad_output", "", "result 1 of 1"),
        ("no_dims", "", "rank 1"),
        ("bad_handle", "", "dim 12345 is none that it was given"),
        ("bad_input", "", "input 3 of 1"),
        ("bad_axis", "", "axis 9 of input 0, which has 1"),
        ("bad_attribute", "", "attribute 4 of 2"),
        ("wrong_attribute", "", "attribute f is of another kind than it is read as"),
        ("bad_element", "", "element 9 of attribute list, which has 0"),
        ("by_zero", "", "a dim is divided by 0"),
        ("overflow", "", ""),
        ("fails", "", "it fails"),
        ("unequal", "", "the rows")]:
    source = write("bad.relay", f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) {{ bad.{name}(%x{call}) }}\n')
    check(name, run("relayc", source, "--plugin", BAD, "-o", os.devnull), 2, f"bad.{name}", message, "bad.relay:2")
source = write("later.relay", '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { bad.negative_later(%x) }\n')
check("a dim that is negative when it runs", run("relayrun", source, "--plugin", BAD, "--input", "[1, 2]"), 3,
      "bad.negative_later")
source = write("refuses.relay", '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { bad.refuses(%x) }\n')
check("a kernel that fails", run("relayrun", source, "--plugin", BAD, "--input", "[1, 2]"), 3,
      "kernel bad.refuses: index out of range")
source = write("sums.relay", '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { bad.sums(%x, list=[4, 5]) }\n')
check("a list of integers", run("relayc", source, "--plugin", BAD, "--emit", "relay", "-o", "-"), 0, "list=[4, 5]")

# --- Libraries that are refused ---
for number, message in [(1, "expected ABI 1"), (2, "gives NULL"), (3, "there is an operator add already"),
                        (4, "its name is none"), (5, "it has no infer or no kernel"), (6, "0 operators")]:
    library = os.path.join(LIBRARIES, f"libbad_operators_{number}.so")
    check(f"library {number}", run("relayc", WINDOWS, "--plugin", library, "-o", os.devnull), 2, message)
check("no such library", run("relayc", WINDOWS, "--plugin", "./missing.so", "-o", os.devnull), 2, "cannot load operators")
check("no such library, to run", run("vmrun", "windows.vmx", "--plugin", "./missing.so"), 2, "cannot load operators")
check("another library", run("relayc", WINDOWS, "--plugin", "libm.so.6", "-o", os.devnull), 2,
      "it has no function relayvm_operator_plugin")


# --- ONNX: a model by hand, as protobuf has it ---
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    return field(5, field(1, name) + (field(2, value) + field(20, 1) if isinstance(value, float) else
                                      field(3, value) + field(20, 2)))


def node(op, domain, source, target, *attributes):
    return field(1, field(1, source) + field(2, target) + field(3, op + "_node") + field(4, op) + b"".join(attributes) +
                 field(7, domain))


def value(number, name):
    dims = b"".join(field(1, field(2, d)) for d in ("rows", "columns"))
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, dims))))


def model(nodes, outputs=("s", "y")):
    graph = nodes + field(2, "windows") + value(11, "x") + b"".join(value(12, o) for o in outputs)
    opsets = field(8, field(1, "") + field(2, 17)) + field(8, field(1, "com.example") + field(2, 1))
    return field(1, 8) + field(7, graph) + opsets


WINDOWS_NODE = node("Windows", "com.example", "x", "s", attribute("size", 3), attribute("factor", 0.5))
onnx = write("windows.onnx", model(WINDOWS_NODE + node("HardSwish", "com.example", "s", "y")))
check("onnx, without the library", run("relayc", onnx, "-o", os.devnull), 2, "Windows (com.example, opset 1)", "Windows_node")
check("onnx", run("relayc", onnx, "--plugin", EXAMPLE, "-o", "onnx.vmx"), 0)
expect_windows("onnx, run", run("vmrun", "onnx.vmx", "--plugin", EXAMPLE, *INPUT), 3, 0.5)
expect_windows("onnx, reference", run("relayrun", onnx, "--plugin", EXAMPLE, "--executor", "reference", *INPUT), 3, 0.5)
# HardSwish of ONNX itself is the compiler's own.
onnx = write("own.onnx", model(WINDOWS_NODE + node("HardSwish", "", "s", "y")))
expect_windows("onnx, beside ONNX's own", run("relayrun", onnx, "--plugin", EXAMPLE, *INPUT), 3, 0.5)
for what, nodes, message in [
        ("onnx, an unknown attribute", node("Windows", "com.example", "x", "s", attribute("sice", 3)), "no attribute sice"),
        ("onnx, a missing attribute", node("Windows", "com.example", "x", "s"), "size"),
        ("onnx, another kind of attribute", node("Windows", "com.example", "x", "s", attribute("size", 3.0)), "size")]:
    wrong = write("wrong.onnx", model(nodes, outputs=("s",)))
    check(what, run("relayc", wrong, "--plugin", EXAMPLE, "-o", os.devnull), 2, message, "Windows_node")

sys.exit(checks.finish())
