"""Gradients of operators, each against differences: those that `relay.transform.gradient` knows, walked."""
import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

from relayvm.compiler.passes import gradients  # noqa: E402 (it needs the compiler)
from relayvm.compiler.relay import Op  # noqa: E402
import relayvm.tvm as tvm  # noqa: E402
from relayvm.tvm import relay  # noqa: E402

RNG = np.random.default_rng(11)
nn = relay.nn


def const(values, dtype="float64"):
    return relay.const(np.array(values), dtype)


def vectors(*names):
    """Of operators of one operand: calls for small numbers above 1, where all of them are smooth."""
    return {name: (relay.op.get(name), [(2, 3)]) for name in names}


# By the operator's name: a call, and shapes of its operands, whose elements lie between 1.1 and 1.9.
SMOOTH = {
    **vectors("abs", "acosh", "asinh", "atan", "copy", "cos", "cosh", "erf", "exp", "log", "log10", "log2", "negative", "nn.batch_flatten",
              "nn.relu", "nn.softmax", "nn.fast_softmax", "nn.log_softmax", "fast_exp", "fast_erf", "fast_tanh", "annotation.stop_fusion",
              "annotation.checkpoint", "on_device", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh"),
    "acos": (lambda x: relay.acos(x / const(3.0)), [(2, 3)]), "asin": (lambda x: relay.asin(x / const(3.0)), [(2, 3)]),
    "atanh": (lambda x: relay.atanh(x / const(3.0)), [(2, 3)]),
    "add": (relay.add, [(2, 3), (3,)]), "subtract": (relay.subtract, [(2, 1), (1, 3)]), "multiply": (relay.multiply, [(2, 3), (2, 1)]),
    "divide": (relay.divide, [(2, 3), (2, 3)]), "power": (relay.power, [(2, 3), (3,)]),
    "maximum": (relay.maximum, [(2, 3), (2, 3)]), "minimum": (relay.minimum, [(2, 3), (2, 3)]),
    "where": (lambda x, y: relay.where(relay.less(x, y), x * x, y), [(2, 3), (2, 3)]),
    "clip": (lambda x: relay.clip(x, 1.3, 1.6), [(3, 4)]), "cast": (lambda x: relay.cast(x * x, "float64"), [(2, 3)]),
    "cast_like": (lambda x: relay.cast_like(x, const(1.0)), [(2, 3)]),
    "sum": (lambda x: relay.sum(x * x, 1), [(2, 3)]), "mean": (lambda x: relay.mean(x * x, [0], True), [(2, 3)]),
    "max": (lambda x: relay.max(x, 1), [(2, 3)]), "min": (lambda x: relay.min(x, 1), [(2, 3)]), "prod": (lambda x: relay.prod(x, 1), [(2, 3)]),
    "variance": (lambda x: relay.variance(x, 1), [(2, 3)]),
    "reshape": (lambda x: relay.sin(relay.reshape(x, (3, -1))), [(2, 3)]),
    "dyn.reshape": (lambda x: relay.sin(relay.reshape(x, relay.shape_of(relay.zeros((3, 2), "float32")))), [(2, 3)]),
    "contrib_reverse_reshape": (lambda x: relay.sin(relay.reverse_reshape(x, (-1, 0))), [(2, 3, 4)]),
    "reshape_like": (lambda x: relay.sin(relay.reshape_like(x, relay.zeros((6,), "float64"))), [(2, 3)]),
    "expand_dims": (lambda x: relay.sin(relay.expand_dims(x, 1, 2)), [(2, 3)]), "squeeze": (lambda x: relay.sin(relay.squeeze(x, [1])), [(2, 1, 3)]),
    "transpose": (lambda x: relay.sin(relay.transpose(x, (2, 0, 1))), [(2, 3, 4)]),
    "stack": (lambda x, y: relay.sin(relay.stack([x, y], 1)), [(2, 3), (2, 3)]),
    "concatenate": (lambda x, y: relay.sin(relay.concatenate([x, y], -1)), [(2, 3), (2, 2)]),
    "split": (lambda x: relay.split(x, [1, 3], 1)[1] * const(2.0), [(2, 6)]),
    "strided_slice": (lambda x: relay.sin(relay.strided_slice(x, [0, 1], [2, 4], [1, 2])), [(3, 5)]),
    "take": (lambda x: relay.sin(relay.take(x, const([[1, 0], [1, 1]], "int32"), 1)), [(2, 3)]),
    "gather_nd": (lambda x: relay.sin(relay.gather_nd(x, const([[0, 1, 1], [0, 1, 1]], "int64"))), [(2, 3)]),
    "collapse_sum_like": (lambda x: relay.sin(relay.collapse_sum_like(x, relay.zeros((3,), "float64"))), [(2, 3)]),
    "collapse_sum_to": (lambda x: relay.sin(relay.collapse_sum_to(x, (2, 1))), [(2, 3)]),
    "broadcast_to": (lambda x: relay.sin(relay.broadcast_to(x, (2, 2, 3))), [(1, 3)]),
    "broadcast_to_like": (lambda x: relay.sin(relay.broadcast_to_like(x, relay.zeros((2, 3), "float64"))), [(1, 3)]),
    "layout_transform": (lambda x: relay.sin(relay.layout_transform(x, "NCHW", "NHWC")), [(1, 2, 2, 3)]),
    "repeat": (lambda x: relay.sin(relay.repeat(x, 2, 1)), [(2, 3)]), "tile": (lambda x: relay.sin(relay.tile(x, (2, 1, 2))), [(2, 3)]),
    "reverse": (lambda x: relay.sin(relay.reverse(x, 1)), [(2, 3)]),
    "nn.dense": (lambda x, w: relay.sin(nn.dense(x, w)), [(2, 3), (4, 3)]),
    "nn.bias_add": (lambda x, b: relay.sin(nn.bias_add(x, b)), [(2, 3), (3,)]),
    "nn.matmul": (lambda x, y: relay.sin(nn.matmul(x, y, transpose_a=True)), [(3, 2), (3, 4)]),
    "nn.batch_matmul": (lambda x, y: relay.sin(nn.batch_matmul(x, y)), [(2, 3, 4), (2, 2, 4)]),
    "nn.conv2d": (lambda x, w: relay.sin(nn.conv2d(x, w, padding=(1, 0), dilation=(1, 2), groups=2)), [(1, 2, 4, 6), (4, 1, 2, 2)]),
    "nn.max_pool2d": (lambda x: relay.sin(nn.max_pool2d(x, (2, 2), (1, 2))), [(1, 2, 3, 4)]),
    "nn.avg_pool2d": (lambda x: relay.sin(nn.avg_pool2d(x, (2, 2), (2, 1), padding=(1, 1), count_include_pad=True)), [(1, 2, 3, 4)]),
    "nn.global_avg_pool2d": (lambda x: relay.sin(nn.global_avg_pool2d(x)), [(1, 2, 3, 4)]),
    "nn.cross_entropy": (nn.cross_entropy, [(2, 3), (2, 3)]), "nn.cross_entropy_with_logits": (nn.cross_entropy_with_logits, [(2, 3), (2, 3)]),
    "nn.pad": (lambda x: relay.sin(nn.pad(x, ((1, 0), (0, 2)))), [(2, 3)]),
    "nn.leaky_relu": (lambda x: nn.leaky_relu(x - const(1.5), 0.2), [(2, 3)]),
    "nn.dropout": (lambda x: relay.sin(nn.dropout(x)), [(2, 3)]),
    "nn.batch_norm": (lambda x, g, b, m, v: nn.batch_norm(x, g, b, m, v)[0] * x, [(2, 3), (3,), (3,), (3,), (3,)]),
    "nn.prelu": (lambda x, a: nn.prelu(x - const(1.5), a), [(1, 3, 2), (3,)]),
    "nn.global_max_pool2d": (lambda x: relay.sin(nn.global_max_pool2d(x)), [(1, 2, 3, 4)]),
    "nn.adaptive_avg_pool2d": (lambda x: relay.sin(nn.adaptive_avg_pool2d(x, (2, 2))), [(1, 2, 4, 4)]),
    "mod": (lambda x, y: relay.mod(x * const(3.0), y), [(2, 3), (2, 3)]),
    "floor_mod": (lambda x, y: relay.floor_mod(x * const(3.0), y), [(2, 3), (2, 3)]),
    "slice_like": (lambda x: relay.sin(relay.slice_like(x, relay.zeros((1, 2), "float64"))), [(2, 3)]),
    "gather": (lambda x: relay.sin(relay.gather(x, 1, const([[0, 2, 2], [1, 0, 1]], "int64"))), [(2, 3)]),
    "cumsum": (lambda x: relay.sin(relay.cumsum(x, 1)), [(2, 3)]),
    "device_copy": (lambda x: relay.op.get("device_copy")(x, tvm.cpu(), tvm.cpu()), [(2, 3)]),
    "reinterpret": (lambda x: relay.reinterpret(x, "float64"), [(2, 3)]), "full": (lambda x: relay.sin(relay.full(relay.max(x), (2, 2))), [(2, 3)]),
    "dyn.full": (lambda x: relay.sin(relay.full(relay.max(x), relay.shape_of(x))), [(2, 3)]),
    "dyn.tile": (lambda x: relay.sin(relay.tile(x, relay.shape_of(x))), [(2, 3)]),
    "dyn.broadcast_to": (lambda x: relay.sin(relay.broadcast_to(x, relay.shape_of(relay.zeros((2, 3), "int8")))), [(1, 3)]),
    "dyn.squeeze": (lambda x: relay.sin(relay.squeeze(x, relay.cast(relay.shape_of(relay.zeros((1,), "int8")), "int64"))), [(2, 1, 3)]),
    "dyn.expand_dims": (lambda x: relay.sin(relay.expand_dims(x, relay.squeeze(relay.shape_of(relay.zeros((1,), "int8"))))), [(2, 3)]),
}
# What gives nothing to its operands: numbers of shapes, places and comparisons, and what is new.
FLAT = {
    "arange": lambda x: relay.arange(relay.const(3.0, "float64"), dtype="float64"), "zeros": lambda x: relay.zeros((2, 3), "float64"),
    "ones": lambda x: relay.ones((2, 3), "float64"), "zeros_like": relay.zeros_like, "ones_like": relay.ones_like,
    "dyn.zeros": lambda x: relay.zeros(relay.shape_of(x), "float64"), "dyn.ones": lambda x: relay.ones(relay.shape_of(x), "float64"),
    "shape_of": lambda x: relay.cast(relay.shape_of(x), "float64"), "less_equal": lambda x: relay.cast(relay.less_equal(x, const(1.5)), "float64"),
    "not_equal": lambda x: relay.cast(relay.not_equal(x, const(1.5)), "float64"),
    "one_hot": lambda x: relay.one_hot(relay.cast(relay.argmax(x, 1), "int32"), relay.const(1.0), relay.const(0.0), 3, -1, "float64"),
}
KNOWN = sorted(name for name, key in Op._attributes if key == gradients._KEY)


def function(make, shapes):
    params = [relay.var(f"x{i}", shape=shape, dtype="float64") for i, shape in enumerate(shapes)]
    return relay.testing.run_infer_type(relay.Function(params, make(*params)))


def test_all_of_them_are_here():
    without_slope = set("""all any argmax argmin argsort ceil equal floor floor_divide full_like greater greater_equal isfinite isinf isnan less
    logical_and logical_not logical_or logical_xor ndarray_size round round_even sign trunc trunc_divide""".split())
    assert set(SMOOTH) | set(FLAT) <= set(KNOWN) <= set(SMOOTH) | set(FLAT) | without_slope


@pytest.mark.parametrize("name", SMOOTH)
def test_a_gradient_is_as_differences(name):
    make, shapes = SMOOTH[name]
    count = iter(RNG.permutation(200) / 251 + 1.1)  # no two are alike
    inputs = [np.array([next(count) for _ in range(int(np.prod(shape)))]).reshape(shape) for shape in shapes]
    relay.testing.check_grad(function(make, shapes), inputs=inputs, eps=1e-5, rtol=2e-3, atol=1e-4, mode="first_order")


@pytest.mark.parametrize("name", FLAT)
def test_what_is_flat_gives_nothing(name):
    fn = function(lambda x: relay.sum(FLAT[name](x)) + relay.sum(x), [(2, 3)])
    backward = relay.testing.run_infer_type(relay.transform.gradient(fn, mode="first_order"))
    _, (of_x,) = relay.create_executor("debug").evaluate(backward)(RNG.random((2, 3)))
    np.testing.assert_array_equal(of_x.numpy(), np.ones((2, 3)))


def test_of_a_convolution_by_its_kernel():
    x, w = relay.var("x", shape=(2, 4, 6, 5), dtype="float64"), relay.var("w", shape=(6, 2, 3, 2), dtype="float64")
    attrs = {"strides": (2, 1), "padding": (1, 0, 2, 1), "dilation": (1, 2), "groups": 2}
    forward = relay.testing.run_infer_type(nn.conv2d(x, w, channels=6, kernel_size=(3, 2), **attrs))
    g = relay.var("g", forward.checked_type)
    made = relay.testing.run_infer_type(relay.Function([g, x], nn.conv2d_backward_weight(g, x, channels=6, kernel_size=(3, 2), **attrs)))
    assert made.ret_type == relay.TensorType((6, 2, 3, 2), "float64")
    data = {v: RNG.standard_normal(tuple(map(int, v.checked_type.shape))) for v in (g, x)}
    found = relay.create_executor("graph", tvm.IRModule.from_expr(made)).evaluate()(data[g], data[x]).numpy()
    # The sum of result times g is linear in the kernel: what each of its elements gives alone.
    run = relay.create_executor("graph", tvm.IRModule.from_expr(relay.Function([x, w], nn.conv2d(x, w, **attrs)))).evaluate()
    for at in [(0, 0, 0, 0), (5, 1, 2, 1), (2, 1, 1, 0), (3, 0, 2, 1)]:
        one = np.zeros((6, 2, 3, 2))
        one[at] = 1
        np.testing.assert_allclose(found[at], (run(data[x], one).numpy() * data[g]).sum(), rtol=1e-9)
