"""Convolutions and dense products with constant weights: share of the measured peak, and oneDNN's time over ours.

oneDNN is Debian's libdnnl-dev, in its best case (c/onednn.cc). Results are compared before anything is timed.
"""
import os
import statistics
import subprocess

import numpy as np

SECTION = "kernels"


def dense(m, k, n):
    return (f"dense {m}x{k}x{n}", (m, k, 1, 1), (n, 1, 1), 1, 0, 1)


def conv(c, size, o, kernel, stride=1, groups=1, batch=1):
    kind = "depthwise" if groups == c > 1 else "conv"
    name = f"{kind} {batch}x{c}x{size}x{size}, {o} of {kernel}x{kernel}" + (f", stride {stride}" if stride > 1 else "")
    return (name, (batch, c, size, size), (o, kernel, kernel), stride, kernel // 2, groups)


CASES = (
    [dense(*s) for s in ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 768), (128, 768, 3072), (128, 3072, 768))]
    + [dense(m, k, n) for m in (1, 2, 4, 8) for k, n in ((768, 3072), (512, 2048))]
    # resnet50's distinct ones
    + [conv(3, 224, 64, 7, 2)]
    + [conv(*s) for s in ((64, 56, 64, 1), (64, 56, 64, 3), (64, 56, 256, 1), (256, 56, 64, 1), (256, 56, 128, 1), (128, 56, 128, 3, 2),
                          (128, 28, 512, 1), (256, 56, 512, 1, 2), (512, 28, 128, 1), (128, 28, 128, 3), (512, 28, 256, 1), (256, 28, 256, 3, 2),
                          (256, 14, 1024, 1), (512, 28, 1024, 1, 2), (1024, 14, 256, 1), (256, 14, 256, 3), (1024, 14, 512, 1),
                          (512, 14, 512, 3, 2), (512, 7, 2048, 1), (1024, 14, 2048, 1, 2), (2048, 7, 512, 1), (512, 7, 512, 3))]
    # mobilenet_v2's and efficientnet's depthwise ones
    + [conv(c, size, c, 3, stride, c) for c, size, stride in ((32, 112, 1), (96, 112, 2), (144, 56, 1), (144, 56, 2), (192, 28, 1), (384, 14, 1),
                                                              (576, 14, 2), (960, 7, 1))]
    + [conv(c, size, c, 5, stride, c) for c, size, stride in ((144, 56, 2), (240, 28, 1), (480, 14, 1), (672, 14, 2), (1152, 7, 1))]
    + [conv(c, size, o, 3, 1, 1, 8) for c, size, o in ((64, 56, 64), (128, 28, 128), (256, 14, 256), (512, 7, 512))]
)


def program(x, w, stride, pad, groups):
    if x[2:] == (1, 1):
        return f"def @main(%x: Tensor[{x[:2]}, float32], %w: Tensor[({w[0]}, {x[1]}), float32]) {{ nn.dense(%x, %w, units={w[0]}) }}\n"
    return (f"def @main(%x: Tensor[{x}, float32], %w: Tensor[{(w[0], x[1] // groups, w[1], w[2])}, float32]) {{ nn.conv2d(%x, %w, "
            f"strides=[{stride}, {stride}], padding=[{pad}, {pad}, {pad}, {pad}], groups={groups}, channels={w[0]}, kernel_size=[{w[1]}, {w[2]}]) }}\n")


def build_peer(b):
    path = os.path.join(b.folder, "onednn")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "c", "onednn.cc")
    made = subprocess.run(["g++", "-O2", source, "-o", path, "-ldnnl"], capture_output=True, text=True)
    return path if made.returncode == 0 else None


def run(b, peak, version):
    b.report.section("Kernels, one thread: oneDNN's time over ours")
    peer = build_peer(b)
    if peer is None:
        b.report.row(SECTION, "oneDNN", "not here: apt-get install libdnnl-dev")
    rng = np.random.default_rng(0)
    for name, x_shape, w_shape, stride, pad, groups in CASES:
        if b.wants(name):
            measure(b, peak, version, peer, rng, name, x_shape, w_shape, stride, pad, groups)


def measure(b, peak, version, peer, rng, name, x_shape, w_shape, stride, pad, groups):
    file = lambda n: os.path.join(b.folder, n)
    is_dense = x_shape[2:] == (1, 1)
    full_w = (w_shape[0], x_shape[1] // groups) + (() if is_dense else w_shape[1:])
    x = rng.uniform(-1, 1, x_shape[:2] if is_dense else x_shape).astype(np.float32)
    w = rng.uniform(-1, 1, full_w).astype(np.float32)
    np.save(file("x.npy"), x)
    x.tofile(file("x.raw"))
    w.tofile(file("w.raw"))
    vmx = b.compile(version + program(x_shape, w_shape, stride, pad, groups), {"w": w})
    b.run(os.path.join(b.args.bin, "vmrun"), vmx, "--input", file("x.npy"), "--output", file("y.npy"))
    y = np.load(file("y.npy"))
    flops = 2 * y.size * int(np.prod(full_w[1:]))
    runs = int(min(2000, max(10, 3e9 // flops)))
    size = x_shape[2] if not is_dense else 1
    theirs_command = [peer] + [str(v) for v in (x_shape[0], x_shape[1], size, size, w_shape[0], w_shape[1], w_shape[2], stride, stride, pad, pad, 1,
                                                1, groups, runs)] + [file("x.raw"), file("w.raw"), file("y.raw")]
    if peer:
        b.run(*theirs_command, env={"OMP_NUM_THREADS": "1"})
        other = np.fromfile(file("y.raw"), np.float32).reshape(y.shape)
        scale = float(np.abs(other).max())
        worst = float(np.abs(y - other).max())
        if worst > 1e-5 * scale * max(1, np.prod(full_w[1:]) ** 0.5 / 8):
            b.report.row(SECTION, name, f"WRONG: off by {worst:g} of {scale:g}")
            return
    ours, theirs = [], []
    for _ in range(b.args.rounds):
        ours.append(b.time(vmx, [file("x.npy")], runs)[0])
        if peer:
            theirs.append(float(b.run(*theirs_command, env={"OMP_NUM_THREADS": "1"}).split()[0]))
    us = statistics.median(ours)
    rate = flops / us / 1e3
    ratio = statistics.median(t / o for t, o in zip(theirs, ours)) if peer else None
    value = f"{us:9.1f} us, {rate:6.1f} GFLOP/s = {rate / peak:4.0%}" + (f", {ratio:.2f}" if ratio else "")
    b.report.row(SECTION, name, value, us=us, share=rate / peak, ratio=ratio)
