"""Relay text as TVM reads and writes it: what a text may have, where its nodes stand, and the text of them."""
import copy
import json
import pickle

import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay

VERSION = '#[version = "0.0.5"]\n'


def places(text):
    """(line, column, end_line, end_column) of each node of an expression that knows its place."""
    found = []
    relay.analysis.post_order_visit(relay.parse_expr(text), lambda n: found.append(n) if n.span is not None else None)
    return [(n.span.line, n.span.column, n.span.end_line, n.span.end_column) for n in found if not isinstance(n, relay.GlobalVar)]


# --- Reading ---


@pytest.mark.parametrize("text, printed", [
    ("1 + 2 * 3", "%0 = multiply(2, 3);\nadd(1, %0)"),
    ("( 1 , 2 ) . 0", "%0 = (1, 2);\n%0.0"),
    ("--1", "1"),
    ("2147483648", "2147483648i64"),
    ("add", "add"),
    ("(add)(1, 2)", "add(1, 2)"),
    ("let %f = add; %f(1, 2)", "let %f = add;\n%f(1, 2)"),
    ("@anywhere(1)", "@anywhere(1)"),
    ("fn (%x: Elsewhere[int32]) { 1 }", "fn (%x: Elsewhere[int32]) {\n  1\n}"),
    ("let %_1 = 1; %_1", "let %v_1 = 1;\n%v_1"),
    ("fn (%x: int32, b=1, a=\"t\", c=True) { %x }", "fn (%x: int32, b=1, a=\"t\", c=1) {\n  %x\n}"),
    ("/* a /* b */ c */ 1 // d", "1"),
    ("free_var %x: int32; let %y = %x; free_var %z; add(%y, %z)", "free_var %x: int32;\nlet %y = %x;\nfree_var %z;\nadd(%y, %z)"),
])
def test_expressions(text, printed):
    expr = relay.parse_expr(text)
    lines = [line for line in _without_places(str(expr)).splitlines()]
    assert "\n".join(lines) == printed


def _without_places(text):
    import re
    return re.sub(r" /\* (ty=[^*]* )?(span=[^*]*)?\*/", "", text)


def test_a_free_variable_is_one_wherever_it_is_read():
    expr = relay.parse_expr("free_var %x: int32; fn (%y: int32) { add(%x, %y) }")
    assert isinstance(expr, relay.Function) and [v.name_hint for v in relay.analysis.free_vars(expr)] == ["x"]


@pytest.mark.parametrize("text", ["%x", "1 +", "(1", "foo(1)", "if (True) { 1 }", "def @main() { 1 }", "nn.softmax(1f, foo=1)", '#[version = "0.0.4"]\n1'])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(tvm.error.DiagnosticError):
        relay.parse_expr(text)


@pytest.mark.parametrize("text", ["def @main() { %x }", "def @main() { @nothing() }", "def @main() -> int32 { 1f }", "1 + 2", "type T { A }\ntype U { A }",
                                  "def @f(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"])
def test_what_is_no_program_is_refused(text):
    with pytest.raises(tvm.error.DiagnosticError):
        relay.parse(VERSION + text)


def test_an_error_of_types_shows_the_line():
    with pytest.raises(tvm.error.DiagnosticError, match="(?s)a.rly:3:.*add"):
        relay.parse(VERSION + "def @f(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) {\nadd(%x, %y) }", "a.rly")


def test_texts_refer_to_what_a_module_has():
    first = relay.parse(VERSION + "type List[A] { Cons(A, List[A]), Nil }\ndef @one() -> int32 { 1 }")
    both = relay.parse(VERSION + "def @main() -> List[int32] { Cons(@one(), Nil) }", init_module=first)
    assert sorted(v.name_hint for v in both.get_global_vars()) == ["main", "one"]
    assert both["main"].body.span.line == 2
    assert both["main"].checked_type.ret_type == relay.TypeCall(both.get_global_type_var("List"), [relay.scalar_type("int32")])


# --- Places ---


