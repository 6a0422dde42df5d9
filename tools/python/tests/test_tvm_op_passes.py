"""TVM's passes over operators: what they make computes the same, in the form that they promise."""
import functools

import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay import transform
from relayvm.tvm.relay.testing import run_infer_type, run_opt_pass

rng = np.random.default_rng(0)


def function(body):
    return run_infer_type(relay.Function(relay.analysis.free_vars(body), body))


def operators(expr):
    """Names of operators, operands first."""
    found = []
    relay.analysis.post_order_visit(expr, lambda e: found.append(e.op.name) if isinstance(e, relay.Call) and isinstance(e.op, tvm.ir.Op) else None)
    return found


def values(fn):
    def of(kind):
        if kind.dtype.startswith("float"):
            return rng.standard_normal(kind.shape).astype(kind.dtype)
        return rng.integers(0, 100, kind.shape).astype(kind.dtype)
    return [of(p.checked_type) for p in fn.params]


def evaluated(fn, inputs):
    result = relay.create_executor("vm", tvm.IRModule.from_expr(fn)).evaluate()(*inputs)
    return [np.asarray(r) for r in (result if isinstance(result, (list, tuple)) else [result])]


def check(body, opt_pass, expected=None, rtol=1e-4):
    """The function after a pass: it computes the same, and has these operators."""
    before = function(body)
    after = run_opt_pass(before, opt_pass)
    inputs = values(before)
    for a, b in zip(evaluated(before, inputs), evaluated(after, inputs)):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-5)
    if expected is not None:
        assert operators(after) == expected
    return after


def stays(body, opt_pass):
    before = function(body)
    assert tvm.ir.structural_equal(before, run_opt_pass(before, opt_pass))


def f32(*shape, name="x"):
    return relay.var(name, shape=shape)


# --- SimplifyExpr ---

def moved(x, *layouts):
    for source, target in zip(layouts, layouts[1:]):
        x = relay.layout_transform(x, source, target)
    return x


X = f32(4, 8, name="x")
SIMPLER = {
    "zeros_like": (lambda x: relay.exp(relay.zeros_like(x)), ["zeros", "exp"]),
    "full_like": (lambda x: relay.full_like(x, relay.const(2.0)), ["full"]),
    "reshape_like": (lambda x: relay.reshape_like(x, relay.zeros([8, 4], "float32")), ["reshape"]),
    "broadcast_to_like": (lambda x: relay.broadcast_to_like(x, relay.zeros([3, 4, 8], "float32")), ["broadcast_to"]),
    "collapse_sum_like": (lambda x: relay.collapse_sum_like(x, relay.zeros([8], "float32")), ["collapse_sum_to"]),
    "cast_like": (lambda x: relay.cast_like(x, relay.zeros([1], "float64")), ["cast"]),
    "twice": (lambda x: x + x, ["multiply"]),
    "by a root": (lambda x: x / relay.sqrt(relay.abs(x) + relay.const(1.5)), ["abs", "add", "rsqrt", "multiply"]),
    "no sum": (lambda x: relay.exp(x + relay.const(0.0) - relay.const(0.0)), ["exp"]),
    "no product": (lambda x: relay.const(1.0) * relay.exp(x) / relay.ones([1], "float32"), ["exp"]),
    "a product that broadcasts": (lambda x: relay.ones([3, 4, 8], "float32") * x, ["ones", "multiply"]),
    "zeros beside": (lambda x: relay.maximum(x, relay.zeros_like(x)), ["maximum"]),
    "full beside": (lambda x: relay.full(relay.const(3.0), [4, 8], "float32") - x, ["subtract"]),
    "sum of constants": (lambda x: (x + relay.const(1.5)) + relay.const([[2.0], [1.0], [0.5], [0.0]]), ["add"]),
    "product of constants": (lambda x: relay.const(2.0) * (relay.const(1.5) * x), ["multiply"]),
    "product of a sum": (lambda x: (x + relay.const(1.5)) * relay.const(2.0), ["multiply", "add"]),
    "reshapes": (lambda x: relay.reshape(relay.reshape(relay.reshape(x, [-1]), [8, 4]), [2, 16]), ["reshape"]),
    "transposes": (lambda x: relay.transpose(relay.transpose(relay.reshape(x, [2, 4, 4]), [1, 2, 0]), [1, 0, 2]), ["reshape", "transpose"]),
    "transposes back": (lambda x: relay.exp(relay.transpose(relay.transpose(x))), ["exp"]),
    "no transpose": (lambda x: relay.exp(relay.transpose(x, [0, -1])), ["exp"]),
    "layouts back": (lambda x: relay.exp(relay.layout_transform(relay.layout_transform(x, "NC", "CN"), "CN", "NC")), ["exp"]),
    "blocks back": (lambda x: relay.exp(relay.layout_transform(relay.layout_transform(x, "NC", "NC4c"), "NC4c", "NC")), ["exp"]),
    "blocks to others": (lambda x: moved(x, "NC", "NC4c", "NC", "NC2c"), ["layout_transform"]),
    "transpose before blocks": (lambda x: relay.layout_transform(relay.transpose(x), "CN", "CN2n"), ["layout_transform"]),
    "transpose behind blocks": (lambda x: relay.transpose(moved(x, "NC", "NC4c", "NC")), ["transpose"]),
    "transpose behind what has no blocks": (lambda x: relay.transpose(relay.layout_transform(relay.reshape(x, [4, 2, 4]), "NC4c", "NC")),
                                            ["reshape", "layout_transform"]),
    "transpose of blocks": (lambda x: relay.transpose(relay.layout_transform(x, "NC", "NC4c"), [0, 2, 1]), ["layout_transform"]),
    "same cast": (lambda x: relay.exp(relay.cast(x, "float32")), ["exp"]),
    "wider casts": (lambda x: relay.cast(relay.cast(relay.cast(x, "float64"), "float32"), "int32"), ["cast"]),
    "narrower casts": (lambda x: relay.cast(relay.cast(x, "int8"), "int32"), ["cast", "cast"]),
    "casts of a clip": (lambda x: relay.cast(relay.cast(relay.clip(relay.cast(x, "int32"), 0, 255), "uint8"), "int32"), ["cast", "clip"]),
    "a clip and its cast": (lambda x: relay.cast(relay.clip(relay.cast(x, "int32"), 0, 255), "uint8"), ["cast", "clip", "cast"]),
    "clip of all": (lambda x: relay.clip(relay.cast(relay.clip(x, -9, 9), "int8"), -128, 127), ["clip", "cast"]),
    "clip of some": (lambda x: relay.clip(relay.cast(relay.clip(x, -9, 9), "int8"), -128, 6), ["clip", "cast", "clip"]),
    "place of the greatest": (lambda x: relay.argmax(relay.qnn.op.dequantize(relay.cast(relay.clip(x, -9, 9), "int8"), relay.const(0.5),
                                                                             relay.const(3)), 1), ["clip", "cast", "argmax"]),
}


