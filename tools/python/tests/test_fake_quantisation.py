"""FakeQuantizationToInteger: programs over integers give what those over dequantised numbers give, within one level."""
import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import relayvm as rvm
import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.ir import TensorAffineType, TupleAffineType
from relayvm.tvm.relay.transform import FakeQuantizationToInteger

RNG = np.random.default_rng(3)


def names_of(mod):
    names = []
    rvm.post_order_visit(mod["main"], lambda e: names.append(e.op.name) if isinstance(e, relay.Call) and isinstance(e.op, relay.Op) else None)
    return names


def dequantized(name, shape, scale=0.1, zero=0, dtype="int8", axis=-1):
    return relay.qnn.op.dequantize(relay.var(name, shape=shape, dtype=dtype), relay.const(scale, "float32"), relay.const(zero, "int32"), axis)


def quantized(x, scale=0.2, zero=3, dtype="int8", axis=-1):
    return relay.qnn.op.quantize(x, relay.const(scale, "float32"), relay.const(zero, "int32"), axis, dtype)


def check(expr, gone=None, levels=1, **options):
    """Both programs, on the same random integers."""
    mod = tvm.relay.transform.InferType()(tvm.IRModule.from_expr(expr))
    after = FakeQuantizationToInteger(hard_fail=True, **options)(mod)
    inputs = {}
    for p in mod["main"].params:
        kind = p.checked_type
        limits = np.iinfo(kind.dtype) if kind.dtype != "int32" else np.iinfo("int8")
        inputs[p.name_hint] = RNG.integers(limits.min, limits.max + 1, kind.concrete_shape).astype(kind.dtype)
    expected, found = (rvm.compile(m)(**inputs) for m in (mod, after))
    assert expected.dtype == found.dtype and np.abs(expected.astype(int) - found.astype(int)).max(initial=0) <= levels
    assert gone is None or gone not in names_of(after)
    return names_of(after)


X = dequantized("x", (1, 3, 8, 8), 0.1, 4)
U = dequantized("x", (1, 3, 8, 8), 0.1, 100, "uint8")
CHANNELS = dequantized("x", (1, 3, 8, 8), [0.1, 0.2, 0.05], [1, 2, 3], axis=1)


@pytest.mark.parametrize("make", [
    lambda x: relay.reshape(x, (3, 64)), lambda x: relay.squeeze(x, [0]), lambda x: relay.strided_slice(x, [0, 1, 0, 0], [1, 3, 8, 4]),
    lambda x: relay.transpose(x, (0, 2, 3, 1)), lambda x: relay.expand_dims(x, 1, 2), lambda x: relay.nn.max_pool2d(x, (2, 2), (2, 2)),
    relay.nn.batch_flatten, lambda x: relay.nn.depth_to_space(relay.reshape(x, (1, 12, 4, 4)), 2), lambda x: relay.max(x, 1),
    lambda x: relay.min(x), lambda x: relay.broadcast_to(x, (2, 3, 8, 8)), lambda x: relay.take(x, relay.const([2, 0]), axis=1),
    lambda x: relay.topk(x, 3, -1, "values"), lambda x: relay.split(x, 2, axis=3)[1], lambda x: relay.split(x, [3, 5], axis=3)[2],
    lambda x: relay.nn.pad(x, [[0, 0], [0, 0], [1, 2], [0, 0]], 0.5), lambda x: relay.clip(x, -3.0, 4.5), relay.nn.relu,
    lambda x: relay.nn.leaky_relu(x, 0.1), lambda x: relay.nn.avg_pool2d(x, (2, 2), (2, 2)), relay.nn.global_avg_pool2d,
    lambda x: relay.nn.adaptive_avg_pool1d(relay.reshape(x, (1, 3, 64)), 1), relay.tanh, relay.sigmoid, relay.erf, relay.abs,
    relay.exp, lambda x: x + relay.const(1.5), lambda x: relay.const(2.0) - x, lambda x: x * relay.const(0.5),
    lambda x: relay.maximum(x, relay.const(0.3)), lambda x: relay.minimum(x, relay.const(1.0)), lambda x: relay.image.resize2d(x, (4, 4)),
    lambda x: relay.nn.avg_pool2d(relay.nn.relu(x), (2, 2)), lambda x: x,
])
@pytest.mark.parametrize("x, dtype, zero", [(X, "int8", 3), (U, "uint8", 90), (U, "int8", -20)])
def test_operators_of_one_tensor(make, x, dtype, zero):
    assert "qnn.dequantize" not in check(quantized(make(x), 0.12, zero, dtype))


