"""create_executor: the ways to run a program."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
DENSE = HEADER + """
def @twice(%a: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { multiply(%a, 2f) }
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %h = nn.dense(%x, %w, units=3);
  (@twice(%h), nn.relu(%h))
}
"""
LIST = HEADER + """
type List[A] { Cons(A, List[A]), Nil, }
def @main(%l: List[int64], %n: int64) -> List[int64] {
  match (%l) {
    Cons(%h, %t) => { if (less(%h, %n)) { Cons(multiply(%h, %n), @main(%t, %n)) } else { @main(%t, %n) } },
    Nil => { Nil },
  }
}
"""
W = np.arange(12, dtype="f4").reshape(3, 4)
X = np.linspace(-1, 1, 8, dtype="f4").reshape(2, 4)


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_programs_give_what_a_model_gives(kind):
    run = rvm.create_executor(kind, rvm.parse(DENSE), {"w": W}).evaluate()
    for twice, relu in (run(X), run(x=X)):
        np.testing.assert_allclose(twice, X @ W.T * 2, rtol=1e-5)
        np.testing.assert_allclose(relu, np.maximum(X @ W.T, 0), rtol=1e-5)
    assert [a.name for a in run.inputs] == ["x"] and [a.shape[1] for a in run.outputs] == [3, 3]
    lists = rvm.create_executor(kind, mod=LIST).evaluate()
    assert [int(i) for i in lists([1, 7, 2], 5).to_list()] == [5, 10]
    assert type(lists([], n=5)) is rvm.Adt


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_evaluate_takes_a_function_or_its_name(kind):
    mod = rvm.parse(DENSE)
    executor = rvm.create_executor(kind, mod)
    for f in (executor.evaluate("twice"), executor.evaluate("@twice"), executor.evaluate(mod["twice"])):
        np.testing.assert_allclose(f(X[:, :3]), X[:, :3] * 2)
    with pytest.raises(KeyError, match="no function thrice; there are main, twice"):
        executor.evaluate("thrice")
    with pytest.raises(TypeError, match="a function's name or a RelayFunction, found int"):
        executor.evaluate(3)


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(ValueError, match="no executor 'interp'; executors: .*debug, .*vm"):
        rvm.create_executor("interp", rvm.parse(DENSE))
    with pytest.raises(TypeError, match="mod="):
        rvm.create_executor("vm")


def test_models_from_files(tmp_path):
    x = np.load(os.path.join(EXAMPLES, "newton_numbers.npy"))
    path = os.path.join(EXAMPLES, "newton.onnx")
    results = [rvm.create_executor(kind, path).evaluate()(x) for kind in ("vm", "debug")]
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    assert results[0][1] == results[1][1] == 14


def test_debug_shows_each_value_on_its_way():
    seen = []
    run = rvm.create_executor("debug", rvm.parse(DENSE, name="dense.relay"), {"w": W}, on_value=seen.append).evaluate()
    twice, _ = run(X)
    assert [(v.name, v.operator, v.function) for v in seen] == [
        ("%x", "parameter", "main"), ("%h", "nn.dense", "main"), ("%a", "parameter", "twice"), ("", "multiply", "twice"),
        ("", "@twice", "main"), ("", "nn.relu", "main"), ("", "tuple", "main")]
    np.testing.assert_allclose(seen[1].value, X @ W.T, rtol=1e-5)
    assert seen[6].value[0].shape == (2, 3)
    np.testing.assert_array_equal(seen[3].value, twice)
    assert (seen[1].place.file, seen[1].place.line) == ("dense.relay", 5) and "nn.dense" in seen[1].place.source_line
    assert seen[1].relay_type.endswith(", 3), float32]") and "min" in seen[1].summary and "nn.dense" in repr(seen[1])


def test_debug_shows_data_and_functions():
    seen = {}
    text = LIST + """
def @apply(%f: fn (int64) -> int64, %r: ref(int64)) -> int64 { %f(ref_read(%r)) }
def @other(%x: int64) {
  let %l = Cons(%x, Nil);
  let %r = ref(%x);
  let %f = fn (%y: int64) -> int64 { add(%y, %x) };
  (%l, @apply(%f, %r))
}
"""
    executor = rvm.create_executor("debug", text, on_value=lambda v: seen.setdefault(v.name, v))
    _, result = executor.evaluate("other")(20)
    assert result == 40
    match seen["%l"].value:
        case rvm.Adt("Cons", (head, rvm.Adt("Nil", ()))):
            assert head == 20
        case other:
            pytest.fail(repr(other))
    assert seen["%f"].value is None and seen["%r"].value is None and seen["%f"].summary.startswith("fn ")


def test_what_a_hook_raises_ends_the_run():
    def stop(value):
        if value.operator == "nn.dense":
            raise LookupError("seen enough")
    run = rvm.create_executor("debug", DENSE, on_value=stop).evaluate()
    with pytest.raises(LookupError, match="seen enough"):
        run(X, W)
    run.on_value = None
    assert run(X, W)[0].shape == (2, 3)


def test_debug_fails_as_the_program_does():
    run = rvm.create_executor("debug", HEADER + "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }").evaluate()
    with pytest.raises(rvm.FailedPrecondition, match="broadcast"):
        run(np.ones(2, "f4"), np.ones(3, "f4"))
    with pytest.raises(TypeError, match="input y .* is missing"):
        run(np.ones(2, "f4"))


def test_ctrl_c_ends_a_debug_run():
    run = rvm.create_executor("debug", HEADER + """
def @loop(%n: int64) -> int64 { if (less(%n, 0i64)) { %n } else { @loop(add(%n, 1i64)) } }
def @main(%n: int64) -> int64 { @loop(%n) }""").evaluate()
    begin = time.monotonic()
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        run(1)
    assert time.monotonic() - begin < 5