@pytest.mark.parametrize("name", SIMPLER)
def test_simplify_expr(name):
    make, expected = SIMPLER[name]
    check(make(X), transform.SimplifyExpr(), expected)


def test_binomials_are_products():
    x, y = f32(3, name="x"), f32(3, name="y")
    for make in (lambda: x * x + relay.const(2.0) * (x * y) + y * y, lambda: y * y + (x * (relay.const(3.0) * y) + relay.const(2.0) * (x * x))):
        after = check(make(), transform.SimplifyExpr(), rtol=1e-3)
        assert operators(after).count("multiply") <= 3
    stays(x * x + x * y + y * y, transform.SimplifyExpr())  # which has none


def test_simplify_expr_goes_on_until_nothing_changes():
    x = f32(2, 3)
    after = check(relay.transpose(relay.transpose(relay.reshape(relay.reshape(x, [6]), [2, 3]) * relay.ones_like(x))), transform.SimplifyExpr())
    assert operators(after) == ["reshape"]


# --- Scales ---

def conv(x, name="w", filters=4, **attrs):
    return relay.nn.conv2d(x, f32(filters, 4, 3, 3, name=name), padding=1, channels=filters, kernel_size=3, **attrs)


def scale(*shape, sign=1):
    return relay.const(sign * rng.uniform(0.5, 2, shape).astype("float32"))


def test_scales_before_a_convolution():
    x = f32(1, 4, 6, 6)
    after = check(conv(relay.nn.relu(x * scale(4, 1, 1)) + f32(4, 1, 1, name="b")), transform.ForwardFoldScaleAxis())
    assert operators(after).index("multiply") > operators(after).index("nn.relu")
    check(conv(relay.const(2.0) * x), transform.ForwardFoldScaleAxis())
    check(relay.nn.dense(f32(2, 4) * scale(4), f32(3, 4, name="w")), transform.ForwardFoldScaleAxis(), ["multiply", "nn.dense"])


def test_scales_behind_a_convolution():
    x = f32(1, 4, 6, 6)
    after = check(relay.nn.relu(relay.nn.bias_add(conv(x), f32(4, name="b"))) * scale(4, 1, 1), transform.BackwardFoldScaleAxis())
    assert operators(after)[-1] == "nn.relu"
    check((conv(x) + conv(x, "v")) * scale(4, 1, 1, sign=-1), transform.BackwardFoldScaleAxis())
    check(relay.nn.dense(f32(2, 4), f32(3, 4, name="w")) * scale(3), transform.BackwardFoldScaleAxis(),
          ["expand_dims", "multiply", "nn.dense"])


def test_scales_in_groups_and_blocks():
    x = f32(1, 4, 6, 6)
    depthwise = relay.nn.conv2d(x * scale(4, 1, 1), f32(4, 1, 3, 3, name="w"), groups=4, channels=4, kernel_size=3)
    check(depthwise, transform.ForwardFoldScaleAxis(), ["squeeze", "expand_dims", "multiply", "nn.conv2d"])
    blocked = relay.nn.conv2d(f32(1, 2, 6, 6, 2), f32(4, 1, 3, 3, 4, 2, name="w"), channels=8, kernel_size=3, data_layout="NCHW2c",
                              kernel_layout="OIHW4i2o")
    check(blocked * scale(1, 4, 1, 1, 2), transform.BackwardFoldScaleAxis(), ["squeeze", "reshape", "multiply", "nn.conv2d"])


