"""What TVM's users do with programs as data: text, types, equality, analyses, standard definitions, networks, Python code."""
import math

import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay import testing
from relayvm.tvm.relay.prelude import Prelude, StaticTensorArrayOps

VERSION = '#[version = "0.0.5"]\n'
X, Y = relay.var("x", shape=(3, 2)), relay.var("y")
C = relay.var("c", "bool")


def assert_reads_back(expr):
    text = expr.astext()
    tvm.ir.assert_structural_equal(relay.parse_expr(text), expr, map_free_vars=True)
    return text


# --- Text ---


@pytest.mark.parametrize("value, dtype, text", [(42, "int16", "42i16"), (42, "int32", "42"), (42, "int64", "42i64"), (3.0, "float16", "3f16"),
                                                (0.1, "float32", "0.1f"), (3.0, "float64", "3f64"), (True, "bool", "True"), (-1, "int32", "-1"),
                                                (math.inf, "float32", "inff"), (1e11, "float32", "1e+11f"), (1 / 3, "float64", "0.3333333333333333f64")])
def test_numbers(value, dtype, text):
    assert assert_reads_back(relay.const(value, dtype)) == VERSION + text


def test_what_is_shared_has_a_line_of_its_own():
    z = relay.add(X, relay.const(1.0))
    assert assert_reads_back(relay.Function([X, Y], z + z)) == VERSION + \
        "fn (%x: Tensor[(3, 2), float32], %y) {\n  %0 = add(%x, 1f);\n  add(%0, %0)\n}"


def test_free_variables_are_declared():
    assert assert_reads_back(relay.If(C, X, Y)) == VERSION + """free_var %c: bool;
if (%c) {
  free_var %x: Tensor[(3, 2), float32];
  %x
} else {
  free_var %y;
  %y
}"""


def test_names_that_are_used_twice_or_are_numbers():
    one, other, number = relay.var("x"), relay.var("x"), relay.var("1")
    assert "fn (%x, %x1, %v1)" in assert_reads_back(relay.Function([one, other, number], relay.Tuple([one, other, number])))


def test_calls_of_functions_in_their_order():
    f, g = relay.Function([X], X), relay.Function([Y], Y)
    assert assert_reads_back(relay.Call(f, [relay.Call(g, [relay.const(1)])])).endswith(
        "%0 = fn (%y) {\n  %y\n};\n%1 = %0(1);\n%2 = fn (%x: Tensor[(3, 2), float32]) {\n  %x\n};\n%2(%1)")


def test_a_let_inside_of_an_expression_stays_there():
    bound = relay.Let(Y, X, Y)
    text = assert_reads_back(relay.add(bound, bound))
    assert text.endswith("%0 = (\n  let %y = %x;\n  %y\n);\nadd(%0, %0)")
    pair = relay.Tuple([relay.const(0), relay.const(0)])
    assert assert_reads_back(relay.Let(Y, pair, pair)) == VERSION + "%0 = (0, 0);\nlet %y = %0;\n%0"


def test_tensors_and_sizes_stand_in_the_metadata():
    n = relay.size_var("n")
    x = relay.var("x", shape=(n * 2 + 1, n), dtype="int8")
    f = relay.Function([x], relay.Tuple([x, relay.const(np.arange(6, dtype="int8").reshape(2, 3)), relay.const([1.5, 2.5])]))
    text = assert_reads_back(f)
    assert "meta[tir.Add][0], meta[tir.SizeVar][0]" in text and "meta[relay.Constant][1]" in text and "b64ndarrays" in text
    assert "b64ndarrays" not in str(f) and str(f) in text and "b64ndarrays" not in f.astext(show_meta_data=False)


def test_inferred_types_spans_and_comments():
    c = relay.const(1)
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(relay.add(c, c)))
    assert str(mod).count("/* ty=int32 */") == 3
    assert "add(1, 1) of int32" in mod.astext(annotate=lambda e: f" of {e.checked_type}" if isinstance(e, relay.Call) else "")
    call = relay.Call(relay.op.get("add"), [X, X], span=relay.Span(relay.SourceName("model"), 3, 3, 7, 9))
    assert "/* span=model:3:7 */" in str(call)


