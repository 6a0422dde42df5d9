#!/usr/bin/python3
"""Measures which dtypes each ONNX operator takes here: models of ONNX's own tests, with each dtype that ONNX allows in place of theirs.

usage: PYTHONPATH=BUILD/python dtypes.py TEST_DATA PAGE [--check N]

Writes PAGE (compiler/import/onnx/DTYPES.md): for each parameter of an operator, what compiles, and what ONNX allows but is refused.
--check N: compares every Nth operator with the page instead. TEST_DATA: libonnx-testdata's folder `node`; needs python3-onnx, whose
opsets (1.12: 17) are those that are looked at.
"""
import argparse
import glob
import os
import re
import sys

import onnx
import relayvm as rvm
from onnx import TensorProto, defs

# What their attributes hold has a dtype too, which a model would have to change with its inputs'; so have graphs.
FIXED = {"TfIdfVectorizer"}
NUMBERS = {f"tensor({name})": number for name, number in (
    ("bool", TensorProto.BOOL), ("int8", TensorProto.INT8), ("int16", TensorProto.INT16), ("int32", TensorProto.INT32),
    ("int64", TensorProto.INT64), ("uint8", TensorProto.UINT8), ("uint16", TensorProto.UINT16), ("uint32", TensorProto.UINT32),
    ("uint64", TensorProto.UINT64), ("float16", TensorProto.FLOAT16), ("bfloat16", TensorProto.BFLOAT16), ("float", TensorProto.FLOAT),
    ("double", TensorProto.DOUBLE), ("string", TensorProto.STRING), ("complex64", TensorProto.COMPLEX64),
    ("complex128", TensorProto.COMPLEX128))}
HEAD = """# Dtypes of ONNX operators

Made by `tests/onnx/dtypes.py` of ONNX's own tests (opset 17): a model of each operator was compiled with every dtype that ONNX allows for a
parameter of it. Sequences, optionals and operators with graphs inside are left out, as are those that have no test of one node.

| operator | parameter | takes | refused here, allowed by ONNX |
|---|---|---|---|
"""


def models_of(folder):
    """{operator: models of one node, the shortest first}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx")), key=lambda p: (len(p), p)):
        model = onnx.load(path)
        if len(model.graph.node) == 1:
            node = model.graph.node[0]
            if node.op_type in FIXED or any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
                continue
            found.setdefault((node.domain, node.op_type), []).append(model)
    return found


def compiles(model):
    try:
        rvm.compile(model.SerializeToString(), opt_level=0, cache="off")
        return True
    except rvm.Error:
        return False


def parameter_of(schema, i):
    """How the schema types its input i."""
    return schema.inputs[min(i, len(schema.inputs) - 1)].typeStr


def with_dtype(model, schema, parameter, number):
    """The model with another dtype for a parameter; nothing where no input has it."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    node, names = changed.graph.node[0], set()
    for i, name in enumerate(node.input):
        if name and parameter_of(schema, i) == parameter:
            names.add(name)
    inputs = [value for value in changed.graph.input if value.name in names]
    if not inputs or any(not value.type.HasField("tensor_type") for value in inputs) or changed.graph.initializer:
        return None
    for value in inputs:
        value.type.tensor_type.elem_type = number
    for value in changed.graph.output:  # what follows from the inputs
        value.ClearField("type")
    return changed


def measure(models, schema):
    """[(parameter, taken, refused)] of an operator."""
    rows = []
    for constraint in schema.type_constraints:
        parameter, allowed = constraint.type_param_str, [t for t in NUMBERS if t in constraint.allowed_type_strs]
        taken, is_known = set(), False
        for model in models[:2]:
            for dtype in allowed:
                changed = with_dtype(model, schema, parameter, NUMBERS[dtype]) if dtype not in taken else None
                if changed is not None:
                    is_known = True
                    if compiles(changed):
                        taken.add(dtype)
            if len(taken) == len(allowed):
                break
        if is_known and taken:  # else it is the model without its outputs' types that is not taken
            rows.append((parameter, [t for t in allowed if t in taken], [t for t in allowed if t not in taken]))
    return rows


def line_of(name, parameter, taken, refused):
    bare = lambda types: ", ".join(t[len("tensor("):-1] for t in types)
    return f"| {name} | {parameter} | {bare(taken) or '-'} | {bare(refused)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("page")
    parser.add_argument("--check", type=int)
    args = parser.parse_args()
    models = models_of(args.data)
    lines = {}
    for i, (domain, name) in enumerate(sorted(models)):
        if args.check and i % args.check:
            continue
        version = {o.domain: o.version for o in models[domain, name][0].opset_import}.get(domain, 1)
        shown = name if not domain else f"{domain}.{name}"
        try:
            schema = defs.get_schema(name, version, domain)
        except Exception:  # of a test's own domain
            continue
        lines[shown] = [line_of(shown, *row) for row in measure(models[domain, name], schema)]
    if not args.check:
        with open(args.page, "w") as f:
            f.write(HEAD + "".join(line + "\n" for rows in lines.values() for line in rows))
        print(f"{sum(map(len, lines.values()))} rows of {len(lines)} operators")
        return 0
    with open(args.page) as f:
        kept = {}
        for line in f.read().splitlines():
            if match := re.match(r"\| ([\w.]+) \|", line):
                kept.setdefault(match[1], []).append(line)
    wrong = [f"expected {rows}, the page has {kept.get(name)}" for name, rows in lines.items() if rows != kept.get(name, [])]
    print("\n".join(wrong + [f"{len(lines)} operators, {len(wrong)} wrong"]))
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