def test_scales_that_stay():
    x = f32(1, 4, 6, 6)
    scaled = x * scale(4, 1, 1)
    for body in (conv(relay.nn.relu(x * scale(4, 1, 1, sign=-1))), conv(scaled) + conv(relay.exp(scaled), "v"), conv(x * scale(6, 6))):
        stays(body, transform.ForwardFoldScaleAxis())
    y = conv(x)
    for body in (y * scale(4, 1, 1) + relay.nn.relu(y), relay.nn.relu(conv(x)) * scale(4, 1, 1, sign=-1), conv(x) * scale(6),
                 relay.tanh(conv(x)) * scale(4, 1, 1)):
        stays(body, transform.BackwardFoldScaleAxis())


def test_fold_scale_axis_computes_constants():
    x = f32(1, 4, 6, 6)
    weight = relay.const(rng.standard_normal((4, 4, 1, 1)).astype("float32"))
    check(relay.nn.conv2d(x, weight, channels=4, kernel_size=1) * scale(4, 1, 1), transform.FoldScaleAxis(), ["nn.conv2d"])


# --- Products of the same data ---

def test_parallel_convolutions():
    x = f32(1, 4, 6, 6)
    branches = [relay.nn.relu(conv(x, f"w{i}", n) + f32(n, 1, 1, name=f"b{i}")) for i, n in enumerate((4, 2, 3))]
    after = check(relay.Tuple([*branches, relay.exp(x)]), transform.CombineParallelConv2D(3))
    assert operators(after).count("nn.conv2d") == operators(after).count("nn.relu") == 1
    stays(relay.Tuple([relay.nn.relu(conv(x, f"w{i}")) for i in range(2)]), transform.CombineParallelConv2D(3))
    stays(relay.Tuple([conv(x, "a"), conv(relay.exp(x), "b")]), transform.CombineParallelConv2D(2))
    stays(relay.Tuple([conv(x, "a"), conv(x, "b", strides=2)]), transform.CombineParallelConv2D(2))


def test_a_branch_that_another_needs_is_not_joined():
    x = f32(1, 4, 6, 6)
    first = conv(x, "a")
    body = conv(x, "b") + first
    check(body, transform.CombineParallelConv2D(2))
    summed = relay.reshape(relay.sum(relay.nn.conv2d(x, f32(4, 4, 1, 1, name="c")), [2, 3]), [1, 4, 1, 1])
    stays(relay.nn.conv2d(x, summed), transform.CombineParallelConv2D(2))


@pytest.mark.parametrize("to_batch", [True, False])
def test_parallel_dense(to_batch):
    x = f32(3, 4)
    sizes = (5, 5, 5) if to_batch else (5, 2, 1)
    branches = [relay.nn.relu(relay.nn.dense(x, f32(n, 4, name=f"w{n}{i}")) * f32(n, name=f"s{i}")) for i, n in enumerate(sizes)]
    after = check(relay.Tuple(branches), transform.CombineParallelDense(3, to_batch))
    assert operators(after).count("nn.batch_matmul" if to_batch else "nn.dense") == 1 and operators(after).count("nn.relu") == 1


def test_parallel_dense_with_numbers_and_new_axes():
    x = f32(3, 4)
    numbers = [relay.nn.dense(x, f32(n, 4, name=f"w{n}")) * relay.const(float(n)) for n in (5, 2)]
    assert operators(check(relay.Tuple(numbers), transform.CombineParallelDense(2, to_batch=False))).count("multiply") == 1
    axes = [relay.expand_dims(relay.nn.dense(x, f32(n, 4, name=f"w{n}")), 2) for n in (5, 2)]
    assert operators(check(relay.Tuple(axes), transform.CombineParallelDense(2, to_batch=False))).count("expand_dims") == 1


def test_parallel_batch_matmul_and_others():
    x = f32(2, 3, 4)
    branches = [relay.nn.batch_matmul(x, f32(2, n, 4, name=f"w{n}")) + f32(n, name=f"b{n}") for n in (5, 2)]
    assert operators(check(relay.Tuple(branches), transform.CombineParallelBatchMatmul(2))).count("nn.batch_matmul") == 1
    scalars = [relay.nn.batch_matmul(x, f32(2, n, 4, name=f"w{n}")) * relay.const(2.0) for n in (5, 2)]
    assert operators(check(relay.Tuple(scalars), transform.CombineParallelBatchMatmul(2))).count("multiply") == 2
    sums = [relay.exp(x + f32(2, 3, 4, name=f"y{i}")) for i in range(3)]
    assert operators(check(relay.Tuple(sums), transform.CombineParallelOpBatch("add", "add", 3))).count("add") == 1


# --- Padding and dilation ---

@pytest.mark.parametrize("layout,kernel", [("NCHW", "OIHW"), ("NHWC", "HWIO")])
def test_padding_goes_into_convolutions(layout, kernel):
    x = f32(*(dict(N=1, C=3, H=6, W=5)[c] for c in layout))
    w = f32(*(dict(O=2, I=3, H=3, W=2)[c] for c in kernel), name="w")
    widths = [dict(H=[1, 2], W=[0, 1]).get(c, [0, 0]) for c in layout]
    after = check(relay.nn.conv2d(relay.nn.pad(x, widths), w, padding=(1, 0), data_layout=layout, kernel_layout=kernel),
                  transform.FoldExplicitPadding(), ["nn.conv2d"])
    assert after.body.attrs["padding"] == (2, 0, 3, 1)


