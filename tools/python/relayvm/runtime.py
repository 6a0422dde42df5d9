"""What programs run on."""
import operator
import weakref

from . import _native, pages
from .keywords import spelt

_NO_BOUND = (1 << 63) - 1


def _number(name, value, most):
    """An int from 0 on, as a keyword takes it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an int, found {value!r}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name}: expected 0 to {most}, found {value}")
    return number


class Latencies:
    """How long runs took, counted in buckets that grow by a half or a third each.

    count: of runs. mean: seconds. buckets: a list of (seconds, runs): those runs took less, and not less than the bucket before.
    """

    def __init__(self, native):
        self.count, total, buckets = native
        self.mean = total / 1e9 / max(self.count, 1)
        self.buckets = [(bound / 1e9 if bound < _NO_BOUND else float("inf"), runs) for bound, runs in buckets]

    def quantile(self, part):
        """Seconds that `part` of all runs (0.99) did not exceed: a bucket's bound, so up to 1.5 of it. 0 without runs."""
        if not 0 <= part <= 1:
            raise ValueError(f"part: expected 0 to 1, found {part}")
        below = 0
        for bound, runs in self.buckets:
            below += runs
            if below >= part * self.count:
                return bound
        return 0.0

    def __repr__(self):
        return (f"Latencies({self.count} runs, mean {self.mean * 1e3:.3g} ms, half in {self.quantile(0.5) * 1e3:.3g} ms, "
                f"99 % in {self.quantile(0.99) * 1e3:.3g} ms)")


def _with_latencies(stats):
    for name in ("queue_time", "latency"):
        stats[name] = Latencies(stats[name])
    return stats


class RunGroup:
    """Runs that are limited and counted together, those of a tenant or of a model: `Runtime.group`."""

    def __init__(self, native):
        self._native = native

    def stats(self):
        """As `Runtime.scheduler_stats`, of its runs: "queued" and "active" now. Zeros once the runtime is closed."""
        return _with_latencies(self._native.stats())


class Runtime:
    """What programs run on: threads for kernels, and a scheduler for `run_async`.

    num_threads: that one run's kernels may use, the calling thread included; 0: as many as the machine
    has. scheduler_threads: that runs of `run_async` share. max_batch: products of so many runs are put
    together, for programs compiled with batching=True; 0: never. max_wait: seconds that a run waits for
    others at most. memory_limit: bytes that all runs may hold together, results of more than 16 KiB that
    are still held too; ResourceExhausted above. trace: a `Profile` or `ChromeTrace`, which sees all runs.
    devices: each a `Device`, which programs compiled with device= run on. device_memory_limit: bytes that runs and values may
    have on each together.

    Thread-safe. A process that was forked cannot use its parent's runtime where that has threads.
    """

    @spelt
    def __init__(self, num_threads=1, *, scheduler_threads=1, max_batch=0, max_wait=0.001, memory_limit=None, trace=None,
                 devices=(), device_memory_limit=None):
        num_threads = _number("num_threads", num_threads, 1024)
        scheduler_threads = _number("scheduler_threads", scheduler_threads, 1024)
        max_batch = _number("max_batch", max_batch, 1 << 20)
        memory_limit = None if memory_limit is None else _number("memory_limit", memory_limit, (1 << 64) - 1)
        if trace is not None and not hasattr(trace, "_native"):
            raise TypeError(f"trace: expected a Profile or a ChromeTrace, found {type(trace).__name__}")
        self.trace = trace
        sink = trace._native if trace is not None else None
        devices = list(devices)
        for device in devices:
            if not isinstance(device, _native.Device):
                raise TypeError(f"devices: expected a list of Device, found {type(device).__name__}")
        if device_memory_limit is not None:
            device_memory_limit = _number("device_memory_limit", device_memory_limit, (1 << 64) - 1)
        self._native = _native.Runtime(num_threads, scheduler_threads, max_batch, max_wait, memory_limit, sink, devices,
                                       device_memory_limit)
        _runtimes.add(self)

    def copy_to(self, tensor, device=None):
        """A `Value` or array of numpy as a `Value` on a device of the runtime; with None as an array of the host's.

        Functions take such values as inputs: used where they are if the program has them there, else copied.
        """
        if device is not None and not isinstance(device, _native.Device):
            raise TypeError(f"device: expected a Device or None, found {type(device).__name__}")
        return self._native.copy_to(tensor, device)

    def from_dlpack(self, tensor):
        """A `Value` of a tensor that has DLPack, on the host or on a device of the runtime, without a copy. Unsupported, with
        what was found and what there is, on another device."""
        return self._native.from_dlpack(tensor)

    def group(self, *, max_active=None, max_queued=None):
        """A `RunGroup`: runs of `run_async(..., group=g)` of which at most max_active have begun and not ended, and at most
        max_queued wait for that; above, ResourceExhausted. None: no limit but the runtime's.
        """
        most = (1 << 64) - 1
        limits = [most if value is None else _number(name, value, most)
                  for name, value in (("max_active", max_active), ("max_queued", max_queued))]
        return RunGroup(self._native.group(*limits))

    def scheduler_stats(self):
        """What `run_async` has done since the first run, as a dict: "accepted", "refused", "ended" by status, "queued", "ready",
        "running", "waiting" now; "queue_time" and "latency" are `Latencies`."""
        return _with_latencies(self._native.scheduler_stats())

    def drain(self, timeout=None):
        """Accepts no more runs of `run_async`, and waits until all have ended: how a service ends.

        DeadlineExceeded when they have not within `timeout` seconds: those that are left go on. Blocks; in a coroutine
        `await asyncio.to_thread(runtime.drain)`.
        """
        self._native.drain(timeout)

    def stats(self):
        """What its runs have done and hold, as a dict: runs by status ("ended"), "kernel_calls", "waits", "batches", bytes ..."""
        return self._native.stats()

    @property
    def num_threads(self):
        """How many threads compute."""
        return self._native.num_threads

    def __repr__(self):
        stats = self.stats()
        threads = self.num_threads
        return f"<relayvm.Runtime: {threads} thread{'s'[:threads != 1]}, {stats['started']:,} runs, {pages.num_bytes(stats['resident_bytes'])}>"

    def _repr_html_(self):
        stats = self.stats()
        ended = {status: count for status, count in stats.pop("ended").items() if count}
        shown = {"num_threads": self.num_threads, "ended": ended, **stats}
        scheduler = {**self.scheduler_stats()}
        scheduler["ended"] = {status: count for status, count in scheduler["ended"].items() if count}
        trace = self.trace._repr_html_() if self.trace is not None else ""
        return pages.page(repr(self)[1:-1], pages.table(("", ""), [(name, value) for name, value in shown.items()]),
                          pages.details("run_async", pages.table(("", ""), scheduler.items())), trace)

    def trim(self):
        """Gives back memory that is kept for the next calls of models, what is above 8 MiB of each; by itself it goes 2 s after the last."""
        self._native.trim()

    def close(self):
        """Cancels the runs of `run_async` and waits for them. Nothing can be started afterwards."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


_default = None
_runtimes = weakref.WeakSet()


def default_runtime():
    """The runtime of models that are loaded without one: one thread."""
    global _default
    if _default is None:
        _default = Runtime()
    return _default


def _close_all():
    # Threads that would call Python cannot do so while it ends.
    for runtime in list(_runtimes):
        runtime.close()
    _native.wait_for_schedulers()


def _forked():
    global _default
    _default = None
    _runtimes.clear()
