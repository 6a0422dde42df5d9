#!/usr/bin/python3
"""Measures what this project promises, its kernels against oneDNN and ONNX models against ONNX Runtime; prints tables.

usage: run_benchmarks.py BIN_FOLDER [--models FOLDER] [--onnx MODEL.onnx[:DIM=N,...]]... [--threads 1,2] [--only TEXT]
                         [--relayc-args=ARGS] [--tolerance X] [--every] [--json FILE] [--svg FILE]

Needs gcc and NumPy. Each figure is the median of many runs after a warm-up; figures per GFLOP/s are set against the FMA peak
measured here, and the two language models against plain C programs (c/*.c, -O3 -march=native) run beside them. MODELS holds
g2p/ and stories260K/ (see tools/examples/*.py). Peers run in turn with ours: oneDNN (libdnnl-dev) on each product, PyTorch
(python3-torch) on norms, resizes and pools, ONNX Runtime (ORT_LIBRARY names its shared library) on each model; results are compared before they are timed. What is not there its row
says. A shared machine is noisy: repeat, compare ratios.

RELAYVM_MAX_CPU_LEVEL limits our kernels, and the peak is then that level's; DNNL_MAX_CPU_ISA=AVX2 limits oneDNN.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import kernels
import memory_bound
import models
import numpy as np
import products
from report import Report

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "tools", "examples")
# What gcc is told for a level of kernels; x86-64-v2 has no FMA and multiplies and adds apart.
FLAGS_OF_LEVELS = {"": "-march=native", "x86-64-v2": "-march=x86-64-v2", "x86-64-v3": "-march=x86-64-v3", "x86-64-v4": "-march=x86-64-v4"}
VERSION = '#[version = "0.0.5"]\n'
COUNTER = VERSION + """
def @loop(%i: int32, %n: int32, %acc: int32) -> int32 {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %i)) } else { %acc }
}
def @main(%n: int32) -> int32 { @loop(0, %n, 0) }
"""
LSTM = VERSION + """
def @loop(%i: int32, %n: int32, %xs: Tensor[(?, 300), float32], %h: Tensor[(1, 512), float32], %c: Tensor[(1, 512), float32], %wi: Tensor[(2048, 300), float32], %wh: Tensor[(2048, 512), float32], %b: Tensor[(2048), float32]) -> (Tensor[(1, 512), float32], Tensor[(1, 512), float32]) {
  if (less(%i, %n)) {
    let %x = take(%xs, reshape(%i, newshape=[1]), axis=0, mode="clip");
    let %s = split(nn.bias_add(add(nn.dense(%x, %wi, units=2048), nn.dense(%h, %wh, units=2048)), %b, axis=1), indices_or_sections=4, axis=1);
    let %c2 = add(multiply(sigmoid(%s.1), %c), multiply(sigmoid(%s.0), tanh(%s.2)));
    @loop(add(%i, 1), %n, %xs, multiply(sigmoid(%s.3), tanh(%c2)), %c2, %wi, %wh, %b)
  } else {
    (%h, %c)
  }
}
def @main(%xs: Tensor[(?, 300), float32], %wi: Tensor[(2048, 300), float32], %wh: Tensor[(2048, 512), float32], %b: Tensor[(2048), float32]) -> (Tensor[(1, 512), float32], Tensor[(1, 512), float32]) {
  @loop(0, take(shape_of(%xs, dtype="int32"), 0, axis=0, mode="clip"), %xs, zeros(shape=[1, 512], dtype="float32"), zeros(shape=[1, 512], dtype="float32"), %wi, %wh, %b)
}
"""
TREE = VERSION + """
type Tree { Leaf(Tensor[(1, 300), float32]), Node(Tree, Tree) }
def @node(%t: Tree, %wl: Tensor[(450, 300), float32], %bl: Tensor[(450), float32], %wn: Tensor[(750, 300), float32], %bn: Tensor[(750), float32]) -> (Tensor[(1, 150), float32], Tensor[(1, 150), float32]) {
  match (%t) {
    Leaf(%x) => {
      let %s = split(nn.bias_add(nn.dense(%x, %wl, units=450), %bl, axis=1), indices_or_sections=3, axis=1);
      let %c = multiply(sigmoid(%s.0), tanh(%s.2));
      (multiply(sigmoid(%s.1), tanh(%c)), %c)
    },
    Node(%a, %b) => {
      let %l = @node(%a, %wl, %bl, %wn, %bn);
      let %r = @node(%b, %wl, %bl, %wn, %bn);
      let %s = split(nn.bias_add(nn.dense(concatenate((%l.0, %r.0), axis=1), %wn, units=750), %bn, axis=1), indices_or_sections=5, axis=1);
      let %c = add(multiply(sigmoid(%s.0), tanh(%s.4)), add(multiply(sigmoid(%s.1), %l.1), multiply(sigmoid(%s.2), %r.1)));
      (multiply(sigmoid(%s.3), tanh(%c)), %c)
    },
  }
}
def @full(%d: int32, %x: Tensor[(1, 300), float32]) -> Tree {
  if (less(0, %d)) { let %n = subtract(%d, 1); Node(@full(%n, %x), @full(%n, %x)) } else { Leaf(%x) }
}
def @main(%depth: int32, %x: Tensor[(1, 300), float32], %wl: Tensor[(450, 300), float32], %bl: Tensor[(450), float32], %wn: Tensor[(750, 300), float32], %bn: Tensor[(750), float32]) -> (Tensor[(1, 150), float32], Tensor[(1, 150), float32]) {
  @node(@full(%depth, %x), %wl, %bl, %wn, %bn)
}
"""
DEEP = VERSION + """
type Tree { Leaf, Node(Tree, int32) }
def @build(%n: int32) -> Tree { if (equal(%n, 0)) { Leaf } else { Node(@build(subtract(%n, 1)), %n) } }
def @depth(%t: Tree) -> int32 { match (%t) { Leaf => { 0 }, Node(%c, _) => { add(1, @depth(%c)) } } }
def @main(%n: int32) -> int32 { @depth(@build(%n)) }
"""
SHAPES = VERSION + """
def @main(%x: Tensor[(?), float32]) { let %y = tanh(add(%x, 1f)); let %z = concatenate((%y, %y), axis=0); exp(negative(%z)) }
"""


def chain(ops, dynamic):
    shape = "?" if dynamic else "4"
    body = "".join(f"  let %x{i + 1} = {('add', 'multiply', 'subtract')[i % 3]}(%x{i}, %x0);\n" for i in range(ops))
    return f"{VERSION}def @main(%x0: Tensor[({shape}), float32]) -> Tensor[({shape}), float32] {{\n{body}  %x{ops}\n}}\n"


def dense(m, k, n):
    return f"{VERSION}def @main(%x: Tensor[({m}, {k}), float32], %w: Tensor[({n}, {k}), float32]) {{ nn.dense(%x, %w, units={n}) }}\n"


CONV = VERSION + """
def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])
}
"""


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder, self.report = args, folder, Report()

    def run(self, *command, env=None):
        p = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
        if p.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
        return p.stdout

    def compile(self, text, weights=None, options=()):
        source, vmx = os.path.join(self.folder, "program.relay"), os.path.join(self.folder, "program.vmx")
        with open(source, "w") as f:
            f.write(text)
        command = [os.path.join(self.args.bin, "relayc"), source, "-o", vmx, *options]
        if weights:
            params = os.path.join(self.folder, "weights.npz")
            np.savez(params, **weights)
            command += ["--params", params]
        self.run(*command)
        return vmx

    def time(self, vmx, inputs, runs):
        """Median microseconds of a run, and the peak resident memory of the process in bytes."""
        return self.time_command([os.path.join(self.args.bin, "vmrun"), vmx] + [a for i in inputs for a in ("--input", i)], runs)

    def time_command(self, command, runs):
        out = json.loads(self.run(*command, "--repeat", str(runs), "--json", "--stats"))
        return out["times"]["median_ms"] * 1e3, out["stats"]["process_peak_resident_bytes"]

    def c(self, name, flags="-march=native"):
        program = os.path.join(self.folder, name)
        self.run("gcc", "-O3", *flags.split(), "-o", program, os.path.join(HERE, "c", name + ".c"), "-lm")
        return program

    def peak(self):
        """The FMA peak of one core in GFLOP/s, at the level that kernels are limited to."""
        level = os.environ.get("RELAYVM_MAX_CPU_LEVEL", "")
        if level not in FLAGS_OF_LEVELS:
            raise SystemExit(f"RELAYVM_MAX_CPU_LEVEL={level}: expected one of {', '.join(filter(None, FLAGS_OF_LEVELS))}")
        return float(self.run(self.c("peak", FLAGS_OF_LEVELS[level])).split()[0])

    def row(self, what, value, bar):
        self.report.row("promises", what, value, bar)

    def wants(self, what):
        return self.args.only in what


def language_models(b):
    models = b.args.models
    if not models or not os.path.isdir(os.path.join(models, "g2p")):
        b.row("g2p, stories260K", "weights not here (--models)", "")
        return
    for name, weights, vm_input, c_args in (
            ("stories", "stories260K/stories260K.bin", ["[1,410,469,347]", "60"], ["60", "30", "1", "410", "469", "347"]),
            ("g2p", "g2p/checkpoint20.npz", ["[10,7,14,14,17,2]"], ["30", "10", "7", "14", "14", "17", "2"])):
        weights = os.path.join(models, weights)
        params, vmx = os.path.join(b.folder, name + ".npz"), os.path.join(b.folder, name + ".vmx")
        script = os.path.join(EXAMPLES, name + ".py")
        b.run("/usr/bin/python3", script, "weights", weights, params)
        b.run(os.path.join(b.args.bin, "relayc"), os.path.join(EXAMPLES, name + ".relay"), "--params", params, "-o", vmx)
        if name == "g2p":
            raw = os.path.join(b.folder, "g2p.raw")
            b.run("/usr/bin/python3", script, "raw", weights, raw)
            weights = raw
        program = b.c(name)
        ratios, ours, theirs = [], [], []
        steps = 60 if name == "stories" else 11
        for _ in range(5):
            theirs.append(float(b.run(program, weights, *c_args).split()[-2]))
            ours.append(steps / b.time(vmx, vm_input, 50)[0] * 1e6)
            ratios.append(ours[-1] / theirs[-1])
        b.row(f"{name}: steps/s, relayvm against plain C", f"{statistics.median(ours):.0f} : {statistics.median(theirs):.0f} = "
              f"{statistics.median(ratios):.2f}", "at least 1.0")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bin")
    ap.add_argument("--models", default="")
    ap.add_argument("--onnx", action="append", default=[])
    ap.add_argument("--relayc-args", default="", help="for the models: --precision bf16, --weights q8")
    ap.add_argument("--tolerance", default=1e-3, type=float, help="of the models' results; fewer bits need more")
    ap.add_argument("--threads", default="1", type=lambda text: [int(n) for n in text.split(",")])
    ap.add_argument("--rounds", default=5, type=int)
    ap.add_argument("--only", default="", help="only rows whose name holds this text")
    ap.add_argument("--every", action="store_true", help="products of the whole grid: 1331 of dense layers")
    ap.add_argument("--json")
    ap.add_argument("--svg")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(args, folder)
        rng = np.random.default_rng(0)
        peak = b.peak()
        b.row("measured fp32 FMA peak of one core", f"{peak:.1f} GFLOP/s", "")
        if b.wants("counter"):
            us, rss = b.time(b.compile(COUNTER), ["10000000"], 3)
            b.row("counter, 10,000,000 turns: a turn", f"{us / 1e4:.2f} ns, {rss / 2**20:.1f} MiB", "at most 15 ns")
        if b.wants("chain"):
            for dynamic, bar in ((False, 0.1), (True, 0.15)):
                us, _ = b.time(b.compile(chain(100, dynamic), options=["-O1"]), ["4xf32=0.5"], 2000)
                b.row(f"chain of 100 ops on f32[4], {'dynamic' if dynamic else 'static'}: an op", f"{us / 100:.4f} us", f"at most {bar} us")
        if b.wants("treelstm"):
            us, _ = b.time(b.compile(TREE), ["5"] + [f"{s}xf32=random" for s in ("1x300", "450x300", "450", "750x300", "750")], 100)
            b.row("treelstm, depth 5", f"{us / 1e3:.3f} ms", "at most 1.0 ms")
        if b.wants("lstm_loop"):
            us, _ = b.time(b.compile(LSTM), [f"{s}xf32=random" for s in ("40x300", "2048x300", "2048x512", "2048")], 30)
            b.row("lstm_loop, 40 tokens", f"{us / 1e3:.3f} ms", "at most 10 ms")
        if b.wants("dense"):
            for m, k, n in ((1024, 1024, 1024), (128, 768, 3072), (128, 3072, 768), (16, 768, 3072)):
                w = {"w": rng.normal(size=(n, k)).astype(np.float32)}
                us, _ = b.time(b.compile(dense(m, k, n), w), [f"{m}x{k}xf32=random"], 30)
                rate = 2 * m * k * n / us / 1e3
                b.row(f"dense {m}x{k}x{n}", f"{rate:.1f} GFLOP/s = {rate / peak:.0%} of peak", "at least 75 %")
        if b.wants("conv2d"):
            w = {"w": rng.normal(size=(64, 64, 3, 3)).astype(np.float32)}
            us, _ = b.time(b.compile(CONV, w), ["1x64x56x56xf32=random"], 30)
            rate = 2 * 64 * 56 * 56 * 64 * 9 / us / 1e3
            b.row("conv2d 1x64x56x56, 64 3x3 filters", f"{rate:.1f} GFLOP/s = {rate / peak:.0%} of peak", "at least 60 %")
        if b.wants("deep"):
            us, rss = b.time(b.compile(DEEP), ["100000"], 3)
            b.row("a tree of depth 100,000 built and folded", f"{us / 1e3:.1f} ms, {rss / 2**20:.0f} MiB", "runs")
        if b.wants("shapes"):
            shapes(b)
        if b.wants("compile"):
            for ops in (100, 400, 1600):
                source, vmx = os.path.join(folder, "chain.relay"), os.path.join(folder, "chain.vmx")
                with open(source, "w") as f:
                    f.write(chain(ops, True))
                start = os.times().elapsed
                b.run(os.path.join(args.bin, "relayc"), source, "-o", vmx, "-O1")
                b.row(f"compile a dynamic chain of {ops} ops, unfused", f"{os.times().elapsed - start:.2f} s", "400 ops: at most 3 s, linear")
        if b.wants("models"):
            language_models(b)
        kernels.run(b, peak, VERSION)
        products.run(b, peak, VERSION)
        memory_bound.run(b, VERSION)
        models.run(b, args.onnx, args.threads)
        if args.json:
            b.report.write_json(args.json)
        if args.svg:
            b.report.write_svg(args.svg)


def shapes(b):
    """300 shapes through one program: memory against the largest run alone."""
    vmx = b.compile(SHAPES)
    out = b.run(os.path.join(b.args.bin, "bench_shapes"), vmx, "300", "300000")
    single, many = map(float, out.split()[:2])
    b.row("300 shapes up to 1.2 MB: resident, against the largest alone", f"{many:.1f} : {single:.1f} MiB = {many / single:.2f}", "at most 1.5")


if __name__ == "__main__":
    main()
