#!/usr/bin/env python3
"""Times ONNX models with ONNX Runtime, OpenVINO and this project in turn, in one run; prints the peers' times over ours, and what making each took.

usage: ENVIRONMENT/bin/python peers.py --bin DIR [--level x86-64-v3] [--threads 1,2] [--rounds 3] [--seconds 0.5] [--batch 8]
                                       [--peers ort,openvino,iree] [--json FILE] MODEL...

ENVIRONMENT is what install_peers.sh made. A MODEL is a folder with model.onnx and archives of its inputs (case*.npz, named in:NAME; the largest is taken), or
FILE.onnx:NAME=DTYPE[AxBxC][<MAX]... (f32, f16, i64, i32; integers below MAX) with random ones. --level x86-64-v3 limits the peers (ENVIRONMENT/avx2) and our
kernels to AVX2. --batch repeats inputs along their first axis; a model that takes them as they are alone is left out. Results are compared;
where they differ the row says so; where their shapes do the peer's time is left out.

Making is from the file to what can run: a session, compile_model, relayc's process without kept objects, and again with them.
"""
import argparse
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

DTYPES = {"f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "u8": "uint8"}


def limit_to_avx2(level):
    """Starts this program again with the peers' copies that see AVX2."""
    folder = os.path.join(sys.prefix, "avx2")
    preloaded = os.path.join(folder, "liblimited_cpu.so")
    if not os.path.exists(preloaded):
        raise SystemExit(f"{preloaded}: not there; install_peers.sh makes it")
    os.environ.update(LD_PRELOAD=preloaded, PYTHONPATH=os.path.join(folder, "site"), RELAYVM_MAX_CPU_LEVEL=level)
    os.execv(sys.executable, [sys.executable, *sys.argv])


def timed(run, seconds):
    """Median seconds of a run."""
    run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class OnnxRuntime:
    def __init__(self, model, threads, folder):
        import onnxruntime
        onnxruntime.set_default_logger_severity(4)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def bind(self, feeds):
        return lambda: self.session.run(None, feeds)


class OpenVino:
    def __init__(self, model, threads, folder):
        import openvino
        core = openvino.Core()
        core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
        self.request = core.compile_model(core.read_model(model), "CPU").create_infer_request()

    def bind(self, feeds):
        return lambda: list(self.request.infer(feeds).values())


class Iree:
    """Models of fixed shapes, one thread."""

    def __init__(self, model, threads, folder):
        if threads != 1:
            raise RuntimeError("one thread only")
        import iree.runtime
        text, made, tools = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.vmfb"), os.path.dirname(sys.executable)
        cpu = os.environ.get("RELAYVM_MAX_CPU_LEVEL", "host")
        for command in ([f"{tools}/iree-import-onnx", model, "-o", text, "--opset-version", "17"],
                        [f"{tools}/iree-compile", text, "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                         f"--iree-llvmcpu-target-cpu={cpu}", "--iree-opt-level=O3", "-o", made]):
            subprocess.run(command, check=True, capture_output=True, env={**os.environ, "LD_PRELOAD": "", "PYTHONPATH": ""}, timeout=600)
        module = iree.runtime.load_vm_flatbuffer_file(made, driver="local-sync")
        names = module.vm_module.function_names
        self.function = next(getattr(module, n) for n in names if not n.startswith("__") and not n.endswith("$async"))

    def bind(self, feeds):
        def run():
            results = self.function(*feeds.values())
            return [r.to_host() for r in (results if isinstance(results, (list, tuple)) else [results])]
        return run


PEERS = {"ort": OnnxRuntime, "openvino": OpenVino, "iree": Iree}


class Ours:
    def __init__(self, args, model, folder):
        self.args, self.model, self.folder, self.vmx = args, model, folder, os.path.join(folder, "model.vmx")
        self.made = self.compile("off")
        self.compile(os.path.join(folder, "objects"))
        self.second = self.compile(os.path.join(folder, "objects"))

    def compile(self, cache):
        start = time.perf_counter()
        done = subprocess.run([f"{self.args.bin}/relayc", self.model, "-o", self.vmx, "-q", *self.args.relayc.split()],
                              capture_output=True, text=True, env={**os.environ, "RELAYVM_CACHE": cache, "LD_PRELOAD": ""})
        if done.returncode:
            raise RuntimeError("relayc: " + done.stderr.strip()[:200])
        return time.perf_counter() - start

    def bind(self, feeds, threads):
        import numpy as np
        self.flags = ["--threads", str(threads)]
        for i, (name, value) in enumerate(feeds.items()):
            np.save(os.path.join(self.folder, f"{i}.npy"), value)
            self.flags += ["--input", f"{name}={self.folder}/{i}.npy"]

    def run(self, seconds):
        """Median seconds of a run, and the results."""
        import numpy as np
        out = os.path.join(self.folder, "out.npz")

        def times(count):
            done = subprocess.run([f"{self.args.bin}/vmrun", self.vmx, *self.flags, "--repeat", str(count), "--json", "--output", out],
                                  capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": ""})
            if done.returncode:
                raise RuntimeError("vmrun: " + done.stderr.strip()[:200])
            return json.loads(done.stdout)["times"]["median_ms"] / 1e3

        median = times(max(3, min(100000, int(seconds / max(times(3), 1e-7)))))
        with np.load(out) as results:
            return median, [results[name] for name in results.files]


def random_feeds(texts):
    import numpy as np
    rng, feeds = np.random.default_rng(0), {}
    for text in texts:
        match = re.fullmatch(r"(.+)=(\w+)\[([\dx]*)\](?:<(\d+))?", text)
        if not match or match[2] not in DTYPES:
            raise SystemExit(f"{text}: expected NAME=DTYPE[AxBxC], DTYPE one of {', '.join(DTYPES)}")
        shape = [int(s) for s in match[3].split("x") if s]
        value = rng.integers(0, int(match[4] or 2), shape) if match[2][0] in "iu" else rng.standard_normal(shape)
        feeds[match[1]] = np.asarray(value, DTYPES[match[2]])
    return feeds


def case_of(text):
    """Name, file and inputs of a MODEL."""
    import numpy as np
    path, *inputs = text.split(":")
    if inputs:
        return os.path.basename(path)[:-len(".onnx")] + " " + " ".join(i.split("=", 1)[1] for i in inputs), path, random_feeds(inputs)
    archives = sorted(glob.glob(os.path.join(path, "case*.npz")))
    if not archives:
        raise RuntimeError("no case*.npz")
    cases = []
    for archive in archives:
        with np.load(archive, allow_pickle=True) as case:
            cases.append({k.split(":", 1)[1]: case[k] for k in case.files if k.startswith(("in:", "input:"))})
    feeds = max(cases, key=lambda case: sum(value.size for value in case.values()))
    return os.path.basename(os.path.normpath(path)), os.path.join(path, "model.onnx"), feeds


def differs(theirs, ours):
    """How far two lists of results are apart, or nothing where they agree."""
    import numpy as np
    if [np.shape(t) for t in theirs] != [np.shape(o) for o in ours]:
        return "shapes differ"
    worst = 0.0
    for t, o in zip(theirs, ours):
        t, o = np.asarray(t), np.asarray(o)
        if t.dtype.kind == "f" and t.size and np.isfinite(t).all():
            worst = max(worst, float(np.abs(t.astype("f8") - o.astype("f8")).max()) / max(1e-6, float(np.abs(t).max())))
    return f"off by {worst:.1e} of the largest" if worst > 2e-3 else None


def measure(args, text, threads, folder):
    import numpy as np
    name, model, feeds = case_of(text)
    if args.batch > 1:
        name += f", {args.batch}-fold"
        feeds = {k: np.repeat(v, args.batch, 0) if v.ndim else v for k, v in feeds.items()}
    row, runs = {"name": name, "threads": threads, "notes": []}, {}
    for peer in args.peers.split(","):
        start = time.perf_counter()
        try:
            session = PEERS[peer](model, threads, folder)
            row[f"{peer}_made"] = time.perf_counter() - start
            runs[peer] = session.bind(feeds)
            runs[peer]()
        except Exception as error:  # a peer may refuse a model: the row says so
            runs.pop(peer, None)
            row["notes"].append(f"{peer}: {' '.join(str(error).split())[:60]}")
    ours = Ours(args, model, folder)
    ours.bind(feeds, threads)
    row["made"], row["made_again"] = ours.made, ours.second
    times = {peer: [] for peer in runs}
    own = []
    for _ in range(args.rounds):
        for peer, run in runs.items():
            times[peer].append(timed(run, args.seconds))
        seconds, results = ours.run(args.seconds)
        own.append(seconds)
    row["ms"] = statistics.median(own) * 1e3
    for peer, run in runs.items():
        if wrong := differs(run(), results):
            row["notes"].append(f"{peer}: {wrong}")
        if wrong != "shapes differ":  # it computed something else
            row[peer] = statistics.median(t / o for t, o in zip(times[peer], own))
    return row


def line_of(row, peers):
    """A row of the table."""
    number = lambda key, form: format(row[key], form) if row.get(key) else "-"
    cells = [f"{row['name'][:46]:46s} {row['threads']:2d} {row['ms']:10.3f}", *(f"{number(p, '.2f'):>8s}" for p in peers)]
    made = " / ".join([f"{row['made']:.2f}", f"{row['made_again']:.2f}", *(number(f"{p}_made", ".2f") for p in peers)])
    return " ".join(cells) + f"   {made}   {'; '.join(row['notes'])}"


def mean(values):
    values = [v for v in values if v]
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def summary(rows, peers):
    best = [min(r[p] for p in peers if r.get(p)) for r in rows if any(r.get(p) for p in peers)]
    parts = [f"{p} {mean(r.get(p) for r in rows):.2f}" for p in peers]
    made = [f"{p} {mean(r['made'] / r[f'{p}_made'] if r.get(f'{p}_made') else None for r in rows):.2f}" for p in peers]
    return (f"{len(rows)} rows; geometric means: {', '.join(parts)}, the better of them {mean(best):.2f}; behind it: {sum(b < 1 for b in best)}; "
            f"making, ours over theirs: {', '.join(made)}; a second time over the first: {mean(r['made_again'] / r['made'] for r in rows):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--level", default="")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--peers", default="ort,openvino")
    parser.add_argument("--relayc", default="", metavar="OPTIONS")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    args = parser.parse_args()
    if args.level and os.environ.get("RELAYVM_MAX_CPU_LEVEL") != args.level:
        limit_to_avx2(args.level)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    peers, rows = args.peers.split(","), []
    print(f"{'model':46s} threads ours, ms {' '.join(f'{p:>8s}' for p in peers)}   made in s: ours / again / {' / '.join(peers)}")
    for threads in map(int, args.threads.split(",")):
        for text in args.models:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    rows.append(measure(args, text, threads, folder))
                except RuntimeError as error:
                    print(f"# {text}: {error}")
                    continue
            print(line_of(rows[-1], peers), flush=True)
    if rows:
        print(summary(rows, peers))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
