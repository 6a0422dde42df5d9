"""What tests/faults does, in Python: something is tried again and again, with one allocation of ours after the
other failing, until it goes through without. Each time it works, or is a MemoryError or an Error of the
package; the process goes on, and the same works right after.

usage: run_python.py INJECTOR.so RELAYC   (the package is on the path)
"""
import asyncio
import ctypes
import os
import subprocess
import sys
import tempfile

VERSION = '#[version = "0.0.5"]'
PROGRAMS = {
    "add": "def @main(%x: Tensor[(?, 4), float32], %y: Tensor[(?, 4), float32]) { nn.relu(add(%x, %y)) }",
    "list": """type List[A] { Cons(A, List[A]), Nil }
        def @main(%x: Tensor[(?, 4), float32]) { (Cons(%x, Cons(%x, Nil)), %x) }""",
    "host": """def @wait(%x: float32, host=1) -> float32;
        def @main(%x: float32) -> float32 { add(@wait(%x), 1f) }""",
}


def all_of(injector, attempt, works, cases):
    """Tries with each allocation failing; past the first hundreds at ever longer steps."""
    failures = 0
    for rest in (0, 1):
        number = 1
        while True:
            failed = 0
            injector.relayvm_faults_arm(number, rest)
            try:
                attempt()
            except (MemoryError, cases) as e:
                failed = injector.relayvm_faults_disarm()
                failures += 1
                assert failed, f"allocation {number}: {e!r} without a failure"
            finally:
                failed = injector.relayvm_faults_disarm() or failed
            works()
            if not failed:
                break
            number += 1 if number < 400 else number // 20
    assert failures > 0


def main(injector_path, folder):
    import numpy as np
    import relayvm as rvm

    injector = ctypes.CDLL(injector_path)
    injector.relayvm_faults_arm.argtypes = [ctypes.c_int64, ctypes.c_int]
    injector.relayvm_faults_set_code.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    with open("/proc/self/maps") as maps:
        code = [line.split()[0].split("-") for line in maps if "librelayvm.so" in line and " r-xp " in line]
    (begin, end), = [(int(b, 16), int(e, 16)) for b, e in code]
    injector.relayvm_faults_set_code(begin, end)

    paths = {name: os.path.join(folder, name + ".vmx") for name in PROGRAMS}
    path = paths["add"]

    @rvm.host_function(type="fn (float32) -> float32")
    def wait(x):
        return x

    with open(path, "rb") as f:
        content = f.read()
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    y = -2 * x + 7
    out = np.zeros((2, 4), np.float32)
    expected = np.maximum(x + y, 0)
    model = rvm.load(path)
    of_list = rvm.load(paths["list"])
    of_host = rvm.load(paths["host"], host_functions=[wait])

    def works():
        assert (model(x, y) == expected).all()

    def run(what):
        name, attempt = what
        all_of(injector, attempt, works, rvm.Error)
        print(f"{name}: ok", flush=True)

    def equal(found):
        assert (found == expected).all()

    def lists():
        chain, tensor = of_list(x)
        assert len(chain.to_list()) == 2 and (tensor == x).all()

    def profiled():
        profile = rvm.Profile()
        equal(rvm.load(path, runtime=rvm.Runtime(trace=profile))(x, y))
        # What there is no memory for is left out.
        profile.by_kernel(), profile.by_operator(), profile.totals

    def traced():
        trace = rvm.ChromeTrace()
        equal(rvm.load(path, runtime=rvm.Runtime(trace=trace))(x, y))
        trace.events()

    async def together():
        # Where there was no memory for a run's handle, nobody asks for its result.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        for found in await asyncio.gather(*[model.run_async(x, y) for _ in range(3)], return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            equal(found)

    for what in [
            ("call", lambda: equal(model(x, y))),
            ("call by names", lambda: equal(model(y=y, x=x))),
            ("run", lambda: equal(model.run(None, {"x": x, "y": y})[0])),
            ("into a buffer", lambda: equal(model(x, y, out=out))),
            ("lists", lists),
            ("a function of the host", lambda: of_host(np.float32(1))),
            ("a wrong call", lambda: _raises(rvm.InvalidArgument, lambda: model(x, y[0]))),
            ("load", lambda: equal(rvm.load(path)(x, y))),
            ("load bytes", lambda: rvm.load(content)),
            ("tensors", lambda: np.from_dlpack(rvm.tensor(x))),
            ("signatures", lambda: (model.inputs, model.outputs, model.types, model.memory_formula(), repr(model))),
            ("profile", profiled),
            ("trace", traced),
            ("stats", lambda: rvm.default_runtime().stats()),
            ("run_async", lambda: asyncio.run(together()))]:
        run(what)


def _raises(kind, function):
    try:
        function()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


if __name__ == "__main__":
    if os.environ.get("LD_PRELOAD") != sys.argv[1]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in PROGRAMS.items():
                source = os.path.join(folder, name + ".relay")
                with open(source, "w") as f:
                    f.write(VERSION + text)
                subprocess.run([sys.argv[2], source, "-q", "-o", os.path.join(folder, name + ".vmx")], check=True)
            done = subprocess.run([sys.executable, __file__, sys.argv[1], folder], env={**os.environ, "LD_PRELOAD": sys.argv[1]})
        sys.exit(done.returncode)
    main(sys.argv[1], sys.argv[2])