def test_same_scales_need_nothing():
    assert check(quantized(relay.reshape(X, (3, 64)), 0.1, 4), levels=0) == ["reshape"]
    assert check(quantized(relay.nn.max_pool2d(X, (2, 2)), 0.1, 4), levels=0) == ["nn.max_pool2d"]
    assert check(quantized(X, 0.1, 4), levels=0) == []
    assert check(quantized(X, 0.1, 5)) == ["qnn.requantize"]


@pytest.mark.parametrize("make, moved", [
    (relay.nn.relu, 1), (lambda x: relay.clip(x, -1.0, 2.0), 1), (lambda x: relay.transpose(x, (0, 2, 3, 1)), 3),
    (lambda x: relay.expand_dims(x, 0), 2), (lambda x: relay.squeeze(x, [0]), 0), (lambda x: relay.nn.max_pool2d(x, (2, 2)), 1),
    (lambda x: relay.max(x, [2, 3], keepdims=True), 1),
])
def test_scales_of_channels(make, moved):
    check(quantized(make(CHANNELS), [0.1, 0.2, 0.05], [1, 2, 3], axis=moved), "qnn.dequantize", levels=0)
    check(quantized(make(CHANNELS), 0.15, 0), "qnn.dequantize")


def test_channels_that_go_stay_as_they_are():
    mod = tvm.IRModule.from_expr(quantized(relay.reshape(CHANNELS, (3, 64))))
    assert names_of(FakeQuantizationToInteger()(mod)) == ["qnn.dequantize", "reshape", "qnn.quantize"]
    with pytest.raises(ValueError, match="reshape: the channels that have scales of their own are not an axis of its result"):
        FakeQuantizationToInteger(hard_fail=True)(mod)


def test_products():
    x, w = dequantized("x", (1, 3, 8, 8), 0.1, 2), dequantized("w", (4, 3, 3, 3), 0.05, 1)
    per_channel = dequantized("w", (4, 3, 3, 3), [0.05, 0.1, 0.02, 0.03], 0, axis=0)
    bias = dequantized("b", (4,), 0.01, 0, "int32")
    for weight in (w, per_channel):
        conv = relay.nn.conv2d(x, weight, kernel_size=(3, 3), channels=4, padding=(1, 1))
        for y in (conv, relay.nn.bias_add(conv, bias), relay.nn.bias_add(conv, relay.const([0.5, 1.0, 2.0, -1.0])), relay.nn.relu(conv)):
            assert "qnn.conv2d" in check(quantized(y, 2.0), "qnn.dequantize")
    nhwc = relay.nn.conv2d(dequantized("x", (1, 8, 8, 3)), dequantized("w", (3, 3, 3, 4)), kernel_size=(3, 3), channels=4, data_layout="NHWC",
                           kernel_layout="HWIO")
    check(quantized(relay.nn.relu(nhwc), 1.0), "nn.conv2d")
    transposed = relay.nn.conv2d_transpose(x, dequantized("w", (3, 4, 3, 3)), kernel_size=(3, 3), channels=4)
    check(quantized(transposed, 2.0), "nn.conv2d_transpose")
    dense = relay.nn.dense(dequantized("x", (4, 16)), dequantized("w", (8, 16), RNG.uniform(0.02, 0.1, 8), 0, axis=0), units=8)
    check(quantized(dense, 1.0), "nn.dense")
    for transpose_b in (True, False):
        shape = (2, 6, 5) if transpose_b else (2, 5, 6)
        product = relay.nn.batch_matmul(dequantized("x", (2, 4, 5)), dequantized("y", shape, 0.03, 2), transpose_b=transpose_b)
        check(quantized(product, 0.5), "nn.batch_matmul")


