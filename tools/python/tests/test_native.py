"""create_executor("aot"): native code gives what the VM gives."""
import os
import re
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")


def example(name):
    return os.path.join(EXAMPLES, name)


def both(mod, params=None, **options):
    return [rvm.create_executor(kind, mod, params, **options).evaluate() for kind in ("aot", "vm")]


def test_a_static_network():
    text = open(example("cnn.relay")).read()
    native, vm = both(re.sub(r"%x: Tensor\[\([^)]*\)", "%x: Tensor[(2, 3, 29, 37)", text, count=1), example("cnn.npz"))
    pictures = np.load(example("cnn_pictures.npy"))
    np.testing.assert_allclose(native(pictures), vm(pictures), rtol=1e-5)
    np.testing.assert_allclose(native(x=pictures), np.load(example("cnn.expected.npy")), atol=1e-5)
    assert [(a.name, tuple(a.shape)) for a in native.inputs] == [("x", (2, 3, 29, 37))]
    with pytest.raises(ValueError, match="x"):
        native(pictures[:1])


def test_an_lstm_over_any_number_of_words():
    native, vm = both(rvm.parse(open(example("lstm.relay")).read()), example("lstm.npz"))
    for words in ([7], [3, 1, 4, 1, 5], [2] * 40):
        words = np.array(words, "i4")
        np.testing.assert_allclose(native(words), vm(words), rtol=1e-5)


def test_trees():
    mod = rvm.parse(open(example("tree_lstm.relay")).read())
    native, vm = both(mod, example("tree_lstm.npz"))
    leaves = [rvm.Adt("Leaf", np.load(example(f"tree_lstm_leaf{i}.npy"))) for i in range(3)]
    tree = rvm.Adt("Node", rvm.Adt("Node", leaves[0], leaves[1]), leaves[2])
    np.testing.assert_allclose(native(tree), vm(tree), rtol=1e-5)


def test_scalars_tuples_lists_and_closures():
    native, vm = both(HEADER + """
type List[A] { Cons(A, List[A]), Nil, }
def @map(%f: fn(int64) -> int64, %l: List[int64]) -> List[int64] {
  match (%l) { Cons(%h, %t) => { Cons(%f(%h), @map(%f, %t)) }, Nil => { Nil } }
}
def @main(%l: List[int64], %n: int64, %p: (float32, bool)) {
  (@map(fn (%x: int64) -> int64 { multiply(%x, %n) }, %l), %p.1, %p.0)
}
""")
    for run in native, vm:
        numbers, truth, half = run([1, 2, 3], 5, (0.5, True))
        assert [int(i) for i in numbers.to_list()] == [5, 10, 15] and truth and half == 0.5
    native, vm = both(HEADER + """
def @sum(%i: int32, %n: int32, %s: int32) -> int32 { if (less(%i, %n)) { @sum(add(%i, 1), %n, add(%s, %i)) } else { %s } }
def @main(%n: int32) -> int32 { @sum(0, %n, 0) }
""")
    assert native(1000) == vm(1000) == 499500


def test_results_outlive_their_executor():
    """A constant that is a result lies in the code's memory."""
    params = {"w": np.arange(100000, dtype="f4")}
    native, _ = both(HEADER + "def @main(%x: Tensor[(?), float32], %w: Tensor[(100000), float32]) { (%w, concatenate((%x, %x))) }", params)
    w, _ = native(np.ones(2, "f4"))
    del native
    np.testing.assert_array_equal(w, params["w"])


def test_failures_are_those_of_the_vm():
    native, vm = both(HEADER + "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }")
    texts = []
    for run in native, vm:
        with pytest.raises(rvm.Error) as e:
            run(np.ones(2, "f4"), np.ones(3, "f4"))
        texts.append(str(e.value))
    assert texts[0] == texts[1]
    with pytest.raises(rvm.Unsupported, match="function of the host"):
        rvm.create_executor("aot", HEADER + "def @f(%x: int64, host=1) -> int64;\ndef @main(%x: int64) -> int64 { @f(%x) }").evaluate()


def test_ctrl_c_ends_a_run():
    run = rvm.create_executor("aot", HEADER + """
def @loop(%l: Tensor[(?), int64], %n: int64) -> Tensor[(?), int64] { if (less(%n, 0i64)) { %l } else { @loop(%l, add(%n, 0i64)) } }
def @main(%l: Tensor[(?), int64]) { @loop(%l, 1i64) }
""").evaluate()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(np.ones(2, "i8"))
    assert time.monotonic() - start < 10
