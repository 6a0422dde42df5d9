"""Imported models as TVM's users find them: modules that change, with the operators that TVM writes, so that patterns and engines match."""
import functools

import numpy as np
import pytest

import relayvm as rvm
import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay.dataflow_pattern import is_constant, is_op, wildcard

rng = np.random.default_rng(0)
IMAGE = rng.standard_normal((1, 3, 8, 8)).astype("float32")
onnx = pytest.importorskip("onnx")


def model(op, inputs, values, constants=(), opset=13, outputs=1, **attributes):
    """An ONNX model of one node. values, constants: arrays by name."""
    from onnx import helper, numpy_helper
    def info(name, dims=None):
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    node = helper.make_node(op, inputs, [f"y{i}" for i in range(outputs)], **attributes)
    graph = helper.make_graph([node], "g", [info(name, value.shape) for name, value in values.items()], [info(f"y{i}") for i in range(outputs)],
                              [numpy_helper.from_array(value, name) for name, value in dict(constants).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def operators(mod):
    found = []
    relay.analysis.post_order_visit(mod["main"].body, lambda e: found.append(e.op.name) if isinstance(e, relay.Call) else None)
    return found


def normal(*shape):
    return rng.standard_normal(shape).astype("float32")


NODES = [
    (("Relu", ["x"]), {}, ["nn.relu"]),
    (("LeakyRelu", ["x"]), {"alpha": 0.2}, ["nn.leaky_relu"]),
    (("PRelu", ["x", "s"], {"s": normal(3, 1, 1)}), {}, ["nn.prelu"]),
    (("PRelu", ["x", "s"], {"s": normal(8)}), {}, ["less", "multiply", "where"]),  # one for each column
    (("Clip", ["x", "a", "b"], {"a": np.float32(-0.5), "b": np.float32(1)}), {}, ["clip"]),
    (("Clip", ["x", "a", "b"], {"a": np.float32(0), "b": np.float32(6)}), {}, ["clip"]),
    (("HardSigmoid", ["x"]), {}, ["multiply", "add", "clip"]),
    (("Max", ["x", "a"], {"a": np.float32(2)}), {}, ["isnan", "maximum", "where"]),
    (("GlobalAveragePool", ["x"]), {}, ["nn.global_avg_pool2d"]),
    (("GlobalMaxPool", ["x"]), {}, ["nn.global_max_pool2d"]),
    (("ReduceMean", ["x"]), {"axes": [2, 3]}, ["mean"]),
    (("Gemm", ["m", "w", "b"], {"w": normal(5, 8), "b": normal(5)}), {"transB": 1}, ["nn.dense", "add"]),
    (("MatMul", ["m", "w"], {"w": normal(8, 5)}), {}, ["nn.dense"]),
    (("Flatten", ["x"]), {}, ["reshape"]),
]


@pytest.mark.parametrize("node, attributes, names", NODES, ids=lambda v: v[0] if isinstance(v, tuple) else "")
def test_operators_are_those_of_tvm(node, attributes, names):
    op, inputs, constants = (*node, {})[:3]
    values = {"x": IMAGE} if "x" in inputs else {"m": normal(2, 8)}
    content = model(op, inputs, values, constants, **attributes)
    mod, params = relay.frontend.from_onnx(content, {name: value.shape for name, value in values.items()})
    assert operators(mod) == names and dict(params) == {}
    found = relay.create_executor("vm", mod, tvm.cpu(), "llvm").evaluate()(*values.values()).numpy()
    np.testing.assert_allclose(found, rvm.compile(content)(*values.values()), 1e-5, 1e-6)


@functools.cache
def network():
    """conv, bias, relu, mean, flatten, product, with an open batch."""
    from onnx import helper, numpy_helper
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"]), helper.make_node("Relu", ["c"], ["r"]), helper.make_node("GlobalAveragePool", ["r"], ["p"]),
             helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("MatMul", ["f", "head"], ["y"])]
    weights = [numpy_helper.from_array(value, name) for name, value in (("w", normal(4, 3, 3, 3)), ("b", normal(4)), ("head", normal(4, 5)))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, ["n", 3, 8, 8])], [helper.make_tensor_value_info("y", 1, ["n", 5])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_modules_change_and_their_sizes_are_known():
    mod, params = relay.frontend.from_onnx(network(), {"x": (1, 3, 8, 8)}, dtype="float32", freeze_params=True)
    assert isinstance(mod, tvm.IRModule)
    assert operators(mod) == ["nn.conv2d", "nn.bias_add", "nn.relu", "nn.global_avg_pool2d", "reshape", "nn.dense"]
    expected = rvm.compile(network())(IMAGE)
    mod["main"] = relay.Function(mod["main"].params, relay.negative(mod["main"].body))
    found = relay.create_executor("graph", mod, tvm.cpu(), "llvm", params).evaluate()(IMAGE).numpy()
    np.testing.assert_allclose(found, -expected, 1e-4, 1e-5)


def test_patterns_match_and_engines_have_their_composites():
    mod, _ = relay.frontend.from_onnx(network(), {"x": (1, 3, 8, 8)})
    conv = is_op("nn.relu")(is_op("nn.bias_add")(is_op("nn.conv2d")(wildcard(), is_constant()), is_constant()))
    seen = []
    relay.analysis.post_order_visit(mod["main"], lambda e: seen.append(e) if conv.match(e) else None)
    assert len(seen) == 1
    with relay.quantize.qconfig(skip_conv_layers=[], skip_dense_layer=False):
        assert relay.quantize.quantize(mod).astext(show_meta_data=False).count('out_dtype="int32"') == 2


def test_weights_as_parameters():
    mod, params = relay.frontend.from_onnx(network(), {"x": (1, 3, 8, 8)}, freeze_params=False)
    assert [p.name_hint for p in mod["main"].params] == ["x", "w", "b", "head"] and set(params) == {"w", "b", "head"}
    expected = rvm.compile(network())(IMAGE)
    lib = relay.build(mod, "llvm", params=params)
    module = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.run(x=IMAGE)
    np.testing.assert_allclose(module.get_output(0).numpy(), expected, 1e-4, 1e-5)
    bare = tvm.contrib.graph_executor.GraphModule(relay.build(mod, "llvm")["default"](tvm.cpu()))
    bare.set_input("x", IMAGE)
    bare.set_input(**params)
    bare.run()
    np.testing.assert_allclose(bare.get_output(0).numpy(), expected, 1e-4, 1e-5)


def test_formats_without_an_importer():
    for name in ("from_caffe", "from_paddle"):
        with pytest.raises(NotImplementedError, match="programs are imported from ONNX, PyTorch.*write the model as ONNX"):
            getattr(relay.frontend, name)("model")
