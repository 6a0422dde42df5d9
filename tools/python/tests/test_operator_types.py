"""Types of calls of operators as TVM's users write them: of sizes that have names or none, and of variables that have no types."""
import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import relayvm.tvm as tvm  # noqa: E402 (it needs the compiler)
from relayvm.tvm import relay, te  # noqa: E402

nn, ANY = relay.nn, relay.Any()


def x(*shape, dtype="float32"):
    return relay.var("x", shape=shape, dtype=dtype)


def typed(expr):
    """The function of an expression, with types."""
    return relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr)))["main"]


def kind(text):
    return text if text.startswith("(") else f"Tensor[({text}), float32]"


# Of variables without types: a call, and the types of its variables.
@pytest.mark.parametrize("make, params", [
    (lambda w: nn.dense(x(2, 3), w(), units=4), ["2, 3", "4, 3"]), (lambda w: nn.dense(x(5, 2, 3), w(), units=4), ["5, 2, 3", "4, 3"]),
    (lambda w: nn.matmul(x(2, 3), w(), units=4), ["2, 3", "3, 4"]), (lambda w: nn.matmul(x(3, 2), w(), 4, transpose_a=True), ["3, 2", "3, 4"]),
    (lambda w: nn.matmul(x(2, 3), w(), 4, transpose_b=True), ["2, 3", "4, 3"]),
    (lambda w: nn.matmul(x(3, 2), w(), 4, "", True, True), ["3, 2", "4, 3"]),
    (lambda w: nn.matmul(nn.matmul(x(2, 3), w(), 4), w(), 5), ["2, 3", "3, 4", "4, 5"]),
    (lambda w: nn.conv1d(x(1, 4, 9), w(), channels=8, kernel_size=3), ["1, 4, 9", "8, 4, 3"]),
    (lambda w: nn.conv2d(x(1, 4, 9, 9), w(), channels=8, kernel_size=3, groups=2), ["1, 4, 9, 9", "8, 2, 3, 3"]),
    (lambda w: nn.conv2d(x(1, 9, 9, 4), w(), channels=8, kernel_size=3, data_layout="NHWC", kernel_layout="HWIO"), ["1, 9, 9, 4", "3, 3, 4, 8"]),
    (lambda w: nn.conv2d_transpose(x(1, 4, 9, 9), w(), channels=8, kernel_size=3), ["1, 4, 9, 9", "4, 8, 3, 3"]),
    (lambda w: nn.bias_add(x(2, 3, 4), w(), 1), ["2, 3, 4", "3"]), (lambda w: nn.prelu(x(2, 3, 4), w()), ["2, 3, 4", "3"]),
    (lambda w: nn.prelu(x(2, 3, 4), w(), -1), ["2, 3, 4", "4"]), (lambda w: nn.layer_norm(x(2, 3), w(), w()), ["2, 3", "3", "3"]),
    (lambda w: nn.batch_norm(x(2, 3), w(), w(), w(), w())[0], ["2, 3", "3", "3", "3", "3"])])
def test_types_that_follow(make, params):
    fn = typed(make(lambda: relay.var("w")))
    assert [str(p.checked_type) for p in fn.params] == [kind(p) for p in params]


@pytest.mark.parametrize("make, result", [
    (lambda: nn.relu(x(ANY, 3)), "?, 3"), (lambda: nn.pad(x(ANY, 3), ((1, 1), (0, 0))), "?, 3"), (lambda: relay.reshape(x(ANY, 3), (-1,)), "?"),
    (lambda: relay.concatenate([x(ANY, 3), x(2, 3)], 0), "?, 3"), (lambda: relay.strided_slice(x(ANY, 3), [1], [5]), "?, 3"),
    (lambda: relay.zeros(relay.var("s", shape=(2,), dtype="int64"), "float32"), "?, ?"),
    (lambda: relay.split(x(ANY, 4), 2, 1).astuple(), "(Tensor[(?, 2), float32], Tensor[(?, 2), float32])"),
    (lambda: nn.max_pool2d(x(1, 2, ANY, 8), (2, 2), (2, 2)), "1, 2, ?, 4")])
