"""Cases of TorchScript: made by PyTorch, compiled by relayc, run by vmrun, compared; what the make_torchscript*.py share.

Each is compiled with --shape as it is, and with all extents open. A report has a line for each that does not pass; ARCHIVE.zip takes
small ones that do, as run_samples.py runs them."""

import os, sys, json, subprocess, concurrent.futures, collections, warnings, io, re, zipfile
import numpy as np, torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

NAMES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.int64: "int64",
    torch.int32: "int32",
    torch.uint8: "uint8",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.bool: "bool",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}


def array(t):
    t = t.detach()
    if t.is_quantized:
        t = t.int_repr()
    if t.dtype.is_complex:
        t = torch.view_as_real(t.resolve_conj())
    t = t.resolve_neg() if hasattr(t, "resolve_neg") else t
    if t.dtype == torch.bfloat16:
        return t.contiguous().view(torch.int16).numpy().view(np.uint16).copy()
    return t.contiguous().cpu().numpy().copy()


def type_of(x, open_):
    if x is None:
        return "None"
    if isinstance(x, (bool, int, float)):
        return "Tensor[(), %s]" % ("bool" if isinstance(x, bool) else "int64" if isinstance(x, int) else "float64")
    if isinstance(x, torch.Tensor):
        dims = ["?" if open_ else str(d) for d in x.shape]
        return "Tensor[(%s), %s]" % (", ".join(dims) + ("," if len(dims) == 1 else ""), NAMES[x.dtype])
    if isinstance(x, list):
        if not x:
            return "List[Tensor[(), float32]]"
        each = [type_of(v, open_) for v in x]
        if len(set(each)) > 1:
            each = [type_of(v, True) for v in x]
        return "List[%s]" % each[0]
    if isinstance(x, dict):
        x = tuple(x.values())
    return "(" + ", ".join(type_of(v, open_) for v in x) + ("," if len(x) == 1 else "") + ")"


def shape_flag(i, x, open_):
    t = type_of(x, open_)
    if t.startswith("Tensor["):
        shape, dt = t[7:-1].rsplit("), ", 1)
        t = f"{shape}):{dt}"
    return ["--shape", f"{i}={t}"]


def flat(x, out=None):
    out = [] if out is None else out
    if isinstance(x, torch.Tensor):
        out.append(array(x))
    elif isinstance(x, bool):
        out.append(np.array(x))
    elif isinstance(x, int):
        out.append(np.array(x, np.int64))
    elif isinstance(x, float):
        out.append(np.array(x, np.float64))
    elif isinstance(x, str):
        out.append(np.array(x))
    elif isinstance(x, dict):
        for v in x.values():
            flat(v, out)
    elif isinstance(x, (list, tuple)):
        for v in x:
            flat(v, out)
    elif hasattr(x, "__dict__") and x is not None:
        pass
    return out


def flat_t(x, out=None):
    out = [] if out is None else out
    if isinstance(x, torch.Tensor):
        out.append(x)
    elif isinstance(x, dict):
        for v in x.values():
            flat_t(v, out)
    elif isinstance(x, (list, tuple)):
        for v in x:
            flat_t(v, out)
    elif isinstance(x, (bool, int, float, str)):
        out.append(x)
    return out


def clone(x):
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    if isinstance(x, list):
        return [clone(v) for v in x]
    if isinstance(x, tuple):
        return type(x)(*[clone(v) for v in x]) if hasattr(x, "_fields") else tuple(clone(v) for v in x)
    if isinstance(x, dict):
        return {k: clone(v) for k, v in x.items()}
    return x


