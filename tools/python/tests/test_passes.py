"""Passes written in Python: alone, in a Sequential, in the pipeline."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay, transform

HEADER = '#[version = "0.0.5"]\n'
PROGRAM = HEADER + """
def @scale(%a: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { multiply(%a, add(1f, 1f)) }
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) -> Tensor[(?, 3), float32] {
  nn.relu(@scale(nn.dense(%x, %w, units=3)))
}
"""
X, W = np.full((2, 4), 2, "f4"), np.ones((3, 4), "f4")


def names_of(mod):
    names = []
    rvm.post_order_visit(mod, lambda e: names.append(e.op.name) if isinstance(e, relay.Call) and isinstance(e.op, relay.Op) else None)
    return names


class Clip(rvm.ExprMutator):
    def visit_call(self, call):
        call = super().visit_call(call)
        return relay.clip(*call.args, a_min=0.0, a_max=6.0) if call.op == relay.op.nn.relu else call


@transform.function_pass(opt_level=1)
def relu_to_clip(fn, mod, ctx):
    """Replaces nn.relu."""
    assert isinstance(mod, rvm.Module) and isinstance(ctx, rvm.PassContext)
    return Clip().visit(fn)


def recorder(seen, name):
    @transform.module_pass(name=name)
    def run(mod, ctx):
        seen.append((name, names_of(mod)))
        return mod
    return run


def test_function_and_module_passes():
    mod = rvm.parse(PROGRAM)
    clipped = relu_to_clip(mod)
    assert relu_to_clip.name == "relu_to_clip" and relu_to_clip.__doc__ == "Replaces nn.relu." and repr(relu_to_clip) == "<pass relu_to_clip>"
    assert sorted(names_of(clipped)) == ["add", "clip", "multiply", "nn.dense"]
    np.testing.assert_array_equal(rvm.compile(clipped)(X, W), np.full((2, 3), 6))
    assert relu_to_clip(clipped) is not None and clipped["scale"]._handle.same_as(relu_to_clip(clipped)["scale"]._handle)

    @transform.function_pass(name="Negate")
    class Negate:
        """Negates the result."""

        def __init__(self, times):
            self.times = times

        def transform_function(self, fn, mod, ctx):
            if fn.name != "main":
                return fn
            body = fn.body
            for _ in range(self.times):
                body = relay.negative(body)
            return relay.Function(fn.params, body, fn.ret_type, attrs=fn.attrs)

    negate = Negate(3)
    assert negate.name == "Negate" and negate.times == 3
    np.testing.assert_array_equal(rvm.compile(negate(mod))(X, W), np.full((2, 3), -16))

    @transform.module_pass(opt_level=2, required=["FoldConstants", relu_to_clip])
    def drop_scale(mod, ctx):
        class Drop(rvm.ExprMutator):
            def visit_call(self, call):
                call = super().visit_call(call)
                return call.args[0] if call.op is mod.get_global_var("scale") else call
        return mod.with_functions({"main": Drop().visit(mod["main"]), "scale": None})

    dropped = transform.Sequential([drop_scale])(mod)
    assert dropped.functions == ["main"] and names_of(dropped) == ["nn.dense", "clip"]
    assert names_of(drop_scale(mod)) == ["nn.dense", "nn.relu"]  # what it requires runs in a Sequential alone
    both = transform.Sequential([transform.FoldConstants(), relu_to_clip, transform.Sequential([negate]), transform.EliminateDeadCode()])
    assert sorted(names_of(both(mod))) == ["clip", "multiply", "negative", "negative", "negative", "nn.dense"]
    with rvm.PassContext(disabled_pass=["relu_to_clip"]):
        assert "nn.relu" in names_of(both(mod))
    with rvm.PassContext(opt_level=0):
        assert "nn.relu" in names_of(both(mod))


def test_a_pass_runs_where_it_is_inserted():
    seen = []
    where = [transform.insert(recorder(seen, "First"), at="start"), transform.insert(recorder(seen, "BeforeFold"), before="FoldConstants"),
             transform.insert(recorder(seen, "AfterFold"), after="FoldConstants"), transform.insert(recorder(seen, "Second"), after="AfterFold"),
             transform.insert(relu_to_clip, after="Inline"), transform.insert(recorder(seen, "Fused"), after="FuseOps"),
             transform.insert(recorder(seen, "Last"), at="end")]
    exe = rvm.compile(rvm.parse(PROGRAM), passes=where)
    assert [name for name, _ in seen] == ["First", "BeforeFold", "AfterFold", "Second", "Fused", "Last"]
    ops = dict(seen)
    assert "nn.relu" in ops["First"] and ops["BeforeFold"].count("add") == 1 and "add" not in ops["AfterFold"] and "clip" in ops["AfterFold"]
    np.testing.assert_array_equal(exe(X, W), np.full((2, 3), 6))
    times = [name for name, _, _ in exe.pass_times]
    assert times.index("BeforeFold") + 1 == times.index("FoldConstants") == times.index("AfterFold") - 1
    assert "clip" in ops["Fused"] and "kernels" and exe.kernel_ir(exe.kernels[0])  # compiles again, with the passes
    assert seen[6:] and seen[:6] == seen[6:]

    with rvm.PassContext(passes=[transform.insert(relu_to_clip, at="start")]):
        np.testing.assert_array_equal(rvm.compile(PROGRAM)(X, W), np.full((2, 3), 6))
        np.testing.assert_array_equal(rvm.compile(PROGRAM, opt_level=0)(X, W), np.full((2, 3), 16))  # the pass has opt_level=1
    with rvm.PassContext(passes=[transform.insert(relu_to_clip, at="start")], disabled_pass=["relu_to_clip"]):
        np.testing.assert_array_equal(rvm.compile(PROGRAM)(X, W), np.full((2, 3), 16))
    several = rvm.compile(PROGRAM, target=["x86-64-v2", "x86-64-v3"], passes=where)
    np.testing.assert_array_equal(several(X, W), np.full((2, 3), 6))


@pytest.mark.parametrize("place", [name for name, holds in transform.places() if "final" not in holds])
def test_functions_may_be_changed_at_each_place_before_types_are_final(place):
    several = [name for name, _ in transform.places()].count(place) > 1
    insert = transform.insert(relu_to_clip, after=place + ("#1" if several else ""))
    text = HEADER + """
