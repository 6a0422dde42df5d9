"""What calls of next to nothing cost from Python, in each of their forms: microseconds, the least of some rounds, one thread. With PyTorch
installed, its tensors too. python_overheads.py has the C API and other libraries beside them.

usage: python_calls.py      (with the package in PYTHONPATH)
"""
import asyncio
import time

import numpy as np

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
ROWS = "%x: Tensor[(2, 8), float32]"


def best(call, calls=5000, rounds=15):
    least = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        least = min(least, (time.perf_counter() - begin) / calls)
    return least * 1e6


def show(name, microseconds):
    print(f"{name:52} {microseconds:7.2f}", flush=True)


def load(text):
    return rvm.compile(HEADER + text).load()


def arrays():
    x, y, z = np.ones((2, 8), "f4"), np.empty((2, 8), "f4"), np.empty((2, 8), "f4")
    relu, open_dims = load(f"def @main({ROWS}) {{ nn.relu(%x) }}"), load("def @main(%x: Tensor[(?, 8), float32]) { nn.relu(%x) }")
    pair = load(f"def @main({ROWS}) {{ (nn.relu(%x), negative(%x)) }}")
    four = load("def @main(%a: float32, %b: float32, %c: float32, %d: float32) { add(add(%a, %b), add(%c, %d)) }")
    number, feed = np.ones((), "f4"), {"x": x}
    for name, call in (("model(x)", lambda: relu(x)), ("model(x, out=y)", lambda: relu(x, out=y)), ("model(x=x)", lambda: relu(x=x)),
                       ("model.main(x)", lambda: relu.main(x)), ("model(x, timeout=1)", lambda: relu(x, timeout=1)),
                       ("model.run(None, {x})", lambda: relu.run(None, feed)), ("model(x), open dims", lambda: open_dims(x)),
                       ("model(x, out=y), open dims", lambda: open_dims(x, out=y)), ("model(a, b, c, d)", lambda: four(number, number, number, number)),
                       ("model(x), two results", lambda: pair(x)), ("model(x, out=(y, z))", lambda: pair(x, out=(y, z)))):
        show(name, best(call))
    mod = rvm.parse(HEADER + f"def @main({ROWS}) {{ nn.relu(%x) }}")
    for kind in ("aot", "graph"):
        function = rvm.create_executor(kind, mod).evaluate()
        show(f'create_executor("{kind}")', best(lambda function=function: function(x)))

    async def one_by_one(count):
        begin = time.perf_counter()
        for _ in range(count):
            await relu.run_async(x)
        return (time.perf_counter() - begin) / count * 1e6

    show("await model.run_async(x)", min(asyncio.run(one_by_one(1000)) for _ in range(5)))


def pytorch():
    try:
        import torch
    except ImportError:
        return
    import relayvm.torch
    torch.set_num_threads(1)
    x, module = torch.ones(2, 8), torch.nn.ReLU()
    with torch.no_grad():
        show(f"PyTorch {torch.__version__}: eager", best(lambda: module(x)))
        run = relayvm.torch.compile_module(module, (x,))
        show("relayvm.torch.compile_module", best(lambda: run(x)))
        if not hasattr(torch, "compile"):
            return
        for name, backend in (("relayvm", relayvm.torch.backend), ("inductor", "inductor")):
            try:
                compiled = torch.compile(module, backend=backend)
                compiled(x)
            except Exception as error:  # no compiler of C++
                print(f"torch.compile({name}): {type(error).__name__}")
                continue
            show(f"torch.compile({name})", best(lambda compiled=compiled: compiled(x)))
            torch._dynamo.reset()


if __name__ == "__main__":
    arrays()
    pytorch()
