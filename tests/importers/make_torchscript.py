"""The operators: samples that PyTorch's own tests make of each (its OpInfo), traced.

usage: SCRIPT BIN REPORT [FILTER [ARCHIVE.zip MOST]], with PyTorch 2.x (and expecttest, torchvision); see torchscript_walk.py."""

import random

from torchscript_walk import *
from torch.testing._internal.common_methods_invocations import op_db

PER = int(os.environ.get("PER", "4"))  # samples of float32
DT = ["float32", "int64", "bool", "float64", "uint8", "int32", "bfloat16", "float16"]
SKIP = re.compile(
    r"^(linalg\.lstsq|svd_lowrank|pca_lowrank|to_sparse|sparse\.|nested|_native_batch|nn\.functional\.scaled_dot_product_(efficient|flash)"
    r"|jiterator|_refs|stft|istft|fft\.|view_as_|complex|polar|torch_ops|resize_|masked\.|signal\.)"
)
RANDOM = re.compile(
    r"^(cauchy|exponential|geometric|log_normal|normal|bernoulli|multinomial|uniform|rand|empty|new_empty"
    r"|nn\.functional\.(dropout|alpha_dropout|feature_alpha|rrelu|gumbel|fractional))"
)


def lift(tree, ts):
    if isinstance(tree, torch.Tensor):
        for i, t in enumerate(ts):
            if t is tree:
                return lambda a: a[i]
        ts.append(tree)
        i = len(ts) - 1
        return lambda a: a[i]
    if isinstance(tree, (list, tuple)):
        parts = [lift(x, ts) for x in tree]
        k = type(tree)
        if hasattr(tree, "_fields"):
            return lambda a: k(*[p(a) for p in parts])
        return lambda a: k(p(a) for p in parts)
    if isinstance(tree, dict):
        parts = {n: lift(x, ts) for n, x in tree.items()}
        return lambda a: {n: p(a) for n, p in parts.items()}
    return lambda a: tree


for op in sorted(op_db, key=lambda o: o.name + o.variant_test_name):
    full = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
    if FILTER and not re.search(FILTER, full):
        continue
    if not FILTER and (SKIP.match(op.name) and not RANDOM.match(op.name)):
        continue
    for k, dn in enumerate(DT):
        dt = getattr(torch, dn)
        if dt not in op.supported_dtypes("cpu"):
            continue
        torch.manual_seed(7)
        random.seed(7)
        np.random.seed(7)
        try:
            samples = list(op.sample_inputs("cpu", dt, requires_grad=False))
        except Exception as e:
            W.results.append((f"{full}.{dn}", "oracle", "samples " + str(e)[:200]))
            continue
        n = PER if dn == "float32" else max(1, PER // 2) if dn in ("int64",) else 1
        pick = list(range(len(samples)))
        random.Random(full + dn).shuffle(pick)
        made = 0
        for i in pick:
            if made >= n:
                break
            s = samples[i]
            ts = []
            build = lift((s.input, tuple(s.args), dict(s.kwargs)), ts)
            if any(t.dtype not in NAMES or t.layout != torch.strided or t.numel() > 200000 for t in ts):
                continue

            def f(*a):
                x, args, kw = build(a)
                r = op.op(x, *args, **kw)
                if isinstance(r, (list, tuple)):
                    r = tuple(v for v in r if isinstance(v, torch.Tensor))
                return r

            ins = [t.detach().contiguous() for t in ts]
            try:
                with torch.no_grad():
                    r0 = f(*clone(ins))
                if any(isinstance(v, torch.Tensor) and (v.dtype.is_complex or v.dtype not in NAMES) for v in flat_t(r0)):
                    continue
                m = trace(f, ins)
            except Exception as e:
                W.results.append((f"{full}.{dn}.{i}", "oracle", "trace " + str(e)[-200:]))
                made += 1
                continue
            made += 1
            W.case(
                f"{full}.{dn}.{i}", m, ins, compare="shape" if RANDOM.match(op.name) else "values", rtol=1e-3 if "linalg" in full else None
            )
done()
