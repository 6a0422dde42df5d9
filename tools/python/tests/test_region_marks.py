"""Marks of regions in TVM's forms: where AnnotateTarget puts them, what MergeCompilerRegions leaves, what PartitionGraph makes of them."""
import json
import warnings

import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import relayvm as rvm
import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay import transform
from relayvm.tvm.relay.dataflow_pattern import is_constant, is_op, wildcard

BEGIN, END = relay.op.get("annotation.compiler_begin"), relay.op.get("annotation.compiler_end")


def begin(x, engine="marks"):
    return relay.Call(BEGIN, [x], {"compiler": engine})


def end(x, engine="marks"):
    return relay.Call(END, [x], {"compiler": engine})


def default(x):
    return begin(x, "default")


def var(name, *shape):
    return relay.var(name, shape=shape or (4, 4))


@pytest.fixture(autouse=True)
def engines():
    for name in ("nn.relu", "add", "abs", "split", "concatenate"):
        tvm.ir.register_op_attr(name, "target.marks", lambda call: True)
    tvm.ir.register_op_attr("tanh", "target.others", lambda call: True)
    tvm.ir.register_op_attr("add", "target.others", lambda call: True)
    yield
    for op in ("nn.relu", "add", "abs", "split", "concatenate"):
        relay.op.get(op).reset_attr("target.marks")
    for op in ("tanh", "add"):
        relay.op.get(op).reset_attr("target.others")


def module(body):
    return transform.InferType()(tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body)))


def check(made, expected):
    expected = expected if isinstance(expected, tvm.IRModule) else module(expected)
    tvm.ir.assert_structural_equal(made, expected, map_free_vars=True)


def functions_of(mod):
    return {getattr(v, "name_hint", v): mod[v] for v in mod.functions if getattr(v, "name_hint", v) != "main"}


