"""Regions for other engines, as TVM's users cut them: tests of the passes, of the JSON, and of programs with regions."""
import json
import warnings

import numpy as np
import pytest

import relayvm as rvm
import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay import transform
from relayvm.tvm.relay.dataflow_pattern import (has_attr, has_dtype, has_shape, is_constant, is_expr, is_op, is_tuple, is_tuple_get_item,
                                                is_var, wildcard)

rng = np.random.default_rng(0)
WEIGHT = rng.standard_normal((4, 4, 3, 3)).astype("float32")
BIAS = rng.standard_normal(4).astype("float32")
X = rng.standard_normal((2, 4, 8, 8)).astype("float32")
REGION = "tvmgen_default_dnnl_main_0"


def conv(x, weight=None):
    return relay.nn.conv2d(x, relay.const(WEIGHT) if weight is None else weight, padding=(1, 1), channels=4, kernel_size=(3, 3))


def chain(n="n", times=2):
    """conv, bias, relu, again and again, with what no engine has between."""
    x = relay.var("x", shape=(n, 4, 8, 8))
    y = x
    for i in range(times):
        y = relay.nn.relu(relay.nn.bias_add(conv(y), relay.const(BIAS)))
        y = relay.erf(y) if i + 1 < times else y
    return tvm.IRModule.from_expr(relay.Function([x], y))


def attrs_of(mod):
    return {name: dict(f.attrs) for name, f in ((getattr(v, "name_hint", v), mod[v]) for v in mod.functions) if name != "main"}


def check_same(mod, like, *inputs):
    """A program with regions gives what the one without does, on whatever engine there is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where the engine is not here
        result = rvm.compile(mod)(*inputs)
    np.testing.assert_allclose(result, rvm.compile(like)(*inputs), rtol=1e-4, atol=1e-4)


# --- TVM's tutorial ---

TUTORIAL = """
import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor

data = relay.var("data", relay.TensorType((1, 4, 8, 8), "float32"))
weight = relay.var("weight", relay.TensorType((4, 4, 3, 3), "float32"))
out = relay.nn.relu(relay.nn.conv2d(data, weight, padding=(1, 1), kernel_size=(3, 3), channels=4))
mod = tvm.IRModule()
mod["main"] = relay.Function([data, weight], out)

mod = relay.transform.AnnotateTarget(["dnnl"])(mod)
mod = relay.transform.MergeCompilerRegions()(mod)
mod = relay.transform.PartitionGraph()(mod)
graph_json, lib, params = relay.build(mod, target='llvm')
print('Graph json:', graph_json)

rt_mod = graph_executor.create(graph_json, lib, tvm.cpu())
rt_mod.set_input("data", i_data)
rt_mod.set_input("weight", w_data)
rt_mod.set_input(**params)
rt_mod.run()
result = rt_mod.get_output(0).numpy()
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_tutorial(capsys):
    text = TUTORIAL.replace("import tvm\n", "import relayvm.tvm as tvm\n").replace("from tvm", "from relayvm.tvm")
    scope = {"i_data": X[:1], "w_data": WEIGHT}
    exec(text, scope)
    printed = capsys.readouterr().out
    assert printed.startswith("Graph json: {")
    graph = json.loads(printed.removeprefix("Graph json:"))
    assert [node["name"] for node in graph["nodes"]] == ["dnnl_0_i0", "dnnl_0_i1", "nn.conv2d", "nn.relu"]
    assert graph["arg_nodes"] == [0, 1] and graph["heads"] == [[3, 0, 0]] and graph["node_row_ptr"] == [0, 1, 2, 3, 4]
    assert graph["nodes"][2]["attrs"]["padding"] == [["1", "1", "1", "1"]]
    y = rvm.compile(rvm.parse(PLAIN))(X[:1], WEIGHT)
    np.testing.assert_allclose(scope["result"], y, rtol=1e-4, atol=1e-5)


PLAIN = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]))
}
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_build_gives():
    lib = relay.build(relay.op.contrib.dnnl.partition_for_dnnl(chain(n=1)), target="llvm")
    modules = lib.get_lib().imported_modules
    assert [(m.symbol, m.compiler, m.type_key) for m in modules] == \
        [(f"tvmgen_default_dnnl_main_{i}", "dnnl", "dnnl_json") for i in range(2)]
    assert set(json.loads(lib.get_graph_json())) == {m.symbol for m in modules}
    assert json.loads(modules[0].get_source())["nodes"][-1]["name"] == "dnnl.conv2d_bias_relu"
    plain = json.loads(relay.build(chain(n=1), target="llvm").get_graph_json())
    assert {"nodes", "arg_nodes", "heads", "node_row_ptr", "attrs"} <= set(plain)


