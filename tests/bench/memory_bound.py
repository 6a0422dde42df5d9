"""Norms, resizes, pools, copies: PyTorch's time over ours on one thread, and how time grows with size.

PyTorch is Debian's python3-torch, in a process of its own. Results are compared before they are timed.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SECTION = "memory bound"
SMALL, LARGE = (1, 64, 28, 28), (1, 64, 112, 112)
RESIZE = 'size=[{h2}, {w2}], roi=[0f, 0f, 0f, 0f], layout="NCHW", coordinate_transformation_mode="half_pixel"'
C = ", %{0}: Tensor[({{c}}), float32]"
# Name: the program's further parameters, its body, and the same in PyTorch, with x and the parameters a, b, m, v of a size each.
CASES = {
    "instance norm": ("ab", "nn.instance_norm(%x, %a, %b)", "F.instance_norm(x, weight=a, bias=b, eps=1e-5)"),
    "group norm": ("ab", "nn.group_norm(%x, %a, %b, num_groups=8)", "F.group_norm(x, 8, a, b, 1e-5)"),
    "layer norm of the last axis": ("", "nn.layer_norm(%x, ones(shape=[{w}], dtype=\"float32\"), zeros(shape=[{w}], dtype=\"float32\"))",
                                    "F.layer_norm(x, (x.shape[3],), torch.ones(x.shape[3]), torch.zeros(x.shape[3]), 1e-5)"),
    "batch norm": ("abmv", "nn.batch_norm(%x, %a, %b, %m, %v).0", "F.batch_norm(x, m, v, a, b, eps=1e-5)"),
    "softmax of channels": ("", "nn.softmax(%x, axis=1)", "F.softmax(x, 1)"),
    "softmax of the last axis": ("", "nn.softmax(%x, axis=-1)", "F.softmax(x, -1)"),
    "resize to twice, linear": ("", f"image.resize2d(%x, {RESIZE}, method=\"linear\")",
                                "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)"),
    "resize to twice, nearest": ("", "nn.upsampling(%x, scale_h=2.0f, scale_w=2.0f)", "F.interpolate(x, scale_factor=2, mode='nearest')"),
    "maximum of 3x3, stride 2": ("", "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])", "F.max_pool2d(x, 3, 2, 1)"),
    "average of 2x2, stride 2": ("", "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2])", "F.avg_pool2d(x, 2, 2)"),
    "average of all": ("", "nn.global_avg_pool2d(%x)", "F.adaptive_avg_pool2d(x, 1)"),
    "depth to space": ("", "nn.depth_to_space(%x, block_size=2, mode=\"CRD\")", "F.pixel_shuffle(x, 2)"),
    "NCHW to NHWC": ("", "transpose(%x, axes=[0, 2, 3, 1])", "x.permute(0, 2, 3, 1).contiguous()"),
    "GELU": ("", "multiply(multiply(%x, 0.5f), add(1f, erf(multiply(%x, 0.70710678f))))", "F.gelu(x)"),
    "a row of channels taken": ("", "take(%x, meta_rows, axis=1)", "x[:, torch.arange(x.shape[1] - 1, -1, -1)]"),
}


def program(name, shape):
    params, body, _ = CASES[name]
    sizes = {"c": shape[1], "h": shape[2], "w": shape[3], "h2": 2 * shape[2], "w2": 2 * shape[3]}
    more = "".join(C.format(p).format(**sizes) for p in params)
    body = body.format(**sizes).replace("meta_rows", f"reverse(arange(0, {shape[1]}, 1, dtype=\"int32\"), axis=0)")
    return f"def @main(%x: Tensor[{shape}, float32]{more}) {{ {body} }}\n"


def values(name, shape):
    rng = np.random.default_rng(3)
    out = {"x": rng.uniform(-1, 1, shape)}
    for p in CASES[name][0]:
        out[p] = rng.uniform(0.5, 1.5, shape[1])
    return {k: v.astype(np.float32) for k, v in out.items()}


def peer_main(name, shape, runs, out):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    names = {"torch": torch, "F": F, **{k: torch.from_numpy(v) for k, v in values(name, shape).items()}}
    call = eval(compile(f"lambda: {CASES[name][2]}", "peer", "eval"), names)
    with torch.no_grad():
        np.save(out, call().contiguous().numpy())
        for _ in range(3):
            call()
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    print(json.dumps(statistics.median(times) * 1e6))


def run(b, version):
    b.report.section("Kernels bound by memory, one thread: PyTorch's time over ours")
    python = "/usr/bin/python3"
    with_peer = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    if not with_peer:
        b.report.row(SECTION, "PyTorch", "not here: apt-get install python3-torch")
    for name in CASES:
        if b.wants(name):
            measure(b, version, name, python if with_peer else None)


def measure(b, version, name, python):
    file = lambda n: os.path.join(b.folder, n)
    us = {}
    for shape in (SMALL, LARGE):
        vmx = b.compile(version + program(name, shape))
        inputs = []
        for key, value in values(name, shape).items():
            np.save(file(f"{key}.npy"), value)
            inputs.append(file(f"{key}.npy"))
        b.run(os.path.join(b.args.bin, "vmrun"), vmx, *(a for i in inputs for a in ("--input", i)), "--output", file("y.npy"))
        runs = 2000 if shape is SMALL else 200
        peer = [python, os.path.abspath(__file__), name, json.dumps(shape), str(runs), file("peer.npy")]
        if python:
            b.run(*peer)
            ours, theirs = np.load(file("y.npy")), np.load(file("peer.npy"))
            if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-4, atol=1e-5):
                b.report.row(SECTION, f"{name}, {shape}", "WRONG")
                continue
        times, ratios = [], []
        for _ in range(b.args.rounds):
            times.append(b.time(vmx, inputs, runs)[0])
            if python:
                ratios.append(json.loads(b.run(*peer)) / times[-1])
        us[shape] = statistics.median(times)
        ratio = statistics.median(ratios) if ratios else None
        growth = f", {us[shape] / us[SMALL]:.1f} times for 16 times the elements" if shape is LARGE and SMALL in us else ""
        b.report.row(SECTION, f"{name}, {'x'.join(map(str, shape))}", f"{us[shape]:.1f} us" + (f", {ratio:.2f}" if ratio else "") + growth,
                     "at least 1.0, linear", us=us[shape], ratio=ratio)


if __name__ == "__main__":
    peer_main(sys.argv[1], tuple(json.loads(sys.argv[2])), int(sys.argv[3]), sys.argv[4])