@pytest.mark.parametrize("text, found", [
    ("1", [(1, 2, 1, 3)]),  # behind it
    ("-12f", [(1, 5, 1, 6)]),
    ("(1, 2)", [(1, 3, 1, 4), (1, 6, 1, 7), (1, 1, 1, 7)]),
    ("let %x = 1; %x", [(1, 11, 1, 12), (1, 13, 1, 14), (1, 1, 1, 14)]),  # the variable where it is read; its `%`
    ("add(\n  1,\n  2)", [(2, 4, 2, 5), (3, 4, 3, 5), (1, 1, 3, 5)]),
])
def test_places_of_nodes(text, found):
    assert places(text) == found


def test_places_are_of_the_source():
    mod = relay.parse(VERSION + "def @main(%x: float32) {\n  %0 = exp(%x);\n  multiply(%0, %0)\n}", "model.rly")
    body = mod["main"].body
    assert body.span.source_name == relay.SourceName("model.rly") and (body.span.line, body.span.column) == (3, 3)
    assert body.args[0].span.line == 4  # where it was read last
    assert "span=model.rly:4:" in mod.astext() and "/* ty=float32 span=" in mod.astext()


def test_annotated_places_are_of_the_text():
    x = relay.var("x", shape=(2,))
    mod = relay.transform.AnnotateSpans()(tvm.IRModule.from_expr(relay.nn.relu(relay.exp(x))))
    assert mod["main"].body.span.source_name.name == "GeneratedSource"


# --- Writing ---


def test_names_and_numbers_go_on_from_function_to_function():
    text = str(relay.parse(VERSION + "def @a(%x: int32) { %0 = %x + 1; %0 * %0 }\ndef @b(%x: int32) { %0 = %x + 1; %0 * %0 }"))
    assert "%0 = add(%x, 1" in text and "%1 = add(%x1, 1" in text


def test_types_as_text():
    a = relay.TypeVar("A")
    assert str(relay.Function([], relay.Tuple([]), relay.FuncType([a], a, [a]))).startswith("fn () -> fn [A](A) -> A {")
    mod = relay.parse(VERSION + "extern type E\ntype N { Z, S(N) }\ndef @f(%e: E) -> N { S(Z) }")
    assert "type E {\n  \n}\n" in str(mod) and "  S(N[]),\n" in str(mod) and "-> N[] {" in str(mod)
    tvm.ir.assert_structural_equal(relay.parse(mod.astext()), mod)


def test_an_empty_module_has_no_text():
    assert tvm.IRModule().astext() == VERSION


def test_attributes_without_defaults_are_written():
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3))
    assert "units=None)" in str(relay.nn.dense(x, w)) and "axes=None)" in str(relay.transpose(x))
    assert "topk(%x, k=2, axis=0, dtype=" in str(relay.topk(x, 2, 0)) and relay.topk(x, 2).attrs.k == 2
    assert str(relay.arange(relay.const(3))).endswith("start=meta[relay.Constant][0], stop=meta[relay.Constant][1], "
                                                      "step=meta[relay.Constant][2], dtype=\"float32\")")


@pytest.mark.parametrize("value, text", [(0.5, "0.5f"), (1e6, "1e+06f"), (1e-5, "1e-05f"), (1 / 3, "0.3333333333333333f"), (2.0, "2f")])
def test_floats_have_six_digits_or_as_many_as_they_need(value, text):
    assert f"alpha={text})" in str(relay.nn.leaky_relu(relay.var("x", shape=(1,)), value))


def test_metadata_left_out_is_said():
    constant = relay.const([1.0, 2.0])
    assert "metadata is left out" in constant.astext(show_meta_data=False) and "metadata is left out" not in constant.astext()
    assert "#[metadata]" not in str(constant)


# --- JSON ---


