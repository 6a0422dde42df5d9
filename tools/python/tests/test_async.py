"""run_async, host functions."""
import asyncio
import subprocess
import sys
import time
import weakref

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'


def host_program(body="add(@lookup(%n), 1f)"):
    return HEADER + f"""
def @lookup(%n: int64, host=1) -> Tensor[(?), float32];
def @main(%n: int64) -> Tensor[(?), float32] {{ {body} }}
"""


def load(function, text=None):
    return rvm.compile(text or host_program()).load(host_functions=[function])


def test_host_functions():
    calls = []

    @rvm.host_function
    def lookup(n):
        calls.append(int(n))
        return np.full(int(n), 5, "f4")

    m = load(lookup)
    np.testing.assert_array_equal(m(3), [6, 6, 6])
    assert calls == [3]
    with pytest.raises(rvm.Unsupported, match="lookup"):
        rvm.compile(host_program()).load()
    with pytest.raises(rvm.InvalidArgument):
        load(rvm.host_function(lambda n: n, name="lookup", type="fn (int32) -> int32"))


def test_exceptions_of_host_functions_reach_the_caller():
    @rvm.host_function
    def lookup(n):
        raise KeyError("gone")

    m = load(lookup)
    with pytest.raises(KeyError, match="gone"):
        m(3)

    async def run():
        with pytest.raises(KeyError, match="gone"):
            await m.run_async(3)
    asyncio.run(run())

    m = load(rvm.host_function(lambda n: "no tensor", name="lookup"))
    with pytest.raises((TypeError, ValueError, rvm.Error)):
        m(3)
    m = load(rvm.host_function(lambda n: np.zeros((2, 2), "f4"), name="lookup"))
    with pytest.raises(rvm.Error, match="lookup"):
        m(3)


def test_host_functions_may_be_asynchronous():
    async def lookup(n):
        await asyncio.sleep(0.05)
        return np.full(2, float(n), "f4")

    m = load(rvm.host_function(lookup))
    np.testing.assert_array_equal(m(3), [4, 4])

    async def many():
        start = time.perf_counter()
        results = await asyncio.gather(*[m.run_async(i) for i in range(200)])
        assert time.perf_counter() - start < 5  # 200 times 0.05 s, one after the other, take 10
        for i, r in enumerate(results):
            np.testing.assert_array_equal(r, [i + 1, i + 1])
    asyncio.run(many())

    async def inside():
        with pytest.raises(RuntimeError, match="use run_async"):
            m(3)
    asyncio.run(inside())


def test_host_functions_that_block_run_beside_the_loop():
    def lookup(n):
        time.sleep(0.05)
        return np.full(1, float(n), "f4")

    m = load(rvm.host_function(lookup))

    async def run():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)
        ticker = asyncio.create_task(tick())
        await asyncio.gather(*[m.run_async(i) for i in range(3)])
        ticker.cancel()
        assert ticks > 3
    asyncio.run(run())


def test_run_async():
    m = rvm.compile(HEADER + "def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, 1f) }").load()

    async def run():
        results = await asyncio.gather(*[m.run_async(np.full(i, i, "f4")) for i in range(50)])
        for i, r in enumerate(results):
            np.testing.assert_array_equal(r, np.full(i, i + 1))
        with pytest.raises(rvm.InvalidArgument):
            await m.run_async(np.zeros((2, 2)))
        with pytest.raises(TypeError):
            await m.run_async()
        with pytest.raises(rvm.ResourceExhausted):
            await m.run_async(np.zeros(1 << 20, "f4"), memory_limit=1000)
    asyncio.run(run())


def test_run_async_into_buffers():
    m = rvm.compile(HEADER + "def @main(%x: Tensor[(?), float32]) { (add(%x, 1f), negative(%x)) }").load()
    one = rvm.compile(HEADER + "def @main(%x: Tensor[(4), float32]) { add(%x, 1f) }").load()

    async def run():
        x = np.arange(4, dtype="f4")
        y, z = np.zeros(4, "f4"), np.zeros(4, "f4")
        assert await one.run_async(x, out=y) is y
        np.testing.assert_array_equal(y, x + 1)
        first, second = await m.run_async(x, out=[None, z])
        assert second is z
        np.testing.assert_array_equal(first, x + 1)
        np.testing.assert_array_equal(z, -x)
        names = [o.name for o in m.outputs]
        results = await asyncio.gather(*[m.run_async(np.full(i, i, "f4"), out={names[1]: np.empty(i, "f4")}) for i in range(1, 40)])
        for i, (more, less) in enumerate(results, 1):
            assert (more == i + 1).all() and (less == -i).all() and len(less) == i
        text = bytearray(16)
        await one.run_async(x, out=memoryview(text).cast("f"))
        np.testing.assert_array_equal(np.frombuffer(text, "f4"), x + 1)
        for _ in range(500):  # the thread that told of it may hold it for a moment
            try:
                text += b"free again"
                break
            except BufferError:
                await asyncio.sleep(0.01)
        assert len(text) > 16
        frozen = np.zeros(4, "f4")
        frozen.flags.writeable = False
        for wrong in (np.empty(5, "f4"), np.empty(4, "i4"), [y, z], frozen, np.empty(8, "f4")[::2], x.tolist()):
            with pytest.raises((rvm.InvalidArgument, ValueError, BufferError, TypeError)):
                await one.run_async(x, out=wrong)
        with pytest.raises(rvm.InvalidArgument, match="overlap"):
            await m.run_async(x, out=[y, y])
        # A buffer that is an input is written at the end.
        assert await one.run_async(y, out=y) is y
        np.testing.assert_array_equal(y, x + 2)
    asyncio.run(run())


