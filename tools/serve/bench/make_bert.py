#!/usr/bin/python3
"""Writes a model of BERT's form as ONNX with random weights, batch and sequence open: what compare.py serves.

usage: make_bert.py FILE.onnx [--layers 12] [--hidden 768] [--heads 12]

BERT-base's encoder by default: 85 million weights besides a vocabulary of 1,000. Input ids (batch, seq) of int64, outputs y and pooled. It has
no mask: padding changes what a peer that pads answers, but not how long it takes. Needs numpy and onnx.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Bert:
    def __init__(self, hidden, heads):
        self.random = np.random.default_rng(1)
        self.hidden, self.heads = hidden, heads
        self.nodes, self.weights = [], []

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape, dtype=np.float32) * np.float32(0.02))

    def op(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def dense(self, x, inputs, outputs):
        return self.op("Add", self.op("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def norm(self, x):
        scale = self.constant(np.ones(self.hidden, np.float32))
        return self.op("LayerNormalization", x, scale, self.weight(self.hidden), axis=-1, epsilon=1e-5)

    def split(self, x, order):
        shape = self.constant(np.array([0, 0, self.heads, self.hidden // self.heads]))
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order)

    def layer(self, x):
        q, k, v = (self.dense(x, self.hidden, self.hidden) for _ in range(3))
        q, k, v = self.split(q, [0, 2, 1, 3]), self.split(k, [0, 2, 3, 1]), self.split(v, [0, 2, 1, 3])
        scores = self.op("Div", self.op("MatMul", q, k), self.constant(np.float32((self.hidden / self.heads) ** 0.5)))
        y = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = self.op("Reshape", y, self.constant(np.array([0, 0, self.hidden])))
        x = self.norm(self.op("Add", x, self.dense(y, self.hidden, self.hidden)))
        y = self.dense(x, self.hidden, 4 * self.hidden)
        e = self.op("Erf", self.op("Div", y, self.constant(np.float32(2 ** 0.5))))
        y = self.op("Mul", self.op("Mul", y, self.op("Add", e, self.constant(np.float32(1)))), self.constant(np.float32(0.5)))
        return self.norm(self.op("Add", x, self.dense(y, 4 * self.hidden, self.hidden)))

    def write(self, path, layers, vocabulary=1000, positions=512):
        length = self.op("Gather", self.op("Shape", "ids"), self.constant(np.array(1)), axis=0)
        length = self.op("Unsqueeze", length, self.constant(np.array([0])))
        places = self.op("Slice", self.weight(1, positions, self.hidden), self.constant(np.array([0])), length, self.constant(np.array([1])))
        x = self.norm(self.op("Add", self.op("Gather", self.weight(vocabulary, self.hidden), "ids"), places))
        for _ in range(layers):
            x = self.layer(x)
        first = self.op("Gather", x, self.constant(np.array(0)), axis=1)
        pooled = self.op("Tanh", self.dense(first, self.hidden, self.hidden))
        self.nodes += [helper.make_node("Identity", [x], ["y"]), helper.make_node("Identity", [pooled], ["pooled"])]
        graph = helper.make_graph(
            self.nodes, "bert", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "seq"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "seq", self.hidden]),
             helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", self.hidden])], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    arguments = parser.parse_args()
    Bert(arguments.hidden, arguments.heads).write(arguments.file, arguments.layers)


if __name__ == "__main__":
    main()
