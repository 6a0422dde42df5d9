"""Tensors of PyTorch's, as inputs, buffers for outputs and results: by DLPack's functions of C where it has them (2.10 on), else by capsules."""
import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import relayvm as rvm  # noqa: E402
from relayvm import _native  # noqa: E402

HEADER = '#[version = "0.0.5"]\n'
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"]
is_direct = _native.exchanges(torch.Tensor)
needs_exchange = pytest.mark.skipif(not is_direct, reason=f"torch {torch.__version__} has no __dlpack_c_exchange_api__")


def model(text, **options):
    return rvm.compile(HEADER + text).load(**options)


def giving(function):
    """The function with tensors as results."""
    call = _native.Callable()
    call._bind(function._call.giving(torch.Tensor))
    return call


@pytest.fixture(scope="module")
def add_one():
    return model("def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, 1f) }")


@needs_exchange
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_and_size_comes_back(dtype):
    m = giving(model(f"def @main(%x: Tensor[(?, ?), {dtype}]) {{ (%x, transpose(%x, axes=[1, 0]), %x) }}").main)
    for shape in (0, 3), (1, 1), (7, 5), (60, 70), (300, 200):
        for offset in (0, 1):
            x = torch.randint(0, 2, (shape[0] * shape[1] + offset,)).to(getattr(torch, dtype))[offset:].reshape(shape)
            same, turned, again = m(x)
            assert {type(one) for one in (same, turned, again)} == {torch.Tensor} and same.dtype == turned.dtype == x.dtype
            assert torch.equal(same, x) and torch.equal(turned, x.t()) and torch.equal(again, x)
            for one in same, turned, again:
                assert one.is_contiguous() and not one.requires_grad
                one.fill_(1)
            same.zero_()
            assert bool(again.all()) and (x.numel() == 0 or same.data_ptr() != again.data_ptr() != x.data_ptr())


@needs_exchange
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 1, 3, 1, 2, 1, 1, 2)])
def test_small_results_of_known_sizes(shape):
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    m = model(f"def @main(%x: Tensor[({dims}), int32]) {{ (%x, negative(%x), cast(%x, dtype=\"bool\")) }}")
    one = giving(model(f"def @main(%x: Tensor[({dims}), float32]) {{ tanh(%x) }}").main)
    seen = []
    for k in range(4):
        x = torch.randint(0, 5, shape, dtype=torch.int32)
        same, less, some = giving(m.main)(x)
        assert torch.equal(same, x) and torch.equal(less, -x) and torch.equal(some, x.bool()) and same.is_contiguous()
        seen.append((same, x.clone()))
        x.fill_(9)
        torch.testing.assert_close(one(seen[-1][1].float()), seen[-1][1].float().tanh())
        less += 1
    assert all(torch.equal(a, b) for a, b in seen)
    assert len({a.data_ptr() for a, _ in seen}) == 4


def test_what_is_no_plain_memory(add_one):
    x = torch.arange(8.0)
    for given in (x, x[::2], x.flip(0), x.expand(3, 8)[1], torch.tensor([1 + 2j, 3 - 4j]).conj().imag, torch._neg_view(x),
                  torch._neg_view(torch.arange(5000.0)), x.double(), x.half(), x.int(), x[:0], torch.arange(9000.0)[::3], torch.arange(5000.0)[1:]):
        np.testing.assert_array_equal(add_one(given), given.resolve_neg().numpy().astype("f4") + 1)
    for given, error in ((x.to_sparse(), BaseException), (torch.empty(8, device="meta"), BaseException), (x.clone().requires_grad_(), (BufferError, RuntimeError)),
                         (torch.nn.Parameter(x), (BufferError, RuntimeError)), (x.reshape(2, 4), rvm.InvalidArgument), (x + 0.5j, BaseException)):
        with pytest.raises(error):
            add_one(given)
        np.testing.assert_array_equal(add_one(x), x.numpy() + 1)  # and nothing is left of it
    with torch.no_grad():
        np.testing.assert_array_equal(add_one(torch.nn.Parameter(x).detach()), x.numpy() + 1)
    assert add_one(torch.tensor([2.0]))[0] == 3
    one = model("def @main(%x: float32, %i: int64) { (add(%x, 1f), %i) }")
    assert [float(v) for v in one(torch.tensor(2.0), torch.tensor(5))] == [3, 5]


