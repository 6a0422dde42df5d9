"""Convolutions and dense products with constant weights: share of the measured peak, and oneDNN's time over ours.

oneDNN is Debian's libdnnl-dev, in its best case (c/onednn.cc), whatever layout ours has. Results are compared before anything is timed.
"""
import math
import os
import statistics
import subprocess
from dataclasses import dataclass, replace

import numpy as np

SECTION = "kernels"


@dataclass(frozen=True)
class Product:
    """A dense product of batch x c by o x c (size 1), or a convolution of o square windows over batch x c x size x size; of
    lines, over batch x c x size."""

    kind: str
    c: int
    size: int
    o: int
    kernel: int
    stride: int = 1
    groups: int = 1
    batch: int = 1
    layout: str = "NCHW"
    is_transposed: bool = False
    is_line: bool = False

    @property
    def group(self):
        """What rows are averaged together."""
        return "dense" if self.kind == "dense" else f"{self.kind} {self.layout}, N = {self.batch}"

    @property
    def name(self):
        if self.kind == "dense":
            return f"dense {self.batch}x{self.c}x{self.o}"
        stride = f", stride {self.stride}" if self.stride > 1 else ""
        groups = f", {self.groups} groups" if 1 < self.groups < self.c else ""
        size, kernel = (f"{n}" if self.is_line else f"{n}x{n}" for n in (self.size, self.kernel))
        return f"{self.group}: {self.c}x{size}, {self.o} of {kernel}{stride}{groups}"

    @property
    def axes(self):
        """Those of space."""
        return 1 if self.is_line else 2

    @property
    def pad(self):
        return self.kernel // 2 if self.kernel % 2 else (self.kernel - self.stride) // 2

    @property
    def x_shape(self):
        """In the order of NCHW."""
        return (self.batch, self.c) if self.kind == "dense" else (self.batch, self.c, *[self.size] * self.axes)

    @property
    def w_shape(self):
        """In the order of OIHW; of IOHW for a transposed one."""
        if self.kind == "dense":
            return (self.o, self.c)
        channels = (self.c, self.o) if self.is_transposed else (self.o, self.c // self.groups)
        return (*channels, *[self.kernel] * self.axes)

    @property
    def flops(self):
        positions = self.batch * (self.size if self.is_transposed else -(-self.size // self.stride)) ** self.axes
        return 2 * positions * math.prod(self.w_shape)

    @property
    def to_program(self):
        """Axes of NCHW in the program's order."""
        is_last = self.layout == "NHWC" and self.kind != "dense"
        return (0, *range(2, 2 + self.axes), 1) if is_last else tuple(range(len(self.x_shape)))

    def weights(self, w):
        """`w` of OIHW as the program takes it."""
        if self.layout == "NCHW" or self.kind == "dense":
            return w
        return np.ascontiguousarray(w.transpose((*range(2, 2 + self.axes), *((0, 1) if self.groups == self.c else (1, 0)))))

    def program(self):
        x = tuple(self.x_shape[i] for i in self.to_program)
        w = self.weights(np.empty(self.w_shape, np.int8)).shape
        params = f"%x: Tensor[{x}, float32], %w: Tensor[{w}, float32]"
        if self.kind == "dense":
            return f"def @main({params}) {{ nn.dense(%x, %w, units={self.o}) }}\n"
        operator = f"nn.conv{self.axes}d{'_transpose' if self.is_transposed else ''}"
        letters = "W" if self.is_line else "HW"
        kernel = f"{letters}{'OI' if self.groups == self.c else 'IO'}"
        layouts = f', data_layout="N{letters}C", kernel_layout="{kernel}"' if self.layout == "NHWC" else ""
        strides, sizes = [self.stride] * self.axes, [self.kernel] * self.axes
        return (f"def @main({params}) {{ {operator}(%x, %w, strides={strides}, padding={[self.pad] * 2 * self.axes}, "
                f"groups={self.groups}, channels={self.o}, kernel_size={sizes}{layouts}) }}\n")


DENSE = ([Product("dense", k, 1, n, 1, batch=m) for m, k, n in ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 768),
                                                                (128, 768, 3072), (128, 3072, 768))]
         + [Product("dense", k, 1, n, 1, batch=m) for m in (1, 2, 4, 8) for k, n in ((768, 3072), (512, 2048))])
# The distinct ones of resnet50; the depthwise ones of mobilenet_v2 and efficientnet.
CONVOLUTIONS = (
    [Product("conv", *s) for s in ((3, 224, 64, 7, 2), (64, 56, 64, 1), (64, 56, 64, 3), (64, 56, 256, 1), (256, 56, 64, 1), (256, 56, 128, 1),
                                   (128, 56, 128, 3, 2), (128, 28, 512, 1), (256, 56, 512, 1, 2), (512, 28, 128, 1), (128, 28, 128, 3),
                                   (512, 28, 256, 1), (256, 28, 256, 3, 2), (256, 14, 1024, 1), (512, 28, 1024, 1, 2), (1024, 14, 256, 1),
                                   (256, 14, 256, 3), (1024, 14, 512, 1), (512, 14, 512, 3, 2), (512, 7, 2048, 1), (1024, 14, 2048, 1, 2),
                                   (2048, 7, 512, 1), (512, 7, 512, 3))]
    + [Product("depthwise 3x3", c, size, c, 3, stride, c) for c, size, stride in ((32, 112, 1), (96, 112, 2), (144, 56, 1), (144, 56, 2),
                                                                                  (192, 28, 1), (384, 14, 1), (576, 14, 2), (960, 7, 1))]
    + [Product("depthwise 5x5", c, size, c, 5, stride, c) for c, size, stride in ((144, 56, 2), (240, 28, 1), (480, 14, 1), (672, 14, 2),
                                                                                  (1152, 7, 1))]
    # Of images and of detectors; grouped ones of shufflenet and resnext; of sound.
    + [Product("first", 3, size, o, k, 2) for size, o, k in ((224, 32, 3), (224, 16, 3), (224, 24, 3), (320, 16, 6), (112, 64, 3))]
    + [Product("first", c, size, 16, 3) for c, size in ((1, 112), (12, 208))]
    + [Product("grouped 1x1", c, size, c, 1, 1, 4) for c, size in ((136, 28), (272, 14), (544, 7))]
    + [Product("grouped 3x3", c, size, c, 3, 1, 32) for c, size in ((128, 56), (256, 28), (512, 14))]
    + [Product("line", c, size, o, k, stride, is_line=True) for c, size, o, k, stride in (
        (80, 1500, 384, 3, 1), (384, 1500, 384, 3, 2), (192, 256, 192, 5, 1), (1, 16000, 64, 16, 8), (64, 1000, 128, 1, 1))]
)
# Transposed convolutions of decoders, and the plain ones whose gradients they are, of as many multiply-adds.
TRANSPOSED = [(Product("transposed", c, size, o, k, stride, is_transposed=True), Product("plain", o, size * stride, c, k, stride))
              for c, size, o, k, stride in ((256, 14, 128, 4, 2), (128, 28, 64, 4, 2), (64, 56, 32, 4, 2), (64, 56, 64, 2, 2), (128, 28, 64, 3, 2), (128, 28, 128, 3, 1))]
CASES = DENSE + [replace(c, layout=layout, batch=batch) for layout in ("NCHW", "NHWC") for batch in (1, 8) for c in CONVOLUTIONS]


class Kernels:
    def __init__(self, b, peak, version):
        self.b, self.peak, self.version = b, peak, version
        self.rng = np.random.default_rng(0)
        self.peer = build_peer(b)

    def file(self, name):
        return os.path.join(self.b.folder, name)

    def build(self, case):
        """Compiles it and runs it once; its weights in OIHW, its input, and its result in NCHW."""
        x = self.rng.uniform(-1, 1, case.x_shape).astype(np.float32)
        w = self.rng.uniform(-1, 1, case.w_shape).astype(np.float32)
        np.save(self.file("x.npy"), np.ascontiguousarray(x.transpose(case.to_program)))
        vmx = self.b.compile(self.version + case.program(), {"w": case.weights(w)})
        self.b.run(os.path.join(self.b.args.bin, "vmrun"), vmx, "--input", self.file("x.npy"), "--output", self.file("y.npy"))
        return vmx, x, w, np.load(self.file("y.npy")).transpose(np.argsort(case.to_program))

    def ours(self, vmx, runs):
        return self.b.time(vmx, [self.file("x.npy")], runs)[0]

    def measure(self, case):
        """The row's figures, or nothing when it is wrong."""
        vmx, x, w, y = self.build(case)
        runs = int(min(2000, max(10, 3e9 // case.flops)))
        command = None
        if self.peer and not case.is_transposed:
            x.tofile(self.file("x.raw"))
            w.tofile(self.file("w.raw"))
            height = (1, 1, 0) if case.is_line else (case.kernel, case.stride, case.pad)
            numbers = (case.batch, case.c, 1 if case.is_line else case.size, case.size, case.o, height[0], case.kernel, height[1], case.stride,
                       height[2], case.pad, 1, 1, case.groups, runs)
            command = [self.peer, *map(str, numbers), self.file("x.raw"), self.file("w.raw"), self.file("y.raw")]
            self.b.run(*command, env={"OMP_NUM_THREADS": "1"})
            other = np.fromfile(self.file("y.raw"), np.float32).reshape(y.shape)
            scale, worst = float(np.abs(other).max()), float(np.abs(y - other).max())
            if worst > 1e-5 * scale * max(1, math.prod(case.w_shape[1:]) ** 0.5 / 8):
                self.b.report.row(SECTION, case.name, f"WRONG: off by {worst:g} of {scale:g}")
                return None
        return time_beside(self.b, SECTION, case, self.peak, lambda: self.ours(vmx, runs), command)

    def summary(self, group, rows):
        """Share of the peak, averaged by FLOP, and the geometric mean of ratios."""
        share = sum(r["flops"] for r in rows) / sum(r["us"] for r in rows) / 1e3 / self.peak
        ratios = [r["ratio"] for r in rows if r["ratio"]]
        mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None
        self.b.report.row(SECTION, f"{group}: all", f"{share:4.0%} of peak by FLOP" + (f", {mean:.2f}" if mean else ""), "85 %, 1.0",
                          share=share, mean_ratio=mean)


def time_beside(b, section, case, peak, ours, command):
    """The row's figures: `ours` gives microseconds, `command` runs the peer in turn and prints its own; None: there is none."""
    own, theirs = [], []
    for _ in range(b.args.rounds):
        own.append(ours())
        if command:
            theirs.append(float(b.run(*command, env={"OMP_NUM_THREADS": "1"}).split()[0]))
    us = statistics.median(own)
    figures = {"us": us, "share": case.flops / us / 1e3 / peak, "flops": case.flops,
               "ratio": statistics.median(t / o for t, o in zip(theirs, own)) if command else None}
    value = f"{us:9.1f} us, {case.flops / us / 1e3:6.1f} GFLOP/s = {figures['share']:4.0%}"
    b.report.row(section, case.name, value + (f", {figures['ratio']:.2f}" if command else ""), **figures)
    return figures


def build_peer(b, name="onednn"):
    path = os.path.join(b.folder, name)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "c", name + ".cc")
    made = subprocess.run(["g++", "-O2", source, "-o", path, "-ldnnl"], capture_output=True, text=True)
    return path if made.returncode == 0 else None


def run(b, peak, version):
    b.report.section("Kernels, one thread: oneDNN's time over ours")
    k = Kernels(b, peak, version)
    if k.peer is None:
        b.report.row(SECTION, "oneDNN", "not here: apt-get install libdnnl-dev")
    groups = {}
    for case in CASES:
        if b.wants(case.name):
            groups.setdefault(case.group, []).append(k.measure(case))
    for group, rows in groups.items():
        rows = [r for r in rows if r]
        if len(rows) > 1:
            k.summary(group, rows)
    for transposed, plain in TRANSPOSED:
        if not b.wants(transposed.name):
            continue
        first, second = k.measure(transposed), k.measure(plain)
        b.report.row(SECTION, f"{transposed.name}: speed against the plain one's", f"{first['share'] / second['share']:.2f}", "0.8")