type Tree { Leaf(Tensor[(?, 4), float32]), Node(Tree, Tree) }
def @walk(%t: Tree, %f: fn (Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  match (%t) { Leaf(%x) => { %f(%x) }, Node(%l, %r) => { nn.relu(concatenate((@walk(%l, %f), @walk(%r, %f)))) } }
}
def @grow(%i: int32, %x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
  if (less(%i, 2)) { @grow(add(%i, 1), concatenate((%x, nn.relu(%x)))) } else { reshape(nn.relu(%x), newshape=[-1, 4]) }
}
def @main(%t: Tree, %k: float32) {
  let %c = ref(0f);
  let %f = fn (%x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
    let %_ = ref_write(%c, add(ref_read(%c), %k));
    multiply(nn.relu(%x), %k)
  };
  let %y = @grow(0, @walk(%t, %f));
  let %rows = take(shape_of(%y, dtype="int32"), 0);
  (%y, ref_read(%c), nn.relu(dyn.full(%k, expand_dims(%rows, axis=0), dtype="float32")))
}
"""
    leaf = np.arange(8, dtype="f4").reshape(2, 4)
    tree = rvm.Adt("Node", rvm.Adt("Leaf", leaf), rvm.Adt("Leaf", -leaf[:1]))
    y, c, rows = rvm.compile(text, passes=[insert])(tree, 2.0)
    walked = np.clip(np.concatenate([np.clip(leaf, 0, 6) * 2, np.zeros((1, 4), "f4")]), 0, 6)
    np.testing.assert_array_equal(y, np.concatenate([walked] * 4))
    assert c == 4 and rows.shape == (12,) and (rows == 2).all()


def test_what_a_pass_gives_is_checked():
    def pass_of(change):
        @transform.function_pass(name="Mine")
        def run(fn, mod, ctx):
            return change(fn) if fn.name == "main" else fn
        return [transform.insert(run, after="FoldConstants")], run

    def wrong(body):
        return lambda fn: relay.Function(fn.params, body(fn), fn.ret_type)

    # An operand that does not fit.
    passes, alone = pass_of(wrong(lambda fn: relay.add(fn.body, relay.const(np.ones(7, "f4")))))
    for run in (lambda: rvm.compile(PROGRAM, passes=passes), lambda: alone(rvm.parse(PROGRAM))):
        with pytest.raises(rvm.InvalidInput, match="(?s)pass Mine.*add") as error:
            run()
        assert error.value.line == 4  # of the function that it replaces
    # A variable twice.
    def twice(fn):
        v = relay.var("v")
        return relay.Let(v, fn.body, relay.Let(v, relay.negative(v), v))
    passes, alone = pass_of(wrong(twice))
    with pytest.raises(rvm.Error, match="(?s)pass Mine.*%v.*bound twice"):
        rvm.compile(PROGRAM, passes=passes)
    # No function.
    passes, alone = pass_of(lambda fn: fn.body)
    with pytest.raises(TypeError, match="pass Mine: expected it to give a relay.Function for @main, found Call"):
        rvm.compile(PROGRAM, passes=passes)
    # A module of another kind than it got.
    with pytest.raises(rvm.InvalidArgument, match="(?s)pass Sequential: it got a program that is checked, typed and gave one that is .*resolved"):
        rvm.compile(PROGRAM, passes=[transform.insert(transform.Sequential([transform.ResolveShapes()]), at="start")])
    # Too late.
    with pytest.raises(rvm.InvalidArgument, match="(?s)pass relu_to_clip: functions can be looked at here, but not changed.*start, after:CheckTypes.*after:"
                                                  "EliminateDeadCode#2$"):
        rvm.compile(PROGRAM, passes=[transform.insert(relu_to_clip, after="FuseOps")])
    assert [name for name, holds in transform.places() if "final" in holds][0] == "DropShapeOperands"


def test_modules_that_cannot_be_compiled():
    @transform.module_pass(name="Loses")
    def loses(mod, ctx):
        return mod.with_functions({"scale": None})

    with pytest.raises(rvm.Error, match="scale"):
        loses(rvm.parse(PROGRAM))
    with pytest.raises(rvm.Error, match="scale"):
        rvm.compile(PROGRAM, passes=[transform.insert(loses, at="start")])

    other = rvm.parse(PROGRAM).infer_types()
    with pytest.raises(rvm.InvalidArgument, match="pass Other: it gave a module of its own"):
        rvm.compile(PROGRAM, passes=[transform.insert(transform.module_pass(lambda mod, ctx: other, name="Other"), at="start")])
    empty = transform.module_pass(lambda mod, ctx: mod.with_functions({"main": None}), name="Empty")
    with pytest.raises(rvm.InvalidArgument, match="pass Empty: it gave a module without @main"):
        rvm.compile(PROGRAM, passes=[transform.insert(empty, at="start")])


def test_what_a_pass_raises_reaches_the_caller():
    class Mine(Exception):
        pass

    error = Mine("no")

    @transform.module_pass
    def fails(mod, ctx):
        raise error

    for run in (lambda: rvm.compile(PROGRAM, passes=[transform.insert(fails, before="FuseOps")]), lambda: fails(rvm.parse(PROGRAM))):
        with pytest.raises(Mine) as raised:
            run()
        assert raised.value is error and "fails" in [entry.name for entry in raised.traceback]
    assert rvm.compile(PROGRAM)(X, W)[0, 0] == 16


def test_arguments_of_insert():
    with pytest.raises(TypeError, match="one of after, before and at"):
        transform.insert(relu_to_clip)
    with pytest.raises(TypeError, match="expected a pass of Python"):
        transform.insert(transform.FuseOps(), at="start")
    with pytest.raises(ValueError, match='"start" or "end", found \'middle\''):
        transform.insert(relu_to_clip, at="middle")
    with pytest.raises(rvm.InvalidArgument, match="there is no pass Faster; there are CheckTypes"):
        rvm.compile(PROGRAM, passes=[transform.insert(relu_to_clip, after="Faster")])
    with pytest.raises(rvm.InvalidArgument, match="EliminateDeadCode runs 4 times; write before:EliminateDeadCode#1"):
        rvm.compile(PROGRAM, passes=[transform.insert(relu_to_clip, before="EliminateDeadCode")])
    with pytest.raises(TypeError, match="takes a Module, found str"):
        relu_to_clip(PROGRAM)
    with pytest.raises(TypeError, match="expected it to give a Module, found NoneType"):
        transform.module_pass(lambda mod, ctx: None)(rvm.parse(PROGRAM))


def test_python_goes_on_and_interrupts():
    seen = []

    @transform.module_pass
    def waits(mod, ctx):
        done.wait(5)
        seen.append(done.is_set())
        return mod

    done = threading.Event()
    threading.Timer(0.05, done.set).start()
    rvm.compile(PROGRAM, passes=[transform.insert(waits, at="start")])
    assert seen == [True]

    @transform.module_pass
    def endless(mod, ctx):
        while True:
            pass

    start = time.perf_counter()
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        rvm.compile(PROGRAM, passes=[transform.insert(endless, at="start")])
    assert time.perf_counter() - start < 4


def test_several_threads_compile_with_passes():
    results = []

    def work(i):
        @transform.function_pass
        def scaled(fn, mod, ctx):
            return relay.Function(fn.params, relay.multiply(fn.body, relay.const(float(i))), fn.ret_type)
        exe = rvm.compile(HEADER + "def @main(%x: float32) { add(%x, 1f) }", passes=[transform.insert(scaled, at="start")])
        results.append((i, float(exe(1.0))))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results) == [(i, 2 * i) for i in range(4)]


def test_print_ir(capsys):
    transform.Sequential([transform.FoldConstants(), transform.PrintIR("folded:")])(rvm.parse(PROGRAM))
    assert "folded:\n" in capsys.readouterr().out


GOOD = {"N": 2, "NAME": "fenced", "OPERATOR=DATA:KERNEL": {"nn.conv2d": ["NHWC", "default"]}, "IN=OUT": {"x": "output_0"},
        "ENGINE": "dnnl", "ENGINE.relay": "mine.relay"}
STREAM = HEADER + "def @main(%x: Tensor[(?, 4), float32]) { nn.relu(%x) }"


@pytest.mark.parametrize("row", rvm.compiler._native.pass_options([]), ids=lambda row: row["keyword"])
def test_each_option_that_a_pass_declares_is_a_keyword_and_a_setting(row):
    name = row["keyword"]
    good = True if row["is_flag"] else row["values"][0] if row["values"] else GOOD[row["form"]]
    told = rvm.PassContext.list_configs()[name]
    assert told["help"] == row["help"] and told["values"] == row["values"] and set(told["passes"]) <= set(transform.passes())
    mod = rvm.parse(STREAM if name == "states" else PROGRAM)
    assert rvm.compile(mod, **{name: good}).kernels
    with rvm.PassContext(config={name: good}) as context:
        assert context.config == {name: good} and rvm.compile(mod).kernels
    assert transform.Pass(row["passes"][0], **{name: good}).options == {name: good}
    shown = row["values"][-1] if row["values"] else {"N": "whole number"}.get(row["form"], row["form"])
    expected = rf"--{row['name']} \?!: .*{shown}"
    for door in (lambda: rvm.compile(mod, **{name: "?!"}), lambda: rvm.PassContext(config={name: "?!"}),
                 lambda: transform.FoldConstants(**{name: "?!"})(mod)):
        with pytest.raises(rvm.InvalidArgument, match=expected):
            door()
    with pytest.raises(ValueError, match=f"there are no settings {name}x; .*options of passes are byoc, byoc_only, byoc_regions, byoc_rules, device, "):
        rvm.PassContext(config={name + "x": good})


def test_settings_have_an_effect():
    mod, w = rvm.parse(PROGRAM), np.random.default_rng(0).normal(size=(3, 4)).astype("f4")
    with rvm.PassContext(config={"precision": "bf16"}):
        assert "bfloat16" in rvm.compile(mod, params={"w": w}).bytecode()
        assert "bfloat16" not in rvm.compile(mod, params={"w": w}, precision="fp32").bytecode()
    conv = rvm.parse(HEADER + "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) "
                     "{ nn.conv2d(%x, %w, kernel_size=[3, 3]) }")
    with rvm.PassContext(config={"layouts": {"nn.conv2d": "NHWC"}}, batching=True):
        assert 'data_layout="NHWC"' in str(transform.ConvertLayout()(conv))
        assert 'data_layout="NHWC"' not in str(transform.ConvertLayout(layouts="nn.conv2d=NCHW")(conv))
    with pytest.raises(rvm.InvalidArgument, match="it needs -O1 or more"):
        with rvm.PassContext(opt_level=0, config={"weights": "q8"}):
            rvm.compile(mod)


def test_a_pass_of_python_has_an_option():
    def one_to_six(value):
        if value not in range(1, 7):
            raise ValueError(f"expected 1 to 6, found {value!r}")
        return value

    most = transform.Option("most", one_to_six, 6, "what nn.relu is clipped to")

    @transform.function_pass
    def clip_to(fn, mod, ctx):
        class Clip(rvm.ExprMutator):
            def visit_call(self, call):
                call = super().visit_call(call)
                return relay.clip(*call.args, a_min=0.0, a_max=float(most.of(ctx))) if call.op == relay.op.nn.relu else call
        return Clip().visit(fn)

    passes = [transform.insert(clip_to, at="start")]
    assert rvm.PassContext.list_configs()["most"]["default"] == 6
    np.testing.assert_array_equal(rvm.compile(PROGRAM, passes=passes)(X, W), np.full((2, 3), 6))
    np.testing.assert_array_equal(rvm.compile(PROGRAM, passes=passes, most=3)(X, W), np.full((2, 3), 3))
    with rvm.PassContext(passes=passes, config={"most": 4}):
        np.testing.assert_array_equal(rvm.compile(PROGRAM)(X, W), np.full((2, 3), 4))
        np.testing.assert_array_equal(rvm.compile(PROGRAM, most=5)(X, W), np.full((2, 3), 5))
        assert "a_max=4" in str(clip_to(rvm.parse(PROGRAM)))
    for door in (lambda: rvm.compile(PROGRAM, most=9), lambda: rvm.PassContext(config={"most": 9})):
        with pytest.raises(ValueError, match="most: expected 1 to 6, found 9"):
            door()
    with pytest.raises(TypeError, match="there is no option moist; did you mean most"):
        rvm.compile(PROGRAM, moist=3)
    for taken in ("target", "weights", "opt_level", "passes", "disabled_passes", "not a name"):
        with pytest.raises(ValueError, match=f"Option: {taken} is no keyword, or one that compile has"):
            transform.Option(taken)
    del rvm.compiler._OF_PYTHON["most"]


def test_contexts_are_a_threads_own():
    seen = []
    with rvm.PassContext(opt_level=1):
        thread = threading.Thread(target=lambda: seen.append(rvm.PassContext.current().opt_level))
        thread.start()
        thread.join()
        assert seen == [3] and rvm.PassContext.current().opt_level == 1