def test_padding_goes_into_pooling():
    x = f32(1, 3, 6)
    least = float(np.finfo("float32").min)
    check(relay.nn.max_pool1d(relay.nn.pad(x, [[0, 0], [0, 0], [1, 2]], relay.const(least)), 2), transform.FoldExplicitPadding(), ["nn.max_pool1d"])
    check(relay.nn.avg_pool1d(relay.nn.pad(x, [[0, 0], [0, 0], [1, 2]]), 2), transform.FoldExplicitPadding(), ["nn.avg_pool1d"])
    for body in (relay.nn.avg_pool1d(relay.nn.pad(x, [[0, 0], [0, 0], [1, 2]]), 2, padding=1),
                 relay.nn.max_pool1d(relay.nn.pad(x, [[0, 0], [0, 0], [1, 2]]), 2),
                 relay.nn.max_pool1d(relay.nn.pad(x, [[0, 0], [1, 0], [1, 2]], relay.const(least)), 2),
                 relay.nn.avg_pool1d(relay.nn.pad(x, [[0, 0], [0, 0], [1, 2]], pad_mode="edge"), 2)):
        stays(body, transform.FoldExplicitPadding())


def atrous(x, block, paddings, crops, **attrs):
    y = relay.nn.space_to_batch_nd(x, block, paddings)
    y = relay.nn.conv2d(y, f32(3, 3, 2, 4, name="w"), channels=4, kernel_size=3, data_layout="NHWC", kernel_layout="HWIO", **attrs)
    return relay.nn.batch_to_space_nd(y, block, crops)


def test_atrous_convolutions():
    x = f32(1, 9, 7, 2)
    after = check(atrous(x, [3, 2], [[3, 3], [2, 3]], [[0, 0], [0, 1]]), transform.FlattenAtrousConv(), ["nn.conv2d"])
    assert after.body.attrs["dilation"] == (3, 2) and after.body.attrs["padding"] == (3, 2, 3, 2)
    check(atrous(x, [3, 2], [[3, 6], [2, 3]], [[1, 2], [0, 1]]), transform.FlattenAtrousConv(), ["nn.conv2d"])
    stays(atrous(x, [3, 2], [[3, 3], [2, 3]], [[0, 0], [0, 1]], padding=1), transform.FlattenAtrousConv())
    stays(atrous(x, [3, 2], [[0, 0], [0, 1]], [[1, 0], [0, 1]]), transform.FlattenAtrousConv())


# --- Others ---

def test_legalize():
    def twice(attrs, inputs, types):
        assert [t.shape for t in types] == [(2, 3), (2, 3)]
        return relay.nn.relu(inputs[0] * relay.const(2.0))
    with relay.testing.TempOpAttr("nn.relu", "FTVMLegalize", twice):
        after = run_opt_pass(function(relay.nn.relu(relay.nn.relu(f32(2, 3)))), transform.Legalize())
    assert operators(after) == ["multiply", "nn.relu"] * 2


def test_legalize_by_another_name():
    with relay.testing.TempOpAttr("nn.relu", "MyLegalize", lambda attrs, inputs, types: relay.tanh(*inputs)):
        assert operators(run_opt_pass(function(relay.nn.relu(f32(2))), transform.Legalize("MyLegalize"))) == ["tanh"]


def test_bias_add_is_an_add():
    check(relay.nn.bias_add(f32(2, 3, 4), f32(3, name="b")), transform.CanonicalizeOps(), ["expand_dims", "add"])
    check(relay.nn.bias_add(f32(2, 3, 4), f32(4, name="b"), axis=-1), transform.CanonicalizeOps(), ["add"])


def test_casts_are_copied():
    y = relay.cast(relay.var("x", shape=(3,), dtype="int8"), "int32")
    check(relay.Tuple([y + relay.const(1), relay.negative(y)]), transform.CanonicalizeCast(), ["cast", "add", "cast", "negative"])


def test_fast_math():
    x = f32(2, 3)
    check(relay.nn.softmax(relay.tanh(relay.erf(relay.exp(x)))), transform.FastMath(), ["fast_exp", "fast_erf", "fast_tanh", "nn.fast_softmax"],
          rtol=1e-2)
    with tvm.transform.PassContext(opt_level=3, required_pass=["FastMath"]):
        assert operators(relay.optimize(tvm.IRModule.from_expr(relay.exp(x)), "llvm")[0]["main"]) == ["fast_exp"]


@pytest.mark.parametrize("name", ["batch_norm", "layer_norm", "instance_norm", "group_norm", "l2_normalize", "dropout"])
def test_normalisation_is_made_of_simpler_operators(name):
    x, g, b = f32(2, 4, 3, 3), f32(4, name="g"), f32(4, name="b")
    body = {"batch_norm": lambda: relay.nn.batch_norm(x, g, b, f32(4, name="m"), relay.abs(f32(4, name="v")))[0],
            "layer_norm": lambda: relay.nn.layer_norm(x, g, b, axis=1), "instance_norm": lambda: relay.nn.instance_norm(x, g, b),
            "group_norm": lambda: relay.nn.group_norm(x, g, b, 2), "l2_normalize": lambda: relay.nn.l2_normalize(x, 1e-3, [1]),
            "dropout": lambda: relay.nn.dropout(relay.exp(x))}[name]()
    after = check(body, transform.SimplifyInference())
    assert "nn." + name not in operators(after)


