"""Seeing programs run: times by kernel and by source line, and what ran when."""
import os
import re

from . import _native


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


class Profile:
    """Times of kernels: rvm.Runtime(trace=rvm.Profile()).

    interval: times one call in so many, chosen at random, which stands for as many; from 100 on it costs next to nothing.
    Prints as a table.
    """

    def __init__(self, interval=1):
        self._native = _native.Profile(interval)

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
            name = re.sub(r"(?<=.)_\d+$", "", row.name)
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

    def __str__(self):
        table = [self._COLUMNS, *self._table()]
        widths = [max(len(row[i]) for row in table) for i in range(len(self._COLUMNS))]
        return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
                         for row in table)

    def _repr_html_(self):
        import html
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._table())
        return f"<table><tr>{''.join(f'<th>{c}</th>' for c in self._COLUMNS)}</tr>{rows}</table>"


class ChromeTrace:
    """What ran when, for chrome://tracing and ui.perfetto.dev: rvm.Runtime(trace=rvm.ChromeTrace()).

    max_events: later ones are dropped. interval: of kernels, as of `Profile`.
    """

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

    def clear(self):
        """Forgets all."""
        self._native.clear()
