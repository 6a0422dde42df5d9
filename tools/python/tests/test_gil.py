"""Another thread of Python goes on while C++ works."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'


def longest_pause(work):
    """(The longest time that a thread of Python stood still during work(), how long that took), in seconds."""
    stop, pauses = threading.Event(), []

    def tick():
        last, longest = time.perf_counter(), 0
        ready.set()
        while not stop.is_set():
            time.sleep(0.0002)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        pauses.append(longest)

    ready = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    ready.wait()
    begin = time.perf_counter()
    try:
        work()
        took = time.perf_counter() - begin
    finally:
        stop.set()
        thread.join()
    return pauses[0], took


def goes_on(work):
    """That a thread stands still for less than half of work(), which takes some milliseconds: of some tries, since machines are busy."""
    tries = []
    for _ in range(12):
        pause, took = longest_pause(work)
        assert took > 0.004, f"{took:.4f} s, too short to tell anything"
        if pause < took / 2:
            return
        tries.append((round(pause, 4), round(took, 4)))
    raise AssertionError(f"(longest pause, all) in seconds: {tries}")


@pytest.fixture(scope="module")
def many():
    """(The text of) a module of many operators."""
    lines = ["%0 = add(%x, %w);"]
    for i in range(1, 30000):
        lines.append(f"%{i} = {('tanh', 'exp', 'negative', 'abs')[i % 4]}(%{i - 1});")
    lines[-1] = lines[-1].split(" = ")[1].rstrip(";")
    text = HEADER + "def @main(%x: Tensor[(4, 4000000), float32], %w: Tensor[(4, 4000000), float32]) {\n" + "\n".join(lines) + "\n}\n"
    return text, rvm.parse(text)


@pytest.fixture(scope="module")
def weights():
    return {"w": np.ones((4, 4_000_000), "f4")}


@pytest.fixture(scope="module")
def heavy(weights):
    """A program with 64 MB of weights."""
    return rvm.compile(HEADER + "def @main(%x: Tensor[(4, 4000000), float32], %w: Tensor[(4, 4000000), float32]) { add(%x, %w) }", params=weights)


def test_reading_and_printing(many):
    text, mod = many
    goes_on(lambda: rvm.parse(text))
    goes_on(lambda: mod._native.text(False))


def test_types_and_passes(many):
    _, mod = many
    goes_on(lambda: mod._native.transform(["EliminateDeadCode", "FoldConstants"], [], False))
    goes_on(lambda: mod._native.infer_types())


def test_compiling():
    text = HEADER + "def @main(%x: Tensor[(1, 8, 32, 32), float32], %w: Tensor[(8, 8, 3, 3), float32]) { nn.conv2d(%x, %w, padding=[1, 1]) }"
    goes_on(lambda: rvm.compile(text, params={"w": np.ones((8, 8, 3, 3), "f4")}))


def test_weights_and_files(heavy, weights, tmp_path):
    path = tmp_path / "heavy.vmx"
    content = heavy.to_bytes()
    goes_on(lambda: heavy.save(str(path)))
    goes_on(lambda: rvm.load(str(path), verify=True))
    goes_on(lambda: rvm._native.load_bytes(content, {}, dict(target="", perf_map=False, verify=False, clear_memory=False, allow_images=True, engines={})))
    mod = rvm.parse(HEADER + "def @main(%x: Tensor[(4, 4000000), float32], %w: Tensor[(4, 4000000), float32]) { add(%x, %w) }")
    unaligned = np.ones(16_000_001, "f4")[1:].reshape(4, -1)
    goes_on(lambda: rvm.bind_params_by_name(mod, {"w": unaligned}))


def test_arrays_that_are_copied(heavy):
    m = rvm.compile(HEADER + "def @main(%x: Tensor[(?), float32]) -> float32 { sum(%x) }").load()
    memory = np.ones(20_000_003, "f4")
    unaligned = memory[1 if memory.ctypes.data % 64 == 0 else 0:][:20_000_000]
    goes_on(lambda: m(unaligned))
    goes_on(lambda: m(memory[::2]))
    same = rvm.compile(HEADER + "def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { %x }").load()
    aligned = memory[-memory.ctypes.data % 64 // 4:][:19_000_000]
    goes_on(lambda: same(aligned))


def test_graphs(weights, tmp_path):
    mod = rvm.parse(HEADER + "def @main(%x: Tensor[(4, 4000000), float32], %w: Tensor[(4, 4000000), float32]) { add(%x, %w) }")
    graph = rvm.create_executor("graph", mod).evaluate()
    x = weights["w"]
    goes_on(lambda: graph.set_input("x", x))
    goes_on(lambda: graph(x, x))
    out = np.empty((4, 4_000_000), "f4")
    goes_on(lambda: graph.get_output(0, out))


def test_traces():
    trace = rvm.ChromeTrace(max_events=400_000)
    m = rvm.compile(HEADER + "def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }").load(runtime=rvm.Runtime(trace=trace))
    x = np.zeros(2, "f4")
    for _ in range(30_000):
        m(x)
    goes_on(lambda: trace._native.json())


FIRST_CALLS = r"""
import sys, threading
import relayvm as rvm

assert "numpy" not in sys.modules
function = rvm.load(sys.argv[1]).main
barrier = threading.Barrier(4)

def call():
    barrier.wait()
    function([1.0, 2.0])

threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert "numpy" in sys.modules
"""


def test_first_calls_of_several_threads(tmp_path):
    # They import numpy, during which others run.
    rvm.compile(rvm.parse(HEADER + "def @main(%x: Tensor[(2), float32]) { negative(%x) }")).save(str(tmp_path / "m.vmx"))
    for _ in range(3):
        subprocess.run([sys.executable, "-c", FIRST_CALLS, str(tmp_path / "m.vmx")], check=True, timeout=60)