def test_sizes_in_buckets():
    x, w = f32(10, 10), f32(10, 10, name="w")
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.Tuple([x + w, relay.exp(x)])))
    for auto_pad in (False, True):
        flexible = relay.transform.FlexibleShapeDispatch([5, 10], axis=1, auto_pad=auto_pad, input_indices=[0, 1])(mod)
        assert {"main", "main_5", "main_10"} <= {v.name_hint for v in flexible.get_global_vars()}
        run = relay.create_executor("vm", flexible).evaluate()
        for size in (5, 10, 3, 12):
            a, b = rng.standard_normal((2, 10, size)).astype("float32")
            for got, wanted in zip(run(a, b), (a + b, np.exp(a))):
                np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-5)


def test_another_batch():
    x, w = f32(2, 4), f32(3, 4, name="w")
    after = run_opt_pass(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w))), transform.ChangeBatch({x: 0}, batch_size=7))
    assert after.params[0].checked_type.shape == (7, 4) and after.body.checked_type.shape == (7, 3)


def test_division_by_constants():
    x = f32(2, 3)
    check(x / relay.const([3.0, 0.5, -7.0]), transform.DivToMul(), ["multiply"])
    stays(x / relay.const([3.0, 0.0, -7.0]), transform.DivToMul())
    stays(relay.var("i", shape=(3,), dtype="int32") / relay.const(3), transform.DivToMul())


def test_weights_are_transposed_once():
    from relayvm.tvm.relay.data_dep_optimization import simplify_fc_transpose
    x, w = f32(2, 4), f32(4, 3, name="w")
    fn = relay.Function([x, w], relay.nn.dense(x, relay.transpose(w, [1, 0])))
    params = {"w": rng.standard_normal((4, 3)).astype("float32")}
    new, new_params = simplify_fc_transpose.convert(fn, params)
    assert operators(new) == ["nn.dense"] and list(new_params) == ["w.T"]
    data = rng.standard_normal((2, 4)).astype("float32")
    np.testing.assert_allclose(evaluated(new, [data, new_params["w.T"]])[0], data @ params["w"], rtol=1e-5)
    stays(relay.nn.dense(x, relay.transpose(relay.exp(w), [1, 0])), transform.SimplifyFCTranspose(["w"]))


# --- Quantised operators ---

def quantised(data="int8", kernel="int8"):
    x, w = relay.var("x", shape=(1, 4, 5, 5), dtype=data), relay.var("w", shape=(3, 4, 2, 2), dtype=kernel)
    return relay.qnn.op.conv2d(x, w, relay.const(3), relay.const(1), relay.const(0.5), relay.const(0.25), (2, 2), 3)


@pytest.mark.parametrize("target,data,kernel,expected", [
    ("llvm -mcpu=skylake-avx512", "uint8", "int8", ["qnn.conv2d"]),
    ("llvm -mcpu=skylake-avx512", "int8", "int8", ["cast", "add", "cast", "qnn.conv2d"]),
    ("llvm -mcpu=core2", "int8", "int8", ["cast", "cast", "subtract", "cast", "cast", "subtract", "nn.conv2d"]),
    ("cuda", "uint8", "int8", ["cast", "add", "cast", "qnn.conv2d"]),
    ("llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mattr=+v8.2a,+dotprod", "int8", "int8", ["qnn.conv2d"]),
])
def test_dtypes_that_a_target_multiplies(target, data, kernel, expected):
    body = quantised(data, kernel)
    with tvm.target.Target(target):
        assert tvm.target.Target.current() == target
        after = check(body, relay.qnn.transform.Legalize())
    assert sorted(operators(after)) == sorted(expected)
    stays(body, relay.qnn.transform.Legalize())  # without a target


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "exp", "sqrt", "rsqrt", "abs", "log", "erf", "hardswish"])
def test_quantised_functions_are_tables(name):
    x = relay.var("x", shape=(3, 5), dtype="uint8")
    body = getattr(relay.qnn.op, name)(x, relay.const(0.02), relay.const(1 if name in ("rsqrt", "log") else 10), relay.const(0.05), relay.const(5))
    after = run_opt_pass(function(body), relay.qnn.transform.Legalize())
    assert operators(after) == ["reinterpret", "take"]
    data = rng.integers(30, 255, (3, 5)).astype("uint8")
    assert np.abs(evaluated(after, [data])[0].astype(int) - evaluated(function(body), [data])[0]).max() <= 1


