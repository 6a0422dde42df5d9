"""Walks TensorFlow's operators: makes small graphs by TensorFlow, compiles and runs them, and compares with TensorFlow's results.

usage: make_tensorflow.py BIN [--filter TEXT] [--folder DIR] [--report FILE.json] [--archive FILE.zip] [--jobs 2] [--ranked]

Needs Python with tensorflow (2.21); BIN is the folder of relayc and vmrun. --folder keeps the models; --archive writes those marked as
telling (tensorflow_cases.py: `keep`), then one of each other operator, as tests/importers/tensorflow_operators.zip has them. Seeds are fixed.

Each row of tensorflow_cases.py stands for several models: its dtypes, and with the first dtype open extents and unknown ranks."""
import argparse
import concurrent.futures
import inspect
import json
import os
import subprocess
import sys
import tempfile
import zipfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
REAL = ["float32", "float64", "float16", "bfloat16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]


class In:
    """An input: made for a dtype (None: the row's), a constant of the graph or not; of a shape that is always known or not."""
    def __init__(self, make, dtype=None, constant=False, fixed=False):
        self.make, self.dtype, self.constant, self.fixed = make, dtype, constant, fixed


def values(rng, kind, shape, dtype):
    """Numbers of a kind: n around 0, p positive, u of 0 to 1, s of -1 to 1, g above 1, d no two alike, z with zeros, x with special ones."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    count = int(np.prod(shape))
    if kind == "d":
        data = rng.permutation(count).reshape(shape).astype("float64") - (0 if dtype.startswith("u") else count // 2)
    elif dtype.startswith(("int", "uint")):
        low = 0 if dtype.startswith("u") or kind in "ug" else -9
        data = rng.integers(1 if kind in "pg" else low, 10, shape).astype("float64")
    else:
        data = {"n": lambda: rng.standard_normal(shape) * 2, "p": lambda: rng.uniform(0.2, 4, shape), "u": lambda: rng.uniform(0.02, 0.98, shape),
                "s": lambda: rng.uniform(-0.95, 0.95, shape), "g": lambda: rng.uniform(1.1, 5, shape),
                "z": lambda: np.where(rng.uniform(0, 1, shape) < 0.3, 0.0, rng.standard_normal(shape)),
                "x": lambda: rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-30, 3.7, -3.7], shape)}[kind]()
    return np.asarray(data).astype(tf.as_dtype(dtype).as_numpy_dtype)


class Row:
    """An operator, its inputs and attributes; `run` a function of tensors in place of the operator."""
    def __init__(self, op, inputs, attrs, dtypes, run=None, opens=True, rtol=None, atol=None, keep=False, shapes_only=False, steps=0):
        self.op, self.inputs, self.attrs, self.dtypes, self.run = op, inputs, attrs, dtypes, run
        self.opens, self.rtol, self.atol, self.keep, self.shapes_only, self.steps = opens, rtol, atol, keep, shapes_only, steps


def flat(inputs):
    for i in inputs:
        yield from (flat(i) if isinstance(i, list) else [i])


def feed_of(row, dtype, seed):
    rng = np.random.default_rng(seed)
    return [i.make(rng, i.dtype or dtype) for i in flat(row.inputs)]


def build(row, dtype, mode, arrays):
    """A graph, its placeholders by name and its results."""
    feeds, at = {}, iter(range(1000))

    def tensor(i):
        k = next(at)
        array = arrays[k]
        if i.constant:
            return tf.constant(array)
        shape = {"static": array.shape, "open": [None] * array.ndim, "unranked": None}["static" if i.fixed else mode]

        def placeholder(name, a):
            t = v1.placeholder(tf.as_dtype(a.dtype), shape, name=name)
            feeds[name] = a
            return t
        if array.dtype.kind == "c":
            return tf.complex(placeholder(f"x{k}r", array.real.copy()), placeholder(f"x{k}i", array.imag.copy()))
        if array.dtype.kind in "SUO":
            return tf.constant(array)
        return placeholder(f"x{k}", array)

    tensors = [[tensor(e) for e in i] if isinstance(i, list) else tensor(i) for i in row.inputs]
    if row.run:
        out = row.run(*tensors)
    else:
        names = list(inspect.signature(getattr(tf.raw_ops, row.op)).parameters)
        attrs = {k: (dtype if v == "T" else v) for k, v in row.attrs.items()}
        out = getattr(tf.raw_ops, row.op)(**dict(zip(names, tensors)), **attrs)
    results = []
    for t in tf.nest.flatten(out):
        if not isinstance(t, tf.Tensor) or t.dtype in (tf.resource, tf.variant):
            continue
        if t.dtype.is_complex:
            results += [tf.math.real(t), tf.math.imag(t)]
        else:
            results.append(t)
    return feeds, [tf.identity(t, name=f"y{i}") for i, t in enumerate(results)]


def numpy_of(a):
    """As .npz can hold it: bfloat16 as its bits."""
    a = np.asarray(a)
    if a.dtype.kind == "V" or a.dtype.name == "bfloat16":
        return a.view("uint16")
    return a


def make(row, number, dtype, mode, folder):
    """A model's files; why there is none."""
    name = f"{row.op}_{number}_{dtype}_{mode}"
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(7)
        try:
            arrays = feed_of(row, dtype, number)
            feeds, outputs = build(row, dtype, mode, arrays)
            with v1.Session(graph=graph) as session:
                results = session.run(outputs, {f"{k}:0": a for k, a in feeds.items()})
        except Exception as e:  # TensorFlow has no such kernel, or the row is wrong
            return name, f"{type(e).__name__}: {str(e)[:300]}"
        definition = graph.as_graph_def()
    path = os.path.join(folder, name)
    with open(path + ".pb", "wb") as f:
        f.write(definition.SerializeToString())
    if feeds:
        np.savez(path + ".in.npz", **{k: numpy_of(a) for k, a in feeds.items()})
    np.savez(path + ".out.npz", **{f"y{i}": numpy_of(a) for i, a in enumerate(results)})
    return name, None


def differences(expected, found, dtype, row, name):
    if expected.dtype.kind in "SUO" or found.dtype.kind in "SUO":
        return "" if expected.astype(str).tolist() == found.astype(str).tolist() else "texts differ"
    if expected.shape != found.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if expected.dtype != found.dtype:
        return f"dtype {found.dtype}, expected {expected.dtype}"
    if dtype == "bfloat16" and expected.dtype == np.uint16:
        expected, found = [(a.astype(np.uint32) << 16).view(np.float32) for a in (expected, found)]
    if expected.dtype.kind in "iub":
        bad = np.abs(found.astype("int64") - expected.astype("int64")) > row.steps if row.steps else expected != found
    else:
        small = {"float16": 4e-3, "bfloat16": 3e-2}.get(dtype, 0)
        small = max(small, 2e-2) if dtype == "float16" and "Conv" in name else small
        bad = ~np.isclose(found.astype("float64"), expected.astype("float64"), max(row.rtol or 1e-4, small), max(row.atol or 1e-5, small), equal_nan=True)
    if not bad.any():
        return ""
    at = tuple(int(k[0]) for k in np.nonzero(bad)) if bad.ndim else ()
    return f"value: {int(bad.sum())} of {bad.size} differ; at {at} {found[at]}, expected {expected[at]}"


def check(binaries, folder, name, row, dtype, timeout=60):
    """Empty, or what is wrong: its class, then the message."""
    path = os.path.join(folder, name)

    def run(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace")
        except subprocess.TimeoutExpired:
            return -9, "timeout"
        return done.returncode, done.stderr.strip()
    with np.load(path + ".out.npz", allow_pickle=True) as z:
        expected = {k: z[k] for k in z.files}
    nodes = [o for k in expected for o in ("--output-node", k)]
    code, text = run(os.path.join(binaries, "relayc"), path + ".pb", "-o", path + ".vmx", *nodes)
    if code != 0:
        return f"{'crash' if code != 2 else 'refused'}: exit {code}: {text[-400:]}"
    inputs = ["--input", path + ".in.npz"] if os.path.exists(path + ".in.npz") else []
    if os.path.exists(path + ".got.npz"):
        os.remove(path + ".got.npz")
    code, text = run(os.path.join(binaries, "vmrun"), path + ".vmx", *inputs, "--output", path + ".got.npz")
    os.remove(path + ".vmx")
    if code != 0:
        return f"{'run' if code > 0 else 'crash'}: exit {code}: {text[-400:]}"
    if row.shapes_only:
        return ""
    with np.load(path + ".got.npz", allow_pickle=True) as z:
        found = {k: z[k] for k in z.files}
    if len(found) == 1 and len(expected) == 1:
        found = {"y0": next(iter(found.values()))}
    for k, e in expected.items():
        if k not in found:
            return f"names: no {k} among {sorted(found)}"
        problem = differences(e, found[k], dtype, row, name)
        if problem:
            return f"wrong: {k}: {problem}"
    return ""


def variants(row):
    yield row.dtypes[0], "static"
    if row.opens and any(not i.constant for i in flat(row.inputs)):
        yield row.dtypes[0], "open"
        yield row.dtypes[0], "unranked"
    for dtype in row.dtypes[1:]:
        yield dtype, "static"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--filter", default="")
    p.add_argument("--folder")
    p.add_argument("--report")
    p.add_argument("--archive")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--ranked", action="store_true", help="without unknown ranks")
    a = p.parse_args()
    import tensorflow_cases
    folder = a.folder or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    table = subprocess.run([os.path.join(a.bin, "relayc"), "--list-operators", "tensorflow"], capture_output=True, text=True).stdout
    supported = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")][2:]
    rows = [r for r in tensorflow_cases.rows() if not a.filter or r.op in a.filter.split(",")]
    todo, unmade, failed, passed, kept = [], [], [], 0, []
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for number, row in enumerate(rows):
            for dtype, mode in variants(row):
                if a.ranked and mode == "unranked":
                    continue
                name, why = make(row, number, dtype, mode, folder)
                if why:
                    unmade.append((name, why))
                else:
                    todo.append((name, row, dtype, mode, pool.submit(check, a.bin, folder, name, row, dtype)))
        for name, row, dtype, mode, future in todo:
            problem = future.result()
            if problem:
                failed.append((name, problem))
            else:
                passed += 1
                if dtype == row.dtypes[0] and mode != "unranked" and not row.shapes_only and not row.steps:
                    kept.append((name, row))
    for name, why in unmade:
        print(f"UNMADE {name}: {why.splitlines()[0][:200]}")
    for name, problem in failed:
        print(f"FAIL {name}: {' '.join(problem.split())[:420]}")
    if not a.filter:
        walked = {r.op for r in rows} | tensorflow_cases.COVERED
        print("not walked:", " ".join(o for o in supported if o not in walked))
        print(f"{len(set(supported) & walked)} of {len(supported)} operators walked")
    if a.report:
        json.dump({"failed": failed, "unmade": unmade, "passed": [t[0] for t in todo if t[0] not in dict(failed)]}, open(a.report, "w"), indent=1)
    if a.archive:
        archive(a.archive, folder, kept)
    print(f"{passed} pass, {len(failed)} fail, {len(unmade)} not made")
    sys.exit(1 if failed else 0)


def chosen(kept, most=150):
    """Of rows marked `keep` one model each, then of other operators, static and open ones in turn."""
    by_row = {}
    for name, row in kept:
        by_row.setdefault(id(row), (row, []))[1].append(name)
    out, seen = [], set()
    for wanted in (True, False):
        for row, names in by_row.values():
            if row.keep == wanted and (wanted or row.op not in seen) and len(out) < most:
                seen.add(row.op)
                out.append((names[len(out) % len(names)], row))
    return out


def archive(path, folder, kept):
    samples = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def add(name, data):
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
        for name, row in chosen(kept):
            for suffix in (".pb", ".in.npz", ".out.npz"):
                if os.path.exists(os.path.join(folder, name + suffix)):
                    with open(os.path.join(folder, name + suffix), "rb") as f:
                        add(name + suffix, f.read())
            with np.load(os.path.join(folder, name + ".out.npz")) as z:
                options = [o for k in z.files for o in ("--output-node", k)]
            sample = {"model": name + ".pb", "options": options}
            sample |= {k: v for k, v in (("rtol", row.rtol), ("atol", row.atol)) if v}
            samples.append(sample)
        add("samples.json", json.dumps(samples, indent=1))


if __name__ == "__main__":
    main()
