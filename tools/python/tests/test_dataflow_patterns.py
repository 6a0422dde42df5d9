"""Patterns of `relay.dataflow_pattern`: what they match, what rewriting and partitioning make of it, and that both are quick."""
import time

import pytest

pytest.importorskip("relayvm.compiler")

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.relay.dataflow_pattern import (AltPattern, CallPattern, DFPatternCallback, FunctionPattern, dominates, has_attr, has_dtype,
                                                has_shape, has_type, is_constant, is_expr, is_if, is_let, is_op, is_tuple, is_tuple_get_item,
                                                is_var, match, partition, rewrite, wildcard)

X, Y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))
ELEMENTWISE = wildcard().has_attr({"TOpPattern": 0})(wildcard())


def test_patterns_have_their_parts():
    a, b = wildcard(), is_var("b")
    call = is_op("add")(a, b)
    assert isinstance(call, CallPattern) and call.args == (a, b) and b.name == "b"
    assert isinstance(a | b, AltPattern) and (a | b).left is a and is_tuple([a, b])[1] is b and len(is_tuple([a])) == 1
    assert has_attr({"groups": 1}).attrs["groups"] == 1 and has_dtype("int8").dtype == "int8" and has_shape([1, 2]).shape == [1, 2]
    assert has_type(relay.TensorType((1,))).type == relay.TensorType((1,)) and wildcard()(None).args is None
    assert repr(is_op("nn.relu")(wildcard() | is_constant())) == "nn.relu((* | ConstantPattern()))"
    loop = wildcard()
    loop.redirect_to(is_op("nn.relu")(loop))
    assert repr(loop).count("nn.relu") >= 1  # and ends
    with pytest.raises(TypeError, match="expected a pattern .* found Var"):
        match(X, X)
    with pytest.raises(NotImplementedError, match="callback"):
        DFPatternCallback().callback(X, X, {})
    with pytest.raises(ValueError, match="DFPatternCallback has no pattern"):
        rewrite(DFPatternCallback(), X)


@pytest.mark.parametrize("pattern, yes, no", [
    (is_op("add")(is_var("x"), is_var("y")), [X + Y, Y + X], [X + X, X - Y]),
    (is_op("subtract")(is_var("x"), is_var("y")), [X - Y], [Y - X]),
    (wildcard() * wildcard() / is_op("sqrt")(wildcard()), [X * Y / relay.sqrt(X), X * (Y / relay.sqrt(X)), Y / relay.sqrt(X) * X], [X * Y / X]),
    (wildcard() / wildcard() * is_op("sqrt")(wildcard()), [X * relay.sqrt(Y) / X, X / Y * relay.sqrt(Y)], [X * Y / X]),
    (is_expr(relay.const(2.0)), [relay.const(2.0)], [relay.const(3.0), relay.const(2), X]),
    (is_expr(X + Y), [X + Y], [Y + X, X - Y]),
    (is_constant(), [relay.const(1)], [X]),
    (is_tuple([is_var(), wildcard()]), [relay.Tuple([X, X + Y])], [relay.Tuple([X]), relay.Tuple([X + Y, X]), X]),
    (is_tuple(None), [relay.Tuple([]), relay.Tuple([X, Y])], [X]),
    (is_tuple_get_item(is_op("split")(wildcard())), list(relay.split(X, 3, 1)), [X]),
    (is_tuple_get_item(wildcard(), 2), [relay.split(X, 3, 1)[2]], [relay.split(X, 3, 1)[1]]),
    (is_op("cast")(wildcard()).has_attr({"dtype": "int8"}), [X.astype("int8")], [X.astype("uint8")]),
    (is_op("transpose")(wildcard()).has_attr({"axes": [1, 0]}), [relay.transpose(X, (1, 0))], [relay.transpose(X), relay.transpose(X, (0, 1))]),
    (ELEMENTWISE, [relay.tanh(X), relay.nn.relu(X)], [X + Y, relay.transpose(X)]),
    (has_dtype("int32", wildcard()), [relay.argmax(X, 1), X.astype("int32")], [X, X + Y]),
    (has_shape((3, None)), [relay.transpose(X)], [X, relay.sum(X)]),
    (has_type(relay.TensorType((3, 2))), [relay.transpose(X)], [X, relay.transpose(X).astype("int8")]),
    (is_if(wildcard(), is_var("x"), is_var("y")), [relay.If(relay.const(True), X, Y)], [relay.If(relay.const(True), Y, X), X]),
    (is_let(is_var("v"), is_constant(), is_var("v")), [relay.Let(v := relay.var("v"), relay.const(1), v)], [relay.Let(v, X, v), X]),
    (FunctionPattern(None, wildcard() + wildcard()), [relay.Function([X, Y], X + Y)], [relay.Function([X], X), X]),
    (FunctionPattern([is_var(), is_var()], wildcard()), [relay.Function([X, Y], X)], [relay.Function([X], X)]),
    (wildcard().has_attr({"Composite": "a.b"})(None), [relay.Function([X], X, attrs={"Composite": "a.b"})(Y)], [relay.Function([X], X)(Y), X]),
    (wildcard()(wildcard()).has_attr({"mine": 1}), [relay.Call(relay.var("f"), [X], {"mine": 1})], [relay.Call(relay.var("f"), [X]), relay.tanh(X)]),
])
def test_match(pattern, yes, no):
    assert [pattern.match(e) for e in yes] == [True] * len(yes)
    assert [pattern.match(e) for e in no] == [False] * len(no)


