#!/usr/bin/env python3
"""Makes the site's page of figures, tools/docs/pages/figures.md, and the README's table, of what record.py kept in recorded/.

usage: make_figures.py [--check]    (--check: fails where they are others)
"""
import glob
import json
import math
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../tools/docs/pages/figures.md")
README = os.path.join(HERE, "../../README.md")
sys.path.insert(0, os.path.join(HERE, "../../tools/docs"))
from generators import cell, table  # noqa: E402

# Files of recorded/ by their names, in this order: title, and what is said of it.
SECTIONS = {
    "models_avx2": ("Whole models, AVX2", "relayvm compiled for AVX2 and the peers held to it (`tests/bench/limit_cpu.py`)."),
    "models_native": ("Whole models, all that the processor has", ""),
    "calls": ("A call of a small model", "Microseconds: what calling costs, where there is little to compute."),
    "server": ("A server", "`vmserve`, and ONNX Runtime in FastAPI and uvicorn, on the same processors as their clients."),
}
# What of an environment a benchmark uses.
PACKAGES = {"peers.py": ("onnxruntime", "openvino"), "python_overheads.py": ("onnxruntime", "torch"), "compare.py": ("onnxruntime", "fastapi", "uvicorn")}
PEERS = {"ort": "ONNX Runtime", "openvino": "OpenVINO", "iree": "IREE"}
INTRO = """# Figures

```{index} benchmark, benchmarks, figures, how fast, speed, compared with onnxruntime
```

Measured by `tests/bench`, not by the tests: a figure is of one machine and one day, and the command beside it makes it on yours. What follows was made of what
`tests/bench/record.py` kept, `tests/bench/recorded`. Peers run in turn with relayvm in one run, and results are compared before they are timed. A shared machine
is noisy: look at ratios, and take a few per cent for nothing.

"""
OUTRO = """## Conformance

| | |
|---|---|
| ONNX's own tests (Debian's `libonnx-testdata`) | run by `ctest -R onnx_conformance`; what is left out is counted by reason |
| models of the other formats | run by `ctest -R importers`, against what the systems that wrote them gave |
"""


def models(record):
    """A row for each model: milliseconds, and each peer's time over ours, by the number of threads."""
    rows = record["results"]
    peers = [peer for peer in PEERS if any(row.get(peer) for row in rows)]
    threads = sorted({row["threads"] for row in rows})
    names = list(dict.fromkeys(row["name"] for row in rows))
    found = {(row["name"], row["threads"]): row for row in rows}
    head = ["model"] + [f"{what}, {n} thread{'s' if n > 1 else ''}" for n in threads for what in ("ms", " / ".join(PEERS[p] for p in peers))] + ["made in s: relayvm / again / " + " / ".join(PEERS[p] for p in peers)]
    lines = []
    for name in names:
        line = [cell(name)]
        for n in threads:
            row = found.get((name, n), {})
            line += [f"{row['ms']:.3f}" if row else "-", " / ".join(f"{row[p]:.2f}" if row.get(p) else "-" for p in peers)]
        row = found[name, threads[0]] if (name, threads[0]) in found else next(r for r in rows if r["name"] == name)
        line.append(" / ".join([f"{row['made']:.2f}", f"{row['made_again']:.2f}", *(f"{row[p + '_made']:.2f}" if row.get(p + "_made") else "-" for p in peers)]))
        lines.append(line)
    notes = [f"{row['name']}: {note}" for row in rows for note in row["notes"]]
    return ("Time of the peer over ours: above 1 relayvm is faster. The last column is from the file to what can run, a second time with kernels kept.\n\n" + table(head, lines)
            + "\n" + cell(record["printed"][-1]) + ".\n" + "".join(f"\n{cell(note)}.\n" for note in dict.fromkeys(notes)))


def calls(record):
    results = record["results"]
    titles = list(dict.fromkeys(model for calls in results.values() for times in calls.values() for model in times))
    rows = [[cell(f"{system}: {call}")] + [f"{times[m]:.2f}" if m in times else "-" for m in titles] for system, calls in results.items() for call, times in calls.items()]
    return table(["microseconds", *titles], rows)


