"""What is bound by memory, and functions of an element: PyTorch's time over ours on one thread, GB/s, and how time grows with size.

A kernel's bound is the measured time to copy as many bytes as it reads and writes, and to read or write those that one of the two has more
(c/memory.c). PyTorch is Debian's python3-torch (or BENCH_TORCH_PYTHON's; ATEN_CPU_CAPABILITY=avx2 limits it), in a process of its own.
Results are compared before they are timed.
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
# Name: the program's further parameters, its body, and the same in PyTorch, with x and the parameters: a, b, m, v of a number for each
# channel, w for each column; i and j, indices of all channels and columns from the last on. Then what x holds, where not float32.
CASES = {
    "sum of the last axis": ("", "sum(%x, axis=[3])", "x.sum(3)"),
    "sum of lines": ("", "sum(%x, axis=[2])", "x.sum(2)"),
    "sum of channels": ("", "sum(%x, axis=[1])", "x.sum(1)"),
    "sum of all but channels": ("", "sum(%x, axis=[0, 2, 3])", "x.sum((0, 2, 3))"),
    "sum of all": ("", "sum(%x)", "x.sum()"),
    "maximum of the last axis": ("", "max(%x, axis=[3])", "x.amax(3)"),
    "maximum of channels": ("", "max(%x, axis=[1])", "x.amax(1)"),
    "argmax of the last axis": ("", "argmax(%x, axis=[3])", "x.argmax(3).int()"),
    "argmax of channels": ("", "argmax(%x, axis=[1])", "x.argmax(1).int()"),
    "running sum of the last axis": ("", "cumsum(%x, axis=3)", "x.cumsum(3)"),
    "running sum of channels": ("", "cumsum(%x, axis=1)", "x.cumsum(1)"),
    "instance norm": ("ab", "nn.instance_norm(%x, %a, %b)", "F.instance_norm(x, weight=a, bias=b, eps=1e-5)"),
    "group norm": ("ab", "nn.group_norm(%x, %a, %b, num_groups=8)", "F.group_norm(x, 8, a, b, 1e-5)"),
    "layer norm of the last axis": ("", "nn.layer_norm(%x, ones(shape=[{w}], dtype=\"float32\"), zeros(shape=[{w}], dtype=\"float32\"))",
                                    "F.layer_norm(x, (x.shape[3],), torch.ones(x.shape[3]), torch.zeros(x.shape[3]), 1e-5)"),
    "RMS norm of the last axis": ("", "multiply(%x, rsqrt(add(mean(multiply(%x, %x), axis=[3], keepdims=True), 1e-5f)))",
                                  "x * torch.rsqrt((x * x).mean(3, keepdim=True) + 1e-5)"),
    "batch norm": ("abmv", "nn.batch_norm(%x, %a, %b, %m, %v).0", "F.batch_norm(x, m, v, a, b, eps=1e-5)"),
    "softmax of channels": ("", "nn.softmax(%x, axis=1)", "F.softmax(x, 1)"),
    "softmax of the last axis": ("", "nn.softmax(%x, axis=-1)", "F.softmax(x, -1)"),
    "log-softmax of the last axis": ("", "nn.log_softmax(%x, axis=-1)", "F.log_softmax(x, -1)"),
    "resize to twice, linear": ("", f"image.resize2d(%x, {RESIZE}, method=\"linear\")",
                                "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)"),
    "resize to twice, nearest": ("", "nn.upsampling(%x, scale_h=2.0f, scale_w=2.0f)", "F.interpolate(x, scale_factor=2, mode='nearest')"),
    "maximum of 3x3, stride 2": ("", "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])", "F.max_pool2d(x, 3, 2, 1)"),
    "maximum of 3x3, stride 1": ("", "nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1])", "F.max_pool2d(x, 3, 1, 1)"),
    "average of 2x2, stride 2": ("", "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2])", "F.avg_pool2d(x, 2, 2)"),
    "average of all": ("", "nn.global_avg_pool2d(%x)", "F.adaptive_avg_pool2d(x, 1)"),
    "depth to space": ("", "nn.depth_to_space(%x, block_size=2, mode=\"CRD\")", "F.pixel_shuffle(x, 2)"),
    "NCHW to NHWC": ("", "transpose(%x, axes=[0, 2, 3, 1])", "x.permute(0, 2, 3, 1).contiguous()"),
    "NCHW to NHWC, int8": ("", "transpose(%x, axes=[0, 2, 3, 1])", "x.permute(0, 2, 3, 1).contiguous()", "int8"),
    "NCHW to NHWC, float16": ("", "transpose(%x, axes=[0, 2, 3, 1])", "x.permute(0, 2, 3, 1).contiguous()", "float16"),
    "NHWC to NCHW": ("", "transpose(%x, axes=[0, 3, 1, 2])", "x.permute(0, 3, 1, 2).contiguous()"),
    "lines and columns exchanged": ("", "transpose(%x, axes=[0, 1, 3, 2])", "x.transpose(2, 3).contiguous()"),
    "heads (axes 1 and 2 exchanged)": ("", "transpose(%x, axes=[0, 2, 1, 3])", "x.permute(0, 2, 1, 3).contiguous()"),
    "axes reversed": ("", "transpose(%x, axes=[3, 2, 1, 0])", "x.permute(3, 2, 1, 0).contiguous()"),
    "channels concatenated": ("", "concatenate((%x, %x), axis=1)", "torch.cat((x, x), 1)"),
    "columns concatenated": ("", "concatenate((%x, %x), axis=3)", "torch.cat((x, x), 3)"),
    "columns split": ("", "split(%x, indices_or_sections=2, axis=3).1", "x.chunk(2, 3)[1].contiguous()"),
    "a frame of zeros": ("", "nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])", "F.pad(x, (1, 1, 1, 1))"),
    "every second element": ("", "strided_slice(%x, begin=[0, 0], end=[{h}, {w}], strides=[2, 2], axes=[2, 3])", "x[:, :, ::2, ::2].contiguous()"),
    "channels taken": ("i", "take(%x, %i, axis=1)", "x.index_select(1, i)"),
    "columns taken": ("j", "take(%x, %j, axis=3)", "x.index_select(3, j)"),
    "cast to float16": ("", 'cast(%x, dtype="float16")', "x.half()"),
    "cast to int32": ("", 'cast(%x, dtype="int32")', "x.int()"),
    "cast from uint8": ("", 'cast(%x, dtype="float32")', "x.float()", "uint8"),
    "a number a channel added": ("a", "add(%x, reshape(%a, newshape=[1, {c}, 1, 1]))", "x + a[:, None, None]"),
    "a number a column added": ("w", "add(%x, %w)", "x + w"),
    "where": ("", "where(greater(%x, 0f), %x, multiply(%x, 0.1f))", "torch.where(x > 0, x, x * 0.1)"),
    "copy": ("", "copy(%x)", "x.clone()"),
    "exp": ("", "exp(%x)", "x.exp()"),
    "tanh": ("", "tanh(%x)", "x.tanh()"),
    "erf": ("", "erf(%x)", "x.erf()"),
    "sigmoid": ("", "sigmoid(%x)", "x.sigmoid()"),
    "SiLU": ("", "multiply(%x, sigmoid(%x))", "F.silu(x)"),
    "GELU": ("", "multiply(multiply(%x, 0.5f), add(1f, erf(multiply(%x, 0.70710678f))))", "F.gelu(x)"),
    "a row of channels taken": ("", "take(%x, meta_rows, axis=1)", "x[:, torch.arange(x.shape[1] - 1, -1, -1)]"),
}


def dtype_of(name):
    return CASES[name][3] if len(CASES[name]) > 3 else "float32"


def program(name, shape):
    params, body = CASES[name][:2]
    sizes = {"c": shape[1], "h": shape[2], "w": shape[3], "h2": 2 * shape[2], "w2": 2 * shape[3]}
    more = "".join(f", %{p}: Tensor[({shape[3 if p in 'wj' else 1]}), {'int32' if p in 'ij' else 'float32'}]" for p in params)
    body = body.format(**sizes).replace("meta_rows", f"reverse(arange(0, {shape[1]}, 1, dtype=\"int32\"), axis=0)")
    return f"def @main(%x: Tensor[{shape}, {dtype_of(name)}]{more}) {{ {body} }}\n"


def values(name, shape):
    rng = np.random.default_rng(3)
    dtype = dtype_of(name)
    out = {"x": (rng.uniform(0, 100, shape) if "int" in dtype else rng.uniform(-1, 1, shape)).astype(dtype)}
    for p in CASES[name][0]:
        size = shape[3 if p in "wj" else 1]
        out[p] = np.arange(size, dtype=np.int32)[::-1].copy() if p in "ij" else rng.uniform(0.5, 1.5, size).astype(np.float32)
    return out


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
    b.report.section("Kernels bound by memory, one thread: PyTorch's time over ours, and the share of a copy's speed")
    python = os.environ.get("BENCH_TORCH_PYTHON", "/usr/bin/python3")
    with_peer = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    if not with_peer:
        b.report.row(SECTION, "PyTorch", "not here: apt-get install python3-torch")
    memory = b.c("memory")
    for name in CASES:
        if b.wants(name):
            measure(b, version, name, memory, python if with_peer else None)


def bound_of(b, memory, read, written):
    """Microseconds for so many bytes, by what the machine's memory does."""
    both, more = min(read, written), abs(read - written)
    copied, one = (list(map(float, line.split())) for line in b.run(memory, str(both), str(more)).splitlines())
    return copied[0] + one[1 if read > written else 2]


def measure(b, version, name, memory, python):
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
        read = sum(v.nbytes for v in values(name, shape).values())
        written = np.load(file("y.npy"), mmap_mode="r").nbytes
        bound = bound_of(b, memory, read, written)
        us[shape] = statistics.median(times)
        ratio = statistics.median(ratios) if ratios else None
        growth = f", {us[shape] / us[SMALL]:.1f} times for 16 times the elements" if shape is LARGE and SMALL in us else ""
        b.report.row(SECTION, f"{name}, {'x'.join(map(str, shape))}", f"{us[shape]:.1f} us" + (f", {ratio:.2f}" if ratio else "")
                     + f", {(read + written) / us[shape] / 1e3:.0f} GB/s, {bound / us[shape]:4.0%}" + growth,
                     "at least 1.0, 70 %, linear", us=us[shape], ratio=ratio, share=bound / us[shape])


if __name__ == "__main__":
    peer_main(sys.argv[1], tuple(json.loads(sys.argv[2])), int(sys.argv[3]), sys.argv[4])
