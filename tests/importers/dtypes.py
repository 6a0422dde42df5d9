#!/usr/bin/python3
"""Measures which dtypes each operator of TensorFlow, TensorFlow Lite, TorchScript and MXNet takes: a model of the operator alone, with inputs
of each dtype.

usage: PYTHONPATH=BUILD/python dtypes.py IMPORT_FOLDER [--format NAME] [--check N]

Writes IMPORT_FOLDER/FORMAT/DTYPES.md (compiler/import). Models are made here, without the systems themselves (those of TensorFlow Lite by
flatc, of its schema there): one, two or three inputs of rank 4, 3, 2 or 1, all of one dtype, and attributes as the importer has them by
default. Operators that need more are left out. --check N: compares every Nth operator with the page instead.
"""
import argparse
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import relayvm as rvm

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64")
TENSORFLOW = dict(float32=1, float64=2, int32=3, uint8=4, int16=5, int8=6, int64=9, bool=10, bfloat16=14, uint16=17, float16=19, uint32=22, uint64=23)
SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "compiler" / "import" / "tflite" / "schema.fbs"
TFLITE = {**{d: d.upper() for d in DTYPES}, **{f"{d} codes": d.upper() for d in ("int8", "uint8", "int16")}}
# Options of TensorFlow Lite's operators whose defaults make no operator.
WINDOW = {"stride_w": 1, "stride_h": 1}
TFLITE_OPTIONS = {
    "CONV_2D": ("Conv2DOptions", WINDOW), "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", {**WINDOW, "depth_multiplier": 1}),
    **{f"{kind}_POOL_2D": ("Pool2DOptions", {**WINDOW, "filter_width": 2, "filter_height": 2}) for kind in ("AVERAGE", "MAX", "L2")},
    **{name: (f"{options}Options", {"block_size": 2}) for name, options in (("SPACE_TO_DEPTH", "SpaceToDepth"), ("DEPTH_TO_SPACE", "DepthToSpace"))},
    "BUCKETIZE": ("BucketizeOptions", {"boundaries": [0.5, 1.5]}), "UNPACK": ("UnpackOptions", {"num": 1}),
}
# Constants after the data, which are int32 whatever the data is: an axis, axes, a permutation, a shape, sizes, paddings, where a slice begins
# and ends, blocks with their crops.
TFLITE_CONSTANTS = ([0], [[1]], [[0, 1, 2, 3]], [[1, 4, 4, 4]], [[4, 4]], [[[0, 0]] * 4], [[0] * 4, [1] * 4], [[0] * 4, [1] * 4, [1] * 4],
                    [[2, 2], [[0, 0]] * 2])
SHAPES = ((1, 4, 4, 4), (2, 4, 4), (4, 4), (4,))
# What takes no tensor that could have another dtype, and what waits for others.
LEFT_OUT = re.compile(r"Placeholder|Const$|Iterator|Queue|Table|Variable|TensorArray|TensorList|Stack|NoOp|Print|Assert|Dataset")
HEAD = """# Dtypes of {title} operators

Made by `tests/importers/dtypes.py`: a model of the operator alone was compiled with inputs of each dtype, all of them of one, and attributes
left out. Operators are left out where that makes no model, such as those whose inputs have to differ in dtype. What {title} itself does not
allow may be among them.{codes}

| operator | takes |
|---|---|
"""
CODES = " Codes are quantised numbers: tensors with a scale."


def message(number, content):
    """A field of protobuf's: bytes, a text, or an int."""
    if isinstance(content, int):
        return bytes([number << 3]) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def attribute(name, value):
    return message(5, message(1, name) + message(2, value))


def tensorflow(name, dtype, shape, count):
    kind = message(6, TENSORFLOW[dtype])
    dims = message(7, b"".join(message(2, message(1, d)) for d in shape))
    nodes = [message(1, f"x{i}") + message(2, "Placeholder") + attribute("dtype", kind) + attribute("shape", dims) for i in range(count)]
    nodes.append(message(1, "y") + message(2, name) + b"".join(message(3, f"x{i}") for i in range(count)) + attribute("T", kind)
                 + attribute("N", message(3, count)))
    return rvm.from_tensorflow(b"".join(message(1, node) for node in nodes), outputs=["y"])


def torch(name, dtype, shape, count):
    inputs = [f"x{i}" for i in range(count)]
    code = (f"class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  def forward(self: __torch__.M,\n    "
            + ",\n    ".join(f"{x}: Tensor" for x in inputs) + f") -> Tensor:\n    y = torch.{name}({', '.join(inputs)})\n    return y\n")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m/data.pkl", b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x88ubq\x02.")
        archive.writestr("m/code/__torch__.py", code)
        archive.writestr("m/constants.pkl", b"\x80\x02).")
        archive.writestr("m/version", "3\n")
    return rvm.from_pytorch(file.getvalue(), [(x, (shape, dtype)) for x in inputs])


