"""Modules, options, passes."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
PROGRAM = HEADER + """
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) -> Tensor[(?, 3), float32] {
  %0 = nn.dense(%x, %w, units=3);
  add(%0, multiply(2f, 3f))
}
"""


def test_modules_print_and_parse_back():
    mod = rvm.parse(PROGRAM)
    again = rvm.parse(mod.astext())
    assert str(again) == str(mod) and "nn.dense" in str(mod)
    assert mod.functions == ["main"] and "main" in mod and [p.name_hint for p in mod["main"].params] == ["x", "w"]
    assert "nn.dense" in str(mod["main"]) and "<pre" in mod._repr_html_()
    with pytest.raises(KeyError, match="no function other"):
        mod["other"]


@pytest.mark.parametrize("example", ["cnn", "lstm", "tree_lstm", "lists", "while_loop"])
def test_examples_read_print_and_compile(example, tmp_path):
    with open(os.path.join(EXAMPLES, example + ".relay")) as f:
        mod = rvm.parse(f.read(), name=example)
    assert rvm.parse(mod.astext()).astext() == mod.astext()
    weights = os.path.join(EXAMPLES, example + ".npz")
    params = weights if os.path.exists(weights) else None
    exe = rvm.compile(mod, params=params, target=["x86-64-v2", "x86-64-v3"])
    assert exe.bytecode() and exe.pass_times[0][0] == "CheckTypes"
    exe.save(tmp_path / "m.vmx")
    assert rvm.load(tmp_path / "m.vmx").functions


def test_params_are_bound_by_name():
    w = np.arange(12, dtype="f4").reshape(3, 4)
    x = np.ones((2, 4), "f4")
    expected = x @ w.T + 6
    mod = rvm.parse(PROGRAM)
    for exe in (rvm.compile(mod, params={"w": w}), rvm.compile(rvm.bind_params_by_name(mod, {"w": w})),
                rvm.compile(rvm.bind_params_by_name(mod["main"], {"w": w})), rvm.compile(PROGRAM, "llvm", params={"w": w})):
        np.testing.assert_allclose(exe(x), expected)
        assert [a.name for a in exe.model.inputs] == ["x"]
    with pytest.raises(rvm.Error, match="other"):
        rvm.compile(mod, params={"other": w})
    with pytest.raises(rvm.Error, match="w"):
        rvm.compile(mod, params={"w": w.T.copy()})


def test_options():
    mod = rvm.parse(PROGRAM)
    with pytest.raises(TypeError, match="there is no option fast; options: .*opt_level|there is no option fast"):
        rvm.compile(mod, fast=True)
    with pytest.raises(rvm.InvalidArgument, match="native, x86-64-v2"):
        rvm.compile(mod, target="cuda")
    with rvm.PassContext(opt_level=0):
        with rvm.PassContext(disabled_pass=["FuseOps"]):
            names = [name for name, _, part in rvm.compile(mod).pass_times if not part]
        assert "FuseOps" not in names and "FoldConstants" in names
        assert "FoldConstants" not in [name for name, _, _ in rvm.compile(mod).pass_times]
        assert "FoldConstants" in [name for name, _, _ in rvm.compile(mod, opt_level=3).pass_times]
    seen = []
    rvm.compile(mod, progress=lambda what, done, total: seen.append(what))
    assert "FuseOps" in seen and "kernels" in seen
    exe = rvm.compile(PROGRAM, shape={"x": (5, None)})
    assert exe.model.inputs[0].shape == [5, 4]


def test_passes_one_by_one():
    mod = rvm.parse(PROGRAM)
    assert "multiply" in str(mod)
    folded = rvm.transform.FoldConstants(verify=True)(mod)
    assert "multiply" not in str(folded) and "multiply" in str(mod)
    w, x = np.ones((3, 4), "f4"), np.ones((2, 4), "f4")
    np.testing.assert_array_equal(rvm.compile(folded)(x, w), np.full((2, 3), 10))
    all_of = rvm.transform.Sequential([rvm.transform.InferType(), rvm.transform.SimplifyInference(), rvm.transform.FoldConstant(),
                                       rvm.transform.DeadCodeElimination()], verify=True)
    np.testing.assert_array_equal(rvm.compile(all_of(mod))(x, w), np.full((2, 3), 10))
    assert "FuseOps" in rvm.transform.passes() and "FuseOps" in dir(rvm.transform)
    with pytest.raises(AttributeError, match="there is no pass Faster; there are CheckTypes"):
        rvm.transform.Faster
    with pytest.raises(AttributeError, match=r"there is no pass FuseOp; did you mean FuseOps\?; there are CheckTypes"):
        rvm.transform.FuseOp
    for layouts in (rvm.transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]}), rvm.transform.ConvertLayout(layouts="nn.conv2d=NHWC:default")):
        conv = rvm.transform.Sequential([rvm.transform.ResolveShapes(), layouts])(rvm.parse(
            "#[version = \"0.0.5\"]\n"
            "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) { nn.conv2d(%x, %w, kernel_size=[3, 3]) }"))
        assert 'data_layout="NHWC"' in str(conv)
    with pytest.raises(rvm.InvalidArgument, match="FuseOps needs a program that is"):
        rvm.transform.FuseOps()(mod)
    fused = rvm.transform.Sequential([rvm.transform.ResolveShapes(), rvm.transform.DropShapeOperands(), rvm.transform.FuseOps()])(mod)
    assert "Primitive" in fused.astext(show_meta_data=False) or "fused" in fused.astext(show_meta_data=False)
    with pytest.raises(rvm.InvalidArgument, match="gone through passes"):
        rvm.compile(fused)


@pytest.mark.parametrize("name", sorted(set(rvm.transform.passes()) - {"FuseOps", "SplitBatches", "Rematerialise", "SinkViews", "DropShapeOperands", "LambdaLift"}))
def test_each_pass_keeps_the_meaning(name):
    text = HEADER + """