def test_attributes_that_are_not_defaults():
    assert "nn.softmax(%x)" in str(relay.nn.softmax(X)) and "nn.softmax(%x, axis=1)" in str(relay.nn.softmax(X, 1))
    assert "alpha=0.5f" in str(relay.nn.leaky_relu(X, 0.5)) and 'layout="NHWC"' in str(relay.nn.max_pool2d(X, layout="NHWC"))
    function = relay.Function([X], X, attrs={"n": 1, "Compiler": "a", "none": None})
    assert 'fn (%x: Tensor[(3, 2), float32], n=1, Compiler="a", none=None)' in str(function)


def test_programs_with_types_of_data():
    mod = relay.parse("""type List[A] { Cons(A, List[A]), Nil }
def @main(%x: List[int]) -> List[int] { match (%x) { Cons(%h, %t) => Cons(%h, @main(%t)), Nil => Nil } }""")
    assert "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n\ndef @main(%x: List[int32]" in str(mod)
    tvm.ir.assert_structural_equal(relay.fromtext(mod.astext()), mod)
    assert relay.parse("type T[A] { One(A) }").get_global_type_vars() == ["T"]


def test_texts_that_refer_to_what_is_given():
    base = relay.parse("def @twice(%x: float32) -> float32 { add(%x, %x) }")
    mod = relay.parse("def @main(%x: float32) { @twice(multiply(%x, meta[relay.Constant][0])) }", init_module=base,
                      init_meta_table={"relay.Constant": [relay.const(3.0)]})
    assert relay.create_executor("debug", mod).evaluate()(np.float32(2)) == 12


def test_long_chains():
    z = X
    for _ in range(20_000):
        z = relay.add(z, relay.const(1.0))
    assert len(assert_reads_back(z).splitlines()) > 19_000
    assert isinstance(tvm.ir.structural_hash(z), int)


# --- Types ---


def test_types_with_holes_and_relations():
    a, b = relay.TypeVar("a"), relay.TypeVar("b", relay.TypeKind.ShapeVar)
    hole = relay.IncompleteType()
    assert hole == hole and hole != relay.IncompleteType() and relay.TupleType([hole, a]) == relay.TupleType([hole, a])
    relation = relay.TypeRelation(tvm.ir.EnvFunc.get("broadcast"), [a, b], 1, None)
    f = relay.FuncType([a], a, [a, b], [relation])
    c, d = relay.TypeVar("c"), relay.TypeVar("d", relay.TypeKind.ShapeVar)
    assert f == relay.FuncType([c], c, [c, d], [relay.TypeRelation(tvm.ir.EnvFunc.get("broadcast"), [c, d], 1, None)])
    assert f != relay.FuncType([a], a, [a, b]) and relay.FuncType([a], a, [a]) != relay.FuncType([b], b, [b])
    assert f.type_constraints[0].args == [a, b] and b.kind == relay.TypeKind.ShapeVar
    function = relay.Function([relay.var("x", hole)], relay.const(1))
    with pytest.raises(TypeError, match="leave the type out"):
        tvm.IRModule.from_expr(relay.Function([relay.var("x", relay.TupleType([hole]))], relay.const(1)))._native
    assert function.params == [function.params[0]] and [function.params[0]] == function.params


def test_kinds():
    a, shape = relay.TypeVar("a"), relay.TypeVar("s", relay.TypeKind.ShapeVar)
    kind = relay.analysis.check_kind
    assert kind(relay.TupleType([a])) == relay.TypeKind.Type and kind(relay.GlobalTypeVar("T")) == relay.TypeKind.AdtHandle
    assert kind(relay.TypeRelation(None, [a, a], 1, None)) == relay.TypeKind.Constraint
    no_data = relay.TypeCall(relay.GlobalTypeVar("T", relay.TypeKind.Type), [])
    for wrong in (relay.TupleType([shape]), relay.RefType(shape), relay.FuncType([a], shape, [a, shape]), no_data):
        with pytest.raises(tvm.TVMError, match="kind"):
            kind(wrong)
    mod = relay.parse("type T[A] { One(A) }")
    assert kind(relay.TypeCall("T", [a]), mod) == relay.TypeKind.Type
    with pytest.raises(tvm.TVMError, match="takes 1 types, found 0"):
        kind(relay.TypeCall("T", []), mod)


