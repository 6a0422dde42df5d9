#!/usr/bin/python3
"""Keeps small .vmx files of this version, which runtimes of all later ones have to run: run it once, when a version is released.

usage: add_release.py BIN_FOLDER EXAMPLES_FOLDER

Writes VERSION/NAME.vmx, and VERSION/cases.json: what this version reads (the format, the bytecode), what each file says that it needs
at least, and what a run of it gives. Nothing that is there is written over: what is released stays as it was.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = '#[version = "0.0.5"]\n'
LEVEL = ("--target", "x86-64-v2")  # of every processor that relayvm runs on
# name: (source: a program, or a file of the examples; options of relayc; runs: arguments of vmrun)
PROGRAMS = {
    "dense": (HEAD + "def @main(%x: Tensor[(?, 3), float32]) {\n  let %y = nn.dense(%x, reshape(arange(0f, 12f, 1f), newshape=[4, 3]));\n"
              "  nn.softmax(nn.relu(add(%y, -1f)))\n}\n", [], [["--input", "[[1, 2, 3], [0, -1, 0.5]]"], ["--input", "[[0, 0, 1]]"]]),
    "convolution": (HEAD + "def @main(%x: Tensor[(1, 2, 6, 6), float32]) {\n  let %w = reshape(arange(0f, 54f, 1f), newshape=[3, 2, 3, 3]);\n"
                    "  nn.max_pool2d(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=3, kernel_size=[3, 3]), pool_size=[2, 2], strides=[2, 2])\n}\n",
                    [], [["--input", "1x2x6x6xf32=0.25"]]),
    "scalars": (HEAD + "def @sum(%i: int32, %acc: int64) -> int64 {\n  if (less(%i, 1)) { %acc } else { @sum(subtract(%i, 1), add(%acc, cast(%i, dtype=\"int64\"))) }\n}\n"
                "def @main(%n: int32) -> int64 { @sum(%n, 0i64) }\n", [], [["--input", "10"], ["--input", "100000"]]),
    "lists": ("lists.relay", [], [["--input", "Cons(3, Cons(1, Cons(2, Nil)))"], ["--input", "Nil"]]),
    "newton": ("newton.onnx", [], [["--input", "[2, 9, 1000000]"], ["--input", "[4]"]]),
    "loop": ("while_loop.relay", [], [["--input", "[1, 2, 3]"]]),
    "state": (HEAD + "def @main(%h: Tensor[(2), float32], %x: Tensor[(2), float32]) {\n  let %n = add(multiply(%h, 0.5f), %x);\n  (%n, multiply(%n, 2f))\n}\n",
              ["--state", "h=output_0"], [["--input", "h=[0, 4]", "--input", "x=[1, 1]"]]),
    # Weights that are made when the file is loaded, parts for two levels, and kernels for batches.
    "levels": (HEAD + "def @main(%x: Tensor[(1, 16, 32, 32), float32]) {\n"
               "  let %w = multiply(sin(reshape(arange(0f, 2304f, 1f), newshape=[16, 16, 3, 3])), 0.1f);\n"
               "  mean(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]), axis=[2, 3])\n}\n",
               ["--target", "x86-64-v2,x86-64-v3"], [["--input", "1x16x32x32xf32=0.5"]]),
    "batching": (HEAD + "def @main(%x: Tensor[(1, 8), float32]) {\n"
                 "  tanh(nn.dense(%x, reshape(multiply(arange(0f, 64f, 1f), 0.01f), newshape=[8, 8])))\n}\n", ["--batching"], [["--input", "1x8xf32=0.25"]]),
    "wide": (HEAD + "def @main(%x: Tensor[(4), int8], %y: Tensor[(4), float64], %z: Tensor[(4), bool]) {\n"
             "  (where(%z, cast(%x, dtype=\"float64\"), %y), argsort(%y, dtype=\"int64\"), topk(%y, k=2))\n}\n", [],
             [["--input", "x=[1, 2, 3, 4]", "--input", "y=[0.5, -1, 8, 2]", "--input", "z=[True, False, True, False]"]]),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RELAYVM_CACHE": "off"})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool = lambda name: os.path.join(sys.argv[1], name)
    said = run([tool("vmrun"), "--version"])
    version, form, bytecode = re.search(r"relayvm\) ([\d.]+), \.vmx format ([\d.]+), bytecode (\d+)", said).groups()
    folder = os.path.join(HERE, version)
    if os.path.exists(folder):
        sys.exit(f"{folder}: it is there; a released version's files stay as they are")
    os.makedirs(folder)
    cases = {"format": form, "bytecode": int(bytecode), "files": {}}
    for name, (source, options, runs) in PROGRAMS.items():
        path, vmx = os.path.join(sys.argv[2], source), os.path.join(folder, name + ".vmx")
        if source.startswith("#"):
            path = os.path.join(folder, name + ".relay")
            with open(path, "w") as f:
                f.write(source)
        run([tool("relayc"), "-q", path, *([] if "--target" in options else LEVEL), *options, "-o", vmx])
        if source.startswith("#"):
            os.remove(path)
        needs = json.loads(run([tool("vmdump"), vmx, "--json"]))
        cases["files"][name + ".vmx"] = {
            "needs": {"format": needs["format"], "bytecode": needs["bytecode_version"]},
            "runs": [{"arguments": arguments, "result": json.loads(run([tool("vmrun"), vmx, *arguments, "--json"]))} for arguments in runs]}
    with open(os.path.join(folder, "cases.json"), "w") as f:
        json.dump(cases, f, indent=1)
        f.write("\n")
    print(f"{folder}: {len(PROGRAMS)} files")


if __name__ == "__main__":
    main()
