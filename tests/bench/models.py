"""ONNX models: ONNX Runtime's time over ours on the same file, in one run; compile time, size, resident memory.

ONNX Runtime is a shared library, named by the environment variable ORT_LIBRARY; without it our figures stand alone. It is called by
its C API's table of functions (onnxruntime_c_api.h, which only grows), at the positions below.
"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SECTION = "models"
GET_ERROR, CREATE_ENV, CREATE_SESSION, RUN, CREATE_OPTIONS, SET_THREADS = 2, 3, 7, 9, 10, 24
OUTPUT_COUNT, OUTPUT_NAME, CREATE_TENSOR, TENSOR_DATA = 31, 37, 49, 51
SHAPE_ELEMENTS, TYPE_AND_SHAPE, CPU_MEMORY, DEFAULT_ALLOCATOR, RELEASE_VALUE, RELEASE_SHAPE = 64, 65, 69, 78, 96, 99
API_VERSION = 17
CODES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}
Pointer = ctypes.c_void_p


class Peer:
    """A session of ONNX Runtime with all its optimisations."""

    def __init__(self, path, threads):
        library = ctypes.CDLL(os.environ["ORT_LIBRARY"])
        library.OrtGetApiBase.restype = Pointer
        get_api = ctypes.cast(library.OrtGetApiBase(), ctypes.POINTER(Pointer))[0]
        self.table = ctypes.cast(ctypes.CFUNCTYPE(Pointer, ctypes.c_uint32)(get_api)(API_VERSION), ctypes.POINTER(Pointer))
        env, options, self.session, self.memory, allocator = (Pointer() for _ in range(5))
        self.call(CREATE_ENV, ctypes.c_int(3), ctypes.c_char_p(b"bench"), ctypes.byref(env))
        self.call(CREATE_OPTIONS, ctypes.byref(options))
        self.call(SET_THREADS, options, ctypes.c_int(threads))
        self.call(CREATE_SESSION, env, ctypes.c_char_p(path.encode()), options, ctypes.byref(self.session))
        self.call(CPU_MEMORY, ctypes.c_int(0), ctypes.c_int(0), ctypes.byref(self.memory))
        self.call(DEFAULT_ALLOCATOR, ctypes.byref(allocator))
        count = ctypes.c_size_t()
        self.call(OUTPUT_COUNT, self.session, ctypes.byref(count))
        self.outputs = []
        for i in range(count.value):
            name = ctypes.c_char_p()
            self.call(OUTPUT_NAME, self.session, ctypes.c_size_t(i), allocator, ctypes.byref(name))
            self.outputs.append(name.value)

    def function(self, index, *types, result=Pointer):
        return ctypes.CFUNCTYPE(result, *types)(self.table[index])

    def call(self, index, *args):
        types = [type(a) if isinstance(a, ctypes._SimpleCData) else Pointer for a in args]
        status = self.function(index, *types)(*args)
        if status:
            raise RuntimeError(self.function(GET_ERROR, Pointer, result=ctypes.c_char_p)(status).decode())

    def bind(self, inputs):
        self.arrays = [np.asarray(a, order="C") for a in inputs.values()]  # ascontiguousarray gives scalars a dim
        self.values = []
        for a in self.arrays:
            value, shape = Pointer(), (ctypes.c_int64 * a.ndim)(*a.shape)
            self.call(CREATE_TENSOR, self.memory, Pointer(a.ctypes.data), ctypes.c_size_t(a.nbytes), shape, ctypes.c_size_t(a.ndim),
                      ctypes.c_int(CODES[str(a.dtype)]), ctypes.byref(value))
            self.values.append(value)
        self.c_names = (ctypes.c_char_p * len(inputs))(*[n.encode() for n in inputs])
        self.c_values = (Pointer * len(inputs))(*self.values)
        self.c_outputs = (ctypes.c_char_p * len(self.outputs))(*self.outputs)
        self.release = self.function(RELEASE_VALUE, Pointer, result=None)

    def run(self):
        """Output values, which the caller releases."""
        results = (Pointer * len(self.outputs))()
        self.call(RUN, self.session, Pointer(), self.c_names, self.c_values, ctypes.c_size_t(len(self.values)), self.c_outputs,
                  ctypes.c_size_t(len(self.outputs)), results)
        return results

    def floats(self, value):
        """The elements of a float32 tensor, flat."""
        shape, count, data = Pointer(), ctypes.c_size_t(), Pointer()
        self.call(TYPE_AND_SHAPE, Pointer(value), ctypes.byref(shape))
        self.call(SHAPE_ELEMENTS, shape, ctypes.byref(count))
        self.function(RELEASE_SHAPE, Pointer, result=None)(shape)
        self.call(TENSOR_DATA, Pointer(value), ctypes.byref(data))
        return np.ctypeslib.as_array(ctypes.cast(data, ctypes.POINTER(ctypes.c_float)), (count.value,)).copy()


def peer_main(path, inputs, threads, runs, out):
    """In a process of its own: microseconds of a run, resident memory; writes the first output."""
    peer = Peer(path, threads)
    peer.bind(dict(np.load(inputs)))
    results = peer.run()
    np.save(out, peer.floats(results[0]))
    for r in results:
        peer.release(r)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        results = peer.run()
        times.append(time.perf_counter() - start)
        for r in results:
            peer.release(r)
    with open("/proc/self/status") as f:
        peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    print(json.dumps({"us": statistics.median(times) * 1e6, "peak_kib": peak}))


def random_inputs(b, vmx, dims):
    """A value for each parameter of the model, by the types that vmdump shows; `dims` has sizes by dim and scalars by parameter."""
    exported = json.loads(b.run(os.path.join(b.args.bin, "vmdump"), "--json", vmx))["program"]["exports"][0]
    rng, inputs = np.random.default_rng(1), {}
    for p in exported["params"]:
        is_scalar = not p["type"].startswith("Tensor")
        shape, dtype = ("", p["type"]) if is_scalar else p["type"][len("Tensor[("):-1].rsplit("), ", 1)
        sizes = []
        for d in filter(None, (d.strip() for d in shape.split(","))):
            if not d.isdigit() and d not in dims:
                raise SystemExit(f"{vmx}: give the size of dim '{d}' of {p['name']}: MODEL.onnx:{d}=1")
            sizes.append(int(d) if d.isdigit() else dims[d])
        if is_scalar and p["name"] in dims:
            inputs[p["name"]] = np.asarray(dims[p["name"]], dtype)
        elif dtype.startswith("float"):
            inputs[p["name"]] = np.asarray(rng.uniform(-1, 1, sizes), dtype)
        else:
            inputs[p["name"]] = np.asarray(rng.integers(0, 2 if dtype == "bool" else 100, sizes), dtype)
    return inputs


def run(b, specs, threads):
    b.report.section("ONNX models: ONNX Runtime's time over ours")
    with_peer = bool(os.environ.get("ORT_LIBRARY"))
    if not with_peer:
        b.report.row(SECTION, "ONNX Runtime", "not here: ORT_LIBRARY names its shared library")
    for spec in specs:
        path, _, rest = spec.partition(":")
        if not b.wants(path):
            continue
        dims = {k: int(v) for k, v in (pair.split("=") for pair in rest.split(",") if pair)}
        measure(b, path, dims, threads, with_peer)


def measure(b, path, dims, threads, with_peer):
    file = lambda n: os.path.join(b.folder, n)
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    name = (folder if stem == "model" else stem) + "".join(f" {k}={v}" for k, v in dims.items())
    vmx = file("model.vmx")
    start = time.perf_counter()
    options = b.args.relayc_args.split()
    b.run(os.path.join(b.args.bin, "relayc"), path, "-o", vmx, *options)
    name = " ".join([name] + options)
    compile_s = time.perf_counter() - start
    inputs = random_inputs(b, vmx, dims)
    arguments = []
    for i, (parameter, value) in enumerate(inputs.items()):
        np.save(file(f"in{i}.npy"), value)
        arguments.append(f"{parameter}={file(f'in{i}.npy')}")
    np.savez(file("inputs.npz"), **inputs)
    vmrun = [os.path.join(b.args.bin, "vmrun"), vmx] + [a for i in arguments for a in ("--input", i)]
    start = time.perf_counter()
    b.run(*vmrun, "--output", file("out.npz"))
    first_ms = (time.perf_counter() - start) * 1e3
    with np.load(file("out.npz")) as out:
        result = out[out.files[0]]
    for n in threads:
        runs = max(5, min(500, int(1500 / max(first_ms, 3))))
        peer = [sys.executable, os.path.abspath(__file__), path, file("inputs.npz"), str(n), str(runs), file("peer.npy")]
        wrong = ""
        if with_peer:
            b.run(*peer)
            expected = np.load(file("peer.npy"))
            if result.dtype == np.float32 and not np.allclose(result.ravel(), expected, rtol=b.args.tolerance, atol=b.args.tolerance * max(0.1, float(np.abs(expected).max()) / 10)):
                wrong = f" WRONG: off by {np.abs(result.ravel() - expected).max():g}"
        ours, theirs, resident = [], [], 0
        for _ in range(b.args.rounds):
            us, resident = b.time_command(vmrun + ["--threads", str(n)], runs)
            ours.append(us)
            if with_peer:
                theirs.append(json.loads(b.run(*peer)))
        us = statistics.median(ours)
        ratio = statistics.median(t["us"] / o for t, o in zip(theirs, ours)) if with_peer and not wrong else None
        value = (f"{us / 1e3:.3f} ms, compile {compile_s:.2f} s, first {first_ms:.0f} ms, {resident / 2**20:.0f}"
                 + (f" : {theirs[0]['peak_kib'] / 1024:.0f} MiB, {ratio:.2f}" if ratio else " MiB") + wrong)
        b.report.row(SECTION, f"{name}, {n} thread{'s' if n > 1 else ''}", value, us=us, compile_s=compile_s, first_ms=first_ms,
                     resident_bytes=resident, file_bytes=os.path.getsize(vmx), ratio=ratio)


if __name__ == "__main__":
    peer_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