def test_one_object_is_one_value():
    a = wildcard()
    assert (a + a).match(X + X) and not (a + a).match(X + Y)
    root = is_op("tanh")(wildcard())
    diamond = is_op("nn.relu")(root) + is_op("exp")(root)
    t = relay.tanh(X)
    assert diamond.match(relay.nn.relu(t) + relay.exp(t)) and diamond.match(relay.exp(t) + relay.nn.relu(t))
    assert not diamond.match(relay.nn.relu(t) + relay.exp(relay.tanh(X)))


def test_optional_parts():
    pattern = is_op("exp")(wildcard()).optional(is_op("nn.relu")).optional(is_op("tanh"))
    e = relay.exp(X)
    assert all(pattern.match(x) for x in (e, relay.nn.relu(e), relay.tanh(e), relay.tanh(relay.nn.relu(e))))
    assert not pattern.match(relay.nn.relu(relay.tanh(e)))


def test_dominators():
    parent = is_op("nn.dense")(wildcard(), wildcard())
    pattern = dominates(parent, ELEMENTWISE, is_op("add")(wildcard(), wildcard()))
    w = relay.var("w", shape=(3, 3))
    d = relay.nn.dense(X, w)
    assert pattern.match(relay.tanh(relay.nn.relu(d)) + relay.exp(d)) and pattern.match(d + relay.nn.relu(d))
    assert not pattern.match(relay.tanh(d) + relay.exp(X))  # from elsewhere
    assert not pattern.match(relay.tanh(d) + relay.exp(relay.nn.dense(X, w)))  # from another parent
    assert not pattern.match(relay.tanh(relay.transpose(d)) + relay.exp(d))  # over what is no path
    assert is_op("add")(wildcard(), wildcard()).dominates(parent).match(relay.transpose(d) + d)
    used = relay.tanh(d)
    assert pattern.partition(relay.Tuple([used + relay.exp(d), used])).fields[0].op.name == "add"  # others read of it


def test_patterns_that_contain_themselves():
    inner = wildcard()
    chain = is_op("cast")(inner)
    inner.redirect_to(chain | is_op("nn.dense")(wildcard(), wildcard()))
    d = relay.nn.dense(X, relay.var("w", shape=(3, 3)))
    once = DFPatternCallback(rewrite_once=True)
    once.pattern, once.callback = chain, lambda pre, post, node_map: relay.nn.relu(post)
    before = d.astype("float16").astype("float32").astype("float64")
    assert tvm.ir.structural_equal(rewrite(once, before), relay.nn.relu(before)) and not chain.match(X.astype("int8"))


# --- Rewriting ---


class Unpower(DFPatternCallback):
    def __init__(self, **options):
        super().__init__(**options)
        self.x = wildcard()
        self.pattern = is_op("power")(self.x, is_expr(relay.const(2.0)))

    def callback(self, pre, post, node_map):
        assert pre.op == relay.op.get("power")
        return node_map[self.x][0] * node_map[self.x][0]


def square(x):
    return relay.power(x, relay.const(2.0))


def test_rewrite():
    s = X * X
    assert tvm.ir.structural_equal(rewrite(Unpower(), square(square(X)) + Y), s * s + Y)
    assert tvm.ir.structural_equal(Unpower().rewrite(square(X)), s) and rewrite(Unpower(), Y) is Y
    f = relay.Function([X], relay.If(relay.const(True), square(X), X))
    assert tvm.ir.structural_equal(rewrite(Unpower(), f), relay.Function([X], relay.If(relay.const(True), s, X)))