def test_sizes_that_nothing_names(make, result):
    fn = typed(make())
    assert str(fn.ret_type) == kind(result)
    kinds = fn.ret_type.fields if isinstance(fn.ret_type, relay.TupleType) else [fn.ret_type]
    for t in kinds:
        assert [isinstance(d, relay.Any) for d in t.shape] == ["?" in part for part in str(t).partition(")")[0].split(",")]


@pytest.mark.parametrize("make, sizes", [
    (lambda n: nn.relu(x(n, 3)), lambda n: (n, 3)),
    (lambda n: nn.conv2d(x(1, 2, n, n), relay.zeros((4, 2, 3, 3), "float32")), lambda n: (1, 4, n - 2, n - 2)),
    (lambda n: nn.max_pool2d(x(1, 2, n, 8), (2, 2), (2, 2)), lambda n: (1, 2, n // 2, 4)),
    (lambda n: relay.reshape(x(n, 3), (-1,)), lambda n: (n * 3,)),
    (lambda n: nn.pad(x(n, 3), ((1, 2), (0, 0))), lambda n: (n + 3, 3)), (lambda n: relay.split(x(n, 4), 2)[0], lambda n: (n // 2, 4)),
    (lambda n: relay.tile(x(n, 3), (2, 1)), lambda n: (n * 2, 3)), (lambda n: relay.stack([x(n, 3)], 0), lambda n: (1, n, 3))])
def test_sizes_that_have_names(make, sizes):
    n = te.var("n")
    fn = typed(make(n))
    assert fn.ret_type == relay.TensorType(sizes(n))
    assert not any(isinstance(d, relay.Any) for d in fn.ret_type.shape)
    assert tvm.ir.structural_equal(fn, typed(make(n)))
    fn.astext(), fn.astext(show_meta_data=False)  # each size has a text


def test_no_axes_are_all_axes():
    for op in (relay.sum, relay.max, relay.argmax, relay.mean):
        assert str(typed(op(x(2, 3), axis=[])).ret_type) in ("float32", "int32")


@pytest.mark.parametrize("make, shape", [(lambda v: nn.depth_to_space(v, 2), (1, 6, 2, 3)),
                                         (lambda v: nn.batch_to_space_nd(v, [2], [[0, 0]]), (5, 2, 3)),
                                         (lambda v: nn.space_to_batch_nd(v, [2], [[0, 0]]), (2, 5, 3))])
def test_what_is_behind_the_last_whole_block_is_left_out(make, shape):
    data = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    whole = {"(1, 6, 2, 3)": data[:, :4], "(5, 2, 3)": data[:4], "(2, 5, 3)": data[:, :4]}[str(shape)]
    found, expected = (relay.create_executor("vm", tvm.IRModule.from_expr(make(x(*a.shape)))).evaluate()(a).numpy() for a in (data, whole))
    np.testing.assert_array_equal(found, expected)


def bits_of(values, number):
    return [(values >> b) & 1 for b in range(number)]


def test_words_of_bits():
    data = np.random.default_rng(3).integers(0, 4, (2, 16, 3)).astype("int32")
    v = x(*data.shape, dtype="int32")
    packed = relay.create_executor("vm", tvm.IRModule.from_expr(nn.bitpack(v, 2, 1, 3, "uint8"))).evaluate()(data).numpy()
    expected = np.stack([np.packbits(b.astype("uint8"), 1) for b in bits_of(data, 2)], 3)
    np.testing.assert_array_equal(packed, expected)


@pytest.mark.parametrize("unipolar", [True, False])
def test_products_of_bits(unipolar):
    rng = np.random.default_rng(5)
    data, weight = rng.integers(0, 4, (3, 8)).astype("int16"), rng.integers(0, 2, (5, 8)).astype("int16")
    a, b = x(*data.shape, dtype="int16"), relay.var("w", shape=weight.shape, dtype="int16")
    made = nn.bitserial_dense(a, b, 5, 2, 1, out_dtype="int32", unipolar=unipolar)
    found = relay.create_executor("vm", tvm.IRModule.from_expr(relay.Function([a, b], made))).evaluate()(data, weight).numpy()
    np.testing.assert_array_equal(found, data.astype("int32") @ (2 * weight.astype("int32") - 1 if unipolar else weight.astype("int32")).T)
