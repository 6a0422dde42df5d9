"""Small models of MXNet 1.9.1, operator by operator: symbols, arrays, inputs, and what MXNet gives for them.

usage: make_mxnet.py FOLDER [TEXT]     (Python 3.8 with mxnet 1.9.1; only cases whose name has TEXT)

NAME-symbol.json, NAME-0000.params where it has arrays, NAME.in.npz and NAME.out.npz are written to FOLDER, and samples.json. Seeds are fixed."""
import json
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MXNET_SUBGRAPH_BACKEND", "NONE")
warnings.filterwarnings("ignore")
import numpy as np
import mxnet as mx

FOLDER = sys.argv[1]
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
ROWS, SKIPPED, OPERATORS = [], [], set()
rng = np.random.RandomState(5)
S = mx.sym


def values(shape, dtype="float32", low=-3, high=4):
    if dtype == "bool":
        return rng.rand(*shape) > 0.4
    if dtype.startswith(("int", "uint")):
        return rng.randint(max(low, 0) if dtype[0] == "u" else low, high, shape).astype(dtype)
    return np.asarray(rng.randn(*shape)).astype(dtype)


def save(name, symbol, feed, params=None, rtol=None, atol=None, np_shape=False):
    """`feed`: inputs by name; `params`: arrays that the file has."""
    if ONLY and ONLY not in name:
        return
    params = params or {}
    out_names = symbol.list_outputs()
    args = {k: mx.nd.array(v, dtype=v.dtype) for k, v in {**feed, **params}.items()}
    aux = {k: args.pop(k) for k in symbol.list_auxiliary_states() if k in args}
    args = {k: v for k, v in args.items() if k in symbol.list_arguments()}
    e = symbol.bind(mx.cpu(), args, aux_states=aux, grad_req="null")
    out = [o.asnumpy() for o in e.forward(is_train=False)]
    for node in json.loads(symbol.tojson())["nodes"]:
        OPERATORS.add(node["op"])
    base = os.path.join(FOLDER, name)
    symbol.save(base + "-symbol.json")
    np.savez(base + ".in.npz", **{k: v for k, v in feed.items()})
    np.savez(base + ".out.npz", **{str(i): a for i, a in enumerate(out)})
    options = []
    for k, v in feed.items():
        dims = ", ".join(map(str, v.shape)) + ("," if v.ndim == 1 else "")
        options += ["--shape", f"{k}=({dims}):{v.dtype}"]
    if params:
        keys = set(symbol.list_auxiliary_states())
        mx.nd.save(base + "-0000.params", {("aux:" if k in keys else "arg:") + k: mx.nd.array(v, dtype=v.dtype) for k, v in params.items()})
        options += ["--params", f"{name}-0000.params"]
    row = {"model": f"{name}-symbol.json", "options": options}
    if rtol:
        row["rtol"] = rtol
    if atol:
        row["atol"] = atol
    ROWS.append(row)


def case(name, make, *inputs, **more):
    """`make` takes variables a, b, ... and gives a symbol. An input: a shape, (shape, dtype[, low, high]) or an array."""
    if ONLY and ONLY not in name:
        return
    try:
        feed = {}
        for k, spec in zip("abcdefgh", inputs):
            if isinstance(spec, np.ndarray):
                feed[k] = spec
            elif all(isinstance(s, int) for s in spec):
                feed[k] = values(spec)
            else:
                feed[k] = values(*spec)
        with mx.name.NameManager():
            symbol = make(*[S.Variable(k) for k in feed])
        if isinstance(symbol, (list, tuple)):
            symbol = S.Group(list(symbol))
        # Arguments besides are weights.
        params = more.pop("params", {})
        more_names = [n for n in symbol.list_arguments() + symbol.list_auxiliary_states() if n not in feed and n not in params]
        if more_names:
            known = {k: v.shape for k, v in {**feed, **params}.items() if k in symbol.list_arguments()}
            shapes, _, aux = symbol.infer_shape(**known)
            shapes = dict(zip(symbol.list_arguments(), shapes))
            shapes.update(zip(symbol.list_auxiliary_states(), aux))
            for n in more_names:
                if "label" in n:
                    feed[n] = values(shapes[n])
                else:
                    params[n] = np.abs(values(shapes[n])) + 0.5 if "var" in n else values(shapes[n]) * np.float32(0.5)
        save(name, symbol, feed, params, **more)
    except Exception as e:
        SKIPPED.append(f"{name}: {type(e).__name__}: {str(e).strip().splitlines()[0][:150] if str(e).strip() else ''}")


def main():
    import mxnet_cases
    mxnet_cases.add(sys.modules["__main__"])
    with open(os.path.join(FOLDER, "samples.json"), "w") as file:
        json.dump(ROWS, file, indent=1)
    for line in SKIPPED:
        print("skipped", line)
    print(len(ROWS), "models,", len(OPERATORS), "operators")


main()