def server(record):
    """compare.py prints a row of what was asked, vmserve's figure, the peer's, and their ratio."""
    rows = [re.fullmatch(r"(.*\S) +([\d.]+) +([\d.]+) +([\d.]+)", line) for line in record["printed"]]
    return table(["requests", "vmserve", "the peer", "ratio"], [[cell(row[1]), *row.groups()[1:]] for row in rows if row])


def section(name, record):
    title, about = SECTIONS[name]
    used = PACKAGES[record["benchmark"]]
    peers = ", ".join(f"{package} {version}" for package, version in record["versions"].items() if package in used)
    text = f"## {title}\n\n{about + ' ' if about else ''}{record['date']}, {cell(record['machine'])}, {cell(record['system'])}{'; ' + cell(peers) if peers else ''}.\n\n"
    shown = {"peers.py": models, "python_overheads.py": calls, "compare.py": server}[record["benchmark"]]
    script = record["command"].split()[0]
    return text + shown(record) + f"\n```sh elsewhere={script}\npython3 {record['command']}\n```\n\n"


def read_records(folder):
    records = {}
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path) as f:
            records[os.path.basename(path)[:-len(".json")]] = json.load(f)
    if set(records) - set(SECTIONS):
        raise RuntimeError(f"figures.py: say in SECTIONS what these are: {', '.join(sorted(set(records) - set(SECTIONS)))}")
    return records


def page(records):
    return INTRO + "".join(section(name, records[name]) for name in SECTIONS if name in records) + OUTRO


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def readme(records, text):
    """The README with its table of figures: models with one thread, and a server."""
    levels = [("AVX2", "models_avx2"), ("all that the processor has", "models_native")]
    rows = {}
    for _, name in levels:
        for row in records[name]["results"]:
            if row["threads"] == 1:
                rows.setdefault(row["name"], {})[name] = " / ".join(f"{row[p]:.2f}" if row.get(p) else "-" for p in ("ort", "openvino"))
    better = [geometric_mean([min(row[p] for p in PEERS if row.get(p)) for row in records[name]["results"] if row["threads"] == 1]) for _, name in levels]
    lines = [[cell(model), *(cells.get(name, "") for _, name in levels)] for model, cells in rows.items()] + [["geometric mean of the better peer", *(f"{value:.2f}" for value in better)]]
    rate = next(line for line in records["server"]["printed"] if line.startswith("json, 16 connections, a second")).split()[-1]
    record = records["models_avx2"]
    versions = record["versions"]
    server_machine = records["server"]["machine"]
    elsewhere = "" if server_machine == record["machine"] else f", on {server_machine}"
    made = (f"## Figures\n\nThe peer's time over ours: above 1 relayvm is faster. {record['machine']}, 1 thread, {record['date']}; ONNX Runtime {versions['onnxruntime']} / OpenVINO "
            f"{versions['openvino']}. AVX2: all of them limited to it. A server answers {rate} times the requests of ONNX Runtime in FastAPI (REST with JSON, 16 connections{elsewhere}).\n"
            "[Figures](tools/docs/pages/figures.md) has the rest, where we are behind, and the commands.\n\n" + table(["model", *(title for title, _ in levels)], lines) + "\n")
    return re.sub(r"^## Figures\n.*?(?=^## )", lambda _: made, text, flags=re.M | re.S)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    records = read_records(os.path.join(HERE, "recorded"))
    with open(README) as f:
        made = {PAGE: page(records), README: readme(records, f.read())}
    for path, text in made.items():
        if sys.argv[1:]:
            with open(path) as f:
                if f.read() != text:
                    sys.exit(f"{os.path.normpath(path)} is not what make_figures.py makes of tests/bench/recorded: run it")
        else:
            with open(path, "w") as f:
                f.write(text)


if __name__ == "__main__":
    main()