_CLIPPED = """{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "relay.Call", "attrs": {"_checked_type_": "0", "args": "3", "attrs": "11", "op": "2", "span": "0", "type_args": "12",
                                       "virtual_device_": "10"}},
  {"type_key": "Op", "repr_str": "clip"}, {"type_key": "Array", "data": [4]},
  {"type_key": "relay.Var", "attrs": {"_checked_type_": "0", "span": "0", "type_annotation": "7", "vid": "5", "virtual_device_": "10"}},
  {"type_key": "relay.Id", "attrs": {"name_hint": "6"}}, {"type_key": "runtime.String", "repr_str": "y"},
  {"type_key": "relay.TensorType", "attrs": {"dtype": "int8", "shape": "8", "span": "0"}}, {"type_key": "Array", "data": [9]},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "2"}},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "13", "target": "0", "virtual_device_id": "-1"}},
  {"type_key": "relay.attrs.ClipAttrs", "attrs": {"a_max": "0.33333333333333331", "a_min": "0"}}, {"type_key": "Array"},
  {"type_key": "runtime.String"}], "b64ndarrays": [], "attrs": {"tvm_version": "0.16.dev0"}}"""


def test_json_of_tvm_is_read():
    call = tvm.ir.load_json(_CLIPPED)
    tvm.ir.assert_structural_equal(call, relay.clip(relay.var("y", shape=(2,), dtype="int8"), 0.0, 1 / 3), map_free_vars=True)


def test_json_is_as_tvm_writes_it():
    graph = json.loads(tvm.ir.save_json(relay.clip(relay.var("y", shape=(2,), dtype="int8"), 0.0, 1 / 3)))
    expected = json.loads(_CLIPPED)
    kinds = sorted(node["type_key"] for node in expected["nodes"])
    assert sorted(node["type_key"] for node in graph["nodes"]) == kinds
    assert next(n for n in graph["nodes"] if n["type_key"] == "relay.attrs.ClipAttrs") in expected["nodes"]
    assert graph["nodes"][1]["attrs"].keys() == expected["nodes"][1]["attrs"].keys()


@pytest.mark.parametrize("text", [
    "type L[A] { Cons(A, L[A]), Nil }\ndef @f[A](%l: L[A]) -> int32 { match? (%l) { Cons(_, %t) => { @f(%t) }, Nil => { 0 } } }",
    "def @f(%x: Tensor[(?, 3), float32], Inline=1, name=\"n\") { let %r = ref(%x); let %u = ref_write(%r, nn.relu(%x)); (ref_read(%r), 1f, True).0 }",
    "def @f(%x: Tensor[(2, 3), float32]) { nn.dilate(nn.pad(%x, 0f, pad_width=[[1, 1], [0, 0]]), strides=[2, 2], dilation_value=1.5f) }",
    "def @f() { arange(0, 10, 2, dtype=\"int32\") }\ndef @g() { @f() }",
    "def @f(%b: bool) { if (%b) { fn (%x: int32) { %x } } else { fn (%x: int32) { %x + 1 } } }",
])
def test_json_gives_programs_again(text):
    mod = relay.parse(VERSION + text)
    again = tvm.ir.load_json(tvm.ir.save_json(mod))
    tvm.ir.assert_structural_equal(again, mod)
    assert str(again) == str(mod)  # types and places, too
    tvm.ir.assert_structural_equal(relay.parse(mod.astext()), mod)


def test_json_of_long_chains():
    expr = relay.var("x", shape=(2,))
    for _ in range(20_000):
        expr = relay.exp(expr)
    assert tvm.ir.structural_hash(tvm.ir.load_json(tvm.ir.save_json(expr)), True) == tvm.ir.structural_hash(expr, True)


def test_attributes_that_text_has_not_are_objects_of_the_metadata():
    call = relay.nn.dilate(relay.var("x", shape=(2,)), [3])
    assert "nn.dilate(%x, meta[relay.attrs.DilateAttrs][0])" in call.astext() and "nn.dilate(%x, strides=[3])" in str(call)
    tvm.ir.assert_structural_equal(relay.parse_expr(call.astext()), call, map_free_vars=True)


def test_metadata_has_the_form_of_tvm():
    section = relay.add(relay.const([1.0]), relay.const([2], "int8")).astext().split("#[metadata]\n")[1]
    assert '"data": [3, 6]\n    }, \n' in section and '"type_key": "relay.Constant", \n' in section and '"attrs": {"tvm_version"' in section


