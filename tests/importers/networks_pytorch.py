"""A survey of whole networks of PyTorch: torchvision, transformers, timm and programs of one's own, by jit.trace, jit.script and export.

usage: networks_pytorch.py BIN REPORT [FAMILIES [FILTER [SKIP]]]

BIN has relayc and vmrun; REPORT is a file of JSON lines, added to: what it has already is not done again. FAMILIES is a comma-separated list
of torchvision, transformers, timm, programs (networks_pytorch_FAMILY.py; default: all); FILTER and SKIP are regular expressions of names
(family:way:model). Needs torch 2.15, torchvision, transformers, timm, no network: weights are random. Networks are small, or are run on
small images. Each is compiled, run and compared with the module's own results: numbers within 1e-3 of the largest, integers exactly. A model
with open dims is run on a second input of other sizes too. Files are deleted after use. `networks_pytorch.py --table REPORT` prints counts."""

import collections, importlib, io, json, logging, os, re, resource, subprocess, sys, tempfile, time, warnings
import numpy as np, torch
from torch.export import Dim

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
NAMES = {getattr(torch, n): n for n in "float32 float64 int64 int32 uint8 int8 int16 bool float16 bfloat16".split()}
AUTO = Dim.AUTO
CASES = []


def case(family, name, make, inputs, ways="tse", more=None, names=None, dims=None, **options):
    """make(): the module. inputs(): what it is called with, a tuple or a dict; more(): others, of other sizes. ways: t(race), s(cript),
    e(xport), l(ite), f(reeze). names: of a dict's entries that the traced module takes by position. dims: dynamic_shapes; None: the
    extents that differ in more(). steps(): inputs of one run after the other of a model that has a
    state. fixed: lists are as long as they are. flags: of relayc."""
    for way in ways:
        CASES.append((f"{family}:{dict(t='trace', s='script', e='export', l='lite', f='freeze', d='decomposed')[way]}:{name}", way, make, inputs, more, names, dims, options))


class ByPosition(torch.nn.Module):
    """Calls a module with keywords, for jit.trace; results that are None are left out."""

    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *args):
        result = self.module(**dict(zip(self.names, args)))
        return tuple(leaves(result))


def leaves(x, out=None):
    """The tensors and numbers of a result in their order."""
    out = [] if out is None else out
    if isinstance(x, (torch.Tensor, bool, int, float)):
        out.append(x)
    elif type(x).__name__ == "EncoderDecoderCache":
        leaves([x.self_attention_cache, x.cross_attention_cache], out)
    elif type(x).__name__.endswith("Cache"):
        leaves([(layer.keys, layer.values) for layer in x.layers], out)
    elif isinstance(x, dict):
        for v in x.values():
            leaves(v, out)
    elif isinstance(x, (list, tuple)):
        for v in x:
            leaves(v, out)
    return out


def array(t):
    if not isinstance(t, torch.Tensor):
        return np.array(t, {bool: np.bool_, int: np.int64, float: np.float64}[type(t)])
    t = t.detach()
    if t.is_quantized:
        t = t.int_repr()
    if t.is_complex():
        t = torch.view_as_real(t.resolve_conj())
    if t.dtype == torch.bfloat16:
        return t.contiguous().view(torch.int16).numpy().view(np.uint16).copy()
    return t.resolve_neg().contiguous().numpy().copy()


def clone(x):
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    if isinstance(x, (list, tuple)):
        return type(x)(*[clone(v) for v in x]) if hasattr(x, "_fields") else type(x)(clone(v) for v in x)
    if isinstance(x, dict):
        return {k: clone(v) for k, v in x.items()}
    import copy

    return copy.deepcopy(x)