def test_several_callbacks_until_nothing_changes():
    class Zero(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.x = wildcard()
            self.pattern = self.x + is_expr(relay.const(0.0))

        def callback(self, pre, post, node_map):
            return node_map[self.x][0]

    zero = relay.const(0.0)
    assert rewrite([Unpower(), Zero()], (X + zero) + (zero + zero)) is X
    assert tvm.ir.structural_equal(rewrite([Unpower(), Zero()], square(zero + X)), X * X)
    grow = DFPatternCallback()
    grow.pattern, grow.callback = is_op("tanh")(None), lambda pre, post, node_map: relay.nn.relu(post)
    with pytest.raises(RuntimeError, match="rounds and no end"):
        rewrite(grow, relay.tanh(X))
    grow.callback = lambda *_: 3
    with pytest.raises(TypeError, match="expected it to give an expression, found int"):
        rewrite(grow, relay.tanh(X))


def test_rewrite_with_types():
    seen = []

    class Look(DFPatternCallback):
        def __init__(self):
            super().__init__(require_type=True)
            self.pattern = is_op("transpose")(wildcard())

        def callback(self, pre, post, node_map):
            seen.append(pre.checked_type.shape)
            return post

    rewrite(Look(), relay.transpose(relay.transpose(X) + relay.transpose(Y)))
    assert seen[-1] == (2, 3) and sorted(seen[:2]) == [(3, 2), (3, 2)]
    mod = tvm.IRModule({"f": relay.Function([X], relay.transpose(X))})
    rewrite(Look(), relay.transpose(relay.GlobalVar("f")(Y)), mod)
    assert seen[-1] == (2, 3)


# --- Partitions ---


def test_partition():
    a, b = relay.var("a"), relay.var("b")
    pattern = is_op("nn.relu")(wildcard() + wildcard())
    made = pattern.partition(relay.nn.relu(relay.tanh(X) + Y), {"Composite": "mine.add_relu"})
    expected = relay.Function([a, b], relay.nn.relu(a + b), attrs={"PartitionedFromPattern": "add_nn.relu_", "Composite": "mine.add_relu"})
    assert tvm.ir.structural_equal(made, expected(relay.tanh(X), Y))
    assert tvm.ir.structural_equal(pattern.partition(made), made)  # what is inside is done
    twice = partition(pattern, relay.nn.relu(relay.nn.relu(X + Y) + X))
    assert isinstance(twice.op, relay.Function) and isinstance(twice.args[0].op, relay.Function)
    refused = relay.nn.relu(X + Y)
    assert pattern.partition(refused, check=lambda e: e.op.name != "nn.relu") is refused


def test_what_others_read_is_no_part():
    pattern = is_op("nn.relu")(is_op("tanh")(wildcard()))
    t = relay.tanh(X)
    shared = relay.nn.relu(t) + t
    assert pattern.partition(shared) is shared
    pattern = is_op("multiply")(is_op("tanh")(wildcard()), wildcard())
    back = pattern.partition(t * relay.sigmoid(t))  # comes back to it
    assert isinstance(back.op, relay.Function) and len(back.args) == 2


def test_constants_are_inside_where_the_pattern_says_so():
    two = relay.const(2.0)
    assert len(is_op("add")(wildcard(), is_constant()).partition(X + two).args) == 1
    assert len(is_op("add")(wildcard(), is_expr(two)).partition(X + two).args) == 1
    assert len(is_op("add")(wildcard(), wildcard()).partition(X + two).args) == 2
    assert len(is_op("add")(wildcard(), is_var() | is_constant()).partition(X + two).args) == 1
    assert len(is_op("add")(wildcard(), is_var() | is_constant()).partition(X + Y).args) == 2


def test_partition_of_functions_and_tuples():
    f = relay.Function([p := relay.var("p")], relay.tanh(p))
    made = (FunctionPattern(None, is_op("tanh")(wildcard()))(wildcard()) + wildcard()).partition(f(X) + Y)
    assert made.op.attrs["PartitionedFromPattern"] == "tanh_FunctionCall_add_" and len(made.args) == 2
    made = is_op("concatenate")(is_tuple(None)).partition(relay.concatenate([X, Y, X], 0))
    assert made.op.attrs["PartitionedFromPattern"] == "Tuple_concatenate_" and len(made.args) == 2
    with pytest.warns(UserWarning, match="a function that is not called"):
        assert FunctionPattern(None, wildcard()).partition(f) is f


def test_long_programs_are_quick():
    z = X
    for _ in range(3000):
        z = relay.nn.relu(z + X)
    inner = wildcard()
    deep = is_op("nn.relu")(is_op("add")(inner, wildcard()))
    inner.redirect_to(deep | is_var())
    options = wildcard() + wildcard()
    for _ in range(25):
        options = options.optional(lambda y: is_op("nn.relu")(y)).optional(lambda y: is_op("add")(y, wildcard()))
    long = is_op("tanh")(wildcard())
    for _ in range(20):
        long = is_op("nn.relu")(is_op("add")(long, wildcard()))
    path = dominates(is_op("tanh")(wildcard()), ELEMENTWISE | (wildcard() + wildcard()), wildcard() + wildcard())
    begin = time.process_time()
    assert deep.match(z) and options.match(z)
    assert long.partition(z) is z and path.partition(z) is z
    assert is_op("nn.relu")(wildcard() + wildcard()).partition(z).op.attrs["PartitionedFromPattern"] == "add_nn.relu_"
    y = relay.tanh(X)
    for _ in range(2000):
        y = relay.nn.relu(y + y)
    assert path.match(y + y)
    assert time.process_time() - begin < 60  # seconds that only quadratic time would need