# --- The compiler's own engine ---


def test_partition_for_dnnl():
    mod = chain()
    after = relay.op.contrib.dnnl.partition_for_dnnl(mod)
    assert attrs_of(after) == {f"tvmgen_default_dnnl_main_{i}": {
        "Compiler": "dnnl", "global_symbol": f"tvmgen_default_dnnl_main_{i}", "Inline": 1, "Primitive": 1} for i in range(2)}
    jsons = rvm.region_jsons(after)
    assert list(jsons) == list(attrs_of(after))
    one = json.loads(jsons[REGION])
    assert one["symbols"] == ["n0"] and one["nodes"][-1]["attrs"]["post_ops"] == [["bias input=2", "relu"]]
    exe = rvm.compile(after)
    assert list(exe.regions) == list(jsons)
    assert rvm.compile(mod).regions == {} == rvm.compile(after, byoc_regions=()).regions
    for n in (1, 2):
        check_same(after, mod, X[:n])


def test_light_regions_are_put_back():
    x = relay.var("x", shape=(2, 3))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.nn.softmax(relay.nn.relu(x))))
    assert rvm.region_jsons(relay.op.contrib.dnnl.partition_for_dnnl(mod)) == {}
    assert len(rvm.region_jsons(relay.op.contrib.dnnl.partition_for_dnnl(mod, prune_subgraphs=False))) == 1


def test_parameters_become_constants():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 3, 3))
    after = relay.op.contrib.dnnl.partition_for_dnnl(tvm.IRModule.from_expr(relay.Function([x, w], conv(x, w))), {"w": WEIGHT})
    assert [node["op"] for node in json.loads(rvm.region_jsons(after)[REGION])["nodes"]] == ["input", "const", "kernel"]
    assert [p.name_hint for p in after["main"].params] == ["x"]


@pytest.mark.parametrize("table", [None, "dnnl", ["dnnl"], relay.op.contrib.get_pattern_table("dnnl")])
def test_the_compilers_rules_merge(table):
    merged = transform.MergeComposite(table)(chain(times=1))
    assert composites_of(merged) == ["dnnl.conv2d_bias_relu"]


def test_byoc_of_compile():
    exe = rvm.compile(chain(), byoc="dnnl")
    assert list(exe.regions) == ["tvmgen_default_dnnl_main_0", "tvmgen_default_dnnl_main_1"]
    check_same(transform.PartitionGraph()(transform.AnnotateTarget("dnnl")(chain())), chain(), X)


def test_rows_of_the_table_are_patterns():
    table = relay.op.contrib.dnnl.pattern_table()
    names = [name for name, *_ in table]
    assert len(names) == len(set(names)) == 94 and "dnnl.conv2d_bias_sum_relu" in names and "dnnl.dense_mish" in names
    by_name = dict(table)
    main = chain(times=1)["main"].body
    assert by_name["dnnl.conv2d_bias_relu"].match(main) and not by_name["dnnl.conv2d_relu"].match(main)
    some = [row for row in table if row[0] in ("dnnl.conv2d_bias_relu", "dnnl.conv2d_bias")]
    merged = transform.MergeComposite(some)(chain(times=1))
    assert composites_of(merged) == ["dnnl.conv2d_bias_relu"]
    after = transform.PartitionGraph()(transform.AnnotateTarget("dnnl")(merged))
    node = json.loads(rvm.region_jsons(after)[REGION])["nodes"][-1]
    assert node["name"] == "dnnl.conv2d_bias_relu" and node["attrs"]["post_ops"] == [["bias input=2", "relu"]]
    check_same(after, chain(times=1), X)


def test_a_composite_that_the_engine_does_not_know():
    x = relay.var("x", shape=(2, 3))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.erf(relay.sin(x))))
    table = [("dnnl.erf_sin", is_op("erf")(is_op("sin")(wildcard())))]
    after = transform.PartitionGraph()(transform.AnnotateTarget("dnnl")(transform.MergeComposite(table)(mod)))
    with pytest.raises(rvm.Unsupported, match="dnnl.erf_sin"):
        rvm.region_jsons(after)