def mxnet(name, dtype, shape, count):
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(count)]
    nodes.append({"op": name, "name": "y", "inputs": [[i, 0, 0] for i in range(count)]})
    symbol = {"nodes": nodes, "arg_nodes": list(range(count)), "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    return rvm.from_mxnet(json.dumps(symbol), {f"x{i}": shape for i in range(count)}, dtype)


def tflite(name, dtype, shape, count, constants=()):
    def tensor(i, shape, kind, buffer=0):
        codes = {"quantization": {"scale": [0.5], "zero_point": [0]}} if kind.endswith(" codes") else {}
        return {"shape": shape, "type": TFLITE.get(kind, kind), "name": f"x{i}", "buffer": buffer, **codes}

    arrays = [np.array(c, "<i4") for c in constants]
    tensors = [tensor(i, shape, dtype) for i in range(count)]
    tensors += [tensor(count + i, array.shape, "int32", i + 1) for i, array in enumerate(arrays)]
    operator = {"inputs": list(range(len(tensors))), "outputs": [len(tensors)]}
    if name in TFLITE_OPTIONS:
        operator["builtin_options_type"], operator["builtin_options"] = TFLITE_OPTIONS[name]
    graph = {"tensors": [*tensors, tensor(len(tensors), shape, dtype)], "inputs": list(range(count)), "outputs": [len(tensors)], "operators": [operator]}
    model = {"version": 3, "operator_codes": [{"builtin_code": name}], "subgraphs": [graph],
             "buffers": [{}, *({"data": list(array.tobytes())} for array in arrays)]}
    with tempfile.TemporaryDirectory() as work:
        file = pathlib.Path(work, "m.json")
        file.write_text(json.dumps(model))
        subprocess.run(["flatc", "--binary", "-o", work, SCHEMA, file], check=True)
        return rvm.from_tflite(file.with_suffix(".bin").read_bytes())


FORMATS = {"tensorflow": ("TensorFlow", tensorflow), "tflite": ("TensorFlow Lite", tflite), "torch": ("TorchScript", torch), "mxnet": ("MXNet", mxnet)}


def compiles(read, *model):
    try:
        mod, params = read(*model)
        rvm.compile(mod, params=params, opt_level=0, cache="off")
        return True
    except rvm.Error:
        return False


def measure(form, name):
    """The dtypes that it takes by the first form of a model that takes any."""
    read = FORMATS[form][1]
    models = [(shape, count) for count, shape in itertools.product((1, 2, 3), SHAPES)]
    if form == "tflite":
        models += [(SHAPES[0], count, constants) for count, constants in itertools.product((1, 2), TFLITE_CONSTANTS)]
    for model in models:
        for first in ("float32", "int32", "bool"):
            if compiles(read, name, first, *model):
                return [d for d in (TFLITE if form == "tflite" else DTYPES) if d == first or compiles(read, name, d, *model)]
    return []


def operators(folder, form):
    """The names that the importer's page lists; of TorchScript without overloads, which the inputs choose."""
    with open(os.path.join(folder, form, "OPERATORS.md")) as f:
        names = re.findall(r"^\| (?:aten::)?(\w+)(?:\.\w+)? \|(?! custom)", f.read(), re.M)
    return sorted({n for n in names if n not in ("operator", "name") and not LEFT_OUT.search(n)})


def check_format(folder, form, check):
    """What is wrong with the page, which is written first where there is nothing to check."""
    title = FORMATS[form][0]
    page = os.path.join(folder, form, "DTYPES.md")
    # Markdown would make __or__ a bold word.
    shown = lambda name: name.replace("__", r"\_\_") if name.startswith("__") else name
    lines = {name: f"| {shown(name)} | {', '.join(taken)} |" for name in operators(folder, form)[::check or 1] if (taken := measure(form, name))}
    if not check:
        with open(page, "w") as f:
            f.write(HEAD.format(title=title, codes=CODES if form == "tflite" else "") + "".join(line + "\n" for line in lines.values()))
        print(f"{form}: {len(lines)} operators")
        return []
    with open(page) as f:
        kept = {line.split()[1].replace("\\", ""): line for line in f.read().splitlines() if line.startswith("| ")}
    expected = {name: kept[name] for name in operators(folder, form)[::check] if name in kept}
    if not expected:
        return [f"{page}: expected rows of operators"]
    return [f"{form}: the page has {expected.get(n)}, found {lines.get(n)}" for n in sorted({*expected, *lines}) if expected.get(n) != lines.get(n)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--format", choices=FORMATS, action="append")
    parser.add_argument("--check", type=int)
    args = parser.parse_args()
    wrong = [line for form in args.format or FORMATS for line in check_format(args.folder, form, args.check)]
    print("\n".join(wrong + [f"{len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
