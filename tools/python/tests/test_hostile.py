"""Threads, event loops, forks and the end of a process, at the worst moment."""
import asyncio
import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
ADD = HEADER + "def @main(%x: Tensor[(?), float32]) { add(%x, 1f) }"
ENDLESS = HEADER + """
def @loop(%i: int64) -> int64 { if (less(%i, 0i64)) { %i } else { @loop(bitwise_and(add(%i, 1i64), 1023i64)) } }
def @main(%i: int64) -> int64 { @loop(%i) }
"""
START = f"""
import asyncio, atexit, gc, os, signal, sys, threading, time
import numpy as np
import relayvm as rvm
HEADER, ADD, ENDLESS = {HEADER!r}, {ADD!r}, {ENDLESS!r}
"""


def run_script(code, timeout=120):
    done = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def in_threads(count, work):
    """What each raised."""
    failed = []

    def one(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_idle(runtime):
    stats = runtime.scheduler_stats()
    return all(stats[name] == 0 for name in ("queued", "ready", "running", "waiting"))


# --- Threads ---

def test_many_threads_load_and_some_fail(tmp_path):
    good, gone = tmp_path / "good.vmx", tmp_path / "gone.vmx"
    rvm.compile(ADD).save(str(good))
    content = good.read_bytes()
    runtime = rvm.Runtime(2)
    x = np.zeros(3, "f4")

    def work(i):
        for k in range(30):
            kind = (i + k) % 5
            if kind == 0:
                assert (rvm.load(str(good), runtime=runtime)(x) == 1).all()
            elif kind == 1:
                with pytest.raises(rvm.FileNotFound):
                    rvm.load(str(gone))
            elif kind == 2:
                with pytest.raises(rvm.Error):
                    rvm.load(content[:100 + 7 * k])
            elif kind == 3:
                m = rvm.load(content)
                with pytest.raises(rvm.InvalidArgument):
                    m(np.zeros((2, 2), "f4"))
                with pytest.raises(TypeError):
                    m(x, y=x)
                assert (m(x, out=np.empty(3, "f4")) == 1).all()
            else:
                with pytest.raises(rvm.Error):
                    rvm.parse(ADD.replace("add", "ad"))
                assert len(rvm.parse(ADD).functions) == 1

    assert in_threads(8, work) == []


def test_a_model_is_dropped_during_its_runs():
    m = rvm.compile(ENDLESS).load(runtime=rvm.Runtime(2))
    gone, run = weakref.ref(m), m.main
    ended = []
    thread = threading.Thread(target=lambda: ended.append(pytest.raises(rvm.DeadlineExceeded, run, 0, timeout=0.3)))
    thread.start()
    time.sleep(0.05)
    del m, run
    gc.collect()
    assert gone() is None
    thread.join()
    assert len(ended) == 1

    async def last_of_its_kind():
        await rvm.compile(ENDLESS).load(runtime=rvm.Runtime(2)).run_async(0, timeout=0.2)

    with pytest.raises(rvm.DeadlineExceeded):
        asyncio.run(last_of_its_kind())


def test_threads_share_one_model_and_trim_it():
    m = rvm.compile(HEADER + "def @main(%x: Tensor[(2, 3), float32]) { (nn.relu(%x), %x, negative(%x)) }").load()
    stop = []

    def trim():
        while not stop:
            m.trim()
            time.sleep(0.0005)

    trimmer = threading.Thread(target=trim)
    trimmer.start()

    def work(i):
        for k in range(400):
            x = np.full((2, 3), i * 1000 - k, "f4")
            a, b, c = m(x) if k % 2 else m(x=x, out=[np.empty((2, 3), "f4") for _ in range(3)])
            assert (a == np.maximum(x, 0)).all() and (b == x).all() and (c == -x).all()

    try:
        assert in_threads(6, work) == []
    finally:
        stop.append(True)
        trimmer.join()


# --- Event loops ---

def test_cancelling_at_every_moment():
    runtime = rvm.Runtime(scheduler_threads=2)
    endless, add = rvm.compile(ENDLESS).load(runtime=runtime), rvm.compile(ADD).load(runtime=runtime)
    x = np.zeros(4, "f4")

    async def run():
        tasks = []
        for i in range(200):
            tasks.append(asyncio.create_task(endless.run_async(0) if i % 2 else add.run_async(x, out=np.empty(4, "f4"))))
            if i % 3 == 0:
                await asyncio.sleep(0)
            if i % 7 == 0:
                await asyncio.sleep(0.001)
            tasks[i // 2].cancel()
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(result, (asyncio.CancelledError, np.ndarray)), result

    asyncio.run(run())
    assert until(lambda: is_idle(runtime))
    assert (asyncio.run(add.run_async(x)) == 1).all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_loops_close_with_runs_in_flight():
    runtime = rvm.Runtime()
    endless, add = rvm.compile(ENDLESS).load(runtime=runtime), rvm.compile(ADD).load(runtime=runtime)
    x = np.zeros(1 << 16, "f4")

    async def begin():
        return [asyncio.ensure_future(m.run_async(y)) for m, y in ((endless, 0), (add, x), (endless, 1))]

    for _ in range(5):
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)  # tasks that are pending
        tasks = loop.run_until_complete(begin())
        loop.run_until_complete(asyncio.sleep(0.01))
        loop.close()
        del tasks, loop
    gc.collect()
    assert (asyncio.run(add.run_async(x)) == 1).all()  # beside those that nobody waits for any more
    assert runtime.scheduler_stats()["ended"]["ok"] >= 6
    runtime.close()


def test_a_coroutine_that_is_closed_cancels_its_run():
    runtime = rvm.Runtime()
    m = rvm.compile(ENDLESS).load(runtime=runtime)

    async def run():
        coroutine = m.run_async(0)
        coroutine.send(None)
        await asyncio.sleep(0.02)
        coroutine.close()

    asyncio.run(run())
    assert until(lambda: is_idle(runtime))
    assert runtime.scheduler_stats()["ended"]["cancelled"] == 1


def test_many_loops_at_once():
    m = rvm.compile(ADD).load(runtime=rvm.Runtime(scheduler_threads=2))

    def work(i):
        async def run():
            results = await asyncio.gather(*[m.run_async(np.full(5, i * 100 + k, "f4")) for k in range(50)])
            for k, result in enumerate(results):
                assert (result == i * 100 + k + 1).all()
        asyncio.run(run())

    assert in_threads(6, work) == []


# --- The end of a process ---

WORK = {
    "small": "m = rvm.compile(ADD).load(); x = np.ones(8, 'f4'); work = lambda: m(x)",
    "large": "m = rvm.compile(ADD).load(); x = np.ones(1 << 20, 'f4'); work = lambda: m(x)",
    "buffers": "m = rvm.compile(ADD).load(); x = np.ones(8, 'f4'); o = np.empty(8, 'f4'); work = lambda: m(x, out=o)",
    "strided": "m = rvm.compile(ADD).load(); x = np.ones(1 << 20, 'f4')[::2]; work = lambda: m(x)",
    "endless": "m = rvm.compile(ENDLESS).load(); work = lambda: m(0)",
    "load": "content = rvm.compile(ADD).to_bytes(); work = lambda: rvm.load(content)",
    "parse": "work = lambda: rvm.parse(ADD)",
    "compile": "work = lambda: rvm.compile(ADD)",
    "host": "m = rvm.compile(HEADER + 'def @f(%x: int64, host=1) -> int64;\\ndef @main(%x: int64) { @f(%x) }').load("
            "host_functions=[rvm.host_function(lambda x: x, name='f')]); work = lambda: m(1)",
}


@pytest.mark.parametrize("kind", WORK)
def test_python_ends_while_daemon_threads_run(kind):
    for wait in (0.02, 0.05):
        run_script(WORK[kind] + f"""
def keep():
    while True:
        work()
for _ in range(4):
    threading.Thread(target=keep, daemon=True).start()
time.sleep({wait})
""")


def test_python_ends_while_run_async_runs():
    run_script("""
m, add = rvm.compile(ENDLESS).load(), rvm.compile(ADD).load(runtime=rvm.Runtime(2, scheduler_threads=2))
kept = []
def serve():
    async def run():
        kept.append([asyncio.create_task(m.run_async(0)) for _ in range(3)])
        while True:
            await asyncio.gather(*[add.run_async(np.ones(1000, "f4"), out=np.empty(1000, "f4")) for _ in range(10)])
    asyncio.run(run())
threading.Thread(target=serve, daemon=True).start()
time.sleep(0.2)
""")


def test_handlers_at_exit_still_run_models():
    done = run_script("""
late = {}
def early_registered():  # runs after relayvm's own
    m = late["m"]
    print("sync", m(np.ones(2, "f4"))[0])
    async def run(model, *args): return await model.run_async(*args)
    try:
        asyncio.run(run(m, np.ones(2, "f4")))
    except rvm.FailedPrecondition as error:
        print(error)
    fresh = late["runtime"] = rvm.Runtime(2)
    print("fresh", asyncio.run(run(rvm.compile(ADD).load(runtime=fresh), np.ones(2, "f4")))[0])
    loop = late["loop"] = asyncio.new_event_loop()
    late["task"] = loop.create_task(run(rvm.compile(ENDLESS).load(runtime=fresh), 0))
    loop.run_until_complete(asyncio.sleep(0.02))
atexit.unregister(rvm._close_all)
atexit.register(early_registered)
atexit.register(rvm._close_all)
late["m"] = rvm.compile(ADD).load()
asyncio.run(late["m"].run_async(np.ones(2, "f4")))
""")
    assert done.stdout.splitlines() == ["sync 2.0", "the runtime is closed", "fresh 2.0"]


def test_a_process_ends_by_exit_in_a_thread_of_another():
    run_script("""
m = rvm.compile(ENDLESS).load()
threading.Thread(target=lambda: m(0), daemon=True).start()
threading.Timer(0.1, lambda: os._exit(0)).start()
time.sleep(30)
""", timeout=25)


# --- Other processes ---

def test_forks_while_everything_runs():
    done = run_script("""
shared = rvm.compile(ADD).load(runtime=rvm.Runtime(2))
single = rvm.compile(ADD).load(runtime=rvm.Runtime(1))
x = np.zeros(1 << 18, "f4")
stop = []
def keep(model):
    while not stop:
        model(x)
        asyncio.run(model.run_async(x[:10]))
threads = [threading.Thread(target=keep, args=(m,)) for m in (shared, single)]
for thread in threads: thread.start()
time.sleep(0.1)
for i in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        code = 1
        try:
            for model in shared, single:
                try:
                    model(x)
                    os._exit(2)
                except rvm.FailedPrecondition as error:
                    assert "forked" in str(error) and "spawn" in str(error)
            fresh = rvm.compile(ADD).load(runtime=rvm.Runtime(2))
            assert fresh(x)[0] == 1 and asyncio.run(fresh.run_async(x))[0] == 1
            assert rvm.compile(ADD)(x)[0] == 1
            del fresh
            gc.collect()
            code = 0
        finally:
            if i % 2 or code: os._exit(code)
        stop.append(True)
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.append(True)
for thread in threads: thread.join()
""", timeout=240)
    assert done.stdout.split() == ["0"] * 12


def _serve(path, number):
    return float(rvm.load(path, runtime=rvm.Runtime(2))(np.full(3, number, "f4"))[0])


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_multiprocessing(method, tmp_path):
    path = str(tmp_path / "m.vmx")
    rvm.compile(ADD).save(path)
    rvm.load(path, runtime=rvm.Runtime(2))(np.zeros(3, "f4"))  # threads are there
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(_serve, [(path, k) for k in range(4)]) == [1, 2, 3, 4]


def test_models_are_copied_but_not_pickled():
    m = rvm.compile(ADD).load()
    for made in (copy.copy(m), copy.copy(m.main)):
        assert (made(np.zeros(2, "f4")) == 1).all()
    for one in (m, m.main):
        for function in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled.*file's name or bytes"):
                function(one)


# --- Interpreters ---

def test_a_python_without_gil_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    with pytest.raises(ImportError, match="needs Python's GIL"):
        rvm._refuse_without_gil()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    rvm._refuse_without_gil()


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_sub_interpreters_of_newer_pythons_are_refused(version):
    import shutil
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"there is no python{version}")
    code = f"""
import sys
try:
    import _interpreters as interpreters
except ModuleNotFoundError:
    import _xxsubinterpreters as interpreters
inside = '''
import sys
sys.path.insert(0, {os.path.dirname(os.path.dirname(os.path.abspath(rvm.__file__)))!r})
try:
    import relayvm
except ImportError as error:
    print(error, flush=True)
'''
run = getattr(interpreters, "exec", None) or interpreters.run_string
run(interpreters.create(), inside)
"""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    assert "only the main interpreter of a process can import it" in done.stdout, done.stderr
