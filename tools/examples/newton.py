#!/usr/bin/python3
"""Writes newton.onnx: square roots by Newton's method, for any number of numbers, as many steps as they need.

usage: newton.py newton.onnx      (needs Debian's python3-onnx)

The graph has a dynamic axis (n) and a Loop whose condition is computed: x = (x + numbers / x) / 2 until no element moves by
more than a millionth of itself. Outputs: the roots, and the number of steps.
"""
import sys

from onnx import TensorProto, checker, helper, save


def constant(name, dtype, dims, values):
    return helper.make_tensor(name, dtype, dims, values)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    value, node = helper.make_tensor_value_info, helper.make_node
    body = helper.make_graph(
        [node("Div", ["numbers", "x"], ["quotient"], name="quotient"),
         node("Add", ["x", "quotient"], ["sum"], name="sum"),
         node("Mul", ["sum", "half"], ["next"], name="next"),
         node("Sub", ["next", "x"], ["moved"], name="moved"),
         node("Div", ["moved", "next"], ["relative"], name="relative"),
         node("Abs", ["relative"], ["error"], name="error"),
         node("ReduceMax", ["error"], ["largest"], name="largest", keepdims=0),
         node("Greater", ["largest", "tolerance"], ["again"], name="again"),
         node("Add", ["steps_in", "one"], ["steps_out"], name="count")],
        "step",
        [value("turn", TensorProto.INT64, []), value("go", TensorProto.BOOL, []),
         value("x", TensorProto.FLOAT, ["n"]), value("steps_in", TensorProto.INT64, [])],
        [value("again", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, ["n"]),
         value("steps_out", TensorProto.INT64, [])])
    graph = helper.make_graph(
        [node("Loop", ["most", "true", "numbers", "zero"], ["roots", "steps"], name="newton", body=body)],
        "newton",
        [value("numbers", TensorProto.FLOAT, ["n"])],
        [value("roots", TensorProto.FLOAT, ["n"]), value("steps", TensorProto.INT64, [])],
        [constant("most", TensorProto.INT64, [], [100]), constant("true", TensorProto.BOOL, [], [1]),
         constant("zero", TensorProto.INT64, [], [0]), constant("one", TensorProto.INT64, [], [1]),
         constant("half", TensorProto.FLOAT, [], [0.5]), constant("tolerance", TensorProto.FLOAT, [], [1e-6])])
    model = helper.make_model(graph, producer_name="relayvm", opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    checker.check_model(model)
    save(model, sys.argv[1])


main()
