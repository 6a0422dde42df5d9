"""AlterOpLayout and ConvertLayout as TVM's users call them: results are those of the program as written, and layouts go as far as they can."""
import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.compiler.passes.layout import Layout, changed_like, with_blocks_of_one
from relayvm.tvm import relay
from relayvm.tvm.relay.testing import TempOpAttr, run_opt_pass

rng = np.random.default_rng(0)


def count(expr, name):
    found = []
    relay.analysis.post_order_visit(expr, lambda e: found.append(e) if isinstance(e, relay.Call) and getattr(e.op, "name", "") == name else None)
    return len(found)


def values(function):
    return [rng.standard_normal(p.checked_type.shape).astype(p.checked_type.dtype) for p in function.params]


def evaluated(function, inputs):
    result = relay.create_executor("debug", tvm.IRModule.from_expr(function)).evaluate()(*inputs)
    return [r.numpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


def check_same_numbers(body, run):
    """What a pass makes of a function gives the same."""
    before = run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.InferType())
    after = run(before)
    inputs = values(before)
    for a, b in zip(evaluated(before, inputs), evaluated(after, inputs)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    return after


def in_blocks(size, kernel=None):
    def alter(attrs, inputs, tinfos, out_type):
        return relay.nn.conv2d(*inputs, **{**attrs, "data_layout": f"NCHW{size}c", **({"kernel_layout": kernel} if kernel else {})})
    return alter


def altered(function, size=4, kernel=None):
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", in_blocks(size, kernel)):
        return tvm.transform.Sequential([relay.transform.CanonicalizeOps(), relay.transform.AlterOpLayout()])(
            tvm.IRModule.from_expr(function))["main"]


def conv(x=None, **attrs):
    x = relay.var("x", shape=(1, 8, 6, 6)) if x is None else x
    return relay.nn.conv2d(x, relay.var("w", shape=(8, 8, 3, 3)), padding=1, channels=8, kernel_size=3, **attrs)


# What follows a convolution, and how many layout_transforms stand after AlterOpLayout: one for the data, one for the result, others for what
# is broadcast.
FOLLOWING = {
    "elementwise": (lambda y: relay.tanh(relay.nn.relu(y)), 2),
    "clip and cast": (lambda y: relay.cast(relay.clip(y, 0, 4), "float64"), 2),
    "bias": (lambda y: relay.nn.bias_add(y, relay.var("b", shape=(8,))), 3),
    "number": (lambda y: y * relay.const(2.0), 2),
    "one element": (lambda y: y * relay.var("s", shape=(1, 1)), 2),
    "of channels": (lambda y: relay.var("s", shape=(8, 1, 1)) - y, 3),
    "of rows": (lambda y: y + relay.var("s", shape=(1, 1, 6, 1)), 3),
    "of columns alone": (lambda y: y + relay.var("s", shape=(6,)), 3),
    "two paths": (lambda y: relay.nn.relu(y) + relay.exp(y), 2),
    "concatenate": (lambda y: relay.concatenate([y, relay.nn.relu(y)], 1), 2),
    "concatenate rows": (lambda y: relay.concatenate([y, relay.nn.relu(y)], -2), 2),
    "pooling": (lambda y: relay.nn.avg_pool2d(relay.nn.max_pool2d(y, 2), 2), 2),
    "global pooling": (lambda y: relay.nn.global_avg_pool2d(y), 2),
    "adaptive pooling": (lambda y: relay.nn.adaptive_max_pool2d(y, (3, 3)), 2),
    "upsampling": (lambda y: relay.nn.upsampling(y, 2, 2), 2),
    "resize": (lambda y: relay.image.resize2d(y, (9, 9), method="nearest_neighbor", rounding_method="floor",
                                              coordinate_transformation_mode="asymmetric"), 2),
    "pad rows": (lambda y: relay.nn.pad(y, [[0, 0], [0, 0], [1, 2], [0, 3]], relay.const(0.5)), 2),
    "pad channels": (lambda y: relay.nn.pad(y, [[0, 0], [1, 0], [0, 0], [0, 0]], relay.const(0.5)), 2),
    "sum of channels": (lambda y: relay.sum(y, 1, keepdims=True), 2),
    "sum of channels that go": (lambda y: relay.sum(y, 1), 1),
    "mean but of channels": (lambda y: relay.mean(y, 1, exclude=True), 2),
    "max of all": (lambda y: relay.max(y), 1),
    "variance of rows": (lambda y: relay.variance(y, [2, 3], keepdims=True), 2),
    "split": (lambda y: relay.Tuple(list(relay.split(y, 2, axis=1))), 3),
    "split by places": (lambda y: relay.Tuple(list(relay.split(y, [4], axis=1))), 3),
    "split by other places": (lambda y: relay.Tuple(list(relay.split(y, [3], axis=1))), 2),
    "slice of channels": (lambda y: relay.strided_slice(y, [0, 4], [1, 8]), 2),
    "slice of other channels": (lambda y: relay.strided_slice(y, [0, 3], [1, 8]), 2),
    "slice along an axis": (lambda y: relay.strided_slice(y, [4], [8], axes=[1]), 2),
    "slice of sizes": (lambda y: relay.strided_slice(y, [0, 4, 1], [-1, 4, 2], slice_mode="size"), 2),
    "batch_norm": (lambda y: relay.nn.batch_norm(y, *(relay.abs(relay.var(n, shape=(8,))) for n in "gbmv"))[0], 2),
    "argmax": (lambda y: relay.argmax(y, 1), 1),
    "topk": (lambda y: relay.topk(y, 2, axis=2, ret_type="values"), 2),
    "topk of channels": (lambda y: relay.topk(y, 2, axis=1, ret_type="values"), 2),
    "l2_normalize": (lambda y: relay.nn.l2_normalize(y, 1e-3, [1]), 2),
    "layer_norm": (lambda y: relay.nn.layer_norm(y, relay.var("g", shape=(6,)), relay.var("b", shape=(6,))), 2),
    "squeeze": (lambda y: relay.squeeze(relay.max(y, [2], keepdims=True), [2]), 2),
    "flatten": (lambda y: relay.nn.batch_flatten(y), 2),
    "softmax": (lambda y: relay.nn.softmax(y, 1), 2),
    "transpose": (lambda y: relay.transpose(y, [0, 1, 3, 2]), 2),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_blocks_pass_what_follows(name):
    make, transforms = FOLLOWING[name]
    after = check_same_numbers(make(conv()), altered)
    assert count(after, "layout_transform") == transforms
    assert 'data_layout="NCHW4c"' in after.astext()


def test_a_transform_stands_once():
    x = relay.var("x", shape=(1, 8, 6, 6))
    y = conv(x) + relay.nn.conv2d(x, relay.var("v", shape=(8, 8, 1, 1)), channels=8, kernel_size=1)
    after = check_same_numbers(relay.nn.relu(y), altered)
    assert count(after, "layout_transform") == 2


def test_kernels_change_too():
    after = check_same_numbers(conv(), lambda f: altered(f, 4, "OIHW2i4o"))
    assert count(after, "layout_transform") == 3


def test_layouts_between_operators_meet():
    after = check_same_numbers(conv(relay.nn.relu(conv())), altered)
    assert count(after, "layout_transform") == 2


def test_functions_get_new_operands_and_types_as_written():
    seen = []

    def alter(attrs, inputs, tinfos, out_type):
        seen.append((attrs["padding"], [t.shape for t in tinfos], out_type.shape))
        return relay.nn.conv2d(inputs[0], inputs[1] * relay.const(2.0), **attrs)
    body = conv()
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", alter):
        after = run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.AlterOpLayout())
    assert seen == [((1, 1, 1, 1), [(1, 8, 6, 6), (8, 8, 3, 3)], (1, 8, 6, 6))]
    assert count(after, "multiply") == 1


def test_none_leaves_a_call():
    body = conv()
    function = run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.InferType())
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", lambda *_: None):
        after = run_opt_pass(function, relay.transform.AlterOpLayout())
    assert tvm.ir.structural_equal(function, after)


