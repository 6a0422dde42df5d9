"""Dense products, batches of products and attention, float32: share of the level's measured peak, and oneDNN's time over ours.

Extents are those of GRID (128 and more, odd ones too) and FEW rows. `dense` has constant weights, `matmul` two computed operands in any order
of theirs; oneDNN (c/onednn_matmul.cc) packs constant weights as it likes before the clock starts. Attention is shown against the peak alone: its
FLOP are those of the two products.
"""
import itertools
import math
import os
import statistics
from dataclasses import dataclass

import numpy as np

from kernels import build_peer, time_beside

SECTION = "products"
GRID = (128, 256, 384, 512, 768, 1024, 2048, 3072)
ODD = (130, 197, 1000)
FEW = (1, 2, 4, 8, 16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Matmul:
    """batch times m x k by k x n; `constant`: one n x k of weights for dense."""

    m: int
    k: int
    n: int
    batch: int = 1
    constant: bool = True
    transpose_a: bool = False
    transpose_b: bool = True

    @property
    def is_large(self):
        return min(self.m, self.k, self.n) >= 128

    @property
    def group(self):
        kind = "dense" if self.constant else f"matmul {'t' if self.transpose_a else 'n'}{'t' if self.transpose_b else 'n'}"
        return f"{kind}, {'all extents of 128 and more' if self.is_large else 'few rows' if self.m <= 64 else 'small'}"

    @property
    def name(self):
        batch = f"{self.batch}x" if self.batch > 1 else ""
        return f"{self.group.split(',')[0]} {batch}{self.m}x{self.k}x{self.n}"

    @property
    def a_shape(self):
        return (self.batch, *((self.k, self.m) if self.transpose_a else (self.m, self.k)))

    @property
    def b_shape(self):
        return (self.batch, *((self.n, self.k) if self.transpose_b else (self.k, self.n)))

    @property
    def flops(self):
        return 2 * self.batch * self.m * self.k * self.n

    def program(self):
        if self.constant:
            return (f"def @main(%a: Tensor[{self.a_shape[1:]}, float32], %b: Tensor[{self.b_shape[1:]}, float32]) "
                    f"{{ nn.dense(%a, %b, units={self.n}) }}\n")
        return (f"def @main(%a: Tensor[{self.a_shape}, float32], %b: Tensor[{self.b_shape}, float32]) "
                f"{{ nn.batch_matmul(%a, %b, transpose_a={self.transpose_a}, transpose_b={self.transpose_b}) }}\n")


@dataclass(frozen=True)
class Attention:
    """`heads` times queries x depth by keys x depth, positions before heads as models have them; a mask of (queries, keys) is added."""

    heads: int
    queries: int
    keys: int
    depth: int
    has_mask: bool = False
    is_open: bool = False  # the lengths are known when it runs

    @property
    def group(self):
        return "attention"

    @property
    def name(self):
        notes = (", mask" if self.has_mask else "") + (", open" if self.is_open else "")
        return f"attention {self.heads}x{self.queries}x{self.keys}x{self.depth}{notes}"

    @property
    def flops(self):
        return 4 * self.heads * self.queries * self.keys * self.depth

    @property
    def shapes(self):
        q, k = (1, self.queries, self.heads, self.depth), (1, self.keys, self.heads, self.depth)
        return [q, k, k] + ([(self.queries, self.keys)] if self.has_mask else [])

    def program(self):
        q, k = ("?", "?") if self.is_open else (self.queries, self.keys)
        heads = f"({{}}, {self.heads}, {self.depth})".replace("({}", "(1, {}")
        types = [heads.format(q), heads.format(k), heads.format(k)] + ([f"({q}, {k})"] if self.has_mask else [])
        names = "qkvm"[:len(types)]
        params = ", ".join(f"%{n}: Tensor[{t}, float32]" for n, t in zip(names, types))
        score = ", score=\"add\"" if self.has_mask else ""
        args = ", ".join(f"%{n}" for n in names)
        return (f"def @main({params}) {{ nn.attention({args}, q_layout=\"BSHD\", k_layout=\"BSHD\", v_layout=\"BSHD\", out_layout=\"BSHD\""
                f"{score}) }}\n")


def cases(every):
    """A slice of the grid; `every`: all of it."""
    rows = GRID + ODD if every else (128, 197, 384, 1024)
    others = GRID + ODD if every else (128, 256, 768, 1000, 3072)
    all_cases = [Matmul(m, k, n) for m, k, n in itertools.product(rows, others, others)]
    all_cases += [Matmul(m, k, n) for m in FEW for k, n in ((768, 768), (768, 3072), (3072, 768), (1024, 1024), (512, 2048))]
    shapes = [(1, 512, 512, 512), (1, 1024, 1024, 1024), (1, 128, 768, 3072), (1, 128, 3072, 768), (12, 128, 128, 128), (12, 384, 128, 384),
              (8, 197, 256, 197), (16, 130, 1000, 130), (12, 16, 768, 768), (12, 64, 512, 512), (1, 1, 768, 3072), (1, 32, 768, 3072)]
    all_cases += [Matmul(m, k, n, batch, False, a, b) for a, b in itertools.product((False, True), repeat=2) for batch, m, k, n in shapes]
    all_cases += [Attention(heads, length, length, depth, has_mask, is_open) for heads, length, depth in (
        (12, 128, 64), (12, 384, 64), (8, 197, 64), (16, 1024, 64), (8, 512, 128), (8, 256, 40), (12, 16, 64))
        for has_mask in (False, True) for is_open in (False, True)]
    all_cases += [Attention(12, 1, keys, 64) for keys in (128, 1024)]
    return all_cases


class Products:
    def __init__(self, b, peak, version):
        self.b, self.peak, self.version = b, peak, version
        self.rng = np.random.default_rng(0)
        self.peer = build_peer(b, "onednn_matmul")

    def file(self, name):
        return os.path.join(self.b.folder, name)

    def arrays(self, shapes):
        return [self.rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]

    def attention(self, case):
        arrays = self.arrays(case.shapes)
        for name, array in zip("qkvm", arrays):
            np.save(self.file(name + ".npy"), array)
        vmx = self.b.compile(self.version + case.program())
        q, k, v = (a[0].transpose(1, 0, 2).astype(np.float64) for a in arrays[:3])
        scores = q @ k.transpose(0, 2, 1) + (arrays[3] if case.has_mask else 0)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = (weights / weights.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2)[None]
        return vmx, [self.file(name + ".npy") for name in "qkvm"[:len(arrays)]], expected, None

    def matmul(self, case, runs):
        a, b = self.arrays((case.a_shape, case.b_shape))
        if case.constant:
            a, b = a[0], b[0]
        np.save(self.file("a.npy"), a)
        np.save(self.file("b.npy"), b)
        vmx = self.b.compile(self.version + case.program(), {"b": b} if case.constant else None)
        inputs = [self.file("a.npy")] + ([] if case.constant else [self.file("b.npy")])
        command = None
        if self.peer:
            numbers = (case.batch, case.m, case.k, case.n, int(case.transpose_a), int(case.transpose_b), int(case.constant), runs)
            command = [self.peer, *map(str, numbers)]
        expected = (np.swapaxes(a, -1, -2) if case.transpose_a else a) @ (np.swapaxes(b, -1, -2) if case.transpose_b else b)
        return vmx, inputs, expected, command

    def measure(self, case):
        """The row's figures, or nothing when it is wrong."""
        runs = int(min(2000, max(5, 3e9 // case.flops)))
        vmx, inputs, expected, command = self.attention(case) if isinstance(case, Attention) else self.matmul(case, runs)
        given = [part for i in inputs for part in ("--input", i)]
        self.b.run(os.path.join(self.b.args.bin, "vmrun"), vmx, *given, "--output", self.file("y.npy"))
        worst, scale = float(np.abs(np.load(self.file("y.npy")) - expected).max()), float(np.abs(expected).max())
        if not worst <= 1e-4 * scale:
            self.b.report.row(SECTION, case.name, f"WRONG: off by {worst:g} of {scale:g}")
            return None
        return time_beside(self.b, SECTION, case, self.peak, lambda: self.b.time(vmx, inputs, runs)[0], command)

    def summary(self, group, rows):
        """The least share of the peak and the average by FLOP; the least ratio and the geometric mean."""
        share = sum(r["flops"] for r in rows) / sum(r["us"] for r in rows) / 1e3 / self.peak
        least = min(r["share"] for r in rows)
        ratios = [r["ratio"] for r in rows if r["ratio"]]
        mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
        value = f"{least:.0%} at least, {share:.0%} by FLOP" + (f"; {min(ratios):.2f}, {mean:.2f}" if mean else "")
        bar = "75 %" if group == "attention" else "88 % (AVX2), 90 % (AVX-512)" if "128" in group else "1.0 from 16 rows on and of 1"
        self.b.report.row(SECTION, f"{group}: {len(rows)}", value, bar, share=share, least_share=least, mean_ratio=mean)


def run(b, peak, version):
    b.report.section("Products and attention, one thread: oneDNN's time over ours")
    p = Products(b, peak, version)
    groups = {}
    for case in cases(b.args.every):
        if b.wants(case.name):
            groups.setdefault(case.group, []).append(p.measure(case))
    for group, rows in groups.items():
        rows = [r for r in rows if r]
        if len(rows) > 1:
            p.summary(group, rows)
