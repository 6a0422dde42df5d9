"""Operators in Python: names, order and defaults of parameters are those of TVM's Python functions."""
import inspect

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay
from relayvm.compiler import _native, operators, structural, text

FUNCTIONS = operators._table()
RNG = np.random.default_rng(7)

# What a parameter without a default is given: attributes of these names, of any operator; the rest are variables.
REQUIRED = {
    "axis": 0, "a_min": 0.0, "a_max": 1.0, "block_shape": [2, 2], "block_size": 2, "alpha": 0.1, "begin": [0], "channels": 3, "compiler": "c", "crop_size": [2, 2],
    "crops": [[0, 0], [0, 0]], "depth": 3, "dilation": (1, 1), "dst_layout": "NHWC", "dtype": "float32", "end": [1], "eps": 1e-5,
    "equation": "ij->ji", "feature_stride": 16, "indices_or_sections": 2, "iou_threshold": 0.5, "score_threshold": 0.5, "iou_loss": False, "is_multiply": True, "kernel_size": 1,
    "layout": "NCHW", "max_detections": 2, "max_detections_per_class": 2, "max_displacement": 1, "multiplier": 1, "n_fft": 4,
    "newshape": [2, 3], "num_classes": 2, "num_groups": 1, "num_samples": 2, "output_shape": [2, 3], "pad_width": [[0, 0], [0, 0]],
    "padding": (0, 0), "paddings": [[0, 0], [0, 0]], "pool_size": (2, 2), "pooled_size": (2, 2), "repeats": 2, "reps": [2, 2],
    "rpn_min_size": 16, "rpn_post_nms_top_n": 3, "rpn_pre_nms_top_n": 6, "scales": [4.0], "ratios": [1.0], "seed": 3, "shape": (2, 3), "shift": 1,
    "size": (2, 2), "spatial_scale": 1.0, "src_layout": "NCHW", "stride": 1, "stride1": 1, "stride2": 1, "strides": (1, 1), "target_shape": (2, 2),
    "threshold": 0.5, "units": 3, "window_shape": [1, 1],
}
# Of these functions, parameters of those names are operands.
OPERANDS = {"unravel_index": {"shape"}, "strided_set": {"begin", "end"}, "collapse_sum_to": {"shape"},
            "nn.prelu": {"alpha"}, "vision.get_valid_counts": {"score_threshold"}}
LISTS = {"concatenate", "stack", "einsum", "meshgrid", "adv_index", "qnn.concatenate"}


def function(name):
    """relay.nn.relu for "nn.relu", as users write it."""
    found = relay
    for part in (name.replace("qnn.", "qnn.op.") if name.startswith("qnn.") else name).split("."):
        found = getattr(found, part)
    return found


def required(name):
    """Arguments for what has no default."""
    given = {}
    for param in FUNCTIONS[name].parameters.values():
        if param.default is not inspect.Parameter.empty:
            continue
        is_operand = param.name not in REQUIRED or param.name in OPERANDS.get(name, ())
        given[param.name] = relay.var(param.name) if is_operand else REQUIRED[param.name]
    if name in LISTS:
        for param in ("data", "inputs", "input_scales", "input_zero_points"):
            if param in given:
                given[param] = [relay.var("a"), relay.var("b")]
    if name.startswith("nn.sparse_"):
        for param in ("sparse_mat", "x"):
            if param in given:
                given[param] = (relay.var("d"), relay.var("i"), relay.var("p"))
    if name == "image.affine_grid":
        given["target_shape"] = (2, 2)
    return given


