#!/usr/bin/python3
"""Makes the examples' inputs, weights and expected results (fixed seeds; results computed with NumPy, independently of relayvm).

usage: make_inputs.py [FOLDER]      default: this folder. Needs Debian's python3-numpy.
"""
import os
import sys

import numpy as np

F = np.float32


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def lstm(rng, save):
    w = dict(embedding=rng.normal(size=(50, 24)), w_ih=rng.normal(size=(128, 24)) / 4, w_hh=rng.normal(size=(128, 32)) / 4,
             bias=rng.normal(size=128) / 4, w_out=rng.normal(size=(3, 32)))
    w = {k: v.astype(F) for k, v in w.items()}
    save("lstm.npz", **w)
    for name, length in (("lstm_sentence1", 5), ("lstm_sentence2", 23)):
        words = rng.integers(0, 50, length).astype(np.int32)
        h = c = np.zeros((1, 32))
        for word in words:
            i, f, g, o = np.split(w["embedding"][word:word + 1] @ w["w_ih"].T + h @ w["w_hh"].T + w["bias"], 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        save(name + ".npy", words)
        save(name + ".expected.npy", softmax(h @ w["w_out"].T).astype(F))


def tree_lstm(rng, save):
    w = dict(w_leaf=rng.normal(size=(72, 16)) / 3, b_leaf=rng.normal(size=72) / 3, w_node=rng.normal(size=(120, 48)) / 4,
             b_node=rng.normal(size=120) / 4)
    w = {k: v.astype(F) for k, v in w.items()}
    save("tree_lstm.npz", **w)
    leaves = [rng.normal(size=(1, 16)).astype(F) for _ in range(3)]
    for k, leaf in enumerate(leaves):
        save(f"tree_lstm_leaf{k}.npy", leaf)

    def encode(tree):
        if isinstance(tree, int):
            i, o, u = np.split(leaves[tree] @ w["w_leaf"].T + w["b_leaf"], 3, axis=1)
            c = sigmoid(i) * np.tanh(u)
        else:
            (lh, lc), (rh, rc) = map(encode, tree)
            i, fl, fr, o, u = np.split(np.concatenate([lh, rh], axis=1) @ w["w_node"].T + w["b_node"], 5, axis=1)
            c = sigmoid(fl) * lc + sigmoid(fr) * rc + sigmoid(i) * np.tanh(u)
        return sigmoid(o) * np.tanh(c), c

    save("tree_lstm.expected.npy", encode(((0, 1), (2, (1, 0))))[0].astype(F))


def conv(x, w, stride=1, pad=0, groups=1):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n, _, height, width = x.shape
    out, per_group, kh, kw = w.shape
    oh, ow = (height - kh) // stride + 1, (width - kw) // stride + 1
    y = np.zeros((n, out, oh, ow))
    for o in range(out):
        first = o // (out // groups) * per_group
        for i in range(oh):
            for j in range(ow):
                window = x[:, first:first + per_group, i * stride:i * stride + kh, j * stride:j * stride + kw]
                y[:, o, i, j] = (window * w[o]).sum(axis=(1, 2, 3))
    return y


def cnn(rng, save):
    w = dict(conv1=rng.normal(size=(16, 3, 3, 3)) / 3, gamma=rng.uniform(0.5, 2, 16), beta=rng.normal(size=16),
             mean=rng.normal(size=16), var=rng.uniform(0.5, 2, 16), depthwise=rng.normal(size=(16, 1, 3, 3)) / 2,
             pointwise=rng.normal(size=(24, 16, 1, 1)) / 3, bias=rng.normal(size=24), fc=rng.normal(size=(10, 24)) / 3)
    w = {k: v.astype(F) for k, v in w.items()}
    save("cnn.npz", **w)
    x = rng.normal(size=(2, 3, 29, 37)).astype(F)
    save("cnn_pictures.npy", x)

    def channel(v):
        return v.reshape(1, -1, 1, 1)

    y = conv(x, w["conv1"], stride=2, pad=1)
    y = (y - channel(w["mean"])) / np.sqrt(channel(w["var"]) + 1e-5) * channel(w["gamma"]) + channel(w["beta"])
    y = np.maximum(y, 0)
    n, c, height, width = y.shape
    y = y[:, :, :height // 2 * 2, :width // 2 * 2].reshape(n, c, height // 2, 2, width // 2, 2).max(axis=(3, 5))
    y = np.maximum(conv(y, w["depthwise"], pad=1, groups=16), 0)
    y = np.maximum(conv(y, w["pointwise"]) + channel(w["bias"]), 0)
    save("cnn.expected.npy", softmax(y.mean(axis=(2, 3)) @ w["fc"].T).astype(F))


def while_loop(rng, save):
    x = rng.uniform(0, 1000, 7).astype(F)
    save("while_loop_numbers.npy", x)
    save("while_loop.expected.npz", out0=np.sqrt(x).astype(F), out1=np.int32(7))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))

    def save(name, *array, **arrays):
        path = os.path.join(folder, name)
        np.savez(path, **arrays) if arrays else np.save(path, *array)

    for k, example in enumerate((lstm, tree_lstm, cnn, while_loop)):
        example(np.random.default_rng(k), save)


main()