def test_what_is_no_call_is_refused():
    body = conv()
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", lambda attrs, inputs, *_: inputs[0]):
        with pytest.raises(TypeError, match="expected a call in place of a call, found Var"):
            run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.AlterOpLayout())


def converted(layouts):
    return lambda f: run_opt_pass(f, tvm.transform.Sequential([relay.transform.ConvertLayout(layouts)]))


@pytest.mark.parametrize("layouts,data,kernel", [(["NHWC", "default"], "NHWC", "HWIO"), (["NHWC", "OHWI"], "NHWC", "OHWI"),
                                                 (["HWNC", "default"], "HWNC", "HWOI")])
def test_convert_convolutions(layouts, data, kernel):
    body = relay.nn.softmax(relay.nn.bias_add(conv(relay.nn.relu(conv())), relay.var("b", shape=(8,))), 1)
    after = check_same_numbers(body, converted({"nn.conv2d": layouts}))
    assert after.astext().count(f'data_layout="{data}"') == 2 and f'kernel_layout="{kernel}"' in after.astext()
    assert count(after, "layout_transform") == 2 + 2 + 1  # data, kernels, bias
    alone = run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.ConvertLayout({"nn.conv2d": layouts}))  # without CanonicalizeOps, which it requires
    assert count(alone, "layout_transform") == 2 + 2 and "nn.bias_add" in alone.astext()