def test_rounding_that_is_told():
    x = relay.var("x", shape=(32,), dtype="int32")
    body = relay.qnn.op.requantize(x, relay.const(1.0), relay.const(0), relay.const(16.0), relay.const(0), out_dtype="int8")
    with relay.qnn.op.requantize_config(rounding="TONEAREST"):
        after = run_opt_pass(function(body), relay.qnn.transform.CanonicalizeOps())
    result, = evaluated(after, [np.arange(0, -32, -1).astype("int32")])
    np.testing.assert_array_equal(result, np.repeat([0, -1, -2], [8, 16, 8]))
    with relay.qnn.op.requantize_config(rounding="TONEAREST"):
        lib = relay.build(relay.Function([x], body), "llvm")
    run = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    run.run(x=np.arange(0, -32, -1).astype("int32"))
    np.testing.assert_array_equal(run.get_output(0).numpy(), result)
    with pytest.raises(ValueError, match="rounding is one of UPWARD, TONEAREST, found DOWN"):
        relay.qnn.op.requantize_config(rounding="DOWN")


def test_clips_that_a_requantize_does_anyway():
    x = relay.var("x", shape=(8,), dtype="int32")
    y = relay.qnn.op.requantize(x, relay.const(1.0), relay.const(0), relay.const(2.0), relay.const(1), out_dtype="int8")
    check(relay.clip(y, -128, 127), transform.Legalize(), ["qnn.requantize"])
    stays(relay.clip(y, -127, 127), transform.Legalize())


# --- Channels of fixed values ---

def weights(*shape, zeros=()):
    """Bytes; the channels `zeros` of the last axis are zero."""
    data = rng.integers(-9, 10, shape).astype("int8")
    data[..., list(zeros)] = 0
    return relay.const(data, "int8")


def quantised_conv(x, weight, scale_in, scale_out, kernel_layout="HWIO", **attrs):
    channels = weight.data.shape[3] if kernel_layout == "HWIO" else weight.data.shape[2]
    y = relay.qnn.op.conv2d(x, weight, relay.const(-3), relay.const(0), relay.const(scale_in), scale(channels), tuple(weight.data.shape[:2]),
                            channels, data_layout="NHWC", kernel_layout=kernel_layout, **attrs)
    y = relay.nn.bias_add(y, relay.const(rng.integers(-500, 500, channels).astype("int32")), axis=3)
    return relay.qnn.op.requantize(y, scale(channels), relay.const(0), relay.const(scale_out), relay.const(-3), axis=3, out_dtype="int8")


def shape_of_product(fn):
    return fn.body.args[0].args[0].checked_type.shape


@pytest.mark.parametrize("between", ["nothing", "relu", "depthwise", "pool"])
def test_channels_of_fixed_values_go(between):
    x = relay.var("x", shape=(1, 6, 6, 3), dtype="int8")
    y = quantised_conv(x, weights(1, 1, 3, 5, zeros=[0, 3]), 0.5, 2.0)
    if between == "relu":
        y = relay.clip(relay.nn.relu(y), 0, 90)
    if between == "depthwise":
        w = rng.integers(-3, 4, (3, 3, 5, 1)).astype("int8")
        w[1, 1], w[0], w[2] = 1, 0, 0  # rows alone, so that borders matter little
        w[1, 0], w[1, 2] = 0, 0
        y = quantised_conv(y, relay.const(w, "int8"), 0.5, 9.0, "HWOI", groups=5, padding=1)
    if between == "pool":
        y = relay.cast(relay.nn.avg_pool2d(relay.cast(y, "int32"), 6, strides=6, layout="NHWC"), "int8")
        y = relay.qnn.op.dense(relay.reshape(y, [-1, 5]), weights(4, 5), relay.const(-3), relay.const(0), relay.const(0.5), relay.const(0.5), 4)
        y = relay.nn.bias_add(y, relay.const([1, 2, 3, 4]), axis=1)
    else:
        y = relay.qnn.op.conv2d(y, weights(1, 1, 5, 4), relay.const(-3), relay.const(0), relay.const(0.5), scale(4), (1, 1), 4,
                                data_layout="NHWC", kernel_layout="HWIO")
        y = relay.nn.bias_add(y, relay.const([1, 2, 3, 4]), axis=3)
    after = check(y, transform.StripChannels(), rtol=0)
    assert shape_of_product(after)[-1] == 3


def test_channels_that_stay():
    x = relay.var("x", shape=(1, 6, 6, 3), dtype="int8")
    y = quantised_conv(x, weights(1, 1, 3, 5, zeros=[0]), 0.5, 2.0)
    padded = relay.qnn.op.conv2d(y, weights(3, 3, 5, 4), relay.const(7), relay.const(0), relay.const(0.5), scale(4), (3, 3), 4, padding=1,
                                 data_layout="NHWC", kernel_layout="HWIO")
    stays(relay.nn.bias_add(padded, relay.const([1, 2, 3, 4]), axis=3), transform.StripChannels())
    stays(relay.nn.bias_add(relay.cast(x, "int32"), relay.const([1, 2, 3]), axis=3), transform.StripChannels())


# --- Sparse weights ---

def mostly_zero(*shape):
    data = np.zeros(shape, "float32")
    data[:4, :2] = rng.standard_normal((4, 2))
    data[-4:, -1:] = 1
    return data