class Walk:
    def __init__(self, bin_, folder, jobs=1):
        self.bin, self.folder, self.results, self.n = bin_, folder, [], 0
        os.makedirs(folder, exist_ok=True)
        self.called = set()
        self.archived = []
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.pending = []

    def case(
        self,
        name,
        module,
        inputs,
        rtol=None,
        atol=None,
        open_=(False, True),
        compare="values",
        keep=True,
        extra=(),
        state=False,
        modes=None,
    ):
        """module: a ScriptModule (saved as is)."""
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
        path = f"{self.folder}/{name}.pt"
        try:
            torch.jit.save(module, path)
            module = torch.jit.load(path)
            with torch.no_grad():
                want_t = flat_t(module(*clone(inputs)))
        except Exception as e:
            self.results.append((name, "oracle", str(e)[-300:]))
            return
        try:
            self.note(module)
        except Exception:
            pass
        want = flat(want_t)
        low = [NAMES.get(t.dtype, "") if isinstance(t, torch.Tensor) else "" for t in want_t]
        for i, x in enumerate(inputs):
            for k, t in enumerate(flat_t([x])):
                pass
        files = self.save_inputs(name, inputs)
        if open_ and compare == "values" and rtol is None and all(isinstance(x, (torch.Tensor, bool, int, float)) for x in inputs):
            if not any(getattr(x, "dtype", None) in (torch.bfloat16, torch.float16) for x in [*inputs, *want_t]) and want:
                o = open_[len(self.archived) % len(open_)]
                flags = [f for i, x in enumerate(inputs) for f in shape_flag(i, x, o)]
                self.archived.append(
                    (
                        name,
                        o,
                        path,
                        flags,
                        [array(torch.as_tensor(x, dtype=torch.float64 if isinstance(x, float) else None)) for x in inputs],
                        want,
                    )
                )
        for o in open_:
            self.pending.append(self.pool.submit(self.one, name, path, inputs, files, want, low, o, rtol, atol, compare, extra))

    def note(self, module):
        for n in module.inlined_graph.nodes() if hasattr(module, "inlined_graph") else []:
            self.note_node(n)

    def note_node(self, n):
        s = n.schema()
        if s and s != "(no schema)":
            self.called.add(s.split("(")[0])
        for b in n.blocks():
            for m in b.nodes():
                self.note_node(m)

    def save_inputs(self, name, inputs):
        files = []

        def arg(x, top):
            if x is None:
                return None
            if isinstance(x, (bool, int, float)):
                x = torch.tensor(x, dtype=torch.bool if isinstance(x, bool) else torch.int64 if isinstance(x, int) else torch.float64)
            if isinstance(x, torch.Tensor):
                f = f"{self.folder}/{name}.{len(files_)}.npy"
                files_.append(f)
                np.save(f, array(x))
                return ("" if top else "@") + f
            if isinstance(x, list):
                s = "Nil"
                for v in reversed(x):
                    s = f"Cons({arg(v, False)}, {s})"
                return s
            if isinstance(x, dict):
                x = tuple(x.values())
            return "(" + ", ".join(arg(v, False) for v in x) + ("," if len(x) == 1 else "") + ")"

        files_ = []
        for i, x in enumerate(inputs):
            a = arg(x, True)
            if a is not None:
                files += ["--input", f"{i}={a}"]
        return files

    def one(self, name, path, inputs, files, want, low, open_, rtol, atol, compare, extra):
        tag = name + (":open" if open_ else "")
        try:
            r = self.one_(tag, path, inputs, files, want, low, open_, rtol, atol, compare, extra)
        except Exception as e:
            r = ("crash", "walk " + repr(e)[:200])
        self.results.append((tag, *r))
        return r

    def one_(self, tag, path, inputs, files, want, low, open_, rtol, atol, compare, extra):
        vmx, out = f"{path[:-3]}{'_o' if open_ else ''}.vmx", f"{path[:-3]}{'_o' if open_ else ''}.out.npz"
        shapes = []
        for i, x in enumerate(inputs):
            shapes += shape_flag(i, x, open_)
        p = subprocess.run(
            [self.bin + "/relayc", "-q", path, "-o", vmx, *shapes, *extra], capture_output=True, text=True, timeout=120, errors="replace"
        )
        if p.returncode < 0 or p.returncode > 4:
            return ("crash", f"relayc rc {p.returncode} {p.stderr[-400:]}")
        if p.returncode:
            return ("refused", p.stderr.replace(path, "").strip()[-700:])
        p = subprocess.run(
            [self.bin + "/vmrun", vmx, *files, "--output", out], capture_output=True, text=True, timeout=120, errors="replace"
        )
        os.unlink(vmx)
        if p.returncode < 0 or p.returncode > 4:
            return ("crash", f"vmrun rc {p.returncode} {p.stderr[-400:]}")
        if p.returncode:
            return ("vmrun", p.stderr.strip()[-500:])
        if not want:
            return ("pass", "")
        with np.load(out, allow_pickle=True) as z:
            got = [z[k] for k in z.files]
        os.unlink(out)
        if len(got) != len(want):
            return ("wrong", f"{len(got)} results, expected {len(want)}")
        for i, (g, w) in enumerate(zip(got, want)):
            if w.dtype.kind in "SUO":
                if [x if isinstance(x, str) else x.decode() for x in np.atleast_1d(g).ravel().tolist()] != [
                    str(x) for x in np.atleast_1d(w).ravel()
                ]:
                    return ("wrong", f"output {i}: string {g} expected {w}")
                continue
            if g.shape != w.shape:
                return ("wrong", f"output {i}: shape {g.shape}, expected {w.shape}")
            if g.dtype != w.dtype:
                return ("wrong", f"output {i}: dtype {g.dtype}, expected {w.dtype}")
            if compare == "shape":
                continue
            rt, at = rtol or 1e-4, atol or 1e-5
            if low[i] == "bfloat16":
                g, w = ((np.atleast_1d(x).astype(np.uint32) << 16).view(np.float32) for x in (g, w))
                rt, at = max(rt, 6e-2), max(at, 4e-2)
            elif low[i] == "float16":
                g, w = g.astype(np.float32), w.astype(np.float32)
                rt, at = max(rt, 4e-3), max(at, 4e-3)
            if w.dtype.kind in "iub":
                if not np.array_equal(g, w):
                    return ("wrong", f"output {i}: {int((g != w).sum())} of {w.size} differ; got {g.ravel()[:6]} expected {w.ravel()[:6]}")
            elif not np.allclose(g, w, rt, at, equal_nan=True):
                with np.errstate(all="ignore"):
                    bad = ~np.isclose(g, w, rt, at, equal_nan=True)
                return (
                    "wrong",
                    f"output {i}: {int(bad.sum())} of {bad.size} differ; got {g[bad].ravel()[:5]} expected {w[bad].ravel()[:5]}",
                )
        return ("pass", "")

    def archive(self, file, most, largest=5000):
        """The first of each name that passes, behind those that are there."""
        passed = {r[0] for r in self.results if r[1] == "pass"}
        samples, parts = [], {}
        if os.path.exists(file):
            with zipfile.ZipFile(file) as z:
                parts = {n: z.read(n) for n in z.namelist()}
            samples = json.loads(parts.pop("samples.json"))
        seen = set()
        for name, o, path, flags, inputs, want in self.archived:
            size = os.path.getsize(path) + sum(x.nbytes for x in [*inputs, *want])
            if name + (":open" if o else "") not in passed or name.split(".")[0] in seen or size > largest or len(seen) >= most:
                continue
            seen.add(name.split(".")[0])
            own = "ts_" + name.replace(".", "_")
            parts[own + ".pt"] = open(path, "rb").read()
            for kind, arrays in (("in", {str(i): x for i, x in enumerate(inputs)}), ("out", {f"out{i}": x for i, x in enumerate(want)})):
                data = io.BytesIO()
                np.savez_compressed(data, **arrays)
                if arrays:
                    parts[f"{own}.{kind}.npz"] = data.getvalue()
            samples.append({"model": own + ".pt", "options": flags})
        parts["samples.json"] = json.dumps(samples, indent=1).encode()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for n in sorted(parts):
                z.writestr(zipfile.ZipInfo(n, (1980, 1, 1, 0, 0, 0)), parts[n], zipfile.ZIP_DEFLATED)
        print(f"{file}: {len(samples)} models", flush=True)

    def finish(self, report):
        for f in self.pending:
            f.result()
        count = collections.Counter(r[1] for r in self.results)
        with open(report, "w") as f:
            for r in sorted(self.results):
                if r[1] != "pass":
                    f.write(f"{r[1]}\t{r[0]}\t" + r[2].replace("\n", " | ") + "\n")
        with open(report + ".called", "w") as f:
            f.write("\n".join(sorted(self.called)))
        print(report, dict(count), flush=True)


