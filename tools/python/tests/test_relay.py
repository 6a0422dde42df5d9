"""Nodes: every kind of expression, walks, rebuilding, new programs."""
import glob
import os
import re

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

HEADER = '#[version = "0.0.5"]\n'
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
PROGRAM = HEADER + """
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) -> Tensor[(?, 3), float32] {
  %0 = nn.dense(%x, %w, units=3);
  %1 = nn.relu(%0);
  add(%1, multiply(%0, 2f))
}
"""
EVERYTHING = HEADER + """
type List[A] { Cons(A, List[A]), Nil }
def @sum[A](%xs: List[A], %f: fn (A) -> float32) -> float32 {
  match (%xs) { Cons(%x, %rest) => { add(%f(%x), @sum(%rest, %f)) }, Nil => { 0f } }
}
def @count(%n: int32, %cell: ref(int32)) -> int32 {
  if (greater(%n, 0)) {
    let %_ = ref_write(%cell, add(ref_read(%cell), %n));
    @count(subtract(%n, 1), %cell)
  } else {
    ref_read(%cell)
  }
}
def @main(%x: float32, %n: int32) {
  let %scale = fn (%a: float32) -> float32 { multiply(%a, %x) };
  let %cell = ref(0);
  let %pair = (@sum(Cons(1f, Cons(2f, Nil)), %scale), @count(%n, %cell));
  match? (%pair) { (%a, _) => { (%a, %pair.1) } }
}
"""


def nodes(of, kind=relay.Expr):
    found = []
    rvm.post_order_visit(of, lambda e: found.append(e) if isinstance(e, kind) else None)
    return found


def calls(of, name):
    return [c for c in nodes(of, relay.Call) if c.op is relay.op.get(name)]


class Copy(rvm.ExprMutator):
    """New nodes for all."""

    def visit_call(self, call):
        op, *args = [self.visit(e) for e in call._children()]
        return relay.Call(op, args, call.attrs, span=call.span)

    def visit_tuple(self, expr):
        return relay.Tuple([self.visit(e) for e in expr.fields], expr.span)


class ReluToClip(rvm.ExprMutator):
    def visit_call(self, call):
        call = super().visit_call(call)
        return relay.clip(*call.args, a_min=0.0, a_max=6.0) if call.op == relay.op.nn.relu else call


def test_fields_types_and_spans():
    main = rvm.parse(PROGRAM, name="p.relay")["main"]
    x, w = main.params
    assert [x.name_hint, w.name_hint] == ["x", "w"] and w.checked_type == relay.TensorType((3, 4), "float32")
    assert x.checked_type.shape[1] == 4 and isinstance(x.checked_type.shape[0], relay.Dim) and str(x.checked_type.shape[0]) == "x.0"
    assert x.checked_type.dtype == "float32" and str(w.checked_type) == "Tensor[(3, 4), float32]"
    add = main.body
    assert add.op is relay.op.get("add") is relay.op.add and add.op.name == "add" and add.op.num_inputs == 2
    relu, multiply = add.args
    dense = relu.args[0]
    assert dense is multiply.args[0]  # shared, so that it is the same object
    assert dense.attrs.units == 3 and dense.attrs["units"] == 3 and dict(dense.attrs) == {"units": 3, "out_dtype": ""}
    with pytest.raises(AttributeError, match="no attribute axis; there are out_dtype, units"):
        dense.attrs.axis
    assert (dense.span.file, dense.span.line, dense.span.column) == ("p.relay", 4, 8) and str(dense.span) == "p.relay:4:8"
    assert multiply.args[1].data == 2 and multiply.args[1].data.dtype == "float32"
    assert isinstance(main.checked_type, relay.FuncType) and main.checked_type.arg_types == (x.checked_type, w.checked_type)
    assert main.ret_type == add.checked_type and main.name == "main"
    assert repr(add) == "add(nn.relu(nn.dense(%x, %w, out_dtype=\"\", units=3)), multiply(nn.dense(%x, %w, out_dtype=\"\", units=3), 2.0 /* float32 */))"
    with pytest.raises(AttributeError, match="nodes do not change: make a new Call"):
        add.args = ()
    new = relay.nn.relu(x)
    with pytest.raises(ValueError, match=r"nn.relu\(%x\) has no type yet"):
        new.checked_type