def test_sparse_weights_of_dense():
    from relayvm.tvm.relay.data_dep_optimization import bsr_dense
    x, w = f32(3, 16), f32(8, 16, name="w")
    fn = relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w)))
    params = {"w": tvm.nd.array(mostly_zero(8, 16))}
    dense, data = params["w"].numpy(), rng.standard_normal((3, 16)).astype("float32")
    kept, _ = bsr_dense.convert(fn, dict(params), (4, 1), 0.95)
    assert operators(kept) == ["nn.dense", "nn.relu"]
    new, parts = bsr_dense.convert(fn, dict(params), (4, 1), 0.8)
    assert operators(new) == ["nn.sparse_dense", "nn.relu"] and [p.name_hint for p in new.params] == ["x", "w.data", "w.indices", "w.indptr"]
    got, = evaluated(new, [data, *(np.asarray(parts[p.name_hint]) for p in new.params[1:])])
    np.testing.assert_allclose(got, np.maximum(data @ dense.T, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("size", [1, 3])
def test_sparse_weights_of_convolutions(layout, size):
    from relayvm.tvm.relay.data_dep_optimization import bsr_conv2d
    kernel_layout = "HWIO" if layout == "NHWC" else "OIHW"
    matrix = mostly_zero(8, 16 * size * size)
    weight = matrix.T.reshape(size, size, 16, 8) if layout == "NHWC" else matrix.reshape(8, 16, size, size)
    x, w = f32(*((2, 5, 5, 16) if layout == "NHWC" else (2, 16, 5, 5))), f32(*weight.shape, name="w")

    def body(kernel):
        return relay.nn.conv2d(x, kernel, padding=size // 2, channels=8, kernel_size=size, data_layout=layout, kernel_layout=kernel_layout)
    data = rng.standard_normal(x.type_annotation.shape).astype("float32")
    expected, = evaluated(function(body(relay.const(weight))), [data])
    new, parts = bsr_conv2d.convert(relay.Function([x, w], body(w)), {"w": weight}, (4, 1), 0.8, layout, size)
    assert operators(new) == ["nn.sparse_conv2d"]
    np.testing.assert_allclose(evaluated(new, [data, *(parts[p.name_hint] for p in new.params[1:])])[0], expected, rtol=1e-4, atol=1e-5)
    new, _ = bsr_conv2d.convert2(function(body(relay.const(weight))), {}, (4, 1), 0.8, layout, size)
    assert operators(new) == ["nn.sparse_conv2d"]
    np.testing.assert_allclose(evaluated(new, [data])[0], expected, rtol=1e-4, atol=1e-5)


# --- What quantised operators mean ---

def integers(dtype, *shape, name="x"):
    return relay.var(name, shape=shape, dtype=dtype)


def consts(*numbers):
    return [relay.const(n) for n in numbers]


VECTOR = [0.5, 0.03, 1.7, 4.0]
MEANINGS = {
    "quantize": lambda: relay.qnn.op.quantize(f32(3, 4), *consts(0.03, 7), out_dtype="uint8"),
    "quantize channels": lambda: relay.qnn.op.quantize(f32(4, 3), relay.const(VECTOR), relay.const([1, 2, 3, 4]), axis=0),
    "dequantize": lambda: relay.qnn.op.dequantize(integers("int8", 3, 4), relay.const(VECTOR), relay.const(-3)),
    "dequantize int32": lambda: relay.qnn.op.dequantize(integers("int32", 3, 4), *consts(0.1, 5)),
    "requantize": lambda: relay.qnn.op.requantize(integers("int32", 3, 4), *consts(0.7, 3, 1.9, -4)),
    "requantize to int32": lambda: relay.qnn.op.requantize(integers("int32", 3, 4), *consts(700.0, 3, 1.9, -4), out_dtype="int32"),
    "requantize up": lambda: relay.qnn.op.requantize(integers("int8", 3, 4), *consts(0.7, 3, 0.1, -4), out_dtype="uint8"),
    "requantize channels": lambda: relay.qnn.op.requantize(integers("int32", 4, 3), relay.const(VECTOR), *consts(0, 1.9, 0), axis=0,
                                                           rounding="TONEAREST"),
    "requantize in floats": lambda: relay.qnn.op.requantize(integers("int32", 3, 4), *consts(0.7, 3, 1.9, -4), compute_dtype="float32"),
    "add": lambda: relay.qnn.op.add(integers("int8", 3, 4), integers("int8", 4, name="y"), *consts(0.5, 3, 0.2, 4, 0.6, -7)),
    "subtract": lambda: relay.qnn.op.subtract(integers("uint8", 3, 4), integers("uint8", 3, 1, name="y"), *consts(0.5, 3, 0.2, 4, 0.6, 90)),
    "mul": lambda: relay.qnn.op.mul(integers("int8", 3, 4), integers("int8", 3, 4, name="y"), *consts(0.5, 3, 0.2, 4, 2.6, -7)),
    "concatenate": lambda: relay.qnn.op.concatenate([integers("int8", 3, 4), integers("int8", 3, 2, name="y")], consts(0.5, 0.2), consts(3, 4),
                                                    *consts(0.6, -7), 1),
    "dense": lambda: relay.qnn.op.dense(integers("uint8", 3, 4), integers("int8", 5, 4, name="y"), *consts(3, 0, 0.5, 0.2), 5),
    "dense without zero points": lambda: relay.qnn.op.dense(integers("int8", 3, 4), integers("int8", 5, 4, name="y"), *consts(0, 0, 0.5, 0.2), 5),
    "batch_matmul": lambda: relay.qnn.op.batch_matmul(integers("int8", 2, 3, 4), integers("int8", 2, 5, 4, name="y"), *consts(3, 1, 0.5, 0.2)),
    "conv2d of bytes": lambda: product_of_windows("NCHW", "OIHW", (4, 4, 3, 3)),
    "conv2d of channels at the end": lambda: product_of_windows("NHWC", "HWIO", (3, 3, 4, 5), padding=(0, 0)),
    "conv2d of each channel": lambda: product_of_windows("NCHW", "OIHW", (4, 1, 3, 3), groups=4),
    "conv2d of one place": lambda: product_of_windows("NHWC", "HWIO", (1, 1, 4, 5), strides=(2, 2)),
    "conv2d of padding": lambda: product_of_windows("NCHW", "OIHW", (5, 4, 3, 3), zeros=(0, 2)),
    "conv2d whose weights are right": lambda: product_of_windows("NCHW", "OIHW", (5, 4, 3, 3), zeros=(3, 0)),
    "quantize half": lambda: relay.qnn.op.quantize(relay.cast(f32(3, 4), "float16"), *consts(0.5, 3), out_dtype="int8"),
    "tanh": lambda: relay.qnn.op.tanh(integers("int8", 3, 4), *consts(0.05, 3, 0.01, 1)),
    "conv2d": lambda: relay.qnn.op.conv2d(integers("int8", 1, 5, 5, 4), integers("int8", 3, 3, 4, 4, name="y"), relay.const(3),
                                          relay.const([1, 2, 0, -1]), relay.const(0.5), relay.const(VECTOR), (3, 3), 4, padding=1,
                                          data_layout="NHWC", kernel_layout="HWIO"),
    "conv2d_transpose": lambda: relay.qnn.op.conv2d_transpose(integers("int8", 1, 4, 5, 5), integers("int8", 4, 2, 3, 3, name="y"),
                                                              *consts(3, 1, 0.5, 0.2), strides=(2, 2), channels=2, kernel_size=(3, 3)),
}


def product_of_windows(data_layout, kernel_layout, kernel, zeros=(3, 2), padding=(1, 1), **attrs):
    data = integers("uint8", *{"NCHW": (1, 4, 5, 5), "NHWC": (1, 5, 5, 4)}[data_layout])
    sizes = dict(zip(kernel_layout, kernel))
    return relay.qnn.op.conv2d(data, integers("int8", *kernel, name="y"), *consts(*zeros, 0.5, 0.25), (sizes["H"], sizes["W"]), sizes["O"],
                               padding=padding, data_layout=data_layout, kernel_layout=kernel_layout, **attrs)


def test_zero_points_are_taken_off_products():
    mean = functools.partial(run_opt_pass, opt_pass=relay.qnn.transform.CanonicalizeOps())
    after = mean(function(product_of_windows("NCHW", "OIHW", (4, 4, 3, 3))))
    assert "avg_pool2d" in str(after) and operators(after).count("nn.conv2d") == 1 and "nn.pad" in operators(after)
    without = mean(function(product_of_windows("NCHW", "OIHW", (4, 4, 3, 3), zeros=(0, 0))))
    assert operators(without) == ["nn.conv2d"] and dict(without.body.attrs)["out_dtype"] == "int32"
    sums = mean(function(relay.qnn.op.requantize(integers("int32", 3), *consts(0.5, 0, 1.0, 0), out_dtype="int8")))
    assert operators(sums) == ["cast", "fixed_point_multiply", "clip", "cast"]


@pytest.mark.parametrize("name", MEANINGS)
def test_quantised_operators_mean_others(name):
    before = function(MEANINGS[name]())
    after = run_opt_pass(before, relay.qnn.transform.CanonicalizeOps())
    assert not any(op.startswith("qnn.") for op in operators(after))
    for least, most in ((-100, 100), (-2**31, 2**31 - 1)):
        inputs = []
        for p in before.params:
            kind = p.checked_type
            if kind.dtype == "float32":
                inputs.append((rng.standard_normal(kind.shape) * most / 50).astype("float32"))
            else:
                info = np.iinfo(kind.dtype)
                inputs.append(rng.integers(max(least, info.min), min(most, info.max), kind.shape, endpoint=True).astype(kind.dtype))
        a, b = evaluated(before, inputs)[0], evaluated(after, inputs)[0]
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_scales_of_open_length_may_be_one_number():
    x, s, z = f32(2, 3), relay.var("s", shape=(relay.Any(),)), relay.var("z", shape=(relay.Any(),), dtype="int32")
    body = relay.qnn.op.simulated_quantize(x, s, z, axis=1, out_dtype="int8")
    run = relay.create_executor("vm", tvm.IRModule.from_expr(relay.Function([x, s, z], body))).evaluate()
    data = rng.standard_normal((2, 3)).astype("float32")
    for scales in ([0.5], [0.5, 0.25, 0.125]):
        scales = np.array(scales, "float32")
        got = run(data, scales, np.full(scales.shape, 3, "int32"))
        np.testing.assert_array_equal(np.asarray(got), np.round(data / scales) + 3)


def test_scales_that_are_not_constant_leave_a_requantize():
    stays(relay.qnn.op.requantize(integers("int32", 3), f32(name="s"), *consts(0, 1.0, 0)), relay.qnn.transform.CanonicalizeOps())