def plain(value):
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_by_position_and_by_name(name):
    made = function(name)
    given = required(name)
    by_name = made(**given)
    params = FUNCTIONS[name].parameters
    if list(given) == list(params)[:len(given)]:
        by_position = made(*given.values())
        assert repr(by_position) == repr(by_name)
    assert str(inspect.signature(made)) == str(FUNCTIONS[name]) if isinstance(made, relay.Op) else True
    if not isinstance(made, relay.Op) or not isinstance(by_name, relay.Call) or by_name.op is not made or name in operators._SPECIAL:
        return
    # Each parameter is an operand, or an attribute that has what was given or TVM's default.
    renamed, operands = operators._RENAMED.get(name, {}), []
    for param in params.values():
        value = given.get(param.name, param.default)
        attribute = renamed.get(param.name, param.name)
        if attribute not in by_name.attrs or param.name in operators._OPERANDS.get(name, ()):
            operands.append(param.name)
            continue
        fallback = {a[0]: a[2] for a in _native.operator_schema(name)[1]}[attribute]
        expected = plain(value) if value is not None else fallback
        if param.name == "padding" and name in operators._WINDOWS:  # of each side
            expected = (expected * 6 if isinstance(expected, tuple) else (expected,) * 6)[:2 * operators._WINDOWS[name]]
        elif name in operators._WINDOWS and isinstance(expected, int) and param.name in ("kernel_size", "pool_size", "strides", "dilation"):
            expected = (expected,) * operators._WINDOWS[name]
        if param.name == "roi":
            expected = (0.0,) * (2 * operators._IMAGE_AXES[name])
        found = by_name.attrs[attribute]
        if attribute == "padding" and len(found) == 2 * len(expected):  # before and behind are said apart, as in TVM
            expected = expected * 2
        assert found == expected or found == (expected,) or not expected and not found, f"{param.name}: {found!r}, not {expected!r}"
    assert len(operands) == len(by_name.args), operands


def test_every_operator_is_there():
    for name in _native.operator_names():
        assert isinstance(relay.op.get(name), relay.Op)
        assert name in FUNCTIONS or operators.signature_of(name) is None
    missing = {name for name in FUNCTIONS if _native.operator_arguments(name) is None and name not in operators._SPECIAL}
    assert not missing


def test_windows_have_sizes_for_each_axis_and_side():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w")
    attrs = relay.nn.conv2d(x, w, strides=2, padding=(1, 2), dilation=1, kernel_size=3, channels=4).attrs
    assert (attrs.strides, attrs.padding, attrs.dilation, attrs.kernel_size) == ((2, 2), (1, 2, 1, 2), (1, 1), (3, 3))
    assert relay.nn.conv2d(x, w, padding=(1, 2, 3, 4)).attrs.padding == (1, 2, 3, 4)
    assert relay.nn.conv2d(x, w, padding=3).attrs.padding == (3, 3, 3, 3)
    assert relay.nn.max_pool2d(x, 2, padding=relay.const(1).data).attrs.padding == (1, 1, 1, 1)
    assert relay.nn.avg_pool1d(x, 2, padding=(1,)).attrs.padding == (1, 1)
    assert relay.nn.conv3d(x, w, padding=(1, 2, 3)).attrs.padding == (1, 2, 3, 1, 2, 3)
    assert relay.qnn.op.conv2d(x, w, x, x, x, x, (3, 3), 4, padding=(1, 1)).attrs.padding == (1, 1, 1, 1)


# In TVM's text and in relay.Call an attribute has the default of TVM's C++ class; in Python, that of the function.
@pytest.mark.parametrize("name, operands, attribute, in_python, in_text", [
    ("nn.batch_matmul", 2, "transpose_b", True, False), ("qnn.batch_matmul", 6, "transpose_b", True, False), ("nn.lrn", 1, "alpha", 1e-5, 1e-4),
    ("nn.leaky_relu", 1, "alpha", 0.01, 0.25), ("image.resize1d", 1, "rounding_method", "", "round"),
    ("image.resize2d", 1, "rounding_method", "", "round"), ("image.resize3d", 1, "rounding_method", "", "round"),
    ("qnn.avg_pool2d", 5, "layout", "NHWC", "NCHW"), ("qnn.avg_pool2d", 5, "count_include_pad", True, False),
    ("argsort", 1, "dtype", "int32", ""), ("topk", 1, "dtype", "int32", ""), ("shape_of", 1, "dtype", "int32", ""),
    ("ndarray_size", 1, "dtype", "int32", ""), ("nn.contrib_conv2d_NCHWc", 2, "data_layout", "NCHW8c", "NCHW")])