class Fn(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *a):
        return self.f(*a)


_ARGS = {}


def wrap(f, n):
    """A module whose forward has n named parameters."""
    if n not in _ARGS:
        names = ", ".join(f"x{i}" for i in range(n))
        ns = {"torch": torch}
        text = f"class M{n}(torch.nn.Module):\n  def __init__(self, f):\n    super().__init__(); self.f = f\n"
        exec(text + f"  def forward(self, {names}):\n    return self.f({names})\n", ns)
        _ARGS[n] = ns[f"M{n}"]
    return _ARGS[n](f)


def trace(f, inputs):
    with torch.no_grad():
        return torch.jit.trace(wrap(f, len(inputs)), tuple(clone(list(inputs))), check_trace=False)


from typing import *
from collections import OrderedDict
from enum import Enum
import torch.nn as nn, torch.nn.functional as F
from torch import Tensor

USAGE = "usage: %s BIN REPORT [FILTER [ARCHIVE.zip MOST]]: the folder of relayc and vmrun, a file to write, a regular expression of names"
if len(sys.argv) < 3:
    sys.exit(USAGE % sys.argv[0])
BIN, REPORT = sys.argv[1], sys.argv[2]
FILTER = sys.argv[3] if len(sys.argv) > 3 else ""
W = Walk(BIN, REPORT + ".models", jobs=2)
torch.manual_seed(1)
R = lambda *s: torch.randn(*s)
I = lambda lo, hi, *s: torch.randint(lo, hi, s)


def add(name, m, *cases, script=True, **kw):
    if FILTER and not re.search(FILTER, name):
        return
    try:
        s = torch.jit.script(m) if script else m
    except Exception as e:
        W.results.append((name, "oracle", str(e)[-600:]))
        return
    if not isinstance(s, torch.nn.Module):
        pass
    for k, c in enumerate(cases):
        W.case(f"{name}.{k}", s, list(c), **kw)


def fn(name, f, *cases, **kw):
    """A scripted function in a module."""
    if FILTER and not re.search(FILTER, name):
        return
    try:
        s = torch.jit.script(f)
    except Exception as e:
        W.results.append((name, "oracle", str(e)[-600:]))
        return
    sch = s.schema
    ps = ", ".join(f"{a.name}: {a.type.annotation_str}" for a in sch.arguments)
    src = f"def forward(self, {ps}):\n  return self_f({', '.join(a.name for a in sch.arguments)})\n"

    class M(nn.Module):
        pass

    m = torch.jit.ScriptModule() if False else None
    cu = s
    for k, c in enumerate(cases):
        W.case(f"{name}.{k}", cu, list(c), **kw)


def done():
    W.finish(REPORT)
    if len(sys.argv) > 5:
        W.archive(sys.argv[4], int(sys.argv[5]))