# --- Engines of users ---


def composites_of(mod):
    found = []
    rvm.post_order_visit(mod, lambda node: found.append(node.attrs["Composite"])
                         if isinstance(node, relay.Function) and "Composite" in node.attrs else None)
    return found


def operators_of(function):
    names = []
    rvm.post_order_visit(function, lambda node: names.append(node.op.name)
                         if isinstance(node, relay.Call) and isinstance(node.op, relay.Op) else None)
    return names


def test_predicates_say_what_an_engine_runs():
    asked = []

    @tvm.ir.register_op_attr("nn.relu", "target.floats")
    def relu(call):
        asked.append(call)
        return call.args[0].checked_type.dtype == "float32"

    tvm.ir.register_op_attr("erf", "target.floats", lambda attrs, args: True)
    x = relay.var("x", shape=("n", 3))
    i = relay.var("i", shape=("n", 3), dtype="int32")
    mod = tvm.IRModule.from_expr(relay.Function([x, i], relay.tanh(relay.erf(relay.nn.relu(x))) + relay.nn.relu(i).astype("float32")))
    after = transform.AnnotateTarget("floats")(mod)
    ends = []
    rvm.post_order_visit(after["main"], lambda node: ends.append(node.attrs.compiler) if repr(node).startswith("annotation.compiler_end(") else None)
    assert ends == ["floats"] * 2 + ["default"] * 4 and len(asked) == 2
    after = transform.PartitionGraph()(transform.MergeCompilerRegions()(after))
    assert attrs_of(after)["tvmgen_default_floats_main_0"]["Compiler"] == "floats"
    assert operators_of(after["tvmgen_default_floats_main_0"]) == ["nn.relu", "erf"]
    assert operators_of(after["main"]) == ["tanh", "nn.relu", "cast", "add"]
    names = [node["name"] for node in json.loads(rvm.region_jsons(after)["tvmgen_default_floats_main_0"])["nodes"]]
    assert names == ["floats_0_i0", "nn.relu", "erf"]
    assert list(rvm.compile(after).regions) == ["tvmgen_default_floats_main_0"]
    check_same(after, mod, X[0, 0, :2, :3], np.ones((2, 3), "int32"))


def test_predicates_by_level_and_name():
    tvm.ir.register_op_attr("nn.relu", "target.levels", lambda call: True, level=11)
    tvm.ir.register_op_attr("nn.relu", "target.levels", lambda call: False)
    x = relay.var("x", shape=(2,))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
    assert "annotation.compiler_end" in operators_of(transform.AnnotateTarget(["levels"])(mod)["main"])
    with pytest.warns(UserWarning, match="there is no operator nn.rellu; did you mean nn.relu"):
        tvm.ir.register_op_attr("nn.rellu", "target.levels", lambda call: True)
    tvm.ir.register_op_attr("nn.relu", "TOpPattern", 0)  # which passes of Python may read
    assert relay.op.get("nn.relu").get_attr("TOpPattern") == 0 and relay.op.get("nn.relu").has_attr("target.levels")


def test_several_engines_and_several_runs():
    tvm.ir.register_op_attr("nn.relu", "target.A", lambda call: True)
    tvm.ir.register_op_attr("add", "target.B", lambda call: True)
    tvm.ir.register_op_attr("nn.relu", "target.B", lambda call: True)
    x = relay.var("x", shape=(10, 5))
    y = relay.nn.relu(x)
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.add(relay.tanh(y), relay.nn.relu(y))))
    once = transform.AnnotateTarget(["A", "B"])(mod)
    twice = transform.AnnotateTarget("B")(transform.AnnotateTarget("A")(mod))
    assert str(once) == str(twice)
    after = transform.PartitionGraph()(transform.MergeCompilerRegions()(once))
    assert sorted(a["Compiler"] for a in attrs_of(after).values()) == ["A", "B"]
    check_same(after, mod, X[0, 0, :5, :5].repeat(2, 0))
    mixed = transform.PartitionGraph()(transform.AnnotateTarget(["B", "dnnl"])(mod))  # tanh is oneDNN's
    assert sorted(a["Compiler"] for a in attrs_of(mixed).values()) == ["B", "B", "B", "dnnl"]