def test_what_a_branch_and_its_outside_use_stands_outside():
    x, b = relay.var("x", shape=(2,)), relay.var("b", "bool")
    shared = relay.exp(x)
    inner = relay.Function([], relay.If(b, relay.negative(shared), x))
    for expr in (relay.Tuple([relay.If(b, relay.negative(shared), x), relay.multiply(shared, shared)]),
                 relay.Tuple([relay.Call(inner, []), relay.add(relay.multiply(shared, x), shared)])):
        text = expr.astext()
        assert text.index("= exp(%x)") < text.index("multiply(%") and text.count("exp(%x)") == 1
        tvm.ir.assert_structural_equal(relay.parse_expr(text), expr, map_free_vars=True)


def test_nodes_are_copied_and_pickled_as_json():
    expr = relay.parse_expr("fn (%x: Tensor[(2, ?), float32]) { nn.softmax(add(%x, 1f), axis=0) }")
    for made in (copy.deepcopy(expr), pickle.loads(pickle.dumps(expr))):
        assert made is not expr and str(made) == str(expr)
        tvm.ir.assert_structural_equal(made, expr)
    mod = relay.parse(VERSION + "type B { Y, N }\ndef @f(%b: B) { match (%b) { Y => 1, N => 0 } }")
    tvm.ir.assert_structural_equal(pickle.loads(pickle.dumps(mod)), mod)
    assert pickle.loads(pickle.dumps(relay.TensorType((1, 2), "int8"))) == relay.TensorType((1, 2), "int8")
    assert copy.deepcopy(relay.op.get("add")) is relay.op.get("add")


def test_names_of_the_parser():
    assert relay.parser.parse is relay.parse and relay.parser.fromtext("1").data.numpy() == 1
    relay.parser.SpanCheck().visit(relay.parse_expr("1 + 2"))


def test_a_let_has_the_type_of_its_body():
    mod = relay.parse(VERSION + "def @f(%x: int32) { let %y = exp(1f); let %z = %y; 2f }")
    assert mod["f"].body.checked_type == relay.scalar_type("float32")


def test_modules_keep_their_sources():
    text = VERSION + "def @f(%x: int32) { add(%x, 1) }"
    mod = relay.transform.InferType()(relay.parse(text, "a.rly")).with_attr("key", 1)
    (name, source), = mod.source_map.source_map.items()
    assert name == relay.SourceName("a.rly") and source.source == text and source.source_name == name
    assert mod["f"].body.span.line == 2 and mod.get_attr("key") == 1


@pytest.mark.parametrize("dtype", ["int4", "float32x4", "uint1x4"])
def test_dtypes_that_the_compiler_has_not(dtype):
    param = relay.parse_expr(f"fn (%x: {dtype}) {{ %x }}").params[0]
    assert param.type_annotation == relay.TensorType((), dtype) and str(param.type_annotation) == dtype
    assert param.type_annotation != relay.TensorType((), "float32")
    with pytest.raises(tvm.error.DiagnosticError, match="unsupported dtype"):
        relay.parse(VERSION + f"def @f(%x: {dtype}) {{ %x }}")


def test_attributes_of_calls_of_functions():
    attrs = tvm.ir.make_node("attrs.TestAttrs", name="n")
    p = relay.var("p", shape=(2,))
    x = relay.var("x", shape=(2,))
    mod = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([p], relay.Call(relay.Function([x], relay.exp(x)), [p], attrs))))
    text = mod.astext()
    assert '(%p, name="n", attrs_type_key="attrs.TestAttrs")' in text
    again = relay.parse(text)
    tvm.ir.assert_structural_equal(again, mod)
    assert again["main"].body.attrs.name == "n" and again["main"].body.attrs.type_key == "attrs.TestAttrs"


def test_type_definitions_are_by_their_variables():
    mod = relay.parse(VERSION + "type Own { Made(Tensor[(?, 1), uint16]) }")
    (header, data), = mod.type_definitions.items()
    assert header.name_hint == "Own" and isinstance(header, relay.GlobalTypeVar) and mod.type_definitions["Own"] is data
    assert isinstance(data.constructors[0].inputs[0].shape[0], relay.Any) and data.constructors[0].inputs[0].shape[1] == 1