def test_walks_over_types():
    class Names(relay.TypeVisitor):
        def __init__(self):
            self.names = []

        def visit_type_var(self, tv):
            self.names.append(tv.name_hint)

    class ToInts(relay.TypeMutator):
        def visit_tensor_type(self, tt):
            return relay.TensorType(tt.shape, "int32")

    a = relay.TypeVar("a")
    f = relay.FuncType([relay.TupleType([a, relay.TensorType((2,))]), relay.TypeCall("List", [a])], relay.RefType(relay.TensorType(())), [a])
    names = Names()
    names.visit(f)
    assert names.names == ["a", "a", "a"]
    assert str(ToInts().visit(f)) == "fn [a]((a, Tensor[(2), int32]), List[a]) -> ref(int32)"
    with pytest.raises(NotImplementedError, match="visit_tensor_type"):
        relay.TypeFunctor().visit(relay.TensorType(()))
    with pytest.raises(NotImplementedError, match="visit_call"):
        relay.ExprFunctor().visit(X + X)


def test_type_arguments_of_calls():
    mod = relay.parse("def @id[A](%x: A) -> A { %x } def @main(%x: float32) { @id((%x, 1)) }")
    assert mod["main"].body.type_args == [relay.TupleType([relay.scalar_type("float32"), relay.scalar_type("int32")])]


# --- Equality, hash, JSON ---


def pairs():
    def let(v, value):
        return relay.Let(v, value, v)
    one, typed = relay.Var("a"), relay.Var("b", relay.scalar_type("int32"))
    s = relay.add(X, X)
    yield let(one, relay.const(1)), let(relay.Var("z"), relay.const(1)), True
    yield let(one, relay.const(1)), let(one, relay.const(2)), False
    yield let(one, relay.const(1)), let(typed, relay.const(1)), False
    yield s + s, relay.add(X, X) + relay.add(X, X), False
    yield relay.Var("a"), relay.Var("a"), False
    yield relay.Function([X], X), relay.Function([X], X, relay.TensorType((3, 2))), False
    yield relay.Function([one], one).with_attr("ids", {one.vid: 1}), relay.Function([typed.__class__("q")], one), False
    yield relay.Call(one, [X], tvm.ir.make_node("attrs.Mine", a=(1, 2))), relay.Call(one, [X], tvm.ir.make_node("attrs.Mine", a=(1, 2))), True
    yield relay.Call(one, [X], None, [relay.scalar_type("int8")]), relay.Call(one, [X]), False
    yield relay.Tuple([relay.Tuple([])] * 2), relay.Tuple([relay.Tuple([]), relay.Tuple([])]), True
    yield relay.TypeVar("a"), relay.Var("a"), False


@pytest.mark.parametrize("number", range(11))
def test_equality_and_hash_agree(number):
    left, right, is_same = list(pairs())[number]
    assert tvm.ir.structural_equal(left, right) == tvm.ir.structural_equal(right, left) == is_same
    assert (tvm.ir.structural_hash(left) == tvm.ir.structural_hash(right)) == is_same


def test_the_names_of_ids_do_not_count():
    def function():
        x = relay.var("x", shape=(10,))
        return relay.Function([x], x).with_attr("ids", {x.vid: 1})
    assert tvm.ir.structural_equal(function(), function()) and tvm.ir.structural_hash(function()) == tvm.ir.structural_hash(function())


