#!/usr/bin/python3
"""Writes a model of BERT-base's size as Relay text with weights: bert_base.relay and bert_base.npz.

usage: make_bert.py FOLDER [LAYERS]

12 layers and 204 parameters of 347 MB, random. As importers leave it: weights are transposed where they are used, layer
normalisation is spelled out, its scalars are parameters too. Batch and sequence are open. For figures of compile time and memory:

    /usr/bin/time -v relayc FOLDER/bert_base.relay --params FOLDER/bert_base.npz -o bert.vmx --time-passes
"""
import os
import sys

import numpy as np

HIDDEN, HEADS, VOCABULARY, POSITIONS = 768, 12, 1000, 512
SCALARS = {"two": 2.0, "eps": 1e-5, "scale": (HIDDEN / HEADS) ** 0.5, "sqrt2": 2.0 ** 0.5, "one": 1.0, "half": 0.5}


class Model:
    def __init__(self):
        self.random = np.random.default_rng(1)
        self.params = {name: np.float32(value) for name, value in SCALARS.items()}
        self.lines = []

    def param(self, name, *shape):
        self.params[name] = self.random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)
        return "%" + name

    def op(self, name, *args, **attrs):
        text = ", ".join([*args, *(f"{k}={v}" for k, v in attrs.items())])
        self.lines.append(f"  %{len(self.lines)} = {name}({text});")
        return f"%{len(self.lines) - 1}"

    def dense(self, x, name, inputs, outputs):
        w = self.op("transpose", self.param(name + ".weight", inputs, outputs), axes=[1, 0])
        y = self.op("nn.dense", x, w, units=outputs)
        return self.op("add", self.param(name + ".bias", outputs), y)

    def norm(self, x, name):
        mean = self.op("mean", x, axis=[-1], keepdims=True)
        d = self.op("subtract", x, mean)
        variance = self.op("mean", self.op("power", d, "%two"), axis=[-1], keepdims=True)
        d = self.op("divide", d, self.op("sqrt", self.op("add", variance, "%eps")))
        y = self.op("multiply", d, self.param(name + ".gamma", HIDDEN))
        return self.op("add", y, self.param(name + ".beta", HIDDEN))

    def heads(self, x, axes):
        x = self.op("reshape", x, newshape=[0, 0, HEADS, HIDDEN // HEADS])
        x = self.op("transpose", x, axes=axes)
        return self.op("reshape", x, newshape=[-3, -2])  # batch and head become one axis

    def layer(self, x, name):
        q, k, v = (self.dense(x, f"{name}.{part}", HIDDEN, HIDDEN) for part in "qkv")
        q, k, v = self.heads(q, [0, 2, 1, 3]), self.heads(k, [0, 2, 1, 3]), self.heads(v, [0, 2, 3, 1])
        scores = self.op("nn.batch_matmul", q, k, transpose_b=True)
        a = self.op("nn.softmax", self.op("divide", scores, "%scale"), axis=2)
        y = self.op("nn.batch_matmul", a, v, transpose_b=True)
        y = self.op("reshape", y, newshape=[-4, -1, HEADS, -2])
        y = self.op("reshape", self.op("transpose", y, axes=[0, 2, 1, 3]), newshape=[0, 0, -3])
        x = self.norm(self.op("add", x, self.dense(y, name + ".o", HIDDEN, HIDDEN)), name + ".ln1")
        y = self.dense(x, name + ".f1", HIDDEN, 4 * HIDDEN)
        e = self.op("add", self.op("erf", self.op("divide", y, "%sqrt2")), "%one")
        y = self.op("multiply", self.op("multiply", y, e), "%half")
        return self.norm(self.op("add", x, self.dense(y, name + ".f2", 4 * HIDDEN, HIDDEN)), name + ".ln2")

    def write(self, folder, layers):
        ids = self.op("take", self.param("tokens", VOCABULARY, HIDDEN), "%ids", axis=0, mode='"clip"')
        places = self.op("arange", "0", self.op("take", self.op("shape_of", "%ids", dtype='"int32"'), "1", axis=0), "1",
                         start="0", stop="0", step="1", dtype='"int32"')
        x = self.op("add", ids, self.op("take", self.param("positions", POSITIONS, HIDDEN), places, axis=0, mode='"clip"'))
        x = self.norm(x, "ln")
        for i in range(layers):
            x = self.layer(x, f"layer{i}")
        first = self.op("take", x, "0", axis=1, mode='"clip"')
        pooled = self.op("tanh", self.dense(first, "pool", HIDDEN, HIDDEN))
        shapes = ", ".join(f"%{n}: " + (f"Tensor[({', '.join(map(str, p.shape))}), float32]" if p.shape else "float32")
                           for n, p in self.params.items())
        with open(os.path.join(folder, "bert_base.relay"), "w") as out:
            out.write('#[version = "0.0.5"]\n' + f"def @main(%ids: Tensor[(?, ?), int32], {shapes}) {{\n")
            out.write("\n".join(self.lines) + f"\n  ({x}, {pooled})\n}}\n")
        np.savez(os.path.join(folder, "bert_base.npz"), **self.params)
        return len(self.params), sum(p.nbytes for p in self.params.values())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    count, size = Model().write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 12)
    print(f"{count} parameters, {size / 1e6:.0f} MB")
