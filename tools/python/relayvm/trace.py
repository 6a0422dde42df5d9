"""Seeing programs run: times by kernel and by source line, and what ran when."""
import os
import re

from . import _native, pages
from .keywords import spelt


class Row:
    """A line of a `Profile`.

    name: of the kernel, or those of a place. file, line: of the source, or an ONNX node's name with line 0; empty in rows of
    kernels. calls; total_ns, longest_ns: nanoseconds.
    """

    __slots__ = ("name", "file", "line", "calls", "total_ns", "longest_ns")

    def __init__(self, *fields):
        for slot, value in zip(self.__slots__, fields):
            setattr(self, slot, value)

    def __repr__(self):
        return f"Row({self.name}: {self.calls} calls, {self.total_ns / 1e6:.3f} ms)"


def _without_number(name):
    return re.sub(r"(?<=.)_\d+$", "", name)


def _place_of(row):
    return f"{row.file}:{row.line}" if row.line else row.file.rpartition(": ")[2]


def _rates(row, work):
    """GFLOP/s, GB/s, and why they are None."""
    if work is None:
        return None, None, "several kernels" if ", " in row.name else "its program was not loaded by Executable.load"
    return (*(None if count is None else count * row.calls / max(row.total_ns, 1) for count in (work.flops, work.bytes)), work.why)


def _html_rows(rows, what, total, name_of=lambda row: row.name):
    """The table of rows of a profile with their rates."""
    def cells(row, flops, size, why):
        shown = ["" if rate is None else f"{rate:.3g}" for rate in (flops, size)]
        part = row.total_ns / max(total, 1)
        return (name_of(row), row.calls, round(row.total_ns / 1e6, 3), round(row.total_ns / max(row.calls, 1) / 1e3, 2), pages.Bar(part, f"{100 * part:.1f} %"),
                *shown, why)
    return pages.table((what, "calls", "ms", "us a call", "part", "GFLOP/s", "GB/s", "not known"), [cells(*row) for row in rows])