def same(mod, like, *inputs):
    """A program with regions that no engine runs gives what the one without does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = rvm.compile(mod)(*inputs)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (result, rvm.compile(like)(*inputs)))):
        np.testing.assert_allclose(a, b, rtol=1e-6)


# --- AnnotateTarget ---


@pytest.mark.parametrize("with_others", [True, False])
def test_each_use_has_marks(with_others):
    x, y = var("x"), var("y")
    r = relay.nn.relu(x)
    made = transform.AnnotateTarget("marks", with_others)(module(relay.exp(r) + r))
    r = relay.nn.relu(begin(x))
    check(made, end(begin(end(relay.exp(default(end(r))), "default")) + begin(end(r))))
    assert made["main"].body.args[0].checked_type == relay.TensorType((4, 4))  # known to passes of Python
    check(transform.AnnotateTarget("marks", with_others)(made), made)
    check(transform.AnnotateTarget("nobodys")(module(x + y)), end(default(x) + default(y), "default"))


def test_other_nodes_belong_to_what_they_are_made_of():
    x = var("x")
    made = transform.AnnotateTarget("marks")(module(relay.exp(relay.split(x, 2)[0])))
    get = relay.TupleGetItem(begin(end(relay.Call("split", [begin(x)], {"indices_or_sections": 2}))), 0)
    check(made, end(relay.exp(default(end(get))), "default"))
    made = transform.AnnotateTarget("marks", include_non_call_ops=False)(module(relay.exp(relay.split(x, 2)[0])))
    get = relay.TupleGetItem(end(relay.Call("split", [begin(x)], {"indices_or_sections": 2})), 0)
    check(made, end(relay.exp(default(get)), "default"))
    made = transform.AnnotateTarget("marks")(module(relay.Tuple([relay.abs(x), relay.exp(x)])))
    check(made, end(relay.Tuple([default(end(relay.abs(begin(x)))), default(end(relay.exp(default(x)), "default"))]), "default"))


def test_branches_end_their_regions():
    x, c = var("x"), relay.var("c", shape=(), dtype="bool")
    made = transform.AnnotateTarget("marks")(module(relay.If(c, relay.abs(x), relay.exp(x))))
    check(made, relay.If(c, end(relay.abs(begin(x))), end(relay.exp(default(x)), "default")))


def test_the_first_of_several_engines():
    x = var("x")
    expr = relay.tanh(x) + relay.abs(x)
    made = transform.AnnotateTarget(["others", "marks"])(module(expr))
    check(made, end(begin(end(relay.tanh(begin(x, "others")), "others"), "others") + begin(end(relay.abs(begin(x))), "others"), "others"))
    twice = transform.AnnotateTarget("marks")(transform.AnnotateTarget("others")(module(expr)))
    assert {e for e in ("others", "marks", "default") if f'"{e}"' in str(twice)} == {"others", "marks"}


# --- MergeCompilerRegions ---


def marked(merged, other=None):
    return transform.MergeCompilerRegions()(module(merged))


def test_neighbours_of_one_engine_are_joined():
    x = var("x")
    made = marked(end(relay.abs(begin(end(relay.nn.relu(begin(x)))))))
    check(made, end(relay.abs(relay.nn.relu(begin(x)))))
    made = marked(end(relay.abs(begin(end(relay.nn.relu(begin(x, "others")), "others")))))
    check(made, end(relay.abs(begin(end(relay.nn.relu(begin(x, "others")), "others")))))


def test_a_way_through_another_engine_keeps_regions_apart():
    x = var("x")
    first = relay.nn.relu(begin(x))
    through = end(relay.tanh(begin(end(first), "others")), "others")
    body = end(begin(through) + begin(end(first)))
    check(marked(body), body)
    beside = end(begin(end(relay.tanh(begin(x, "others")), "others")) + begin(end(first)))
    check(marked(beside), end(begin(end(relay.tanh(begin(x, "others")), "others")) + first))


def test_regions_by_their_nodes():
    x, y = var("x"), var("y")
    b1, b2 = begin(x), begin(y)
    inner = b1 + b2
    last = end(relay.abs(inner))
    regions = relay.analysis.AnnotatedRegionSet(relay.Function([x, y], relay.exp(last)), BEGIN, END)
    region = regions.get_region(inner)
    assert len(regions) == 1 and region is regions.get_region(last) and regions.get_region(x) is None
    assert (region.args, region.rets, region.target, region.id) == ([b1, b2], [last], "marks", 0)
    assert set(region.nodes) == {b1, b2, inner, last.args[0], last}
    with pytest.raises(ValueError, match="no region begins for this compiler_end"):
        relay.analysis.AnnotatedRegionSet(end(relay.abs(x)), BEGIN, END)
    with pytest.raises(ValueError, match="expected the end of a region of marks, found one of others"):
        relay.analysis.AnnotatedRegionSet(end(relay.abs(begin(x)), "others"), BEGIN, END)


# --- PartitionGraph ---


def test_functions_of_regions():
    x, y = var("x"), var("y")
    mod = module(relay.exp(end(begin(x) + begin(x)) * y))
    made = transform.PartitionGraph()(mod)
    (name, fn), = functions_of(made).items()
    assert name == "tvmgen_default_marks_main_0" and dict(fn.attrs) == {"Compiler": "marks", "Inline": 1, "Primitive": 1, "global_symbol": name}
    assert [p.name_hint for p in fn.params] == ["marks_0_i0"] and fn.body.args[0] is fn.body.args[1]
    assert list(functions_of(transform.PartitionGraph("net")(mod))) == ["tvmgen_net_marks_main_0"]
    assert list(functions_of(transform.PartitionGraph(None)(mod))) == ["tvmgen_marks_main_0"]
    odd = transform.PartitionGraph()(module(end(relay.abs(begin(x, "a-b+"), ), "a-b+")))
    assert list(functions_of(odd)) == ["tvmgen_default_a_b__main_0"]
    same(made, module(relay.exp((x + x) * y)), *np.ones((2, 4, 4), "float32"))


def test_several_results():
    x = var("x")
    r = relay.nn.relu(begin(x))
    a = relay.abs(r)
    mod = module(relay.Tuple([relay.exp(end(a)), relay.tanh(end(r)), relay.tanh(end(a))]))
    made = transform.PartitionGraph()(mod)
    (name, fn), = functions_of(made).items()
    assert isinstance(fn.body, relay.Tuple) and [f.op.name for f in fn.body.fields] == ["abs", "nn.relu"]
    calls = {e.tuple_value: None for field in made["main"].body.fields for e in field.args}
    assert len(calls) == 1 and [field.args[0].index for field in made["main"].body.fields] == [0, 1, 0]
    plain = relay.nn.relu(x)
    same(made, module(relay.Tuple([relay.exp(relay.abs(plain)), relay.tanh(plain), relay.tanh(relay.abs(plain))])), np.ones((4, 4), "float32"))


def test_tuples_are_taken_and_given_by_field():
    x, y = var("x"), var("y")
    b = begin(x)
    given = transform.PartitionGraph()(module(relay.exp(relay.TupleGetItem(end(relay.Tuple([b + begin(y), relay.abs(b)])), 0))))
    assert len(functions_of(given)) == 1
    taken = transform.PartitionGraph()(module(end(relay.concatenate(begin(relay.Tuple([x, relay.exp(y)])), 0))))
    fn, = functions_of(taken).values()
    assert len(fn.params) == 2 and isinstance(fn.body.args[0], relay.Tuple)
    same(taken, module(relay.concatenate([x, relay.exp(y)], 0)), *np.ones((2, 4, 4), "float32"))


def test_constants_inside_or_as_arguments():
    x, one = var("x"), relay.const(np.ones((4, 4), "float32"))
    mod = module(end(begin(x) + begin(one)))
    inside, outside = (transform.PartitionGraph(bind_constants=bound)(mod) for bound in (True, False))
    (bound,), (free,) = functions_of(inside).values(), functions_of(outside).values()
    assert len(bound.params) == 1 and isinstance(bound.body.args[1], relay.Constant) and len(free.params) == 2
    assert isinstance(outside["main"].body.args[1], relay.Constant)


def test_weights_inside_of_composites_are_their_arguments():
    weight = relay.const(np.arange(16, dtype="float32").reshape(4, 4))
    pattern = is_op("add")(is_op("nn.dense")(wildcard(), is_constant()), is_constant())
    mod = module(relay.nn.dense(var("x"), weight) + relay.const(2.0))
    made = transform.MergeComposite([("mine.dense_add", pattern)])(mod)
    assert len(made["main"].body.args) == 1  # as the pattern says
    made = transform.PartitionGraph()(transform.AnnotateTarget("mine")(made))
    (name, fn), = functions_of(made).items()
    assert len(fn.params) == 1 and isinstance(fn.body.args[1], relay.Constant) and isinstance(fn.body.op.body.args[1], relay.Constant)
    nodes = json.loads(rvm.region_jsons(made)[name])["nodes"]
    assert [(node["op"], node["name"]) for node in nodes][-1] == ("kernel", "mine.dense_add") and "const" in [node["op"] for node in nodes]
    same(made, mod, np.ones((4, 4), "float32"))


def test_functions_of_users_see_regions():
    seen = []

    @tvm.register_func("relay.ext.marks.optimize", override=True)
    def optimize(mod):
        seen.append(mod["main"])
        return transform.FoldConstant()(mod)

    one = relay.const(np.ones((4, 4), "float32"))
    made = transform.PartitionGraph()(module(relay.exp(end(begin(one) + begin(one))) * var("x")))
    tvm.functions.remove_global_func("relay.ext.marks.optimize")
    fn, = functions_of(made).values()
    assert len(seen) == 1 and isinstance(fn.body, relay.Constant) and fn.body.data[0, 0] == 2 and dict(fn.attrs)["Compiler"] == "marks"


def test_all_passes_in_a_row():
    x = var("x", "n", 4)
    body = relay.exp(relay.nn.relu(relay.abs(x) + x)) + relay.abs(relay.tanh(x))
    mod = module(body)
    made = tvm.transform.Sequential([transform.AnnotateTarget("marks"), transform.MergeCompilerRegions(), transform.PartitionGraph()])(mod)
    assert "default" not in "".join(str(made[v]) for v in made.functions).replace("tvmgen_default", "")
    assert len(functions_of(made)) == 2
    same(made, mod, np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4))