def type_of(x, other):
    """--shape's text of an input; extents in which `other` differs are open."""
    if isinstance(x, torch.Tensor):
        dims = [str(d) if other is None or other.shape[i] == d else "?" for i, d in enumerate(x.shape)]
        return "Tensor[(%s), %s]" % (", ".join(dims) + ("," if len(dims) == 1 else ""), NAMES[x.dtype])
    if isinstance(x, (bool, int, float)):
        return "Tensor[(), %s]" % {bool: "bool", int: "int64", float: "float64"}[type(x)]
    if isinstance(x, list):
        each = [type_of(v, other[i % len(other)] if other else None) for i, v in enumerate(x)]
        if len(set(each)) > 1:
            first = x[0]
            dims = [str(d) if all(v.shape[i] == d for v in x) else "?" for i, d in enumerate(first.shape)]
            each = ["Tensor[(%s), %s]" % (", ".join(dims) + ("," if len(dims) == 1 else ""), NAMES[first.dtype])]
        return "List[%s]" % each[0]
    values, others = (list(v.values()) if isinstance(v, dict) else v for v in (x, other))
    each = [type_of(v, others[i] if others else None) for i, v in enumerate(values)]
    return "(" + ", ".join(each) + ("," if len(each) == 1 else "") + ")"


def fixed(x):
    """Lists as tuples: relayc is told how many there are."""
    return tuple(fixed(v) for v in x) if isinstance(x, (list, tuple)) else x


def shape_flags(inputs, others):
    flags, k = [], 0
    for i, x in enumerate(inputs):
        if x is None:
            flags += ["--shape", f"{i}=None"]
            continue
        t = type_of(x, others[i] if others else None)
        if t.startswith("Tensor["):
            shape, dtype = t[7:-1].rsplit("), ", 1)
            t = f"{shape}):{dtype}"
        flags += ["--shape", f"{i}={t}"]
    return flags


def input_flags(folder, inputs, tag):
    count = 0

    def text(x, top):
        nonlocal count
        if isinstance(x, (torch.Tensor, bool, int, float)):
            file, count = f"{folder}/{tag}{count}.npy", count + 1
            np.save(file, array(x))
            return ("" if top else "@") + file
        if isinstance(x, list):
            return "Nil" if not x else "Cons(%s, %s)" % (text(x[0], False), text(x[1:], False))
        values = list(x.values()) if isinstance(x, dict) else x
        return "(" + ", ".join(text(v, False) for v in values) + ("," if len(values) == 1 else "") + ")"

    return [f for i, x in enumerate(inputs) if x is not None for f in ("--input", f"{i}={text(x, True)}")]


def shake(module, seed=0):
    """Statistics and scales that a trained network might have: so that results depend on all of it."""
    g = torch.Generator().manual_seed(seed)
    for m in module.modules():
        if isinstance(getattr(m, "running_var", None), torch.Tensor) and m.running_var.is_floating_point():
            m.running_mean.copy_(torch.randn(m.running_mean.shape, generator=g) * 0.1)
            m.running_var.copy_(torch.rand(m.running_var.shape, generator=g) + 0.5)
    for n, p in module.named_parameters():
        if p.dim() == 1 and n.endswith("bias") and not p.abs().max():
            p.copy_(torch.randn(p.shape, generator=g) * 0.05)
        elif p.numel() and p.is_floating_point() and not p.abs().max():
            p.copy_(torch.randn(p.shape, generator=g) * 0.02)
    return module


def limited(seconds, command):
    """Exit status, standard error, seconds of CPU and MiB of a command."""
    with tempfile.TemporaryFile() as err:
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err)
        end = time.time() + seconds
        while True:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            if pid:
                break
            if time.time() > end:
                p.kill()
            time.sleep(0.02)
        err.seek(0)
        code = os.waitstatus_to_exitcode(status)
        p.returncode = code
        return code, err.read().decode(errors="replace"), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(want, got):
    if len(want) != len(got):
        return f"{len(got)} results, expected {len(want)}"
    worst = 0
    for i, (w, g) in enumerate(zip(want, got)):
        if w.shape != g.shape or w.dtype != g.dtype:
            return f"result {i}: {g.dtype}{g.shape}, expected {w.dtype}{w.shape}"
        if w.dtype.kind in "iub":
            if not np.array_equal(w, g):
                return f"result {i}: {int((w != g).sum())} of {w.size} integers differ, got {g[g != w][:5]} expected {w[g != w][:5]}"
            continue
        fin = np.isfinite(w)
        if not np.array_equal(fin, np.isfinite(g)) or not np.array_equal(w[~fin], g[~fin], equal_nan=True):
            return f"result {i}: {int((fin != np.isfinite(g)).sum())} of {w.size} are not finite on one side"
        if fin.any():
            error = float(np.abs(w[fin].astype(np.float64) - g[fin]).max()) / max(float(np.abs(w[fin]).max()), 1e-30)
            worst = max(worst, error)
            if error > 1e-3:
                return f"result {i} of {len(want)} {w.shape}: error {error:.3g} of the largest"
    return worst