def test_buffers_outlive_a_run_that_is_cancelled():
    m = rvm.compile(HEADER + """
def @loop(%i: int64) -> int64 { if (less(%i, 0i64)) { %i } else { @loop(bitwise_and(add(%i, 1i64), 1023i64)) } }
def @main(%i: int64) -> int64 { @loop(%i) }
""").load()

    async def run():
        out = np.zeros((), "i8")
        gone = weakref.ref(out)
        task = asyncio.create_task(m.run_async(0, out=out))
        del out
        await asyncio.sleep(0.05)
        assert gone() is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        for _ in range(500):
            if gone() is None:
                break
            await asyncio.sleep(0.01)
        assert gone() is None
    asyncio.run(run())


def test_cancelled_and_late_tasks_stop_their_runs():
    m = rvm.compile(HEADER + """
def @loop(%i: int64) -> int64 { if (less(%i, 0i64)) { %i } else { @loop(bitwise_and(add(%i, 1i64), 1023i64)) } }
def @main(%i: int64) -> int64 { @loop(%i) }
""").load()

    async def run():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(m.run_async(0), 0.1)
        with pytest.raises(rvm.DeadlineExceeded):
            await m.run_async(0, timeout=0.05)
        # The scheduler's thread is free again.
        task = asyncio.create_task(m.run_async(0))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    asyncio.run(run())


def test_batching():
    rng = np.random.default_rng(0)
    w = rng.random((300, 300), "f4") - 0.5
    text = HEADER + """
def @loop(%n: int64, %x: Tensor[(1, 300), float32], %w: Tensor[(300, 300), float32]) -> Tensor[(1, 300), float32] {
  if (less(0i64, %n)) { @loop(subtract(%n, 1i64), tanh(nn.dense(%x, %w, units=300)), %w) } else { %x }
}
def @main(%n: int64, %x: Tensor[(1, 300), float32], %w: Tensor[(300, 300), float32]) -> Tensor[(1, 300), float32] {
  @loop(%n, %x, %w)
}
"""
    exe = rvm.compile(text, params={"w": w}, batching=True)
    m = exe.load(runtime=rvm.Runtime(max_batch=16, max_wait=0.01))
    assert m.num_batched_kernels > 0
    inputs = [rng.random((1, 300), "f4") for _ in range(16)]

    async def run():
        return await asyncio.gather(*[m.run_async(1 + i % 5, x) for i, x in enumerate(inputs)])
    for i, result in enumerate(asyncio.run(run())):
        np.testing.assert_array_equal(result, m(1 + i % 5, inputs[i]))  # bit for bit


def test_a_runtime_that_is_closed():
    runtime = rvm.Runtime()
    m = rvm.compile(HEADER + "def @main(%x: int64) -> int64 { %x }").load(runtime=runtime)

    async def run():
        assert int(await m.run_async(4)) == 4
    asyncio.run(run())
    runtime.close()
    with pytest.raises(rvm.FailedPrecondition, match="closed"):
        asyncio.run(run())


# What ends with a Runtime of its own; each turn, the last reference to it goes in another way.
ENDS = {
    "the model goes with the loop": """
async def main():
    model = exe.load(runtime=rvm.Runtime(scheduler_threads=2))
    await asyncio.gather(*[model.run_async(x, w) for _ in range(20)])
for _ in range(100):
    asyncio.run(main())
""",
    "a run is cancelled, and is the last that knows of it": """
async def main():
    model = exe.load(runtime=rvm.Runtime(scheduler_threads=2))
    tasks = [asyncio.ensure_future(model.run_async(x, w)) for _ in range(20)]
    del model
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
for _ in range(100):
    asyncio.run(main())
""",
    "runs go on when the process ends": """
runtime = rvm.Runtime(scheduler_threads=2)
model = exe.load(runtime=runtime)
async def main():
    for _ in range(50):
        asyncio.ensure_future(model.run_async(x, w))
    await asyncio.sleep(0.001)
asyncio.run(main())
""",
    "other threads of Python are busy": """
import threading
end = False
def work():
    while not end:
        sum(range(1000))
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
async def main():
    model = exe.load(runtime=rvm.Runtime(2, scheduler_threads=2))
    await asyncio.gather(*[model.run_async(x, w) for _ in range(20)])
for _ in range(20):
    asyncio.run(main())
end = True
for thread in threads:
    thread.join()
""",
}


