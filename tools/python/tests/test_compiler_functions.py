"""Passes over functions for other engines, over divisions, and the type of one expression."""
import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import relayvm as rvm
import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay import transform

X = np.linspace(-2, 2, 16, dtype="float32").reshape(4, 4)


def literal(symbol="mine_0", engine="mine"):
    a, b = relay.var("a", shape=(4, 4)), relay.var("b", shape=(4, 4))
    c, d = relay.var("c", shape=(4, 4)), relay.var("d", shape=(4, 4))
    composite = relay.Function([c, d], relay.nn.relu(c + d), attrs={"Composite": engine + ".add_relu"})
    return relay.Function([a, b], relay.abs(composite(a, b)), attrs={"Compiler": engine, "Primitive": 1, "global_symbol": symbol})


def inline():
    x, y = relay.var("x", shape=(4, 4)), relay.var("y", shape=(4, 4))
    f = literal()
    return transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, y], f(x, y) - f(y, x))))


def test_literals_become_functions_of_the_module_and_back():
    mod = inline()
    made = transform.OutlineCompilerFunctionsWithExistingGlobalSymbols()(mod)
    assert sorted(v.name_hint for v in made.get_global_vars()) == ["main", "mine_0"] and made["mine_0"].attrs["Compiler"] == "mine"
    assert [arg.op.name_hint for arg in made["main"].body.args] == ["mine_0"] * 2
    kept = transform.OutlineCompilerFunctionsWithExistingGlobalSymbols("others")(mod)
    assert [v.name_hint for v in kept.get_global_vars()] == ["main"]
    extern = transform.MarkCompilerFunctionsAsExtern("mine")(made)
    assert dict(extern["mine_0"].attrs) == {"Extern": 1} and "Compiler" in transform.MarkCompilerFunctionsAsExtern("others")(made)["mine_0"].attrs
    back = transform.InlineCompilerFunctionsBoundTo([made.get_global_var("mine_0")])(made)
    assert [v.name_hint for v in back.get_global_vars()] == ["main"]
    x, y = relay.var("x", shape=(4, 4)), relay.var("y", shape=(4, 4))
    expected = relay.Function([x, y], relay.abs(relay.nn.relu(x + y)) - relay.abs(relay.nn.relu(y + x)))
    tvm.ir.assert_structural_equal(back, transform.InferType()(tvm.IRModule.from_expr(expected)))
    np.testing.assert_allclose(rvm.compile(back)(X, X.T.copy()), np.abs(np.maximum(X + X.T, 0)) - np.abs(np.maximum(X.T + X, 0)))


def test_literals_that_a_let_names():
    x, f = relay.var("x", shape=(4, 4)), relay.var("f")
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.Let(f, literal(), relay.Call(f, [x, x]))))
    made = transform.OutlineCompilerFunctionsWithExistingGlobalSymbols("mine")(mod)
    assert isinstance(made["main"].body, relay.Call) and made["main"].body.op.name_hint == "mine_0"
    nameless = relay.Function([x], literal("")(x, x))
    with pytest.raises(ValueError, match="a function for mine has no attribute global_symbol"):
        transform.OutlineCompilerFunctionsWithExistingGlobalSymbols()(tvm.IRModule.from_expr(nameless))


@pytest.mark.parametrize("dtype, divisor, name", [
    ("float32", [1.5, 4.0], "multiply"), ("float16", [1.5, 3.0], "multiply"), ("float64", [3.0, 2.0], "multiply"),
    ("float32", [1.0, 0.0], "divide"), ("int32", [2, 3], "divide"),
])
def test_divisions_by_constants(dtype, divisor, name):
    x = relay.var("x", shape=(2,), dtype=dtype)
    mod = transform.DivToMul()(tvm.IRModule.from_expr(relay.divide(x, relay.const(divisor, dtype))))
    call = mod["main"].body
    assert call.op.name == name
    if name == "multiply":
        np.testing.assert_allclose(call.args[1].data, 1 / np.array(divisor), rtol=1e-3)


def test_the_type_of_one_expression():
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(3, 4))
    product = relay.nn.matmul(relay.nn.relu(x), y)
    assert transform.InferTypeLocal(product) == relay.TensorType((2, 4)) and product.args[0].checked_type == relay.TensorType((2, 3))
    assert transform.InferTypeLocal(relay.split(product, 2, 1)) == relay.TupleType([relay.TensorType((2, 2))] * 2)
    with pytest.raises(TypeError, match="expected an expression"):
        transform.InferTypeLocal(3)