def dynamic(a, b):
    """dynamic_shapes: AUTO where the sizes of two calls differ."""
    if isinstance(a, torch.Tensor):
        return {i: AUTO for i, d in enumerate(a.shape) if b.shape[i] != d} or None
    if isinstance(a, dict):
        return {k: dynamic(v, b[k]) for k, v in a.items()}
    if isinstance(a, (list, tuple)):
        return type(a)(dynamic(v, w) for v, w in zip(a, b))
    return None


def call(module, inputs):
    return module(**clone(inputs)) if isinstance(inputs, dict) else module(*clone(inputs))


def made(path, way, module, inputs, names, more, dims, steps):
    """Writes the file; returns the runs (inputs as relayc's, results), and what else they are."""
    with torch.no_grad():
        if steps is not None:
            import copy

            stepped = torch.jit.script(copy.deepcopy(module)) if way == "s" else copy.deepcopy(module)
            wanted = [[array(v) for v in clone(leaves(call(stepped, s)))] for s in steps]
        want = [array(v) for v in leaves(call(module, inputs))] if steps is None else []
        if way in "ed":
            args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, None)
            if dims is None and more is not None:
                dims = dynamic(inputs, more)
            program = torch.export.export(module, clone(args), clone(kwargs) if kwargs else None, dynamic_shapes=dims, strict=False)
            if way == "d":
                program = program.run_decompositions()
            torch.export.save(program, path)
            import torch.utils._pytree as tree

            flat = lambda x: [v for v in tree.tree_flatten(((), x) if isinstance(x, dict) else (x, {}))[0]]
            runs = [(flat(inputs), want)]
            if steps is not None:
                return [(flat(s), w) for s, w in zip(steps, wanted)], ""
            if more is not None:
                try:
                    call(program.module(), more)
                    runs.append((flat(more), [array(v) for v in leaves(call(module, more))]))
                except Exception as e:
                    return runs, f"only as exported: {str(e)[:200]}"
            return runs, ""
        if isinstance(inputs, dict):
            module, inputs = ByPosition(module, list(inputs)), tuple(inputs.values())
            more = tuple(more.values()) if more else None
            module.eval()
        if way == "s":
            script = torch.jit.script(module)
        else:
            script = torch.jit.trace(module, clone(inputs), check_trace=False, strict=False)
        if way == "f":
            script = torch.jit.freeze(script.eval())
        script._save_for_lite_interpreter(path) if way == "l" else torch.jit.save(script, path)
        script = torch.jit.load(path) if way != "l" else script
        if steps is not None:
            return list(zip(steps, wanted)), ""
        runs = [(inputs, [array(v) for v in leaves(script(*clone(inputs)))])]
        if more is not None:
            try:
                runs.append((more, [array(v) for v in leaves(script(*clone(more)))]))
            except Exception as e:
                return runs, f"only as traced: {str(e)[-200:]}"
        return runs, ""