@needs_exchange
def test_classes_with_operators_of_their_own_have_no_memory(add_one):
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.arange(4.0)
    np.testing.assert_array_equal(add_one(x.as_subclass(Logged)), x.numpy() + 1)
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
    assert not _native.exchanges(type(fake)) and _native.exchanges(torch.nn.Parameter) and not _native.exchanges(np.ndarray)
    with pytest.raises(BaseException):
        add_one(fake)
    with pytest.raises(BaseException):
        torch.vmap(lambda row: torch.from_numpy(add_one(row)))(torch.ones(3, 4))


@needs_exchange
def test_buffers_for_outputs(add_one):
    x = torch.arange(5.0)
    y = torch.empty(5)
    assert add_one(x, out=y) is y and torch.equal(y, x + 1)
    assert add_one(x.numpy(), out=[y]) is y
    big, into = torch.arange(50000.0), torch.empty(50000)
    assert add_one(big, out=into) is into and torch.equal(into, big + 1)
    assert add_one(y, out=y) is y and torch.equal(y, x + 2)
    for wrong in (torch.empty(6), torch.empty(5, dtype=torch.int32), torch.empty(10)[::2], torch.empty(5, requires_grad=True), torch._neg_view(y),
                  torch.empty(5, device="meta"), torch.empty(5, dtype=torch.complex64), [y, y]):
        with pytest.raises((BufferError, ValueError, TypeError, rvm.InvalidArgument)):
            add_one(x, out=wrong)
    two = model("def @main(%x: Tensor[(?), float32]) { (negative(%x), add(%x, 1f)) }")
    with pytest.raises(rvm.InvalidArgument, match="overlap"):
        two(x, out=(y[:4], y[1:]))
    bits = torch.empty(3, dtype=torch.bfloat16)
    half = model('def @main(%x: Tensor[(3), float32]) { cast(%x, dtype="bfloat16") }')
    assert half(x[:3], out=bits) is bits and torch.equal(bits, x[:3].bfloat16())

    async def run():
        assert await add_one.run_async(x, out=y) is y
    asyncio.run(run())
    assert torch.equal(y, x + 1)


def test_memory_that_is_large_is_used_where_it_is():
    x = torch.zeros(5000)
    m = model("""
def @change(%n: int64, host=1) -> Tensor[(1), float32];
def @main(%x: Tensor[(?), float32]) { let %y = @change(1i64); add(%x, %y) }
""", host_functions=[rvm.host_function(lambda n: (x.fill_(5), np.ones(1, "f4"))[1], name="change")])
    shared = x.data_ptr() % 64 == 0
    assert float(m(x)[0]) == (6 if shared else 1)
    x = torch.zeros(10)
    assert not is_direct or float(m(x)[0]) == 1  # so little is copied


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_inputs_and_results_live_as_long_as_they_are_needed(size):
    m = model("""
def @loop(%i: int64, %x: Tensor[(?), float32]) -> float32 {
  if (less(%i, 40i64)) { @loop(add(%i, 1i64), %x) } else { sum(%x) }
}
def @main(%x: Tensor[(?), float32]) -> (float32, Tensor[(?), float32]) { (@loop(0i64, %x), %x) }
""")

    async def run():
        for _ in range(20):
            x = torch.ones(size)
            gone = weakref.ref(x)
            task = asyncio.create_task(m.run_async(x))
            await asyncio.sleep(0)
            del x
            total, same = await task
            assert float(total) == size
            del task
            for _ in range(500):  # the scheduler's thread may hold it for a moment
                gc.collect()
                if gone() is None:
                    break
                await asyncio.sleep(0.01)
            assert gone() is None and (same == 1).all()
    asyncio.run(run())


@needs_exchange
def test_threads():
    m = model("def @main(%x: Tensor[(?), float32]) -> Tensor[(?), float32] { add(%x, 1f) }")
    call, failed = giving(m.main), []

    def work(seed):
        for i in range(300):
            x = torch.full((1 + (seed * 977 + i * 131) % 9000,), float(i))
            y = call(x) if i % 2 else torch.from_numpy(m(x))
            if not torch.equal(y, x + 1):
                failed.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@needs_exchange
def test_inputs_that_want_gradients_are_taken_where_results_are_tensors():
    m = model("def @main(%x: Tensor[(3), float32], %t: (Tensor[(3), float32], int64)) { (add(%x, %t.0), %t.1) }")
    x = torch.ones(3, requires_grad=True)
    total, number = giving(m.main)(x, (torch.ones(3), 7))
    assert torch.equal(total, torch.full((3,), 2.0)) and not total.requires_grad and number.item() == 7
    assert m.main._call.giving(int) is None


def test_what_is_not_on_the_host_is_said(add_one):
    class Elsewhere:
        def __dlpack__(self, **_):
            raise BufferError("on the moon")

    with pytest.raises(BufferError, match="moon"):
        add_one(Elsewhere())
