"""What a model keeps between calls."""
import asyncio

import numpy as np
import pytest

import relayvm as rvm

TEXT = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %h: Tensor[(2, 4), float32], %seen: Tensor[(?, 4), float32]) {
  (sum(%x), add(%h, sum(%x, axis=[0], keepdims=True)), concatenate((%seen, %x), axis=0))
}
"""
STATES = ["h=output_1", "seen=output_2"]


@pytest.fixture(scope="module")
def model():
    return rvm.compile_model(rvm.parse(TEXT), states=STATES)


def chunks():
    return [np.random.default_rng(i).random((i + 1, 4), np.float32) for i in range(4)]


def test_stream(model):
    state = model.state()
    assert list(state) == state.keys() == ["h", "seen"] and len(state) == 2
    assert state["h"] is None
    h = np.zeros((2, 4), np.float32)
    for x in chunks():
        total, _, seen = model(x, state=state)
        h = h + x.sum(0, keepdims=True)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-5)
        np.testing.assert_allclose(state["h"], h, rtol=1e-5)
    np.testing.assert_array_equal(state["seen"], np.concatenate(chunks()))
    np.testing.assert_array_equal(seen, state["seen"])
    assert "seen: float32(10, 4)" in repr(state)


def test_copy_reset_and_set(model):
    x = np.ones((1, 4), np.float32)
    one = model.state()
    model(x, state=one)
    other = one.copy()
    model(x, state=one)
    assert one["h"][0, 0] == 2 and other["h"][0, 0] == 1
    one.reset()
    assert dict(one.items()) == {"h": None, "seen": None}
    one["h"] = np.full((2, 4), 7, np.float32)
    [h] = model.run(["output_1"], {"x": x}, state=one)
    assert h[1, 3] == 8
    # What is given counts.
    model(x, np.zeros((2, 4), np.float32), state=one)
    assert one["h"][0, 0] == 1


def test_save_and_load(model, tmp_path):
    state = model.state()
    model(np.ones((3, 4), np.float32), state=state)
    state.save(tmp_path / "s.npz")
    other = model.state()
    other.load(tmp_path / "s.npz")
    for name in state:
        np.testing.assert_array_equal(state[name], other[name])
    np.savez(tmp_path / "bad.npz", g=np.zeros(3))
    with pytest.raises(KeyError, match="main keeps no g; it keeps h, seen"):
        other.load(tmp_path / "bad.npz")
    np.testing.assert_array_equal(state["h"], other["h"])


def test_async(model):
    async def run():
        state = model.state()
        for x in chunks():
            await model.run_async(x, state=state)
        return state

    np.testing.assert_array_equal(asyncio.run(run())["seen"], np.concatenate(chunks()))


def test_a_failed_call_changes_nothing(model):
    state = model.state()
    model(np.ones((1, 4), np.float32), state=state)
    with pytest.raises(rvm.InvalidArgument):
        model(np.ones((1, 5), np.float32), state=state)
    with pytest.raises(rvm.InvalidArgument, match="'h': it can't go to a buffer"):
        model(np.ones((1, 4), np.float32), state=state, out=[None, np.zeros((2, 4), np.float32), None])
    assert state["h"][0, 0] == 1


def test_wrong_uses(model):
    x = np.ones((1, 4), np.float32)
    state = model.state()
    with pytest.raises(KeyError, match="main keeps no x"):
        state["x"]
    with pytest.raises(TypeError, match="state: expected what Model.state"):
        model(x, state={"h": x})
    other = rvm.compile_model(rvm.parse(TEXT), states=STATES)
    with pytest.raises(ValueError, match="another program"):
        other(x, state=state)
    with pytest.raises(TypeError, match="input h .* is missing"):
        model(x)
    plain = rvm.compile_model(rvm.parse(TEXT))
    with pytest.raises(rvm.FailedPrecondition, match="keeps nothing between runs"):
        plain.state()
    with pytest.raises(rvm.InvalidArgument, match="there is no output y; outputs: output_0"):
        rvm.compile_model(rvm.parse(TEXT), states=["h=y"])


def test_an_input_called_state():
    text = TEXT.replace("%h", "%state").replace("%x", "%file")
    model = rvm.compile_model(rvm.parse(text), states=["state=output_1", "seen=output_2"])
    kept = model.state()
    x = np.ones((1, 4), np.float32)
    model(x, state=kept)
    model(x, state=kept)
    assert kept["state"][0, 0] == 2
    given = np.zeros((2, 4), np.float32)
    np.testing.assert_array_equal(model(x, state=given, seen=x)[1], x + given)


@pytest.mark.parametrize("count", [1, 4096])
def test_what_the_caller_writes_later_is_not_seen(count):
    text = f"""#[version = "0.0.5"]