def one(bin_, folder, entry):
    name, way, make, inputs, more, names, dims, options = entry
    row = {"name": name}
    path = f"{folder}/model" + (".pt2" if way in "ed" else ".ptl" if way == "l" else ".pt")
    begin = time.time()
    try:
        torch.manual_seed(0)
        with torch.no_grad():
            module = make()
            if options.get("eval", True):
                module.eval()
            if options.get("shake", True):
                shake(module)
        runs, note = made(path, way, module, inputs(), names, more() if more else None, dims, options["steps"]() if "steps" in options else None)
        del module
    except Exception as e:
        return dict(row, status="oracle", message=f"{type(e).__name__}: {str(e)[-600:]}", made=round(time.time() - begin, 1))
    if options.get("fixed"):
        runs = [(fixed(values), want) for values, want in runs]
    row.update(made=round(time.time() - begin, 1), note=note, mib=round(os.path.getsize(path) / 2**20, 1))
    stateful = ["--state", f"{folder}/state.npz"] if "steps" in options else []
    shapes = [] if way in "ed" else shape_flags(runs[0][0], runs[1][0] if len(runs) > 1 and not stateful else None)
    code, err, seconds, memory = limited(options.get("limit", 300), [bin_ + "/relayc", "-q", path, "-o", f"{folder}/model.vmx", *shapes, *options.get("flags", [])])
    row.update(compile=round(seconds, 2), memory=round(memory))
    keep = os.environ.get("KEEP")
    if keep:
        row["command"] = " ".join([path, *("'%s'" % s for s in shapes)])
    if code:
        kind = "slow" if code == -9 else "crash" if code < 0 or code > 4 else "refused"
        return dict(row, status=kind, message=f"{code}: {err.replace(path, 'M').strip()[-900:]}")
    worst = 0
    for k, (values, want) in enumerate(runs):
        flags = input_flags(folder, values, f"in{k}_")
        out = f"{folder}/out{k}.npz"
        code, err, seconds, memory = limited(300, [bin_ + "/vmrun", f"{folder}/model.vmx", *flags, *stateful, "--output", out])
        row[f"run{k}"] = round(seconds, 2)
        if code:
            return dict(row, status="slow run" if code == -9 else "crash" if code < 0 or code > 4 else "vmrun", message=f"run {k}: {err.strip()[-600:]}")
        with np.load(out) as z:
            got = [z[n] for n in z.files]
        if keep:
            np.savez(f"{folder}/want{k}.npz", *want)
        error = compare(want, got)
        if isinstance(error, str):
            return dict(row, status="wrong", message=f"run {k}: {error}")
        worst = max(worst, error)
    return dict(row, status="pass", runs=len(runs), error=worst)


def table(report):
    rows = {}
    for line in open(report):
        r = json.loads(line)
        rows[r["name"]] = r
    counts = collections.defaultdict(collections.Counter)
    for r in rows.values():
        counts[tuple(r["name"].split(":")[:2])][r["status"]] += 1
    for (family, way), c in sorted(counts.items()):
        of = sum(v for k, v in c.items() if k != "oracle")
        print(f"{family:14}{way:12}{c['pass']:4} of {of:4}  {dict(c)}")
    for r in rows.values():
        if r["status"] not in ("pass", "oracle"):
            print(r["status"], r["name"], r.get("message", "").replace("\n", " | ")[:300])
        elif r.get("compile", 0) > 20 or r.get("memory", 0) > 4096:
            print("slow", r["name"], r["compile"], "s", r["memory"], "MiB, model", r["mib"], "MiB")


def main():
    if sys.argv[1] == "--table":
        return table(sys.argv[2])
    bin_, report = sys.argv[1:3]
    families = sys.argv[3].split(",") if len(sys.argv) > 3 and sys.argv[3] else ["torchvision", "transformers", "timm", "programs"]
    only, skip = (sys.argv[i] if len(sys.argv) > i else "" for i in (4, 5))
    for family in families:
        importlib.import_module("networks_pytorch_" + family).add(case)
    done = set()
    if os.path.exists(report):
        done = {json.loads(line)["name"] for line in open(report)}
    keep = os.environ.get("KEEP")
    for entry in CASES:
        if entry[0] in done or not re.search(only, entry[0]) or (skip and re.search(skip, entry[0])):
            continue
        folder = keep or tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(report)))
        os.makedirs(folder, exist_ok=True)
        try:
            row = one(bin_, folder, entry)
        except Exception as e:
            row = {"name": entry[0], "status": "survey", "message": repr(e)[:500]}
        if not keep:
            for f in os.listdir(folder):
                os.unlink(f"{folder}/{f}")
            os.rmdir(folder)
        with open(report, "a") as f:
            f.write(json.dumps(row) + "\n")
        print(row["status"], row["name"], row.get("compile", ""), row.get("message", "")[:400].replace("\n", " | "), flush=True)


if __name__ == "__main__":
    sys.modules["networks_pytorch"] = sys.modules["__main__"]
    main()