@pytest.mark.parametrize("name", FOLLOWING)
def test_other_orders_pass_what_follows(name):
    check_same_numbers(FOLLOWING[name][0](conv()), converted({"nn.conv2d": ["NHWC", "default"]}))


def test_convert_depthwise():
    x = relay.var("x", shape=(1, 8, 6, 6))
    after = check_same_numbers(relay.nn.conv2d(x, relay.var("w", shape=(8, 1, 3, 3)), groups=8, channels=8, kernel_size=3),
                               converted({"nn.conv2d": ["NHWC", "default"]}))
    assert 'kernel_layout="HWOI"' in after.astext()


def test_convert_back():
    x = relay.var("x", shape=(1, 6, 6, 8))
    y = relay.nn.conv2d(x, relay.var("w", shape=(3, 3, 8, 8)), channels=8, kernel_size=3, data_layout="NHWC", kernel_layout="HWIO")
    after = check_same_numbers(relay.nn.relu(y), converted({"nn.conv2d": ["NCHW", "default"]}))
    assert count(after, "layout_transform") == 3


CONVERTED = {
    "nn.conv2d_transpose": (lambda x: relay.nn.conv2d_transpose(x, relay.var("w", shape=(8, 4, 3, 3)), channels=4, kernel_size=3),
                            ["NHWC", "default"]),
    "nn.conv3d": (lambda x: relay.nn.conv3d(relay.reshape(x, [1, 8, 1, 6, 6]), relay.var("w", shape=(4, 8, 1, 3, 3)), channels=4,
                                            kernel_size=(1, 3, 3)), ["NDHWC", "default"]),
    "nn.max_pool2d": (lambda x: relay.nn.max_pool2d(x, 2), ["NHWC"]),
    "nn.avg_pool2d": (lambda x: relay.nn.avg_pool2d(x, 2, padding=1), ["NHWC"]),
    "nn.global_avg_pool2d": (lambda x: relay.nn.global_avg_pool2d(x), ["NHWC"]),
    "image.resize2d": (lambda x: relay.image.resize2d(x, (9, 7)), ["NHWC"]),
    "vision.roi_align": (lambda x: relay.vision.roi_align(x, relay.const(np.array([[0, 1, 1, 4, 4.0]], "float32")), (2, 2), 1.0),
                         ["NHWC", "default"]),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_convert_others(name):
    make, layouts = CONVERTED[name]
    after = check_same_numbers(make(relay.var("x", shape=(1, 8, 6, 6))), converted({name: layouts}))
    assert count(after, "layout_transform") >= 2


def test_operators_that_are_not_named_stay():
    function = run_opt_pass(relay.Function(relay.analysis.free_vars(body := conv()), body), relay.transform.InferType())
    assert tvm.ir.structural_equal(converted({"nn.max_pool2d": ["NHWC"]})(function), function)


def test_layers_that_are_left():
    body = conv(relay.nn.relu(conv()))
    with relay.transform.LayoutConfig(skip_layers=[0]):
        after = check_same_numbers(body, converted({"nn.conv2d": ["NHWC", "default"]}))
    assert after.astext().count('data_layout="NHWC"') == 1


def test_registered_layouts():
    def convert(attrs, inputs, tinfos, layouts):
        return relay.nn.depth_to_space(*inputs, **{**attrs, "layout": layouts[0]})
    with TempOpAttr("nn.depth_to_space", "FTVMConvertOpLayout", convert):
        # Nothing says what layouts its operands have: it is the call that the function gives.
        after = run_opt_pass(relay.Function([x := relay.var("x", shape=(1, 4, 4, 4))], relay.nn.depth_to_space(x, 2)),
                             relay.transform.ConvertLayout({"nn.depth_to_space": ["NHWC"]}))
    assert after.body.attrs["layout"] == "NHWC"


def test_layouts_that_are_wrong_are_refused():
    with pytest.raises(ValueError, match="nn.conv2d has no default kernel layout for NWHC; there are NCHW, NHWC, HWNC"):
        check_same_numbers(conv(), converted({"nn.conv2d": ["NWHC", "default"]}))
    with pytest.raises(ValueError, match="layout NCHWc: a block has a size"):
        Layout("NCHWc")


def test_layouts_of_broadcast_operands():
    assert changed_like(Layout("NW"), Layout("NC"), Layout("NC1c")).name == "NW1w"
    assert changed_like(Layout("W"), Layout("NC"), Layout("NC1c")).name == "NW1w"
    assert changed_like(Layout("HWC"), Layout("NHWC"), Layout("NCHW4c")).name == "NCHW4c"
    assert changed_like(Layout("NCHW"), Layout("NCHW4c"), Layout("NCHW")) is None
    assert with_blocks_of_one(Layout("NCHW4c"), Layout("HW"), (6, 6)).name == "NCHW1c"
    assert with_blocks_of_one(Layout("NCHW4c"), Layout("NCHW"), (1, 8, 1, 1)).name == "NCHW4c"


def test_rules_that_are_registered():
    """nn.softmax follows any layout that keeps its axis whole."""
    def follow(attrs, new, old, types):
        if old[0] is None:
            return relay.transform.InferCorrectLayoutOutput([None], [None], attrs)
        letter = old[0].name[attrs["axis"]]
        layout = old[0] if new is None or new[0].factor_of(letter) > 0 else new[0]
        return relay.transform.InferCorrectLayoutOutput([layout.name], [layout], {**attrs, "axis": layout.index_of(letter)})
    with TempOpAttr("nn.softmax", "FInferCorrectLayout", follow):
        after = check_same_numbers(relay.nn.relu(relay.nn.softmax(conv(), 2)), altered)
        assert isinstance(after.body.args[0].op, tvm.ir.Op) and after.body.op.name == "layout_transform"  # behind it all
        after = check_same_numbers(relay.nn.relu(relay.nn.softmax(conv(), 1)), altered)
        assert after.body.op.name == "nn.relu"


def test_quantised_networks_convert():
    x = relay.var("x", shape=(1, 6, 6, 4), dtype="int8")

    def quantised_conv(data, name, axis):
        y = relay.qnn.op.conv2d(data, relay.var(name, shape=(3, 3, 4, 4), dtype="int8"), relay.const(3), relay.const(0), relay.const(0.5),
                                relay.const([0.5, 0.25, 1.0, 2.0]), (3, 3), 4, padding=1, data_layout="NHWC", kernel_layout="HWIO")
        y = relay.nn.bias_add(y, relay.var(name + "b", shape=(4,), dtype="int32"), axis=3)
        return relay.qnn.op.requantize(y, relay.const([0.5, 0.25, 1.0, 2.0]), relay.const(0), relay.const(9.0), relay.const(1), axis=axis,
                                       out_dtype="int8")
    a = quantised_conv(x, "a", 3)
    b = quantised_conv(relay.nn.max_pool2d(a, 3, padding=1, layout="NHWC"), "b", -1)
    both = relay.qnn.op.add(a, b, *(relay.const(v) for v in (0.5, 1, 0.25, 2, 0.5, 3)))
    joined = relay.qnn.op.concatenate([both, a], [relay.const(0.5), relay.const(0.25)], [relay.const(3), relay.const(1)], relay.const(0.5),
                                      relay.const(0), axis=3)
    before = run_opt_pass(relay.Function(relay.analysis.free_vars(joined), joined), relay.transform.InferType())
    after = converted({"qnn.conv2d": ["NCHW", "default"]})(before)
    inputs = [rng.integers(-50, 50, p.checked_type.shape).astype(p.checked_type.dtype) for p in before.params]
    for x, y in zip(evaluated(before, inputs), evaluated(after, inputs)):
        np.testing.assert_array_equal(x, y)
    # The data, two kernels, two biases and the result.
    assert count(after, "layout_transform") == 6 and after.astext().count('data_layout="NHWC"') == 0


@pytest.mark.parametrize("opt_level", [2, 3, 4])
def test_build_asks_functions_that_are_registered(opt_level):
    asked = []

    def alter(attrs, inputs, tinfos, out_type):
        asked.append(attrs["data_layout"])
        return in_blocks(4)(attrs, inputs, tinfos, out_type)
    body = relay.nn.relu(conv())
    function = run_opt_pass(relay.Function(relay.analysis.free_vars(body), body), relay.transform.InferType())
    inputs = values(function)
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", alter), tvm.transform.PassContext(opt_level=opt_level):
        lib = relay.build(function, "llvm")
    assert asked == (["NCHW"] if opt_level >= 3 else [])
    run = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    run.run(**{p.name_hint: value for p, value in zip(function.params, inputs)})
    np.testing.assert_allclose(run.get_output(0).numpy(), evaluated(function, inputs)[0], rtol=1e-4, atol=1e-4)