def test_json_of_a_module_and_of_parts():
    p = Prelude()
    tvm.ir.assert_structural_equal(tvm.ir.load_json(tvm.ir.save_json(p.mod)), p.mod)
    shared = relay.add(X, relay.const(np.ones((3, 2), "float32")))
    for node in (shared + shared, relay.FuncType([relay.TensorType((relay.size_var("n"),))], relay.TupleType([])), relay.TypeData("T", [], [])):
        tvm.ir.assert_structural_equal(tvm.ir.load_json(tvm.ir.save_json(node)), node, map_free_vars=True)
    assert tvm.ir.make_node("relay.attrs.Mine", n=3).n == 3 and isinstance(tvm.ir.make_node("relay.Constant", data=np.ones(2)), relay.Constant)
    with pytest.raises(ValueError, match="load_json: expected what save_json wrote"):
        tvm.ir.load_json("[1]")


# --- Analyses ---


def test_unmatched_cases():
    mod = relay.parse("type List[A] { Cons(A, List[A]), Nil }")
    cons, nil = mod.get_constructor("List", "Cons"), mod.get_constructor("List", "Nil")
    any_, con = relay.PatternWildcard(), relay.PatternConstructor

    def missing(*patterns):
        return [repr(p) for p in relay.analysis.unmatched_cases(relay.Match(X, [relay.Clause(p, X) for p in patterns]), mod)]
    assert missing() == ["_"] and missing(any_) == [] and missing(con(nil)) == ["Cons(_, _)"]
    assert missing(con(nil), con(cons, [any_, con(cons, [any_, any_])])) == ["Cons(_, Nil)"]
    assert missing(relay.PatternTuple([con(nil), any_])) == ["(Cons(_, _), _)"]


def test_call_graph():
    mod = relay.parse("def @a(%x: int) -> int { @b(@a(%x)) } def @b(%x: int) -> int { %x } def @main(%x: int) -> int { @a(%x) }")
    graph = relay.analysis.CallGraph(mod)
    assert [graph.ref_count(n) for n in ("a", "b", "main")] == [2, 1, 0] and graph.global_call_count("a") == 2
    assert graph.is_recursive("a") and not graph.is_recursive("b") and "@b: #refs = 1" in str(graph)


def test_features_and_numbers():
    f = relay.analysis.Feature
    assert relay.analysis.detect_feature(relay.Let(Y, relay.const(1), relay.Tuple([Y]))) == {f.fLet, f.fVar, f.fConstant, f.fTuple}
    w = relay.var("w", shape=(8, 3, 3, 3))
    conv = relay.nn.conv2d(relay.var("d", shape=(2, 3, 8, 8)), w, padding=(1, 1))
    typed = testing.run_infer_type(relay.nn.relu(conv))
    assert relay.analysis.get_total_mac_number(typed) == 2 * 8 * 8 * 8 * 27
    assert relay.analysis.all_dtypes(typed) == {"float32"} and relay.analysis.count_layers(conv + conv, ["nn.conv2d"]) == 1


def test_data_for_engines():
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    mod = tvm.IRModule()
    mod["engine"] = relay.Function([x], relay.Tuple([x + x, -x])).with_attr("Compiler", "mine")
    call = relay.GlobalVar("engine")(y)
    mod["main"] = relay.Function([y], relay.TupleGetItem(call, 0) + relay.TupleGetItem(call, 1))
    value = np.arange(4, dtype="float32")
    data = relay.analysis.get_calibration_data(relay.transform.InferType()(mod), {"y": value})[relay.GlobalVar("engine")]
    np.testing.assert_array_equal(data["inputs"][0].numpy(), value)
    np.testing.assert_array_equal(data["outputs"][1].numpy(), -value)


# --- Standard definitions ---


def run(mod, expr, *args):
    return relay.create_executor("debug", mod).evaluate(expr)(*args) if args else relay.create_executor("debug", mod).evaluate(expr)