def @f(%x: Tensor[(?, 8), float32], %n: int32) -> Tensor[(?, 8), float32] {
  if (less(%n, 3)) { @f(add(%x, multiply(%x, 0.5f)), add(%n, 1)) } else { %x }
}
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(?, 8), float32] {
  let %y = nn.softmax(nn.dense(@f(%x, 0), %w, units=8));
  add(nn.dense(%y, %w, units=8), reshape(%y, newshape=[-1, 8]))
}
"""
    rng = np.random.default_rng(1)
    x, w = rng.random((5, 8)).astype("f4"), rng.random((8, 8)).astype("f4")
    mod = rvm.bind_params_by_name(rvm.parse(text), {"w": w})
    expected = rvm.compile(mod, opt_level=0)(x)
    passed = rvm.transform.Sequential([rvm.transform.CheckTypes(), getattr(rvm.transform, name)()], verify=True)(mod)
    np.testing.assert_allclose(rvm.compile(passed)(x), expected, rtol=1e-5)


def test_keyboard_interrupt_stops_a_compilation():
    lines = "\n".join(f"  let %v{i + 1} = nn.dense(tanh(%v{i}), %w, units={64 + 0 * i});" for i in range(1500))
    text = HEADER + f"def @main(%v0: Tensor[(?, 64), float32], %w: Tensor[(64, 64), float32]) -> Tensor[(?, 64), float32] {{\n{lines}\n  %v1500\n}}\n"
    mod = rvm.parse(text)
    times = []

    def interrupt():
        time.sleep(0.05)
        times.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    start = time.perf_counter()
    thread.start()
    try:
        rvm.compile(mod)
    except KeyboardInterrupt:
        assert time.perf_counter() - times[0] < 1
    else:
        assert time.perf_counter() - start < 1  # faster than the signal
    finally:
        thread.join()


def test_two_threads_compile_at_once():
    results = []

    def work(i):
        exe = rvm.compile(HEADER + f"def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] {{ add(%x, {i}f) }}")
        results.append((i, float(exe([1.0])[0])))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results) == [(i, i + 1) for i in range(6)]


def test_threads_share_a_module():
    mod = rvm.parse(HEADER + """
def @step(%i: int32, %x: Tensor[(?, 8), float32]) -> Tensor[(?, 8), float32] {
  if (less(%i, 4)) { @step(add(%i, 1), tanh(add(%x, multiply(%x, %x)))) } else { %x }
}
def @main(%x: Tensor[(?, 8), float32]) { @step(0, %x) }
""")
    x = np.full((3, 8), 0.25, np.float32)
    text = str(mod)
    results, errors = [], []

    def work(i):
        try:
            for _ in range(5):
                if i % 3 == 0:
                    results.append(rvm.compile(mod)(x).tobytes())
                elif i % 3 == 1:
                    rvm.transform.Sequential([rvm.transform.InferType(), rvm.transform.FoldConstant()])(mod)
                else:
                    visited = []
                    rvm.post_order_visit(mod["main"], visited.append)
                    assert visited
        except BaseException as e:  # pylint: disable=broad-except
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert len(results) == 10 and len(set(results)) == 1
    assert str(mod) == text


def test_kernels_are_found_again(tmp_path):
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?, 5), float32]) { tanh(%x) * 3f }\n'
    cache = tmp_path / "kept"
    first = rvm.compile(text, cache=cache)
    files = list(cache.iterdir())
    assert len(files) == 2  # the kernels' object, and the image that they are linked to
    for one in files:
        os.utime(one, (1000, 1000))
    assert rvm.compile(text, cache=cache).to_bytes() == first.to_bytes()
    assert max(one.stat().st_mtime for one in files) > 1000  # it was asked for
    assert rvm.compile(text, cache=False).to_bytes() == first.to_bytes()
    for one in files:
        one.write_bytes(b"damaged")
    x = np.ones((2, 5), "float32")
    np.testing.assert_allclose(rvm.compile(text, cache=cache).load()(x), np.tanh(x) * 3, rtol=1e-6)
    with pytest.raises(rvm.InvalidInput, match="it is no folder"):
        rvm.compile(text, cache=files[0])