def test_every_kind_of_expression():
    mod = rvm.parse(EVERYTHING)
    assert [g.name_hint for g in mod.get_global_vars()] == ["count", "main", "sum"] and mod[mod.get_global_var("sum")] is mod["sum"]
    kinds = {type(e).__name__ for f in mod.functions for e in nodes(mod[f])}
    assert kinds == {"Var", "Constant", "GlobalVar", "Constructor", "Op", "Call", "Tuple", "TupleGetItem", "Let", "Function", "If", "Match",
                     "RefCreate", "RefRead", "RefWrite"}
    total = mod["sum"]
    assert str(total.checked_type) == "fn [A](List[A], fn (A) -> float32) -> float32" and len(total.type_params) == 1
    assert total.params[0].checked_type == relay.TypeCall("List", total.type_params)
    match = total.body
    cons, nil = match.clauses
    assert match.complete and cons.lhs.constructor is mod.get_constructor("List", "Cons") and [p.var.name_hint for p in cons.lhs.patterns] == ["x", "rest"]
    assert repr(cons.lhs) == "Cons(%x, %rest)" and nil.lhs.patterns == () and nil.rhs.data == 0
    # Closures may have effects, and so may who calls them: lets keep the order.
    effects = [cons.rhs, cons.rhs.body]
    assert all(isinstance(e, relay.Let) and e.var.name_hint == "" for e in effects) and effects[0].value.op is total.params[1]
    recursive = effects[1].value
    assert effects[1].body.args == (effects[0].var, effects[1].var) and recursive.op is mod.get_global_var("sum") and recursive.attrs is None
    definition = mod.type_definitions["List"]
    assert [c.name_hint for c in definition.constructors] == ["Cons", "Nil"] and definition.fields["Cons"][0] == definition.type_vars[0]
    assert str(mod.get_constructor("List", "Cons").checked_type) == "fn [A](A, List[A]) -> List[A]"
    count = mod["count"].body
    assert isinstance(count, relay.If) and isinstance(count.true_branch.value, relay.RefRead)
    assert isinstance(count.true_branch.body.value, relay.RefWrite)
    assert isinstance(count.false_branch, relay.RefRead) and count.false_branch.ref is mod["count"].params[1]
    assert mod["count"].params[1].checked_type.value == relay.scalar_type("int32")
    scale = mod["main"].body
    assert scale.var.name_hint == "scale" and isinstance(scale.value, relay.Function) and scale.value.body.args[1] is mod["main"].params[0]
    tail = scale
    while isinstance(tail, relay.Let):
        tail = tail.body
    assert not tail.complete and isinstance(tail.clauses[0].lhs, relay.PatternTuple)
    assert isinstance(tail.clauses[0].lhs.patterns[1], relay.PatternWildcard) and isinstance(tail.checked_type, relay.TupleType)
    assert tail.checked_type.fields == (relay.scalar_type("float32"), relay.scalar_type("int32"))
    assert scale.checked_type == tail.checked_type