def test_prelude():
    p = Prelude()
    _, cons, nil = p.mod.get_type("List")

    def as_list(*numbers):
        made = nil()
        for n in reversed(numbers):
            made = cons(relay.const(n), made)
        return made

    def values(expr):
        return [int(x) for x in run(p.mod, expr).to_list()]
    x, y = relay.var("x", "int32"), relay.var("y", "int32")
    double = relay.Function([x], x + x)
    minus = relay.Function([x, y], x - y)
    assert values(p.map(double, as_list(1, 2))) == [2, 4] and values(p.rev(as_list(1, 2, 3))) == [3, 2, 1]
    assert values(p.concat(as_list(1), as_list(2, 3))) == [1, 2, 3] and values(p.update(as_list(1, 2), relay.const(1), relay.const(9))) == [1, 9]
    assert int(run(p.mod, p.foldl(minus, relay.const(0), as_list(1, 2, 3)))) == -6
    assert int(run(p.mod, p.foldr(minus, relay.const(0), as_list(1, 2, 3)))) == 2
    assert int(run(p.mod, p.length(as_list(5, 6)))) == 2 and int(run(p.mod, p.nth(as_list(5, 6), relay.const(1)))) == 6
    assert int(run(p.mod, relay.Call(p.iterate(double, relay.const(3)), [relay.const(1)]))) == 8
    assert cons.tag == run(p.mod, as_list(1)).tag and run(p.mod, as_list(1)).constructor.name_hint == "Cons"
    with pytest.raises(ValueError, match="there is no mine.rly; there are"):
        p.mod.import_from_std("mine.rly")


def test_natural_numbers():
    p = Prelude()
    p.mod.import_from_std("nat.rly")
    double = p.mod.get_global_var("nat_double")
    assert testing.count(p, run(p.mod, double(testing.make_nat_expr(p, 5)))) == 10
    assert testing.count(p, testing.make_nat_value(p, 4)) == 4 == testing.count(p, testing.make_nat_expr(p, 4))


@pytest.mark.parametrize("shape", [None, (2, 3), ("?", 3)])
def test_tensor_arrays(shape):
    p = Prelude()
    if shape is None:
        def get(name):
            return p.get_global_var(name, "float32")
        make = p.get_tensor_ctor("tensor2", "float32")
    else:
        StaticTensorArrayOps(p, "float32", shape).register()

        def get(name):
            return p.get_global_var_static(name, "float32", shape)
        make = p.get_tensor_ctor_static("tensor_constructor", "float32", shape)
    a, b = relay.var("a", shape=(2, 3)), relay.var("b", shape=(2, 3))
    array = get("tensor_array")(relay.const(2))
    for i, x in enumerate((a, b)):
        array = get("tensor_array_write")(array, relay.const(i), make(x))
    data = [np.random.default_rng(i).random((2, 3), "float32") for i in range(2)]
    expected = {"tensor_array_stack": np.stack(data), "tensor_array_concat": np.concatenate(data)}
    for name, value in expected.items():
        p.mod["main"] = relay.Function([a, b], get(name)(array))
        for kind in ("debug", "vm"):
            result = relay.create_executor(kind, p.mod).evaluate()(*data)
            np.testing.assert_array_equal(result.fields[0], value)


# --- Networks, Python code ---


@pytest.mark.parametrize("name, args, weights, result", [
    ("mlp", (1,), 109_386, (1, 10)), ("dqn", (1,), 1_693_362, (1, 18)), ("squeezenet", (), 1_248_424, (1, 1000)),
    ("resnet", (), 11_699_892, (1, 1000)), ("mobilenet", (), 4_253_864, (1, 1000)), ("lstm", (4, 4), 640, (1, 4)),
    ("synthetic", (), 465, (1, 3, 24, 12))])
def test_networks(name, args, weights, result):
    mod, params = getattr(testing, name).get_workload(*args)
    assert sum(p.size for p in params.values()) == weights and mod["main"].body.checked_type.concrete_shape == result
    tvm.ir.assert_structural_equal(relay.parse(mod.astext()), mod)


def test_an_lstm_runs():
    mod, params = testing.lstm.get_workload(2, 3)
    x = np.random.default_rng(0).random((1, 3), "float32")
    h, c = np.zeros((1, 3)), np.zeros((1, 3))

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    w = {name: value.numpy() for name, value in params.items()}
    for step in range(2):
        gates = x @ w[f"i2h_{step}_weight"].T + w[f"i2h_{step}_bias"] + h @ w[f"h2h_{step}_weight"].T + w[f"h2h_{step}_bias"]
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    np.testing.assert_allclose(relay.create_executor("vm", mod, params=params).evaluate()(x, x), h, rtol=1e-5)