@pytest.mark.parametrize("with_tuples, inside", [(True, ["split", "concatenate"]), (False, ["split"])])
def test_tuples_belong_to_regions(with_tuples, inside):
    tvm.ir.register_op_attr("split", "target.tuples", lambda call: True)
    tvm.ir.register_op_attr("concatenate", "target.tuples", lambda call: True)
    x = relay.var("x", shape=(4, 6))
    parts = relay.split(x, 2, axis=1)
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.concatenate((parts[1], parts[0]), axis=1)))
    annotated = transform.AnnotateTarget("tuples", include_non_call_ops=with_tuples)(mod)
    after = transform.PartitionGraph()(transform.MergeCompilerRegions()(annotated))
    first = [v for v in after.functions if getattr(v, "name_hint", v) != "main"][0]
    assert operators_of(after[first]) == inside
    check_same(after, mod, np.arange(24, dtype="f4").reshape(4, 6))


def test_a_table_of_patterns():
    def conv_bias(with_relu):
        y = is_op("nn.bias_add")(is_op("nn.conv2d")(wildcard(), wildcard()), wildcard())
        return is_op("nn.relu")(y) if with_relu else y

    checked = []

    def check(extract):
        checked.append(extract.op.name)
        return extract.args[0].checked_type.dtype == "float32"

    table = [("mine.conv2d_bias_relu", conv_bias(True), check), ("mine.conv2d_bias", conv_bias(False))]
    mod = chain()
    merged = transform.MergeComposite(table)(mod)
    assert composites_of(merged) == ["mine.conv2d_bias_relu"] * 2 and checked == ["nn.relu"] * 2
    call = merged["main"].body
    assert dict(call.op.attrs) == {"Composite": "mine.conv2d_bias_relu", "PartitionedFromPattern": "nn.conv2d_nn.bias_add_nn.relu_"}
    assert [p.checked_type.shape[1:] for p in call.op.params] == [(4, 8, 8), (4, 3, 3), ()]
    np.testing.assert_array_equal(call.args[1].data, WEIGHT)
    after = transform.PartitionGraph()(transform.AnnotateTarget("mine")(merged))
    graph = json.loads(rvm.region_jsons(after)["tvmgen_default_mine_main_0"])
    assert [(node["op"], node["name"]) for node in graph["nodes"]][-1] == ("kernel", "mine.conv2d_bias_relu")
    assert list(rvm.compile(after).regions) == ["tvmgen_default_mine_main_0", "tvmgen_default_mine_main_3"]  # numbers count marks, as in TVM
    check_same(after, mod, X)
    assert composites_of(transform.MergeComposite([(*table[0][:2], lambda _: False), table[1]])(mod)) == ["mine.conv2d_bias"] * 2


def test_tables_are_registered():
    @relay.op.contrib.register_pattern_table("registered")
    def table():
        return [("registered.relu", is_op("nn.relu")(wildcard()))]

    assert [name for name, _ in relay.op.contrib.get_pattern_table("registered")] == ["registered.relu"]
    assert relay.op.contrib.get_pattern_table("unheard") is None
    merged = transform.MergeComposite(relay.op.contrib.get_pattern_table("registered"))(chain())
    assert composites_of(merged) == ["registered.relu"] * 2


def test_what_others_read_is_not_merged():
    x = relay.var("x", shape=(2, 2))
    y = relay.add(x, x)
    pattern = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
    table = [("a.add_relu", pattern)]
    both = tvm.IRModule.from_expr(relay.Function([x], relay.Tuple([relay.nn.relu(y), y])))
    assert composites_of(transform.MergeComposite(table)(both)) == []
    assert composites_of(transform.MergeComposite(table)(tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(y))))) == ["a.add_relu"]


def test_patterns_cross_lets():
    mod = rvm.parse("""#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32], %c: bool) { let %a = add(1f, %x); let %b = nn.relu(%a); if (%c) { %b } else { tanh(%b) } }
""")
    merged = transform.MergeComposite([("a.b", is_op("nn.relu")(is_op("add")(wildcard(), is_constant())))])(mod)
    assert composites_of(merged) == ["a.b"]
    for c in (True, False):
        x = X[0, 0, :4, :3]
        np.testing.assert_array_equal(rvm.compile(merged)(x, np.bool_(c)), rvm.compile(mod)(x, np.bool_(c)))


# --- PartitionGraph ---