def test_visits_operands_first_and_each_once():
    main = rvm.parse(PROGRAM)["main"]
    order = nodes(main)
    assert len(order) == len(set(map(id, order))) and order[-1] is main
    position = {id(e): i for i, e in enumerate(order)}
    assert all(position[id(part)] < position[id(e)] for e in order for part in e._children())
    assert len(calls(main, "nn.dense")) == 1 and len(nodes(rvm.parse(EVERYTHING))) > 30

    class Count(rvm.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.names = []

        def visit_call(self, call):
            super().visit_call(call)
            self.names.append(call.op.name)

    count = Count()
    count.visit(main)
    assert count.names == ["nn.dense", "nn.relu", "multiply", "add"]


def test_mutators_keep_what_does_not_change():
    mod = rvm.parse(PROGRAM)
    main = mod["main"]
    assert rvm.ExprMutator().visit(main) is main and mod.with_functions({"main": main}) is mod
    clipped = ReluToClip().visit(main)
    assert clipped is not main and clipped.body.args[0].args[0] is main.body.args[0].args[0]  # the dense is as it was
    assert clipped.body.args[1] is main.body.args[1] and clipped.body.args[0].span == main.body.args[0].span
    new = mod.with_functions({"main": clipped})
    assert not calls(new, "nn.relu") and len(calls(new, "nn.dense")) == 1 and calls(mod, "nn.relu")
    x, w = np.full((2, 4), 2, "f4"), np.ones((3, 4), "f4")
    np.testing.assert_array_equal(rvm.compile(mod)(x, w), np.full((2, 3), 24))
    np.testing.assert_array_equal(rvm.compile(new)(x, w), np.full((2, 3), 22))


def without_numbers(mod):
    """The text without numbers in names, and with lines sorted: what has no effect may be evaluated in another order. Without those that
    read sizes, which inference puts where they are needed, and without names of symbols, of which it takes the first that it sees."""
    text = re.sub(r"\bv\d+", "v", mod.astext(False))
    text = re.sub(r"(?<![%\w.])[A-Za-z_]\w*\.\d+\b", "?", text)
    return sorted(re.sub(r"%_\d+", "%_", line) for line in text.splitlines() if ": int64 = dim(" not in line)


PROGRAMS = sorted(glob.glob(os.path.join(ROOT, "tests/programs/*.relay")) + glob.glob(os.path.join(ROOT, "tools/examples/*.relay")))


@pytest.mark.parametrize("path", PROGRAMS, ids=os.path.basename)
def test_programs_are_the_same_after_a_round_trip(path):
    with open(path) as f:
        text = f.read()
    try:
        mod = rvm.parse(text, name=path)
    except rvm.Error:
        return  # a test of what is refused
    typed = mod.infer_types()
    copied = typed.with_functions({name: Copy().visit(typed[name]) for name in typed.functions})
    assert without_numbers(copied) == without_numbers(typed)
    for name in typed.functions:
        if "host" not in typed[name].attrs:
            assert len(nodes(typed[name])) == len(nodes(copied[name]))


def test_results_are_the_same_after_a_round_trip():
    mod = rvm.parse(EVERYTHING)
    copied = mod.with_functions({name: Copy().visit(mod[name]) for name in mod.functions})
    expected = rvm.compile(mod)(3.0, 4)
    assert [float(v) for v in rvm.compile(copied)(3.0, 4)] == [float(v) for v in expected] == [9, 10]
    assert [float(v) for v in rvm.compile(copied, opt_level=0)(3.0, 4)] == [9, 10]


def test_types_follow_a_change():
    mod = rvm.parse(HEADER + """
def @main(%x: Tensor[(?, 4), float32]) {
  let %y = nn.relu(%x);
  let %f = fn (%a: Tensor[(2, 4), float32]) { negative(%a) };
  (sum(%y, axis=[1]), %y, %f)
}
""")

    class Half(rvm.ExprMutator):
        def visit_call(self, call):
            call = super().visit_call(call)
            return relay.cast(call, dtype="float16") if call.op == relay.op.nn.relu else call

    new = mod.with_functions({"main": Half().visit(mod["main"])})
    assert str(new["main"].ret_type).startswith("(Tensor[(x.0), float16], Tensor[(x.0, 4), float16], fn ")


def test_a_chain_of_a_hundred_thousand():
    x = relay.var("x", shape=(2,))
    y = x
    for _ in range(100_000):
        y = relay.Call("negative", [y])
    function = relay.Function([x], y)
    assert len(nodes(function, relay.Call)) == 100_000

    class ToAbs(rvm.ExprMutator):
        def visit_call(self, call):
            return relay.Call(relay.op.abs, [self.visit(call.args[0])])

    assert len(calls(ToAbs().visit(function), "abs")) == 100_000

    lets = [relay.var(f"v{i}") for i in range(5_000)]
    body = lets[-1]
    for i in reversed(range(5_000)):
        body = relay.Let(lets[i], relay.Call("negative", [lets[i - 1] if i else x]), body)
    mod = rvm.IRModule({"main": relay.Function([x], body), "other": relay.Function([x], y)})
    assert len(nodes(mod["other"], relay.Call)) == 100_000
    assert len(nodes(mod["main"], relay.Let)) == 5_000 and rvm.ExprMutator().visit(mod["main"]) is mod["main"]
    assert str(mod["main"].body.checked_type) == "Tensor[(2), float32]"


def test_new_programs():
    w = np.arange(12, dtype="f4").reshape(3, 4)
    x = relay.var("x", shape=("n", 4))
    y = relay.nn.relu(relay.nn.dense(x, relay.const(w), units=3))
    mod = rvm.IRModule.from_expr(relay.Function([x], relay.Tuple([y, relay.add(y, relay.const(1.0))])))
    assert str(mod["main"].ret_type) == "(Tensor[(n, 3), float32], Tensor[(n, 3), float32])"
    a, b = rvm.compile(mod)(np.ones((2, 4), "f4"))
    np.testing.assert_array_equal(a, np.ones((2, 4)) @ w.T)
    np.testing.assert_array_equal(b, a + 1)
    assert str(rvm.parse(mod.astext())) is not None and relay.const(3).checked_type == relay.scalar_type("int32")

    n, loop = relay.var("n", "int32"), relay.GlobalVar("loop")
    body = relay.If(relay.less(n, relay.const(10)), loop(relay.add(n, relay.const(3))), n)
    mod = rvm.IRModule({loop: relay.Function([n], body), "main": relay.Function([m := relay.var("m", "int32")], loop(m))})
    assert rvm.compile(mod)(1) == 10

    lists = rvm.parse(EVERYTHING)
    cons, nil = lists.type_definitions["List"].constructors
    a, f = relay.var("a", "float32"), relay.var("b", "float32")
    scale = relay.Function([f], relay.multiply(f, a))
    mod = lists.with_functions({"twice": relay.Function([a], lists.get_global_var("sum")(cons(a, cons(a, nil())), scale))})
    assert rvm.compile(mod, entry="twice")(3.0) == 18
    cell, out = relay.var("cell"), relay.var("")
    write = relay.Let(cell, relay.RefCreate(a), relay.Let(out, relay.RefWrite(cell, relay.const(5.0)), relay.RefRead(cell)))
    assert rvm.compile(rvm.IRModule.from_expr(relay.Function([a], write)))(1.0) == 5
    xs, head = relay.var("xs", relay.TypeCall("List", [relay.scalar_type("float32")])), relay.var("head")
    first = relay.Match(xs, [relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(head), relay.PatternWildcard()]), head),
                             relay.Clause(relay.PatternConstructor(nil), relay.const(-1.0))])
    mod = rvm.IRModule({"main": relay.Function([xs], first)}, type_definitions=lists)
    assert rvm.compile(mod)([7.0, 8.0]) == 7 and rvm.compile(mod)([]) == -1
    same = rvm.IRModule({"main": mod["main"]}, type_definitions=mod)
    assert rvm.compile(same)([7.0]) == 7