def test_python_code():
    mod = relay.parse("""type List[A] { Cons(A, List[A]), Nil }
def @length[A](%x: List[A]) -> int { match (%x) { Cons(_, %t) => add(1, @length(%t)), Nil => 0 } }""")
    nil, cons = mod.get_constructor("List", "Nil"), mod.get_constructor("List", "Cons")
    length = mod.get_global_var("length")
    assert testing.run_as_python(length(cons(relay.const(7), cons(relay.const(8), nil()))), mod).item() == 2
    r = relay.Var("r")
    written = relay.Let(relay.Var("_"), relay.RefWrite(r, relay.const(5)), relay.Tuple([relay.RefRead(r), relay.const(2)]))
    counted = relay.Let(r, relay.RefCreate(relay.const(1)), written)
    assert [v.item() for v in testing.run_as_python(counted)] == [5, 2]
    branch = relay.If(relay.const(False), relay.const(1), relay.add(relay.const(2), relay.const(3)))
    assert testing.run_as_python(branch).item() == 5
    f = testing.run_as_python(relay.Function([relay.var("x", shape=(2,))], relay.const(4)))
    assert f(np.ones(2, "float32")).item() == 4 and "def main_of" in __import__("ast").unparse(testing.to_python(branch))


def test_places_in_the_programs_own_text():
    mod = tvm.IRModule.from_expr(relay.Function([X], relay.nn.relu(X + X)))
    relu = relay.transform.AnnotateSpans()(mod)["main"].body
    lines = mod.astext().splitlines()
    assert relu.span.source_name.name == "GeneratedSource" and lines[relu.span.line - 1][relu.span.column - 1:].startswith("%0 = add")
    place = relu.args[0].span  # where it is read
    assert lines[place.line - 1][place.column - 1:].startswith("%0)")


def test_variables_in_their_order():
    mod = relay.parse("type List[A] { Cons(A, List[A]), Nil }")
    nil, cons = mod.get_constructor("List", "Nil"), mod.get_constructor("List", "Cons")
    x, y, z = map(relay.Var, "xyz")
    match = relay.Match(nil(), [relay.Clause(relay.PatternConstructor(cons, [relay.PatternWildcard(), relay.PatternVar(x)]), y),
                                relay.Clause(relay.PatternWildcard(), z)])
    assert relay.analysis.all_vars(match) == [x, y, z] and relay.analysis.bound_vars(match) == [x] and relay.analysis.free_vars(match) == [y, z]
    a, b, c = map(relay.TypeVar, "abc")
    assert relay.analysis.all_type_vars(relay.FuncType([a, b, c], b)) == [a, b, c]


def test_nodes_with_other_fields():
    call = X + X
    assert relay.expr.CallWithFields(call) is call and relay.expr.CallWithFields(call, args=list(call.args)) is call
    assert relay.expr.CallWithFields(call, op=relay.op.get("subtract")).op.name == "subtract"
    f = relay.Function([X], X)
    assert relay.function.FunctionWithFields(f, body=call).body is call and relay.function.FunctionWithFields(f, [X], X) is f
    assert relay.expr.TupleWithFields(relay.Tuple([X]), [Y]).fields == [Y] and relay.expr.LetWithFields(relay.Let(Y, X, Y), body=X).body is X


def test_tags_of_constructors():
    p = Prelude()
    _, cons, nil = p.mod.get_type("List")
    other = Prelude().mod.get_constructor("List", "Nil")
    assert nil.tag - cons.tag == 1 and cons.tag >= 1 << 24 and other.tag == nil.tag and p.mod.get_constructor(nil.tag) == nil
    assert run(p.mod, nil()).tag == nil.tag
    with pytest.raises(ValueError, match="there is no constructor with the tag 7"):
        p.mod.get_constructor(7)
