"""tvm.runtime.profiling: times of a program's kernels as TVM's reports have them, made of a `relayvm.Profile`."""
import json

from ...compiler.objects import Object
from ..elsewhere import elsewhere
from ..nd import Device


class Count(Object):
    """How often: value."""

    def __init__(self, count):
        self.value = int(count)

    def __str__(self):
        return f"{self.value:,}"


class Duration(Object):
    """How long: microseconds."""

    def __init__(self, duration):
        self.microseconds = float(duration)

    def __str__(self):
        return f"{self.microseconds:,.2f}"


class Percent(Object):
    """What part: percent."""

    def __init__(self, percent):
        self.percent = float(percent)

    def __str__(self):
        return f"{self.percent:.2f}"


class Ratio(Object):
    """A ratio: ratio."""

    def __init__(self, ratio):
        self.ratio = float(ratio)

    def __str__(self):
        return f"{self.ratio:.2f}"


class DeviceWrapper(Object):
    """A device: device."""

    def __init__(self, dev):
        self.device = dev


_KINDS = {"count": (Count, "value"), "microseconds": (Duration, "microseconds"), "percent": (Percent, "percent"), "ratio": (Ratio, "ratio")}


def _plain(metrics):
    found = {}
    for name, value in metrics.items():
        kind = next((key for key, (cls, _) in _KINDS.items() if isinstance(value, cls)), None)
        found[name] = {"string": str(value)} if kind is None else {kind: getattr(value, _KINDS[kind][1])}
    return found


def _of_plain(metrics):
    return {name: next(text if key == "string" else _KINDS[key][0](text) for key, text in value.items()) for name, value in metrics.items()}


class Report(Object):
    """calls: a dict for each kernel, "Name", "Count", "Duration (us)", "Percent", "Device". device_metrics: the sums, by device. configuration.

    profile: the `relayvm.Profile` that it is made of, the methods of which it has too.
    """

    def __init__(self, calls, device_metrics, configuration, profile=None):
        self.calls, self.device_metrics, self.configuration, self.profile = list(calls), dict(device_metrics), dict(configuration), profile

    @classmethod
    def of_profile(cls, profile, executor):
        """The one of a `relayvm.Profile`."""
        rows = profile.by_kernel()
        total = sum(row.total_ns for row in rows) / 1e3
        calls = [{"Name": row.name, "Count": Count(row.calls), "Duration (us)": Duration(row.total_ns / 1e3),
                  "Percent": Percent(row.total_ns / 10 / max(total, 1e-9)), "Device": "cpu0"} for row in rows]
        whole = profile.totals["run_ns"] / 1e3
        sums = {"cpu0": {"Count": Count(1), "Duration (us)": Duration(whole), "Percent": Percent(100), "Name": "Total", "Device": "cpu0"}}
        return cls(calls, sums, {"Executor": executor}, profile)

    def __getattr__(self, name):
        if name.startswith("_") or self.__dict__.get("profile") is None:
            raise AttributeError(f"Report has no attribute {name}")
        return getattr(self.profile, name)

    def _columns(self):
        return list(dict.fromkeys(name for call in self.calls for name in call)) or ["Name", "Duration (us)", "Percent", "Device", "Count"]

    def csv(self):
        """Its calls as lines with commas."""
        columns = self._columns()
        lines = [",".join(f'"{column}"' if " " in column or "," in column else column for column in columns)]
        for call in self.calls:
            lines.append(",".join(json.dumps(call[c]) if isinstance(call.get(c), str) else str(call.get(c, "")).replace(",", "") for c in columns))
        return "\n".join(lines) + "\n"

    def table(self, sort=True, aggregate=True, col_sums=True):
        """It as text. sort: the longest first. aggregate: calls of a kernel are one line always. col_sums: with the sums of a run."""
        columns = self._columns()
        calls = sorted(self.calls, key=lambda call: -call["Duration (us)"].microseconds) if sort else self.calls
        sums = [{}, *self.device_metrics.values()] if col_sums else []
        rows = [[str(row.get(column, "")) for column in columns] for row in [*calls, *sums]]
        widths = [max(map(len, [column, *(row[i] for row in rows)])) for i, column in enumerate(columns)]
        lines = ["  ".join(text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths))) for row in [columns, *rows]]
        told = [f"{name}: {value}" for name, value in self.configuration.items()]
        return "\n".join(line.rstrip() for line in [*lines, "", "Configuration", "-------------", *told]) + "\n"

    def json(self):
        """It as JSON, which `from_json` reads."""
        return json.dumps({"calls": list(map(_plain, self.calls)),
                           "device_metrics": {key: _plain(value) for key, value in self.device_metrics.items()},
                           "configuration": self.configuration})

    @classmethod
    def from_json(cls, s):
        """The one that `json` wrote."""
        read = json.loads(s)
        return cls(map(_of_plain, read["calls"]), {key: _of_plain(value) for key, value in read["device_metrics"].items()}, read["configuration"])

    def __str__(self):
        return self.table()

    __repr__ = __str__


class MetricCollector(Object):
    """Of TVM: what else to measure. Here profiles have GFLOP/s and GB/s of each kernel."""


def __getattr__(name):
    if name in ("PAPIMetricCollector", "profile_function"):
        return elsewhere(f"runtime.profiling.{name}", "relayvm.Runtime(trace=relayvm.Profile()) measures programs and knows GFLOP/s of kernels")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Count", "Device", "DeviceWrapper", "Duration", "MetricCollector", "Percent", "Ratio", "Report"]
