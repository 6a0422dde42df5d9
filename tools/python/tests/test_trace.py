"""Statistics, profiles, traces."""
import json

import numpy as np

import relayvm as rvm

PROGRAM = """#[version = "0.0.5"]
def @loop(%n: int64, %x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] {
  if (less(0i64, %n)) { @loop(subtract(%n, 1i64), nn.softmax(%x)) } else { %x }
}
def @main(%n: int64, %x: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] { @loop(%n, %x) }
"""


def test_profile():
    profile = rvm.Profile()
    m = rvm.compile(PROGRAM).load(runtime=rvm.Runtime(trace=profile))
    for n in (3, 4):
        m(n, np.zeros((4, 4), "f4"))
    [row] = profile.by_kernel()
    assert "softmax" in row.name and row.calls == 7 and 0 < row.longest_ns <= row.total_ns
    [place] = profile.by_place()
    assert (place.line, place.calls) == (3, 7)
    [operators] = profile.by_operator()
    assert operators.name == row.name.rpartition("_")[0] and (operators.calls, operators.total_ns) == (row.calls, row.total_ns)
    assert profile.totals["runs"] == 2 and profile.totals["kernel_ns"] == row.total_ns
    assert "softmax" in str(profile) and str(profile).startswith("kernel") and "<table" in profile._repr_html_()
    profile.clear()
    assert profile.by_kernel() == []


def test_chrome_trace(tmp_path):
    trace = rvm.ChromeTrace()
    m = rvm.compile(PROGRAM).load(runtime=rvm.Runtime(trace=trace))
    m(3, np.zeros((4, 4), "f4"))
    assert sum("softmax" in event["name"] for event in trace.events()) == 3
    trace.write(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    few = rvm.ChromeTrace(max_events=2)
    rvm.compile(PROGRAM).load(runtime=rvm.Runtime(trace=few))(30, np.zeros((4, 4), "f4"))
    assert few.dropped > 20


def test_a_profile_shows_itself():
    profile = rvm.Profile()
    assert repr(profile) == "<relayvm.Profile: 0 runs, 0 kernels, 0.000 ms in kernels; print() shows them>"
    rvm.compile(PROGRAM).load(runtime=rvm.Runtime(trace=profile))(3, np.zeros((4, 4), "f4"))
    assert repr(profile).startswith("<relayvm.Profile: 1 runs, ")


def test_stats():
    runtime = rvm.Runtime()
    m = rvm.compile(PROGRAM).load(runtime=runtime)
    m(5, np.zeros((4, 4), "f4"))
    try:
        m(1 << 60, np.zeros((4, 4), "f4"), timeout=0.01)
    except rvm.DeadlineExceeded:
        pass
    stats = runtime.stats()
    assert stats["started"] == 2 and stats["ended"]["ok"] == 1 and stats["ended"]["deadline exceeded"] == 1
    assert stats["kernel_calls"] > 5 and stats["running"] == 0