def test_what_is_wrong_is_said():
    mod = rvm.parse(PROGRAM, name="p.relay")
    x, w = mod["main"].params
    dense = calls(mod, "nn.dense")[0]

    def with_body(body):
        return mod.with_functions({"main": relay.Function([x, w], body)})

    with pytest.raises(TypeError, match="nn.dense: missing a required argument: 'weight'; it takes"):
        relay.nn.dense(x, units=3)
    with pytest.raises(TypeError, match="nn.dense: there is no parameter unit; did you mean units"):
        relay.nn.dense(x, w, unit=3)
    with pytest.raises(AttributeError, match="there is no operator nn.danse"):
        relay.nn.danse
    with pytest.raises(TypeError, match="arguments of add: expected Expr, found float"):
        relay.Call("add", [x, 1.0])
    with pytest.raises(rvm.InvalidInput, match=r"variable %other is used outside its scope"):
        with_body(relay.add(dense, relay.var("other", shape=(3,))))
    with pytest.raises(rvm.InvalidInput, match=r"p.relay:4:8.*\n?.*add"):
        with_body(relay.Call("add", [dense, relay.const(np.ones(7, "f4"))], span=dense.span))
    with pytest.raises(rvm.Error, match="other"):
        with_body(relay.GlobalVar("other")(x))
    with pytest.raises(rvm.InvalidInput, match="the type of %a0 cannot be inferred"):  # of an operator that is a value
        with_body(relay.Tuple([relay.op.add]))
    with pytest.raises(TypeError, match="expected a relay.Function, found Call"):
        mod.with_functions({"main": dense})
    with pytest.raises(KeyError, match="there is no constructor Leaf of a type Tree"):
        mod.get_constructor("Tree", "Leaf")
    with pytest.raises(rvm.InvalidInput, match="add"):
        rvm.IRModule.from_expr(relay.Function([], relay.add(relay.const(np.ones(2, "f4")), relay.const(np.ones(3, "f4")))))