@pytest.mark.parametrize("way", ENDS)
def test_a_runtime_ends_with_its_last_reference(way):
    code = """
import asyncio
import numpy as np
import relayvm as rvm
exe = rvm.compile("""+ '"""' + """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(64, 64), float32]) { tanh(nn.dense(%x, %w, units=None)) }""" + '""")' + """
x, w = np.zeros((16, 64), "f4"), np.zeros((64, 64), "f4")
""" + ENDS[way] + "\nprint('done')\n"
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


SPIN = HEADER + """
def @loop(%i: int64) -> int64 { if (less(%i, 0i64)) { %i } else { @loop(bitwise_and(add(%i, 1i64), 1023i64)) } }
def @main(%i: int64) -> int64 { if (equal(%i, 0i64)) { @loop(%i) } else { %i } }
"""


def test_a_service_drains():
    runtime = rvm.Runtime()
    m = rvm.compile(SPIN).load(runtime=runtime)

    async def run():
        assert await m.run_async(7) == 7
        late = asyncio.create_task(m.run_async(0, timeout=0.3))
        await asyncio.sleep(0.02)
        begin = time.perf_counter()
        with pytest.raises(rvm.DeadlineExceeded, match="1 runs have not ended"):
            await asyncio.to_thread(runtime.drain, 0.05)
        assert 0.04 < time.perf_counter() - begin < 0.25
        with pytest.raises(rvm.FailedPrecondition):
            await m.run_async(7)
        await asyncio.to_thread(runtime.drain)
        with pytest.raises(rvm.DeadlineExceeded):
            await late
    asyncio.run(run())
    stats = runtime.scheduler_stats()
    assert (stats["accepted"], stats["refused"], stats["running"]) == (2, 1, 0)
    assert stats["ended"]["ok"] == 1 and stats["ended"]["deadline exceeded"] == 1
    latency = stats["latency"]
    assert latency.count == 2 and sum(runs for _, runs in latency.buckets) == 2
    assert latency.quantile(0.5) < 0.1 and 0.25 < latency.quantile(1) < 1 and 0.1 < latency.mean < 0.5
    assert "2 runs" in repr(latency) and stats["queue_time"].count == 2
    with pytest.raises(ValueError, match="part"):
        latency.quantile(2)
    unused = rvm.Runtime()
    unused.drain()
    assert unused.scheduler_stats()["latency"].quantile(0.5) == 0


def test_closing_ends_a_drain():
    import threading
    runtime = rvm.Runtime()
    m = rvm.compile(SPIN).load(runtime=runtime)

    async def run():
        task = asyncio.create_task(m.run_async(0))
        await asyncio.sleep(0.02)
        draining = threading.Thread(target=runtime.drain)
        draining.start()
        await asyncio.to_thread(runtime.close)
        with pytest.raises(rvm.Cancelled):
            await task
        draining.join(10)
        assert not draining.is_alive()
    asyncio.run(run())


def test_groups_limit_and_count():
    runtime = rvm.Runtime(scheduler_threads=2)
    m = rvm.compile(SPIN).load(runtime=runtime)
    one, all_ = runtime.group(max_active=1, max_queued=2), runtime.group()

    async def run():
        busy = asyncio.create_task(m.run_async(0, group=(one, all_)))
        await asyncio.sleep(0.02)
        waiting = [asyncio.create_task(m.run_async(i, group=(one, all_), priority="high")) for i in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(rvm.ResourceExhausted):
            await m.run_async(3, group=one)
        assert await m.run_async(4, group=all_, priority="low") == 4  # not of that group: a thread is free
        stats = one.stats()
        assert (stats["active"], stats["queued"], stats["accepted"], stats["refused"]) == (1, 2, 3, 1)
        busy.cancel()
        assert await asyncio.gather(*waiting) == [1, 2]
        for wrong, error in (({"group": 1}, TypeError), ({"group": (one,)}, TypeError), ({"priority": "urgent"}, ValueError),
                             ({"tag": -1}, ValueError), ({"tag": "a"}, TypeError), ({"memory_limit": -1}, ValueError),
                             ({"timeout": "soon"}, TypeError), ({"memory_limit": 1.5}, TypeError), ({"group": rvm.Runtime().group()}, rvm.InvalidArgument)):
            with pytest.raises(error):
                await m.run_async(1, **wrong)
    asyncio.run(run())
    runtime.drain()
    assert all_.stats()["ended"]["ok"] == 3 and all_.stats()["latency"].count == 4
    with pytest.raises(ValueError, match="max_active"):
        runtime.group(max_active=-1)


def test_tags_stand_in_traces():
    trace = rvm.ChromeTrace()
    m = rvm.compile(SPIN).load(runtime=rvm.Runtime(trace=trace))
    m(1, tag=17)

    async def run():
        await m.run_async(2, tag=1 << 60)
    asyncio.run(run())
    m(3)
    tags = {event["args"]["tag"] for event in trace.events() if "tag" in event.get("args", {})}
    assert tags == {17, 1 << 60, 0}