class Profile:
    """Times of kernels: rvm.Runtime(trace=rvm.Profile()).

    interval: times one call in so many, chosen at random, which stands for as many; from 100 on it costs next to nothing.
    Prints as a table.
    """

    @spelt
    def __init__(self, interval=1):
        self._native = _native.Profile(interval)
        self._programs = []  # Executables that were loaded on its runtime: they know what kernels do

    def by_kernel(self):
        """`Row`s, the longest time first."""
        return [Row(*row) for row in self._native.by_kernel()]

    def by_place(self):
        """`Row`s by source line or ONNX node, the longest time first."""
        return [Row(*row) for row in self._native.by_place()]

    def by_operator(self):
        """`Row`s of kernels with the same operators, the longest time first: "fused_nn_conv2d_nn_relu" for all of that name and a number."""
        rows = {}
        for row in self.by_kernel():
            name = _without_number(row.name)
            known = rows.setdefault(name, Row(name, "", 0, 0, 0, 0))
            known.calls += row.calls
            known.total_ns += row.total_ns
            known.longest_ns = max(known.longest_ns, row.longest_ns)
        return sorted(rows.values(), key=lambda row: -row.total_ns)

    @property
    def totals(self):
        """Runs that have ended, and nanoseconds: of those runs, of waits, of kernels."""
        runs, run_ns, wait_ns, kernel_ns = self._native.totals()
        return {"runs": runs, "run_ns": run_ns, "wait_ns": wait_ns, "kernel_ns": kernel_ns}

    def clear(self):
        """Forgets all."""
        self._native.clear()

    def _table(self):
        rows = self.by_kernel()
        total = sum(row.total_ns for row in rows) or 1
        return [(row.name, str(row.calls), f"{row.total_ns / 1e6:.3f}", f"{row.total_ns / max(row.calls, 1) / 1e3:.2f}",
                 f"{100 * row.total_ns / total:.1f}") for row in rows]

    _COLUMNS = ("kernel", "calls", "total ms", "us a call", "%")

    def __repr__(self):
        kernels, totals = self.by_kernel(), self.totals
        return f"<relayvm.Profile: {totals['runs']} runs, {len(kernels)} kernels, {totals['kernel_ns'] / 1e6:.3f} ms in kernels; print() shows them>"

    def __str__(self):
        table = [self._COLUMNS, *self._table()]
        widths = [max(len(row[i]) for row in table) for i in range(len(self._COLUMNS))]
        return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
                         for row in table)

    def _works(self):
        """{kernel: `Work`, of the programs that are known}."""
        works = {}
        for program in self._programs:
            for name, work in program.work().items():
                known = works.setdefault(name, work)
                if (known.flops, known.bytes) != (work.flops, work.bytes):
                    works[name] = type(work)(None, None, "kernels of several programs have this name")
        return works

    def rates(self):
        """{kernel: (GFLOP/s, GB/s, why)}: of kernels of programs that were loaded by `Executable.load` on its runtime, which it keeps.

        None where the work of a kernel is not known; why says the reason. GB/s counts each buffer of a kernel once.
        """
        works = self._works()
        return {row.name: _rates(row, works.get(row.name)) for row in self.by_kernel()}

    def _rates_of_operators(self):
        """{name without its number: (GFLOP/s, GB/s, why)}"""
        rates, sums, whys = self.rates(), {}, {}
        for row in self.by_kernel():
            name = _without_number(row.name)
            *both, why = rates[row.name]
            work = sums.setdefault(name, [0, 0])
            sums[name] = [None if rate is None or total is None else total + rate * row.total_ns for total, rate in zip(work, both)]
            whys[name] = whys.get(name) or why
        return {row.name: (*(None if work is None else work / max(row.total_ns, 1) for work in sums[row.name]), whys[row.name])
                for row in self.by_operator()}

    def _repr_html_(self):
        totals, kernels, operators, works = self.totals, self.rates(), self._rates_of_operators(), self._works()
        total = totals["kernel_ns"]
        places = [(row, *_rates(row, works.get(row.name))) for row in self.by_place()]
        title = f"Profile: {totals['runs']:,} runs, {totals['run_ns'] / 1e6:.3f} ms, of which {total / 1e6:.3f} ms in kernels"
        parts = [pages.details("by operators", _html_rows([(row, *operators[row.name]) for row in self.by_operator()], "operators", total), is_open=True)]
        if places:
            parts.append(pages.details("by node of the source", _html_rows(places, "node", total, _place_of), is_open=True))
        parts.append(pages.details("by kernel", _html_rows([(row, *kernels[row.name]) for row in self.by_kernel()], "kernel", total)))
        return pages.page(title, *parts, pages.note("GFLOP/s and GB/s count a kernel's operations on numbers and its buffers, each once."))


class ChromeTrace:
    """What ran when, for chrome://tracing and ui.perfetto.dev: rvm.Runtime(trace=rvm.ChromeTrace()).

    max_events: later ones are dropped. interval: of kernels, as of `Profile`.
    """

    @spelt
    def __init__(self, max_events=1_000_000, interval=1):
        self._native = _native.ChromeTrace(max_events, interval)

    def events(self):
        """The events, as the Trace Event Format has them: a list of dicts."""
        import json
        return json.loads(self._native.json())["traceEvents"]

    def write(self, path):
        """Writes the file."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self._native.json())

    @property
    def dropped(self):
        """Events beyond max_events."""
        return self._native.dropped()

    def __repr__(self):
        return f"<relayvm.ChromeTrace: {self._native.num_events():,} events>"

    def _repr_html_(self):
        events = self.events()
        spent = {}
        for event in events:
            row = spent.setdefault((str(event.get("cat", "")), str(event.get("name", ""))), [0, 0.0])
            row[0] += 1
            row[1] += float(event.get("dur", 0))
        rows = [(name, kind, count, round(us / 1e3, 3)) for (kind, name), (count, us) in sorted(spent.items(), key=lambda item: -item[1][1])]
        dropped = f", {self.dropped:,} dropped" if self.dropped else ""
        return pages.page(f"ChromeTrace: {len(events):,} events{dropped}", pages.table(("name", "kind", "events", "ms"), rows),
                          pages.note("write(path) makes the file for ui.perfetto.dev"))

    def clear(self):
        """Forgets all."""
        self._native.clear()