def test_defaults_that_differ_from_those_of_text(name, operands, attribute, in_python, in_text):
    args = [relay.var(f"x{i}") for i in range(operands)]
    given = {p: v for p, v in required(name).items() if not isinstance(v, relay.Expr)}
    python = relay.op.get(name)(*args, **given)
    assert python.attrs[attribute] == in_python
    assert relay.Call(relay.op.get(name), args, given).attrs[attribute] == in_text


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_text_of_a_call_says_the_call(name):
    made = function(name)(**required(name))
    if isinstance(made, relay.Call):
        assert structural.structural_equal(made, text.parse_expr(made.astext()), map_free_vars=True)


# As TVM writes them: what has no default there always, also where it is None; the rest where it is not the default.
@pytest.mark.parametrize("make, expected", [
    (lambda x: relay.nn.dense(x, x), "nn.dense(%x, %x, units=None)"), (lambda x: relay.nn.dense(x, x, 4), "nn.dense(%x, %x, units=4)"),
    (lambda x: relay.transpose(x), "transpose(%x, axes=None)"),
    (lambda x: relay.nn.l2_normalize(x, 1e-5), "nn.l2_normalize(%x, eps=1e-05f, axis=None)"),
    (lambda x: relay.strided_slice(x, [0], [2]), "strided_slice(%x, begin=[0], end=[2], strides=[1], axes=None)"),
    (lambda x: relay.strided_slice(x, [0], [None]), "strided_slice(%x, begin=[0], end=[2147483647], strides=[1], axes=None)"),
    (lambda x: relay.slice_like(x, x), "slice_like(%x, %x, axes=None)"), (lambda x: relay.cumsum(x, 1), "cumsum(%x, axis=1, exclusive=None)"),
    (lambda x: relay.full(relay.const(1.0)), "full(1f, shape=[])"), (lambda x: relay.topk(x, 2), "topk(%x, k=2, dtype=\"int32\")"),
    (lambda x: relay.reshape(x, x), "dyn.reshape(%x, %x, newshape=[])"),
    (lambda x: relay.zeros(x, "int8"), "dyn.zeros(%x, shape=None, dtype=\"int8\")"),
    (lambda x: relay.tile(x, x), "dyn.tile(%x, %x, reps=[])"),
    (lambda x: relay.one_hot(x, x, x, x, -1, "int8"), "dyn.one_hot(%x, %x, %x, %x, depth=0, dtype=\"int8\")"),
    (lambda x: relay.image.resize1d(x, (4,)), "image.resize1d(%x, size=[4], roi=[0f, 0f], rounding_method=\"\")"),
    (lambda x: relay.nn.batch_matmul(x, x, "int32"), "nn.batch_matmul(%x, %x, out_dtype=\"int32\", transpose_b=True)"),
    (lambda x: relay.nn.conv1d_transpose(x, x, channels=3, padding=(1,)), "nn.conv1d_transpose(%x, %x, channels=3, padding=[1])"),
    (lambda x: relay.nn.upsampling3d(x), "nn.upsampling3d(%x, scale_d=1f, scale_h=1f, scale_w=1f)"),
    (lambda x: relay.nn.adaptive_avg_pool2d(x), "nn.adaptive_avg_pool2d(%x, output_size=None)"),
    (lambda x: relay.qnn.op.dequantize(x, x, x), "qnn.dequantize(%x, %x, %x, out_dtype=\"float32\")"),
    (lambda x: relay.qnn.op.dense(x, x, x, x, x, x, None), "qnn.dense(%x, %x, %x, %x, %x, %x, units=None, out_dtype=\"int32\")"),
    (lambda x: relay.sum(x, []), "sum(%x)"), (lambda x: relay.cast(x, "float"), "cast(%x, dtype=\"float32\")")])
def test_attributes_that_text_has(make, expected):
    assert str(make(relay.var("x"))).split("\n")[-1] == expected


def run(f, *arrays):
    params = [relay.var(f"x{i}", shape=a.shape, dtype=str(a.dtype)) for i, a in enumerate(arrays)]
    return rvm.compile(rvm.IRModule.from_expr(relay.Function(params, f(*params))))(*arrays)


X = RNG.standard_normal((2, 3)).astype("f4")
IMAGE = RNG.standard_normal((1, 3, 6, 6)).astype("f4")