def @main(%x: Tensor[({count}), float32], %before: Tensor[({count}), float32]) {{ (subtract(%x, %before), %x) }}
"""
    model = rvm.compile_model(rvm.parse(text), states=["before=output_1"])
    state = model.state()
    memory = np.empty(count + 16, np.float32)
    at = -memory.ctypes.data // 4 % 16  # aligned, which is taken as it is
    chunk = memory[at:at + count]
    for i in range(1, 4):
        chunk[:] = i
        difference, _ = model(chunk, state=state)
        assert difference[0] == 1
    state["before"] = chunk
    chunk[:] = 100
    assert state["before"][0] == 3


def test_dims_that_nothing_reads(tmp_path):
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(3, 4), float32], %before: Tensor[(3, 4), float32]) { (%before, %x) }
"""
    model = rvm.compile_model(rvm.parse(text), states=["before=output_1"])
    state = model.state()
    x = np.ones((3, 4), np.float32)
    assert model(x, state=state)[0].tolist() == np.zeros((3, 4)).tolist()
    assert model(x, state=state)[0].tolist() == x.tolist()


def test_one_call_at_a_time(model):
    async def run():
        state = model.state()
        x = np.ones((1, 4), np.float32)
        done = await asyncio.gather(*(model.run_async(x, state=state) for _ in range(8)), return_exceptions=True)
        good = sum(not isinstance(d, Exception) for d in done)
        assert all(isinstance(d, (tuple, rvm.FailedPrecondition)) for d in done)
        assert good >= 1 and state["h"][0, 0] == good
        await model.run_async(x, state=state)
        assert state["h"][0, 0] == good + 1

    asyncio.run(run())


def test_a_call_that_does_not_begin_leaves_the_state(model):
    async def run():
        state = model.state()
        x = np.ones((1, 4), np.float32)
        for wrong in ({"priority": "urgent"}, {"group": 3}, {"timeout": "soon"}, {"out": x}):
            with pytest.raises((TypeError, ValueError)):
                await model.run_async(x, state=state, **wrong)
        await model.run_async(x, state=state)
        assert state["h"][0, 0] == 1

    asyncio.run(run())


def test_limits_hold_for_first_values():
    text = """#[version = "0.0.5"]
def @main(%h: Tensor[(500000000), int8]) { %h }
"""
    runtime = rvm.Runtime(memory_limit=1 << 20)
    model = rvm.compile_model(rvm.parse(text), states=["h=output_0"], runtime=runtime)
    state = model.state()
    with pytest.raises(rvm.ResourceExhausted):
        model(state=state)
    assert state["h"] is None


def test_a_failed_save_leaves_the_file(model, tmp_path):
    path = tmp_path / "x"
    state = model.state()
    model(np.ones((1, 4), np.float32), state=state)
    state.save(path)
    before = path.read_bytes()
    with pytest.raises(OSError):
        state.save(tmp_path / "no" / "such")
    other = model.state()
    other.load(path)
    assert path.read_bytes() == before and other["h"][0, 0] == 1
    assert "h" in state and "x" not in state
    assert dict(state).keys() == {"h", "seen"}


def test_variables_are_kept_and_not_shown():
    """What an importer names alike on both sides: its input has a value of its own, its output is no result."""
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %h: Tensor[(2), float32], output_names=["y", "h"]) {
  let %n = add(%x, %h);
  (multiply(%n, 2f), %n)
}
"""
    model = rvm.compile_model(rvm.parse(text), states=["h=h"])
    x = np.float32([1, 2])
    np.testing.assert_array_equal(model(x), [2, 4])
    np.testing.assert_array_equal(model(x), [2, 4])  # each without a state begins anew
    state = model.state()
    for n in (1, 2, 3):
        np.testing.assert_array_equal(model(x, state=state), 2 * n * x)
    np.testing.assert_array_equal(state["h"], 3 * x)
    np.testing.assert_array_equal(asyncio.run(model.run_async(x, state=state)), 8 * x)
    np.testing.assert_array_equal(asyncio.run(model.run_async(x)), 2 * x)


def test_in_place():
    """A cache that the program writes a row of stays where it is, unless somebody holds it."""
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 256), float32], %p: Tensor[(1, 1), int64], %h: Tensor[(256, 256), float32], output_names=["y", "h"]) {
  let %n = scatter_nd(%h, %p, %x, mode="update");
  (sum(take(%n, %p, axis=0)), %n)
}
"""
    model = rvm.compile_model(rvm.parse(text), states=["h=h"])
    rows = np.random.default_rng(1).random((256, 256), np.float32)

    def step(state, i):
        return model(rows[i:i + 1], np.array([[i]]), state=state)

    state = model.state()
    assert not state.in_place
    state.in_place = True
    where = set()
    for i in range(20):
        np.testing.assert_allclose(step(state, i), rows[i].sum(), rtol=1e-5)
        where.add(state["h"].ctypes.data)
    assert len(where) == 1
    held = state["h"]
    before = held.copy()
    step(state, 20)
    np.testing.assert_array_equal(held, before)
    np.testing.assert_array_equal(state["h"][:21], rows[:21])
    other = state.copy()
    step(other, 21)
    assert not state["h"][21].any() and other["h"][21].any()
    # What fails may have written a part of it.
    with pytest.raises(rvm.Error):
        model(rows[:1], np.array([[9]]), state=state, memory_limit=1)
    assert state["h"] is None
    other.in_place = False
    with pytest.raises(rvm.Error):
        model(rows[:1], np.array([[9]]), state=other, memory_limit=1)
    assert other["h"][21].any()
