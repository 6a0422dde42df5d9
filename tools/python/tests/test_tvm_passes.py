"""TVM's passes on the language: normal forms, clean-up, gradients, partial evaluation, precision, instruments."""
import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import relayvm.tvm as tvm  # noqa: E402 (it needs the compiler)
from relayvm.tvm import relay  # noqa: E402
from relayvm.tvm.relay import transform  # noqa: E402

RNG = np.random.default_rng(7)


def after(expr, *passes, **context):
    """What passes make of main."""
    mod = tvm.IRModule.from_expr(expr)
    with tvm.transform.PassContext(opt_level=3, **context):
        for p in passes:
            mod = p(mod)
    return mod["main"]


def run(function, *args):
    return relay.create_executor().evaluate(function)(*args)


def operators(expr):
    return relay.analysis.list_op_freqs(expr)


def kinds(expr):
    found = []
    relay.analysis.post_order_visit(expr, lambda node: found.append(type(node).__name__))
    return found


def var(name, shape=(2, 3), dtype="float32"):
    return relay.var(name, shape=shape, dtype=dtype)


def data(shape=(2, 3), dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


# --- Types and forms ---


def test_inferring_types_keeps_the_form():
    x, y, c = var("x"), relay.var("y"), relay.var("c", shape=(), dtype="bool")
    shared = x + x
    for body in (relay.Let(y, shared, y * y) + x, relay.If(c, shared * shared, shared), relay.Tuple([shared, relay.Function([], shared)])):
        written = relay.Function([c, x], body)
        typed = after(written, transform.InferType())
        assert kinds(typed) == kinds(written)
        relay.analysis.post_order_visit(typed, lambda node: isinstance(node, relay.Op) or node.checked_type)
        assert after(typed, transform.InferType()) is typed


def test_types_of_generic_functions_have_their_own_variables():
    a = relay.TypeVar("a")
    x = relay.Var("x", a)
    typed = after(relay.Function([x], relay.Tuple([x, x]), None, [a]), transform.InferType())
    assert typed.checked_type == relay.FuncType([a], relay.TupleType([a, a]), [a]) and typed.ret_type == relay.TupleType([a, a])


def test_what_is_wrong_is_told_with_names():
    x, y, wide = var("x"), var("y", (4, 5)), relay.var("wide")
    with pytest.raises(tvm.TVMError, match="add") as told:
        after(relay.Function([x, y], relay.Let(wide, relay.exp(x), wide + y)), transform.InferType())
    assert "#" not in str(told.value)


def programs():
    x, c = var("x"), relay.var("c", shape=(), dtype="bool")
    shared = relay.exp(x)
    yield "branches", relay.Function([c, x], relay.If(c, shared * shared, relay.negative(shared)) + shared), (np.array(True), data())
    f, n = relay.var("f"), relay.var("n", shape=(), dtype="int32")
    count = relay.Function([n], relay.If(relay.less(n, relay.const(1)), relay.const(0), n + f(n - relay.const(1))), relay.scalar_type("int32"))
    m = relay.var("m", shape=(), dtype="int32")
    yield "recursion", relay.Function([m], relay.Let(f, count, f(m) + f(m))), (np.array(5, "int32"),)
    r, u = relay.var("r"), relay.var("u")
    body = relay.Let(r, relay.RefCreate(x), relay.Let(u, relay.RefWrite(r, relay.RefRead(r) * x), relay.RefRead(r) + x))
    yield "references", relay.Function([x], body), (data(),)
    y = var("y")
    yield "closures", relay.Function([x], relay.Function([y], shared * y)(x) - shared), (data(),)


@pytest.mark.parametrize("name, fn, args", list(programs()), ids=[p[0] for p in programs()])
@pytest.mark.parametrize("change", ["ToANormalForm", "ToBasicBlockNormalForm", "PartialEvaluate", "EliminateCommonSubexpr", "LambdaLift",
                                    "DeadCodeElimination", "FoldConstant", "FuseOps", "DefuseOps"])
def test_results_stay(name, fn, args, change):
    expected = run(fn, *args)
    mod = getattr(transform, change)()(tvm.IRModule.from_expr(fn))
    np.testing.assert_allclose(relay.create_executor("debug", mod).evaluate()(*args).numpy(), expected.numpy(), rtol=1e-5)


def test_normal_forms():
    x, c = var("x"), relay.var("c", shape=(), dtype="bool")
    shared = relay.exp(x)
    fn = relay.Function([c, x], relay.If(c, shared * shared, shared))
    with pytest.raises(tvm.TVMError, match="exp.* is read in several scopes"):
        relay.analysis.check_basic_block_normal_form(fn)
    blocks = after(fn, transform.ToBasicBlockNormalForm())
    relay.analysis.check_basic_block_normal_form(blocks)
    assert isinstance(blocks.body, relay.Let) and isinstance(blocks.body.body, relay.If) and isinstance(blocks.body.body.true_branch, relay.Call)
    normal = after(fn, transform.ToANormalForm())
    lets = [node for node in kinds(normal) if node == "Let"]
    assert len(lets) == 3  # exp, the If, the product; what a branch gives besides is a variable
    graph = after(normal, transform.ToGraphNormalForm())
    assert "Let" not in kinds(graph) and operators(graph) == {"exp": 1, "multiply": 1}


# --- Clean-up ---


def test_dead_code_has_no_effects():
    x, r, u, v, w = var("x"), *(relay.var(n) for n in "ruvw")
    read = relay.Let(w, relay.RefRead(r), w)
    body = relay.Let(r, relay.RefCreate(x), relay.Let(u, relay.RefWrite(r, x * x), relay.Let(v, relay.exp(x), read)))
    kept = after(relay.Function([x], body), transform.DeadCodeElimination())
    assert operators(kept) == {"multiply": 1} and "RefWrite" in kinds(kept)
    gone = after(relay.Function([x], relay.Let(v, relay.exp(x), relay.Let(u, relay.RefCreate(x), x))),
                 transform.DeadCodeElimination(ignore_impurity=True))
    assert gone.body is gone.params[0]


def test_values_that_are_read_once_are_put_in_place():
    x, y, f, z = var("x"), relay.var("y"), relay.var("f"), var("z")
    fn = relay.Function([x], relay.Let(y, relay.exp(x), relay.Let(f, relay.Function([z], z + y), f(f(x)))))
    made = after(fn, transform.DeadCodeElimination(inline_once=True))
    assert kinds(made).count("Let") == 2  # y stays outside of the function, which is called twice


def test_common_subexpressions():
    x = var("x")
    fn = relay.Function([x], relay.exp(x + relay.const(1.0)) * relay.exp(x + relay.const(1.0)))
    assert operators(after(fn, transform.EliminateCommonSubexpr())) == {"add": 1, "exp": 1, "multiply": 1}
    skip = transform.EliminateCommonSubexpr(lambda node: isinstance(node, relay.Call) and node.op.name == "exp")
    assert operators(after(fn, skip)) == {"add": 1, "exp": 2, "multiply": 1}


def test_constants():
    x = var("x", (3,))
    c = relay.const(np.array([1, 2, 3], "float32"))
    fn = relay.Function([x], x * (c + c) + relay.If(relay.const(True), c, x) + relay.cast(relay.shape_of(x), "float32"))
    folded = after(fn, transform.FoldConstant())
    assert operators(folded) == {"multiply": 1, "add": 2}
    np.testing.assert_allclose(run(folded, np.ones(3, "float32")).numpy(), [2 + 1 + 3, 4 + 2 + 3, 6 + 3 + 3])


def test_inlining():
    mod = tvm.IRModule()
    x, y = var("x"), var("y")
    mod["twice"] = relay.Function([x], x + x).with_attr("Inline", 1)
    mod["main"] = relay.Function([y], relay.GlobalVar("twice")(relay.GlobalVar("twice")(y)))
    mod["other"] = relay.Function([x], x)
    mod = transform.RemoveUnusedFunctions()(transform.Inline()(mod))
    assert mod._names == ["main"] and operators(mod["main"]) == {"add": 2}


def test_closures_become_functions():
    x, y = var("x"), var("y")
    mod = transform.LambdaLift()(tvm.IRModule.from_expr(relay.Function([x], relay.Function([y], x * y)(relay.exp(x)))))
    assert len(mod._names) == 2 and "Function" not in kinds(mod["main"].body)


def test_constructors_and_functions_as_values():
    mod = tvm.relay.fromtext("""#[version = "0.0.5"]
type Box { Box(float32) }
def @use(%f: fn (float32) -> Box) -> Box { %f(1f) }
def @one(%x: float32) -> Box { Box(%x) }
def @main() -> (Box, Box) { (@use(Box), @use(@one)) }
""")
    made = transform.EtaExpand(expand_constructor=True, expand_global_var=True)(mod)
    assert kinds(made["main"]).count("Function") == 4  # @use, where it is called, @one, Box, and main
    assert kinds(transform.EtaExpand(expand_constructor=True)(mod)["main"]).count("Function") == 2
    with pytest.raises(ValueError, match="expand_constructor, expand_global_var or both"):
        transform.EtaExpand()
    with pytest.raises(ValueError, match="there is no function other; there are"):
        transform.RemoveUnusedFunctions(["other"])(mod)


def test_what_needs_no_defunctionalization_stays():
    mod = tvm.relay.fromtext("""#[version = "0.0.5"]
def @loop(%i: int32) -> int32 { if (equal(%i, 0)) { 0 } else { @loop(subtract(%i, 1)) } }
def @twice(%f: fn (int32) -> int32, %i: int32) -> int32 { %f(%f(%i)) }
def @main(%i: int32) -> int32 { @twice(@loop, @loop(%i)) }
""")
    fn = transform.Defunctionalization(transform.InferType()(mod)["main"], mod)
    assert "@loop(%i)" in str(fn) and not any(name.startswith("loop_") for name in mod._names)


def test_lets_of_lets_have_a_name_for_what_they_give():
    x, a, f = var("x"), relay.var("a"), relay.var("f")
    y = relay.var("y", shape=(2, 3))
    inner = relay.Function([y], relay.Let(a, y, a + a))
    normal = transform.ToANormalFormExpr(relay.Function([x], relay.Let(f, inner, f(x))))
    body = normal.body.value.body  # let a = y; let s = a + a; let t = s; t
    assert body.var is a and body.value is normal.body.value.params[0] and list(body.body.value.args) == [a, a]
    assert body.body.body.value is body.body.var and body.body.body.body is body.body.body.var


def test_numbers_of_programs():
    x, w = var("x", (1, 4, 6, 6)), [var(f"w{i}", (4, 4, 3, 3)) for i in range(3)]
    a, b = (relay.nn.conv2d(x, v, padding=(1, 1)) for v in w[:2])
    mod = tvm.IRModule.from_expr(relay.nn.conv2d(relay.concatenate([a, relay.nn.relu(b)], 0), w[2]))
    assert relay.analysis.count_layers(mod, ["nn.conv2d"]) == 3  # fields of tuples stand behind each other
    assert relay.analysis.list_op_freqs(mod) == {"nn.conv2d": 3, "nn.relu": 1, "concatenate": 1}
    assert len(relay.analysis.extract_fused_functions(mod)) == 4
    mod["other"] = relay.Function([], relay.nn.relu(relay.const([1.0])))
    assert relay.analysis.list_op_freqs(mod)["nn.relu"] == 1  # of main
    calls = tvm.relay.fromtext("""#[version = "0.0.5"]
def @f(%x: int32) -> int32 { %x }
def @main(%x: int32) -> int32 { add(@f(%x), @f(%x)) }
""")
    graph = relay.analysis.CallGraph(calls)
    assert graph.ref_count("f") == 1 and graph.global_call_count("main") == 1  # functions, not calls


def test_what_is_shared_is_not_simplified_away():
    x = relay.var("x", shape=(2, 3), dtype="int8")
    wide = relay.cast(x, "int32")
    alone = transform.SimplifyExpr()(transform.InferType()(tvm.IRModule.from_expr(relay.cast(wide, "float32"))))["main"].body
    assert alone.args[0].name_hint == "x"
    both = transform.SimplifyExpr()(transform.InferType()(tvm.IRModule.from_expr(relay.Tuple([relay.cast(wide, "float32"), wide + wide]))))["main"].body
    assert kinds(both).count("Call") == 3


def test_kernels_without_calls():
    t = relay.var("t", relay.TupleType([relay.TensorType((2, 3), "float32")] * 2))
    swapped = relay.Tuple([relay.TupleGetItem(t, 1), relay.TupleGetItem(t, 0)])
    fused = transform.FuseOps(2)(tvm.IRModule.from_expr(relay.Function([t], relay.TupleGetItem(swapped, 0))))["main"].body
    assert fused.op.attrs["Primitive"] == 0


# --- Fusion ---


def test_fusion_and_back():
    x, w = var("x", (1, 4, 8, 8)), var("w", (4, 4, 3, 3))
    y = relay.nn.relu(relay.nn.conv2d(x, w, padding=(1, 1)) + relay.const(1.0))
    fn = after(relay.Function([x, w], relay.nn.softmax(y) + relay.nn.max_pool2d(y, (3, 3), padding=(1, 1))), transform.InferType())
    fused = after(fn, transform.FuseOps(2))
    calls = []
    relay.analysis.post_order_visit(fused, lambda n: calls.append(n.op) if isinstance(n, relay.Call) and isinstance(n.op, relay.Function) else None)
    assert [sorted(operators(f)) for f in calls] == [["add", "nn.conv2d", "nn.relu"], ["nn.max_pool2d"], ["add", "nn.softmax"]] or \
        [sorted(operators(f)) for f in calls] == [["add", "nn.conv2d", "nn.relu"], ["nn.softmax"], ["add", "nn.max_pool2d"]]
    assert all(f.attrs.Primitive == 1 for f in calls)
    assert tvm.ir.structural_equal(after(fused, transform.DefuseOps()), fn)
    each = after(fn, transform.FuseOps(0))
    assert kinds(each).count("Function") == 1 + sum(operators(fn).values())


def test_fusion_has_a_depth():
    x = var("x")
    y = x
    for _ in range(6):
        y = relay.exp(y)
    fused = after(relay.Function([x], y), transform.FuseOps(), config={"relay.FuseOps.max_depth": 2})
    assert kinds(fused).count("Function") == 1 + 3


def test_concatenations_of_many_are_taken_apart():
    xs = [var(f"x{i}", (1, 3)) for i in range(9)]
    fn = relay.Function(xs, relay.concatenate(xs, 1))
    made = after(fn, transform.SplitArgs(5))
    sizes = []
    relay.analysis.post_order_visit(made, lambda n: sizes.append(len(n.fields)) if isinstance(n, relay.Tuple) else None)
    assert max(sizes) == 4 and operators(made)["concatenate"] == len(sizes) == operators(made)["annotation.stop_fusion"]
    args = [data((1, 3)) for _ in xs]
    np.testing.assert_array_equal(run(made, *args).numpy(), np.concatenate(args, 1))
    assert operators(after(fn, transform.SplitArgs(0))) == {"concatenate": 1}


# --- Gradients ---


GRADIENTS = {
    "products": (lambda x, y: relay.tanh(x * y) / (relay.exp(y) + relay.const(1.0, "float64")), [(2, 3), (3,)]),
    "dense": (lambda x, w: relay.sigmoid(relay.nn.dense(x, w)), [(2, 3), (4, 3)]),
    "batch_matmul": (lambda a, b: relay.sin(relay.nn.batch_matmul(a, b, transpose_b=False)), [(2, 3, 4), (2, 4, 2)]),
    "conv2d": (lambda x, w: relay.tanh(relay.nn.conv2d(x, w, strides=(2, 2), padding=(1, 0, 2, 1), groups=2)), [(1, 4, 6, 7), (6, 2, 3, 3)]),
    "pools": (lambda x: relay.nn.max_pool2d(x, (2, 2), (2, 2)) * relay.nn.avg_pool2d(x, (3, 3), (2, 2), padding=(1, 1)), [(1, 2, 4, 4)]),
    "softmax": (lambda x: relay.nn.softmax(x) * relay.nn.log_softmax(x), [(3, 4)]),
    "reductions": (lambda x: relay.max(x, 1) * relay.mean(x, 1) + relay.sum(x, 0, exclude=True) + relay.variance(x, 1), [(3, 4)]),
    "views": (lambda x: relay.sin(relay.concatenate([relay.transpose(x), relay.reverse(relay.transpose(x), 0)], 1)), [(2, 3)]),
    "takes": (lambda x: relay.exp(relay.take(x, relay.const([[1, 0], [1, 1]]), 1)), [(2, 3)]),
    "split": (lambda x: relay.split(x, 3, 1)[0] * relay.split(x, 3, 1)[2], [(2, 6)]),
    "where": (lambda x, y: relay.where(relay.less(x, y), x * x, y), [(2, 3), (2, 3)]),
}


@pytest.mark.parametrize("mode", ["first_order", "higher_order"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_as_differences(name, mode):
    make, shapes = GRADIENTS[name]
    params = [var(f"x{i}", shape, "float64") for i, shape in enumerate(shapes)]
    fn = after(relay.Function(params, make(*params)), transform.InferType())
    inputs = [data(shape, "float64") for shape in shapes]
    relay.testing.check_grad(fn, inputs=inputs, eps=1e-5, rtol=1e-3, atol=1e-4, mode=mode)


def test_gradient_of_control_flow_and_references():
    x, c, r, u = var("x", (2,), "float64"), relay.var("c", shape=(), dtype="bool"), relay.var("r"), relay.var("u")
    body = relay.Let(r, relay.RefCreate(x), relay.Let(u, relay.RefWrite(r, relay.RefRead(r) * x), relay.If(c, relay.exp(relay.RefRead(r)), x)))
    fn = after(relay.Function([c, x], body), transform.InferType())
    backward = transform.gradient(fn)
    at = np.array([0.5, -1.0])
    for taken, expected in ((True, 2 * at * np.exp(at * at)), (False, np.ones(2))):
        _, (_, got) = run(backward, np.array(taken), at)
        np.testing.assert_allclose(got.numpy(), expected)


def test_gradients_that_users_say():
    x = var("x", (3,), "float64")
    fn = after(relay.Function([x], relay.erf(x)), transform.InferType())
    with relay.testing.TempOpAttr("erf", "FPrimalGradient", lambda call, g: [g * relay.const(5.0, "float64")]):
        _, (got,) = run(transform.gradient(fn, mode="first_order"), np.zeros(3))
    np.testing.assert_allclose(got.numpy(), 5)
    bare = after(relay.Function([x], relay.sort(x)), transform.InferType())
    with pytest.raises(ValueError, match="operator sort has no gradient"):
        transform.gradient(bare)


def test_zeros_of_gradients_go():
    x = var("x")
    fn = relay.Function([x], relay.zeros_like(x) + x * relay.ones_like(x))
    assert operators(after(fn, transform.LazyGradientInit())) == {}


# --- Partial evaluation, continuations ---


def test_what_is_known_is_computed():
    n, f, x = relay.var("n", shape=(), dtype="int32"), relay.var("f"), var("x")
    power = relay.Function([n, x], relay.If(relay.equal(n, relay.const(0)), relay.ones_like(x), x * f(n - relay.const(1), x)),
                           relay.TensorType((2, 3)))
    y = var("y")
    fn = relay.Function([y], relay.Let(f, power, f(relay.const(3), y)))
    made = after(fn, transform.PartialEvaluate(), transform.DeadCodeElimination(inline_once=True))
    assert operators(made) == {"multiply": 3, "ones_like": 1}


def test_recursion_without_end_stays():
    mod = tvm.IRModule()
    x = var("x")
    loop = relay.GlobalVar("loop")
    mod[loop] = relay.Function([x], loop(x * x), relay.TensorType((2, 3)))
    mod["main"] = relay.Function([x], loop(x))
    made = transform.PartialEvaluate()(mod)
    assert "loop" in made._names and "GlobalVar" in kinds(made["main"])


def test_gradients_lose_their_references():
    x = var("x")
    fn = after(relay.Function([x], relay.exp(x) * x), transform.InferType())
    made = after(transform.gradient(fn), transform.PartialEvaluate(), transform.DeadCodeElimination(True, True))
    assert not {"RefCreate", "RefRead", "RefWrite", "Function"} & set(kinds(made.body))


def test_continuations():
    x, y, c = var("x"), var("y"), relay.var("c", shape=(), dtype="bool")
    square = relay.Function([y], y * y)
    f = relay.var("f")
    fn = after(relay.Function([c, x], relay.Let(f, square, relay.If(c, f(f(x)), x) + x)), transform.InferType())
    given = after(transform.to_cps(fn), transform.InferType())
    assert isinstance(given.params[-1].checked_type, relay.FuncType) and len(given.params) == 3
    back = transform.un_cps(given)
    for taken in (True, False):
        args = np.array(taken), data()
        np.testing.assert_allclose(run(back, *args).numpy(), run(fn, *args).numpy(), rtol=1e-6)


def test_functions_that_are_passed_on_become_values():
    mod = tvm.relay.fromtext("""#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] { match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil } }
def @fold[A](%f: fn (A, A) -> A, %x: A, %l: List[A]) -> A { match (%l) { Cons(%h, %t) => @fold(%f, %f(%x, %h), %t), Nil => %x } }
def @compose[A, B, C](%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C { fn (%x: A) -> C { %f(%g(%x)) } }
def @id[A](%x: A) -> A { %x }
def @main(%x: float32, %y: float32) -> float32 {
  let %scale = fn (%v: float32) -> float32 { %v * %y };
  let %twice = @compose(%scale, @compose(@id, %scale));
  @fold(fn (%a: float32, %b: float32) -> float32 { %a + %b }, 0f, @map(%twice, Cons(%x, Cons(%y, Nil))))
}
""")
    expected = relay.create_executor("debug", mod).evaluate()(np.float32(3), np.float32(2))
    mod = transform.InferType()(mod)
    mod["main"] = transform.Defunctionalization(mod["main"], mod)
    mod = transform.InferType()(transform.RemoveUnusedFunctions()(mod))
    for name in mod._names:
        assert not [p for p in mod[name].params if isinstance(p.checked_type, relay.FuncType)], name
    got = relay.create_executor("debug", mod).evaluate()(np.float32(3), np.float32(2))
    assert float(got.numpy()) == float(expected.numpy()) == 20


# --- Precision, sizes ---


def test_mixed_precision():
    x, w = var("x", (2, 4)), var("w", (3, 4))
    fn = relay.Function([x, w], relay.nn.softmax(relay.nn.relu(relay.nn.dense(x, w))))
    made = after(fn, transform.ToMixedPrecision("float16"))
    dtypes = {}
    relay.analysis.post_order_visit(made, lambda n: dtypes.update({n.op.name: n.checked_type.dtype})
                                    if isinstance(n, relay.Call) and n.op.name != "cast" else None)
    assert dtypes == {"nn.dense": "float16", "nn.relu": "float16", "nn.softmax": "float32"}
    args = data((2, 4)), data((3, 4))
    np.testing.assert_allclose(run(made, *args).numpy(), run(fn, *args).numpy(), rtol=1e-2, atol=1e-2)
    kept = after(relay.Function([x, w], relay.nn.dense(x, w)), transform.ToMixedPrecision("float16"),
                 config={"relay.ToMixedPrecision.keep_orig_output_dtype": True})
    assert kept.checked_type.ret_type.dtype == "float32"


def test_what_is_said_of_an_operator_counts():
    x = var("x")
    fn = relay.Function([x], relay.nn.relu(x))
    with relay.testing.TempOpAttr("nn.relu", "FTVMMixedPrecisionConversionType", lambda call, dtype: [2, dtype, dtype]):
        assert operators(after(fn, transform.ToMixedPrecision())) == {"nn.relu": 1}
    with pytest.raises(ValueError, match="nothing is said of sort"):
        after(relay.Function([x], relay.sort(x)), transform.ToMixedPrecision(missing_op_mode=0))


def test_recast():
    x, w = var("x", (1, 4, 5, 5)), var("w", (4, 4, 3, 3))
    fn = relay.Function([x, w], relay.nn.conv2d(relay.nn.conv2d(x, w, padding=(1, 1)), w))
    made = transform.recast(fn, "int8", "int32", skip_layers=[-1])
    outputs = []
    relay.analysis.post_order_visit(made, lambda n: outputs.append(n.attrs.out_dtype)
                                    if isinstance(n, relay.Call) and n.op.name == "nn.conv2d" else None)
    assert outputs == ["int32", ""]


def test_sizes_that_can_be_computed():
    x, y = var("x", (2, 6)), var("y", (3, 4))
    sizes = relay.shape_of(y) * relay.const([1, 1])
    zeros = relay.zeros(relay.shape_of(relay.concatenate([y, y], 0)), "float32")
    fn = relay.Function([x, y], relay.tile(relay.reshape(x, sizes), relay.const([2, 1])) + zeros)
    made = after(fn, transform.DynamicToStatic())
    assert operators(made) == {"reshape": 1, "tile": 1, "add": 1, "zeros": 1}
    args = data((2, 6)), data((3, 4))
    np.testing.assert_allclose(run(made, *args).numpy(), np.tile(args[0].reshape(3, 4), (2, 1)))


# --- Passes and contexts ---


class Events(tvm.ir.instrument.PassInstrument):
    def __init__(self, left_out=""):
        self.events, self.left_out = [], left_out

    def enter_pass_ctx(self):
        self.events.append("enter")

    def exit_pass_ctx(self):
        self.events.append("exit")

    def should_run(self, mod, info):
        return info.name != self.left_out

    def run_before_pass(self, mod, info):
        self.events.append("before " + info.name)

    def run_after_pass(self, mod, info):
        self.events.append("after " + info.name)


def test_instruments_see_passes():
    x = var("x")
    events = Events(left_out="FoldConstant")
    after(relay.Function([x], x), transform.InferType(), transform.FoldConstant(), instruments=[events])
    assert events.events == ["enter", "before InferType", "after InferType", "exit"]


def test_instruments_see_compilations():
    x = var("x")
    events = Events()
    with tvm.transform.PassContext(instruments=[events]):
        relay.build(tvm.IRModule.from_expr(relay.exp(x)), "llvm")
        assert events.events.count("before FuseOps") == 1
        assert len([e for e in events.events if e.startswith("before")]) == len([e for e in events.events if e.startswith("after")])


def test_what_an_instrument_raises_ends_the_others():
    class Broken(Events):
        def enter_pass_ctx(self):
            raise RuntimeError("no")

    first, third = Events(), Events()
    with pytest.raises(RuntimeError, match="no"):
        with tvm.transform.PassContext(instruments=[first, Broken(), third]):
            pass
    assert first.events == ["enter", "exit"] and third.events == [] and not tvm.transform.PassContext.current().instruments


def test_times_of_passes():
    times = tvm.ir.instrument.PassTimingInstrument()
    x = var("x")
    with tvm.transform.PassContext(instruments=[times]):
        tvm.transform.Sequential([transform.InferType(), transform.FoldConstant()])(tvm.IRModule.from_expr(x * x))
        lines = times.render().splitlines()
    assert [line.split(":")[0] for line in lines] == ["sequential", "  InferType", "  FoldConstant"] and times.render() == ""


def test_passes_tell_what_they_are():
    @tvm.transform.module_pass(opt_level=2, required=["InferType"])
    def mine(mod, ctx):
        return mod

    assert isinstance(mine, tvm.transform.ModulePass) and (mine.info.name, mine.info.opt_level, mine.info.required) == ("mine", 2, ["InferType"])
    assert transform.FoldConstant().info.name == "FoldConstant" and transform.EliminateCommonSubexpr().info.opt_level == 3
    x = var("x")
    mod = tvm.IRModule.from_expr(relay.exp(relay.const(1.0)) + x)
    with tvm.transform.PassContext(opt_level=1):
        assert operators(tvm.transform.Sequential([transform.FoldConstant()])(mod)["main"]) == {"exp": 1, "add": 1}
    with tvm.transform.PassContext(opt_level=1, required_pass=["FoldConstant"]):
        assert operators(tvm.transform.Sequential([transform.FoldConstant()])(mod)["main"]) == {"add": 1}
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["FoldConstant"]):
        assert operators(tvm.transform.Sequential([transform.FoldConstant()])(mod)["main"]) == {"exp": 1, "add": 1}


def test_a_module_pass_gets_the_module_as_it_is():
    x = var("x")
    mod = tvm.IRModule.from_expr(x)
    assert tvm.transform.module_pass(lambda m, ctx: m, name="same")(mod).same_as(mod)


def test_contexts_refuse_what_they_do_not_know():
    with pytest.raises(AttributeError, match="there are no settings no.such"):
        tvm.transform.PassContext(config={"no.such": 1})
    with pytest.raises(AttributeError, match="max_depth is a number or a bool, found 'many'"):
        tvm.transform.PassContext(config={"relay.FuseOps.max_depth": "many"})
    with tvm.transform.PassContext(opt_level=1, config={"relay.FuseOps.max_depth": 10}) as context:
        assert dict(context.config) == {"relay.FuseOps.max_depth": 10} and tvm.transform.PassContext.current() is context


def test_what_passes_require():
    required = {p.info.name: (p.info.opt_level, p.info.required) for p in (
        transform.FastMath(), transform.ConvertLayout({}), transform.DivToMul(), transform.FakeQuantizationToInteger(), transform.Legalize(),
        transform.DynamicToStatic(), transform.FoldConstant())}
    assert required == {"FastMath": (4, ["InferType"]), "ConvertLayout": (3, ["InferType", "CanonicalizeOps"]),
                        "DivToMul": (0, ["InferType", "FoldConstant"]), "FakeQuantizationToInteger": (0, ["InferType", "DivToMul"]),
                        "Legalize": (1, ["InferType"]), "DynamicToStatic": (2, []), "FoldConstant": (2, [])}


def test_names_of_analyses():
    from relayvm.tvm.relay.analysis import call_graph, feature, sparse_conv2d, sparse_dense
    x, w = var("x", (4, 8)), var("w", (8, 6))
    assert relay.analysis.search_fc_transpose(relay.nn.dense(x, relay.transpose(w, [1, 0]))) == ["w"]
    assert call_graph.CallGraph is relay.analysis.CallGraph and feature.Feature is relay.analysis.Feature
    params = {"w": np.zeros((16, 16), "float32")}
    found = sparse_dense.process_params(relay.nn.dense(x, w), params, (4, 4), 0.5)
    assert found.weight_name == ["w"] and sorted(params) == ["w.data", "w.indices", "w.indptr"]
    assert sparse_conv2d.process_params(relay.nn.dense(x, w), {}, (4, 4), 0.5, "NHWC", 1).weight_name == []


def test_parameters_of_kernels_stand_as_they_are_read():
    x, y = var("x"), var("y")
    fused = transform.FuseOps(2)(tvm.IRModule.from_expr(relay.Function([x, y], x + relay.exp(y))))["main"].body
    assert [a.name_hint for a in fused.args] == ["y", "x"]  # what an operand inside reads comes first
    once = relay.Tuple([relay.nn.dense(x, relay.var(f"w{i}", shape=(4, 3))) for i in range(3)])
    assert len(relay.analysis.extract_fused_functions(tvm.IRModule.from_expr(once))) == 1


def test_fold_scale_axis_computes_constants_as_fold_constant_does():
    x = var("x")
    body = relay.TupleGetItem(relay.Tuple([relay.exp(x), x]), 0) * relay.ones((2, 3), "float32")
    folded = transform.FoldScaleAxis()(transform.InferType()(tvm.IRModule.from_expr(body)))
    assert "Tuple" not in kinds(folded["main"]) and operators(folded) == {"exp": 1, "ones": 1, "multiply": 1}


def test_calls_of_functions_of_inner_lets_are_known():
    x, y, f, v = var("x"), var("y"), relay.var("f"), relay.var("v")
    inner = relay.Let(f, relay.Function([y], relay.exp(y)), relay.Call(f, [x]) + x)
    assert kinds(after(relay.Function([x], relay.Let(v, inner, x * x)), transform.InferType(), transform.DeadCodeElimination())).count("Let") == 0


def test_type_variables_of_constructors():
    mod = tvm.relay.fromtext("""#[version = "0.0.5"]
type Opt[A] { Some(A), None }
def @main(%x: int32) -> Opt[int32] { Some(%x) }
""")
    for names in (relay.analysis.all_type_vars, relay.analysis.bound_type_vars):
        assert [v.name_hint for v in names(transform.InferType()(mod)["main"], mod)] == ["A"]
    assert relay.analysis.free_type_vars(mod["main"], mod) == []
