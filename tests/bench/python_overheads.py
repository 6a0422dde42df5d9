#!/usr/bin/python3
"""What a call of a small model costs: through our C API, from Python, and in ONNX Runtime, TVM and PyTorch; prints one table.

usage: python_overheads.py BUILD_FOLDER [--ort-python FILE] [--tvm-python FILE] [--torch-python FILE] [--rounds N] [--json FILE]

Each system runs in a process of its own, under the interpreter that has it, with one thread; they are asked for a round of 10 ms of each
call in turn, so that all meet the same machine, and the medians of the rounds are printed in microseconds. Results are compared first. A
system without an interpreter, or that is not there, has a word in the place of its rows. --python runs ours (else this one); sessions have
rows where it or --ort-python has the package onnx. TVM_TARGET says what TVM compiles for ("llvm -mcpu=core-avx2").
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = '#[version = "0.0.5"]\n'
RELAY = {
    "relu": "def @main(%x: Tensor[(2, 8), float32]) { nn.relu(%x) }\n",
    "add": "def @main(%x: Tensor[(2, 8), float32], %z: Tensor[(2, 8), float32]) { add(%x, %z) }\n",
    "mlp": "def @main(%x: Tensor[(1, 256), float32]" + "".join(f", %w{i}: Tensor[(256, 256), float32]" for i in range(3)) + ") {\n"
           + "".join(f"  let %y{i} = nn.relu(nn.dense({f'%y{i - 1}' if i else '%x'}, %w{i}, units=256));\n" for i in range(3)) + "  %y2\n}\n",
}
TITLES = {"relu": "relu, 2x8", "add": "add, 2x8", "mlp": "MLP, 3x256"}
# Written by whichever interpreter has the package onnx.
WRITE_ONNX = """
import sys, numpy as np
from onnx import TensorProto, helper as h, numpy_helper
folder = sys.argv[1]
for model in ("relu", "add", "mlp"):
    a = dict(np.load(f"{folder}/{model}.npz"))
    inputs = [h.make_tensor_value_info(n, TensorProto.FLOAT, list(v.shape)) for n, v in a.items() if n[0] != "w"]
    weights = [numpy_helper.from_array(np.ascontiguousarray(v.T), n) for n, v in a.items() if n[0] == "w"]
    if model == "mlp":
        nodes, x = [], "x"
        for i in range(3):
            y = "y" if i == 2 else f"r{i}"
            nodes += [h.make_node("MatMul", [x, f"w{i}"], [f"d{i}"]), h.make_node("Relu", [f"d{i}"], [y])]
            x = y
    else:
        nodes = [h.make_node({"relu": "Relu", "add": "Add"}[model], [i.name for i in inputs], ["y"])]
    y = h.make_tensor_value_info("y", TensorProto.FLOAT, list(a["x"].shape))
    made = h.make_model(h.make_graph(nodes, model, inputs, [y], weights), opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    open(f"{folder}/{model}.onnx", "wb").write(made.SerializeToString())
"""


def write_models(args, folder):
    """A model's .relay, .npz (inputs x and z, weights w0 ...), .vmx and .onnx."""
    rng = np.random.default_rng(0)
    for model, text in RELAY.items():
        shape = (1, 256) if model == "mlp" else (2, 8)
        arrays = {"x": rng.standard_normal(shape, np.float32)}
        if model == "add":
            arrays["z"] = rng.standard_normal(shape, np.float32)
        weights = {f"w{i}": rng.standard_normal((256, 256), np.float32) / 16 for i in range(3)} if model == "mlp" else {}
        np.savez(os.path.join(folder, model + ".npz"), **arrays, **weights)
        np.savez(os.path.join(folder, model + "_weights.npz"), **weights)
        with open(os.path.join(folder, model + ".relay"), "w") as f:
            f.write(VERSION + text)
        command = [os.path.join(args.build, "bin", "relayc"), os.path.join(folder, model + ".relay"), "-o", os.path.join(folder, model + ".vmx")]
        if weights:
            command += ["--params", os.path.join(folder, model + "_weights.npz")]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    for python in (args.python, args.ort_python):
        if python and subprocess.run([python, "-c", WRITE_ONNX, folder], stderr=subprocess.DEVNULL).returncode == 0:
            return


class Peer:
    """A process that measures a round of its calls when it is asked."""

    def __init__(self, command, env, results=True):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.results = self.read() if results else {}

    def read(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        lines = self.process.stderr.read().strip().splitlines()
        return {"absent": lines[-1] if lines else f"exit {self.process.wait()}"}

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.communicate()


def peers_of(args, model, folder):
    """{system: Peer}, and {system: why there is none}."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(args.build, "python"), os.environ.get("PYTHONPATH", "")])}
    if args.relayvm:
        env["PYTHONPATH"] = args.relayvm
    shapes = ["x".join(map(str, a.shape)) for n, a in np.load(os.path.join(folder, model + ".npz")).items() if n[0] != "w"]
    found = {"relayvm, C API": Peer([os.path.join(args.build, "bin", "bench_call"), os.path.join(folder, model + ".vmx"), *shapes], env, False)}
    absent = {}
    bare = {key: value for key, value in env.items() if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    for name, system, python, its_env in (("relayvm", "relayvm", args.python, env), ("ONNX Runtime", "onnxruntime", args.ort_python, bare),
                                          ("TVM", "tvm", args.tvm_python, bare), ("PyTorch", "torch", args.torch_python, env)):
        if not python:
            absent[name] = "no interpreter was given"
            continue
        peer = Peer([python, os.path.join(HERE, "overhead_peer.py"), system, model, folder], its_env)
        if "absent" in peer.results:
            absent[name] = peer.results["absent"]
        else:
            found[name] = peer
    return found, absent


def compare(found, model):
    """Results of all calls, against those of ours."""
    expected = next(iter(found["relayvm"].results.values()))
    for name, peer in found.items():
        for call, result in peer.results.items():
            if not np.allclose(result, expected, rtol=1e-4, atol=1e-4):
                raise SystemExit(f"{model}: {name}, {call}: the result is another one")


def measure(args, folder):
    """{system: {call: {model: microseconds}}}, {system: why it is absent}"""
    table, absent = {}, {}
    for model in RELAY:
        found, missing = peers_of(args, model, folder)
        absent.update(missing)
        compare(found, model)
        rounds = {}
        for _ in range(args.rounds):
            for name, peer in found.items():
                for call, microseconds in peer.round().items():
                    rounds.setdefault((name, call), []).append(microseconds)
        for peer in found.values():
            peer.close()
        for (name, call), all_of_them in rounds.items():
            table.setdefault(name, {}).setdefault(call, {})[model] = statistics.median(all_of_them)
    return table, absent


def show(table, absent):
    print(f"{'microseconds of a call':58s}" + "".join(f"{title:>13s}" for title in TITLES.values()))
    for name, calls in table.items():
        for call, times in calls.items():
            print(f"{name + ': ' + call:58s}" + "".join(f"{times[model]:13.2f}" if model in times else f"{'-':>13s}" for model in TITLES))
    for name, why in absent.items():
        print(f"{name}: absent: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, with bin/ and python/")
    parser.add_argument("--python", default=sys.executable, help="runs ours")
    parser.add_argument("--relayvm", help="PYTHONPATH of ours, where it is not BUILD/python")
    for peer in ("ort", "tvm", "torch"):
        parser.add_argument(f"--{peer}-python", help="the interpreter that has it")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", help="a file for the table")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_models(args, folder)
        table, absent = measure(args, folder)
    show(table, absent)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(table, f, indent=1)


if __name__ == "__main__":
    main()
