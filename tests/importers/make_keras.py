"""Small models of Keras, layer by layer: each is saved as .keras and .h5, beside its inputs and what Keras gives for them.

usage: make_keras.py keras|tf_keras FOLDER [TEXT]     (Python with keras 3 and tensorflow, or with tf_keras; only cases whose name has TEXT)

NAME.keras, NAME.h5, NAME.in.npz and NAME.out.npz are written to FOLDER, and samples.json, which run_samples.py reads. Seeds are fixed."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("OMP_NUM_THREADS", "1")
WHICH, FOLDER = sys.argv[1], sys.argv[2]
ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
if WHICH == "tf_keras":
    import tf_keras as K
else:
    import keras as K
import numpy as np
import tensorflow as tf

L = K.layers
THREE = WHICH == "keras"
PREFIX = "k3_" if THREE else "k2_"
ROWS = []
SKIPPED = []
rng = np.random.RandomState(7)


def values(shape, dtype="float32", high=None):
    """An array of that shape; open dims are 2, 3, ..."""
    dims = [2 if i == 0 and d is None else 5 if d is None else d for i, d in enumerate(shape)]
    if dtype == "bool":
        return rng.rand(*dims) > 0.4
    if dtype.startswith(("int", "uint")):
        return rng.randint(0, high or 5, dims).astype(dtype)
    return rng.randn(*dims).astype(dtype)


def fill(model):
    for w in model.weights:
        name = getattr(w, "path", w.name)
        v = np.asarray(K.ops.convert_to_numpy(w) if THREE else w.numpy())
        if v.dtype.kind != "f" and v.dtype.name != "bfloat16":
            continue
        new = rng.uniform(0.5, 1.5, v.shape) if "variance" in name else rng.randn(*v.shape) * 0.5
        if "count" not in name:
            w.assign(new.astype(v.dtype))


def save(name, model, arrays, rtol=None, atol=None, weights=True, options=(), h5=True):
    name = PREFIX + name
    if ONLY and ONLY not in name:
        return
    if weights:
        fill(model)
    keys = list(model.input_names) if not THREE else [t.name for t in model.inputs] if model.inputs else ["input"]
    if isinstance(arrays, dict):
        feed, flat = arrays, [arrays[k] for k in sorted(arrays)]
    else:
        feed = arrays[0] if len(arrays) == 1 else list(arrays)
        flat = list(arrays)
    out = model(feed, training=False) if flat[0].dtype.kind not in "US" else model(tf.constant(flat[0]), training=False)
    out = [np.asarray(v) for v in tf.nest.flatten(out)]
    out = [v.astype("float32") if v.dtype.name == "bfloat16" else v for v in out]
    out = [np.array([w.decode() for w in v.ravel()]).reshape(v.shape) if v.dtype.kind == "O" else v for v in out]
    base = os.path.join(FOLDER, name)
    np.savez(base + ".in.npz", **{str(i): a for i, a in enumerate(flat)})
    np.savez(base + ".out.npz", **{str(i): a for i, a in enumerate(out)})
    for end in ("keras", "h5"):
        if end == "h5" and not h5:
            continue
        try:
            model.save(base + "." + end)
        except Exception as e:
            SKIPPED.append(f"{name}.{end}: {type(e).__name__}: {str(e)[:150]}")
            continue
        row = {"model": f"{name}.{end}", "options": list(options)}
        if rtol:
            row["rtol"] = rtol
        if atol:
            row["atol"] = atol
        ROWS.append(row)


def case(name, make, *inputs, **more):
    """`make` takes tensors and gives the model's outputs. An input: a shape without batch, or (shape, dtype[, high])."""
    if ONLY and ONLY not in PREFIX + name:
        return
    K.backend.clear_session() if not THREE else K.utils.clear_session()
    try:
        batch = more.pop("batch", None)
        arrays = more.pop("x", None)
        tensors, made = [], []
        for i, spec in enumerate(inputs):
            shape, dtype, high = (spec, "float32", None) if all(s is None or isinstance(s, int) for s in spec) else (*spec, None, None)[:3]
            t = L.Input(shape, batch_size=batch, dtype=dtype, name=f"in{i}")
            tensors.append(t)
            made.append(values((batch, *shape), dtype, high) if dtype != "string" else None)
        model = K.Model(tensors if len(tensors) > 1 else tensors[0], make(*tensors))
        save(name, model, arrays or made, **more)
    except Exception as e:
        SKIPPED.append(f"{PREFIX}{name}: {type(e).__name__}: {str(e)[:150]}")


def layer(name, make, *inputs, **more):
    """The same, of a layer that is made for each case."""
    case(name, lambda *t: make()(*t) if len(t) == 1 else make()(list(t)), *inputs, **more)


def main():
    import keras_layers
    import keras_operations
    for part in (keras_layers, keras_operations):
        part.add(sys.modules["__main__"])
    with open(os.path.join(FOLDER, "samples.json"), "w") as file:
        json.dump(ROWS, file, indent=1)
    for line in SKIPPED:
        print("skipped", line)
    print(len(ROWS), "files")


main()