def test_names_and_constants_of_regions():
    merged = transform.MergeComposite("dnnl")(chain(times=1))
    annotated = transform.MergeCompilerRegions()(transform.AnnotateTarget("dnnl")(merged))
    named = transform.PartitionGraph(mod_name="net")(annotated)
    assert attrs_of(named)["tvmgen_net_dnnl_main_0"]["global_symbol"] == "tvmgen_net_dnnl_main_0"
    open_ = transform.PartitionGraph(bind_constants=False)(annotated)
    assert len(open_[REGION].params) == 3 and len(transform.PartitionGraph()(annotated)[REGION].params) == 1
    for after in (named, open_):
        check_same(after, chain(times=1), X)


def test_modules_with_regions_are_text():
    after = transform.PartitionGraph()(transform.AnnotateTarget("dnnl")(chain(n=2, times=1)))
    again = rvm.parse(after.astext())
    assert rvm.region_jsons(again) == rvm.region_jsons(after) != {}


def test_functions_that_are_regions():
    x = relay.var("x", shape=("n", 3))
    region = relay.Function([x], relay.nn.relu(x), attrs={"Compiler": "mine", "global_symbol": "f"})
    y = relay.var("y", shape=("n", 3))
    mod = tvm.IRModule({"f": region, "main": relay.Function([y], relay.GlobalVar("f")(relay.GlobalVar("f")(y)))})
    assert list(rvm.region_jsons(mod)) == ["f"] == list(rvm.compile(mod).regions)
    check_same(mod, tvm.IRModule.from_expr(relay.Function([y], relay.nn.relu(y))), X[0, 0, :2, :3])