def test_operators_of_several_tensors():
    x, y = dequantized("x", (2, 8), 0.1, 2), dequantized("y", (2, 8), 0.2, -3)
    u = dequantized("u", (2, 8), 0.05, 100, "uint8")
    for make in (relay.add, relay.subtract, relay.multiply, relay.maximum, relay.minimum):
        check(quantized(make(x, y), 0.4), "qnn.dequantize")
    check(quantized(relay.add(x, u), 0.4), "qnn.dequantize")
    check(quantized(relay.concatenate([x, y, x], 1), 0.2), "concatenate")
    check(quantized(relay.concatenate([x, u], 1), 0.2, 100, "uint8"), "concatenate")
    by_rows = dequantized("x", (2, 8), [0.1, 0.2], [1, 2], axis=0)
    check(quantized(by_rows + y, 0.4), "qnn.dequantize")


def test_what_is_no_region_stays():
    plain = relay.var("f", shape=(2, 8))
    x = dequantized("x", (2, 8))
    for expr in (quantized(x + plain), quantized(relay.cosh(x)), relay.nn.relu(x)):
        mod = tvm.IRModule.from_expr(expr)
        assert names_of(FakeQuantizationToInteger()(mod)) == names_of(mod)
    with pytest.raises(ValueError, match="there is no rule for cosh"):
        FakeQuantizationToInteger(hard_fail=True)(tvm.IRModule.from_expr(quantized(relay.cosh(x))))


def test_optional_operators():
    x = dequantized("x", (4, 8), 0.1)
    expr = quantized(relay.nn.softmax(x, 1), 1 / 256, -128)
    assert "nn.softmax" in names_of(FakeQuantizationToInteger()(tvm.IRModule.from_expr(expr)))
    assert "qnn.softmax" in check(expr, "nn.softmax", levels=8, optional_qnn_ops=["nn.softmax"])


def test_operators_by_themselves():
    x, w = dequantized("x", (4, 16)), dequantized("w", (8, 16), 0.05)
    mod = tvm.IRModule.from_expr(relay.erf(relay.nn.dense(relay.reshape(x, (-1, 16)), w) + relay.const(1.0)))
    assert names_of(FakeQuantizationToInteger()(mod)) == names_of(mod)
    after = FakeQuantizationToInteger(use_qat=True)(mod)
    assert names_of(after) == ["reshape", "qnn.dense", "qnn.dequantize", "add", "erf"]
    inputs = [RNG.integers(-128, 128, shape).astype("int8") for shape in ((4, 16), (8, 16))]
    np.testing.assert_allclose(*(rvm.compile(m)(*inputs) for m in (mod, after)), rtol=1e-5, atol=1e-5)


def test_rules_of_users():
    @relay.op.register_fake_quantization_to_integer("nn.mirror_pad")
    def mirror(expr, type_map):
        return [expr, type_map[expr.args[0]]]

    assert "qnn.dequantize" not in check(quantized(relay.nn.mirror_pad(X, [[0, 0], [0, 0], [1, 1], [1, 1]], "REFLECT"), 0.1, 4), levels=0)
    relay.op.register_fake_quantization_to_integer("nn.mirror_pad", lambda expr, type_map: [expr])
    with pytest.raises(ValueError, match="expected an expression and its affine type, found 1 values"):
        check(quantized(relay.nn.mirror_pad(X, [[0, 0], [0, 0], [1, 1], [1, 1]], "REFLECT"), 0.1, 4))


def test_affine_types():
    t = TensorAffineType(relay.const(0.5), relay.const(1), "int8")
    assert t == TensorAffineType(relay.const(0.5), relay.const(1), "int8") and t != TensorAffineType(relay.const(0.5), relay.const(1), "uint8")
    assert t != TensorAffineType(relay.const(0.5), relay.const(1), "int8", 0) and TupleAffineType([t]) == TupleAffineType([t])
    assert (t.dtype, t.axis) == ("int8", -1) and tvm.ir.structural_equal(t, TensorAffineType(relay.const(0.5), relay.const(1), "int8"))


def test_frequencies():
    y = quantized(relay.nn.relu(relay.nn.relu(X)), 0.1)
    mod = tvm.IRModule.from_expr(relay.tanh(relay.qnn.op.dequantize(y, relay.const(0.1), relay.const(0))))
    assert relay.analysis.list_fake_quantized_op_freqs(mod) == {"nn.relu": 2}


def test_long_regions_are_quick():
    y = X
    for _ in range(300):
        y = relay.clip(relay.nn.relu(relay.reshape(y, (1, 3, 8, 8))), 0.0, 6.0)
    mod = tvm.IRModule.from_expr(quantized(y))
    assert len(names_of(FakeQuantizationToInteger(hard_fail=True)(mod))) == 901