def lrn(x, alpha=1e-5, size=5, beta=0.75, bias=2.0):
    squares = np.stack([sum(x[:, j] ** 2 for j in range(max(0, c - size // 2), min(x.shape[1], c + size // 2 + 1))) for c in range(x.shape[1])], 1)
    return x / (bias + alpha * squares / size) ** beta


WIDE = RNG.standard_normal((1, 8, 3, 3)).astype("f4") * 30
BATCH = RNG.standard_normal((2, 3, 3)).astype("f4")
ROW = np.arange(4, dtype="f4").reshape(1, 1, 1, 4)
ONES = np.ones(3, "f4")


# The values by numpy, of forms that TVM's users write.
@pytest.mark.parametrize("f, arrays, expected", [
    (lambda a, b: relay.nn.batch_matmul(a, b), [BATCH, BATCH[::-1].copy()], BATCH @ BATCH[::-1].transpose(0, 2, 1)),
    (lambda p: relay.nn.lrn(p), [WIDE], lrn(WIDE)),
    (lambda p: relay.nn.leaky_relu(p), [X], np.where(X < 0, X * np.float32(0.01), X)),
    (lambda p: relay.image.resize2d(p, (1, 8), None, "NCHW", "nearest_neighbor", "asymmetric"), [ROW], np.repeat(ROW, 2, 3)),
    (lambda p: relay.reshape(p, (3, -1)), [X], X.reshape(3, 2)),
    (lambda p: relay.reshape(p, relay.const([3, 2])), [X], X.reshape(3, 2)),
    (lambda p: relay.reshape(p, relay.reverse(relay.shape_of(p), 0)), [X], X.reshape(3, 2)),
    (lambda p: relay.transpose(p, (1, 0)), [X], X.T),
    (lambda p: relay.clip(p, 0, 0.5), [X], X.clip(0, 0.5)),
    (lambda p: relay.sum(p, 1), [X], X.sum(1)),
    (lambda p: relay.cast(p, np.int8), [X * 9], (X * 9).astype("i1")),
    (lambda p: p.astype("int8"), [X * 9], (X * 9).astype("i1")),
    (lambda p: relay.split(p, 3, 1)[1], [X], X[:, 1:2]),
    (lambda p: relay.concatenate(relay.split(p, [1], axis=1), 0 + 1), [X], X),
    (lambda p: relay.concatenate([p, p], axis=1), [X], np.concatenate([X, X], 1)),
    (lambda p: relay.concatenate((p, p), 0), [X], np.concatenate([X, X], 0)),
    (lambda p: relay.stack([p, p], 0), [X], np.stack([X, X])),
    (lambda p: relay.einsum((p, p), "ij,kj->ik"), [X], X @ X.T),
    (lambda p: relay.zeros((2, 3), "float32") + relay.full(relay.const(2.0), (2, 3), "float32"), [X], np.full((2, 3), 2, "f4")),
    (lambda p: relay.strided_slice(p, [0, 1], [2, 3]), [X], X[:, 1:]),
    (lambda p: relay.strided_slice(p, relay.const([0, 1]), relay.const([2, 3]), relay.const([1, 1])), [X], X[:, 1:]),
    (lambda p: relay.strided_slice(p, relay.reverse(relay.const([-1, -2]), 0), relay.shape_of(p)), [X], X[-2:, -1:]),
    (lambda p: relay.arange(relay.const(0.0), relay.const(5.0), relay.const(0.5)), [X], np.arange(0, 5, 0.5, "f4")),
    (lambda p: relay.arange(5), [X], np.arange(5, dtype="f4")),
    (lambda p: relay.nn.pad(p, ((0, 0), (1, 1))), [X], np.pad(X, ((0, 0), (1, 1)))),
    (lambda p: relay.nn.pad(relay.nn.relu(p), ((0, 0), (1, 1)), 2), [X], np.pad(X.clip(0), ((0, 0), (1, 1)), constant_values=2)),
    (lambda p: relay.one_hot(relay.cast(p, "int32"), relay.const(1.0), relay.const(0.0), 3, -1, "float32"), [np.float32([0, 2])], np.eye(3, dtype="f4")[[0, 2]]),
    (lambda p: relay.tile(relay.repeat(relay.reverse(p, 0), 2, 1), (1, 2)), [X], np.tile(np.repeat(X[::-1], 2, 1), (1, 2))),
    (lambda p: relay.scatter_nd(p, relay.const([[0, 1], [1, 2]]), relay.const([5.0, 6.0]), "add"), [X], X + np.float32([[0, 5, 0], [0, 0, 6]])),
    (lambda p: relay.broadcast_to(p, (4, 2, 3)), [X], np.broadcast_to(X, (4, 2, 3))),
    (lambda p: relay.nn.dropout(p, 0.5), [X], X),
    (lambda p: relay.nn.batch_norm(p, *[relay.const(ONES)] * 4)[0], [IMAGE], (IMAGE - 1) / np.sqrt(np.float32(1 + 1e-5)) + 1),
    (lambda p: relay.nn.max_pool2d(p), [IMAGE], IMAGE),
    (lambda p: relay.nn.max_pool2d(p, 2, 2), [IMAGE], IMAGE.reshape(1, 3, 3, 2, 3, 2).max((3, 5))),
    (lambda p: relay.nn.global_avg_pool1d(p), [BATCH], BATCH.mean(2, keepdims=True)),
    (lambda p: relay.std(p, 1), [X], X.std(1)),
    (lambda p: relay.mean_variance(p, axis=1)[1], [X], X.var(1)),
    (lambda p: relay.variance(p), [X], X.var()),
    (lambda p: relay.logsumexp(p, 1), [X], np.log(np.exp(X).sum(1))),
    (lambda p: relay.segment_sum(p, relay.const([1, 1])), [X], np.stack([X[0] * 0, X.sum(0)])),
    (lambda p: relay.nn.matmul(p, p, transpose_b=True), [X], X @ X.T),
    (lambda p: relay.nn.matmul(p, relay.transpose(p)), [X], X @ X.T),
    (lambda p: relay.nn.sparse_dense(p, (np.float32([2, 3]), np.int32([0, 2]), np.int32([0, 1, 2]))), [X], X @ np.float32([[2, 0, 0], [0, 0, 3]]).T),
    (lambda p: relay.qnn.op.quantize(p, relay.const(0.5), relay.const(3)), [X], (np.rint(X / 0.5) + 3).astype("i1")),
    (lambda p: relay.topk(p, relay.const(2)).astuple()[1], [X], np.argsort(-X, 1, "stable")[:, :2].astype("i4")),
    (lambda p: -p + 1 - 2.0 * p / (p * p + 1.0), [X], -X + 1 - 2 * X / (X * X + 1)),
    (lambda p: 1.0 - relay.nn.relu(p) * 2, [X], 1 - X.clip(0) * 2),
    (lambda p: X + p, [X], X + X),
    (lambda p: relay.where(p < 0.5, p, 0.5), [X], X.clip(None, 0.5)),
    (lambda p: relay.where(relay.logical_and(p >= relay.const(0.0), p <= relay.const(1.0)), p, relay.zeros_like(p)), [X], np.where((X >= 0) & (X <= 1), X, 0)),
    (lambda p: p + relay.const(np.array([1.0, 2.0, 3.0])), [X], X + np.float32([1, 2, 3])),
    (lambda p: relay.take(p, relay.const(np.array([1, 0])), axis=0), [X], X[::-1]),
    (lambda p: relay.annotation.on_device(relay.device_copy(p, "cpu", "cpu"), "cpu"), [X], X),
])
def test_values(f, arrays, expected):
    found = run(f, *arrays)
    assert found.dtype == expected.dtype or expected.dtype.kind == "f" and found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=1e-5, atol=1e-5)


def test_tuples_can_be_taken_apart():
    x = relay.var("x", shape=(2, 3))
    values, indices = relay.topk(x, 2)
    assert isinstance(values, relay.TupleGetItem) and indices.index == 1
    assert len(relay.split(x, 3, axis=1)) == 3 and len(relay.split(x, (1, 2), axis=1)) == 3 and relay.split(x, 3, 1)[-1].index == 2
    assert relay.split(x, 3, 1).astuple().op is relay.op.get("split") and len(relay.TupleWrapper(relay.split(x, 3, 1), 3)) == 3
    with pytest.raises(IndexError, match="gives a tuple of 3, there is no field 3"):
        relay.split(x, 3, 1)[3]
    with pytest.raises(TypeError, match="not known to give a tuple"):
        relay.nn.relu(x)[0]
    assert bool(relay.nn.relu(x)) and bool(relay.split(x, 3, 1))
    mod = rvm.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 4), float32]) { split(%x, indices_or_sections=2, axis=1) }')
    assert len(mod["main"].body) == 2


@pytest.mark.parametrize("make, error, text", [
    (lambda x: relay.nn.conv2d(x, x, stride=2), TypeError, "nn.conv2d: there is no parameter stride; did you mean strides?"),
    (lambda x: relay.nn.dense(x), TypeError, "nn.dense: missing a required argument: 'weight'; it takes"),
    (lambda x: relay.nn.dens(x), AttributeError, "there is no operator nn.dens; did you mean nn.dense?"),
    (lambda x: relay.op.get("nn.rleu"), AttributeError, "did you mean nn.relu?"),
    (lambda x: relay.add(x, "a"), TypeError, "add: rhs: expected an expression"),
    (lambda x: relay.concatenate([], 0), TypeError, "concatenate: data: expected expressions, one at least"),
    (lambda x: relay.concatenate([x, "a"], 0), TypeError, r"concatenate: data\[1\]: expected an expression"),
    (lambda x: relay.sum(x, x), TypeError, "sum: axis is an attribute, whose value the program does not compute"),
    (lambda x: relay.add(relay.cast(x, "int32"), 0.5), TypeError, "0.5 is no int32, which the other operand has"),
    (lambda x: relay.add(relay.var("untyped"), 0.5), None, ""),
    (lambda x: relay.var("i", shape=(2, 3), dtype="int32") + 0.5, TypeError, "0.5 is no int32, which the other operand has"),
    (lambda x: relay.const([1 << 40]), ValueError, "more than int32 holds"),
    (lambda x: relay.Prelude, AttributeError, "relay.Prelude is not there; instead"),
    (lambda x: relay.Call(relay.op.get("nn.dense"), [x, x], {"unit": 3}), rvm.InvalidInput, "^nn.dense: no attribute named"),
])
def test_mistakes(make, error, text):
    x = relay.var("x", shape=(2, 3))
    if error is None:
        make(x)
        return
    with pytest.raises(error, match=text) as raised:
        make(x)
    assert str(raised.value).count("nn.dense:") <= 1 and str(raised.value).count("nn.conv2d:") <= 1


def test_what_tvm_has_in_relay():
    x, y = relay.var("x", shape=(relay.Any(), 3)), relay.var("y", shape=(2, 3))
    assert relay.analysis.free_vars(x + y) == [x, y] and relay.analysis.free_vars(relay.Function([x], x + y)) == [y]
    assert relay.bind(x + y, {x: y}).args == (y, y) and relay.bind(relay.Function([x, y], x + y), {x: y}).params == (y,)
    scope = relay.ScopeBuilder()
    total = scope.let("total", relay.sum(y))
    with scope.if_scope(total > 0.0):
        scope.ret(scope.let("twice", y * 2.0))
    with scope.else_scope():
        scope.ret(-y)
    mod = rvm.IRModule.from_expr(relay.Function([y], scope.get()))
    data = np.float32([[1, 2, 3], [4, 5, 6]])
    for sign in (1, -1):
        expected = data * 2 if sign == 1 else data
        np.testing.assert_array_equal(relay.build(mod, target="llvm -mcpu=haswell" if sign == 2 else "llvm")(data * sign), expected)
    with pytest.raises(ValueError, match="no result"):
        relay.ScopeBuilder().get()
    assert relay.fromtext is rvm.parse and relay.transform is rvm.transform and relay.frontend.from_onnx is rvm.from_onnx
    run_it = relay.create_executor("debug", mod=mod, device=None, target="llvm").evaluate()
    np.testing.assert_array_equal(run_it(data), data * 2)