def test_large_constants_are_not_copied():
    buffer = np.zeros(64 + 4 * (1 << 20), "u1")
    start = -buffer.ctypes.data % 64
    w = buffer[start:start + 4 * (1 << 20)].view("f4").reshape(1024, 1024)
    mod = rvm.bind_params_by_name(rvm.parse(HEADER + """
def @main(%x: Tensor[(?, 1024), float32], %w: Tensor[(1024, 1024), float32]) { nn.relu(nn.dense(%x, %w, units=1024)) }
"""), {"w": w})
    new = mod.with_functions({"main": ReluToClip().visit(mod["main"])})
    copied = new.with_functions({"main": Copy().visit(new["main"])})
    for m in (mod, new, copied):
        constant = next(c for c in nodes(m, relay.Constant) if c.checked_type.shape)
        assert constant.data.ctypes.data == w.ctypes.data and constant.name == "w" and not constant.data.flags.writeable
    assert relay.const(w).data.ctypes.data == w.ctypes.data
    data = constant.data
    del mod, new, copied, constant, m
    assert data.sum() == 0  # it keeps its memory
    assert relay.const(np.ones((2, 0), "f4")).data.shape == (2, 0) and relay.const(True).data.dtype == bool


def test_names_inside_of_lists_are_compared():
    definitions = rvm.parse("""#[version = "0.0.5"]
        type List[A] { Cons(A, List[A]), Nil }
        def @main() { 1f }""")

    def tensor(*shape):
        return relay.TensorType(shape)

    def load(*types):
        params = [relay.var(f"x{i}", t) for i, t in enumerate(types)]
        return rvm.compile(rvm.IRModule({"main": relay.Function(params, relay.Tuple(params))}, definitions)).load()

    def rows(n):
        return np.ones((n, 4), "f4")

    def items(*tensors):
        chain = rvm.Adt("Nil")
        for one in reversed(tensors):
            chain = rvm.Adt("Cons", one, chain)
        return chain

    model = load(tensor("n", 4), relay.TypeCall("List", [tensor("n", 4)]))
    assert [i.relay_type for i in model.inputs] == ["Tensor[(n, 4), float32]", "List[Tensor[(n, 4), float32]]"]
    model(rows(2), items(rows(2), rows(2)))
    with pytest.raises(rvm.InvalidArgument, match=r"x0's dim 0 \(n\) is 2, a tensor in x1's dim 0 \(n\) is 3"):
        model(rows(2), items(rows(2), rows(3)))
    # Of one list, of two, and in a tuple.
    model = load(relay.TypeCall("List", [tensor("n", 4)]), relay.TypeCall("List", [tensor("n", 4)]))
    model(items(rows(3)), items(rows(3), rows(3)))
    for wrong in [(items(rows(3), rows(2)), items()), (items(rows(3)), items(rows(2)))]:
        with pytest.raises(rvm.InvalidArgument, match=r"\(n\) is 3.*\(n\) is 2"):
            model(*wrong)
    model = load(tensor("k", 4), relay.TupleType([tensor("n", 4), relay.TypeCall("List", [tensor("k", 4)])]))
    model(rows(1), (rows(2), items(rows(1))))
    with pytest.raises(rvm.InvalidArgument, match=r"\(k\) is 1.*\(k\) is 2"):
        model(rows(1), (rows(2), items(rows(2))))