@pytest.mark.parametrize("kind", ["aot", "debug", "graph", "vm"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_executors_run_modules_with_regions(kind):
    mod = chain(n=2)
    after = relay.op.contrib.dnnl.partition_for_dnnl(mod)
    run = rvm.create_executor(kind, after).evaluate()
    result = run(X)
    np.testing.assert_allclose(result, rvm.compile(mod)(X), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_module_with_regions_and_more_for_the_same_engine():
    x, a = relay.var("x", shape=("n", 4, 8, 8)), relay.var("a", shape=("n", 4, 8, 8))
    region = relay.Function([a], conv(a, relay.const(WEIGHT * 2)), attrs={"Compiler": "dnnl", "global_symbol": REGION})
    mod = tvm.IRModule({REGION: region, "main": relay.Function([x], conv(relay.erf(relay.GlobalVar(REGION)(x))))})
    assert list(rvm.compile(mod).regions) == [REGION]
    exe = rvm.compile(mod, byoc="dnnl")
    assert list(exe.regions) == [REGION, "tvmgen_default_dnnl_main_1"]
    np.testing.assert_allclose(exe(X), rvm.compile(mod, byoc_regions=())(X), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_in_one_sequence_as_in_tvm():
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 3, 3))
    mod = tvm.IRModule()
    mod["main"] = relay.build_module.bind_params_by_name(relay.Function([x, w], relay.nn.relu(conv(x, w))), {"w": WEIGHT})
    mod["main"] = relay.build_module.bind_params_by_name(mod["main"], {})
    seq = tvm.transform.Sequential([transform.InferType(), transform.MergeComposite(relay.op.contrib.get_pattern_table("dnnl")),
                                    transform.AnnotateTarget("dnnl"), transform.MergeCompilerRegions(), transform.PartitionGraph()])
    with tvm.transform.PassContext(opt_level=3):
        after = seq(mod)
    assert [node["op"] for node in json.loads(rvm.region_jsons(after)[REGION])["nodes"]] == ["input", "const", "kernel"]
    for kind in ("debug", "graph", "vm"):
        y = relay.create_executor(kind, mod=after, device=tvm.cpu()).evaluate()(X[:1])
        np.testing.assert_allclose(y.numpy(), rvm.compile(mod)(X[:1]), rtol=1e-4, atol=1e-4)


# --- Patterns ---

A, B, S = relay.var("a", shape=(2, 3)), relay.var("b", shape=(2, 3)), relay.const(2.0)
PATTERNS = [
    (is_op("add")(is_var("a"), is_var("b")), A + B, True),
    (is_op("add")(is_var("b"), is_var("a")), A + B, True),  # in either order
    (is_op("subtract")(is_var("b"), is_var("a")), A - B, False),
    (is_op("add")(wildcard(), is_constant()), A + B, False),
    (is_op("multiply")(wildcard(), is_constant()), A * S, True),
    (is_op("multiply")(wildcard(), is_expr(relay.const(2.0))), A * S, True),
    (is_op("multiply")(wildcard(), is_expr(relay.const(3.0))), A * S, False),
    (is_op("nn.relu")(None), relay.nn.relu(A), True),
    (is_op("nn.relu")(wildcard()) | is_op("tanh")(wildcard()), relay.tanh(A), True),
    (is_op("tanh")(wildcard()).optional(lambda y: is_op("nn.relu")(y)), relay.nn.relu(relay.tanh(A)), True),
    (is_op("tanh")(wildcard()).optional(lambda y: is_op("nn.relu")(y)), relay.nn.relu(A), False),
    (is_op("nn.softmax")(wildcard()).has_attr({"axis": 1}), relay.nn.softmax(A, axis=1), True),
    (has_attr({"axis": 0}, is_op("nn.softmax")(wildcard())), relay.nn.softmax(A, axis=1), False),
    (is_op("transpose")(wildcard()).has_attr({"axes": [1, 0]}), relay.transpose(A, axes=(1, 0)), True),
    (is_tuple([is_var("a"), wildcard()]), relay.Tuple([A, B]), True),
    (is_tuple([wildcard()]), relay.Tuple([A, B]), False),
    (is_tuple_get_item(wildcard(), 1), relay.TupleGetItem(relay.Tuple([A, B]), 1), True),
    (is_tuple_get_item(wildcard(), 0), relay.TupleGetItem(relay.Tuple([A, B]), 1), False),
    (has_shape((2, None)), A, True),
    (has_shape((2, 4)), A, False),
    (wildcard().has_dtype("float32"), A, True),
    (has_dtype("int32"), A, False),
    (wildcard().has_type(relay.TensorType((2, 3))), A, True),
    (wildcard() * wildcard() - wildcard(), A * B - A, True),
]


@pytest.mark.parametrize("pattern, expr, is_match", PATTERNS)
def test_patterns(pattern, expr, is_match):
    assert pattern.match(expr) is is_match


def test_a_pattern_that_stands_twice_is_one_value():
    x = wildcard()
    swish = is_op("multiply")(x, is_op("sigmoid")(x))
    assert swish.match(A * relay.sigmoid(A)) and swish.match(relay.sigmoid(A) * A) and not swish.match(A * relay.sigmoid(B))


def test_partition_of_an_expression():
    body = is_op("nn.relu")(wildcard()).partition(chain(times=1)["main"].body, {"Composite": "a.relu", "more": "1"})
    assert dict(body.op.attrs) == {"Composite": "a.relu", "more": "1", "PartitionedFromPattern": "nn.relu_"}


def test_wrong_patterns():
    with pytest.raises(AttributeError, match="there is no operator nn.rellu; did you mean nn.relu"):
        is_op("nn.rellu")
    with pytest.raises(TypeError, match="expected a pattern .* found Call"):
        transform.MergeComposite([("a.b", relay.nn.relu(A))])(chain())


# --- oneDNN, where it is here ---


def test_regions_run_on_onednn():
    mod = chain()
    exe = rvm.compile(relay.op.contrib.dnnl.partition_for_dnnl(mod), byoc_only=True)
    with pytest.raises(rvm.Unsupported, match="dnnl"):
        exe.load(engines=())
    try:
        model = exe.load()
    except rvm.Unsupported as error:
        pytest.skip(str(error))
    for n in (2, 1):
        np.testing.assert_allclose(model(X[:n]), rvm.compile(mod)(X[:n]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["aot", "graph", "vm"])
def test_each_executor_runs_regions_on_onednn(kind):
    mod = chain(n=2)
    try:
        rvm.compile(mod, byoc="dnnl", byoc_only=True)(X)
    except rvm.Unsupported as error:
        pytest.skip(str(error))
    # No native form that could stand in for them.
    run = rvm.create_executor(kind, mod, byoc="dnnl", byoc_only=True).evaluate()
    np.testing.assert_allclose(run(X), rvm.compile(mod)(X), rtol=1e-4, atol=1e-4)
    beside = rvm.create_executor(kind, mod, byoc="dnnl").evaluate()
    np.testing.assert_array_equal(beside(X), run(X))
