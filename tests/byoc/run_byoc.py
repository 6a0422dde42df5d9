#!/usr/bin/python3
"""Recorded programs and models with what an engine runs as regions: as recorded, and as without.

    run_byoc.py BIN [corpus|models|findings ...] [--shared DIR] [--engine NAME] [--every N] [--filter TEXT]
                [--report FILE.json] [--jobs N]

Runs the scripts of ../shared (all three, where none is named) with relayc and relayrun given --byoc
ENGINE --byoc-only, so that no program with a region runs without its engine, and compares each result
with the native program's: exit statuses, shapes, integers, and floats by their largest difference over
the largest element. Prints what the scripts print, how many regions there were, and the largest
difference; exit status 1 where a program does otherwise than its native form. --every N takes one case
in N of the corpus and of the models. Needs Debian's python3-numpy. tests/README.md says how long it takes.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared")  # of a checkout at FOLDER/main
SCRIPTS = {"corpus": "corpus/run_corpus.py", "models": "models/run_models.py",
           "findings": "findings/run_findings.py"}
MOST = 1e-3  # of the largest element: deep networks add up what sums in another order differ by


def difference(got, want):
    """How far two arrays are apart, over the largest element; None where they cannot be compared."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return None
    if want.dtype.kind != "f":
        return 0.0 if np.array_equal(got, want) else None
    a, b = got.astype(np.float64), want.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all()):
        return float("inf")
    top = np.abs(b[np.isfinite(b)]).max(initial=1e-30)
    return float(np.abs(a - b)[~same].max() / top)


class Tools:
    """Stands for the module subprocess in a script that calls relayc, vmrun and relayrun."""

    TimeoutExpired = subprocess.TimeoutExpired

    def __init__(self, bin_dir, engine):
        self.bin, self.engine = bin_dir, engine
        self.lock = threading.Lock()
        self.sources, self.rows, self.reports = {}, [], []

    def run(self, cmd, **how):
        tool = os.path.basename(cmd[0])
        if tool == "relayc" and "-o" in cmd:
            return self.compile(cmd, how)
        if tool == "vmrun" and cmd[1] in self.sources:
            return self.execute(cmd, how)
        if tool == "relayrun" and "--executor" not in cmd:
            return subprocess.run([*cmd, *self.flags()], **how)
        return subprocess.run(cmd, **how)

    def flags(self):
        return ["--byoc", self.engine, "--byoc-only"]

    @staticmethod
    def native(model):
        return os.path.splitext(model)[0] + ".native.vmx"

    def compile(self, cmd, how):
        done = subprocess.run([*cmd, *self.flags()], **how)
        model = cmd[cmd.index("-o") + 1]
        plain = list(cmd)
        plain[cmd.index("-o") + 1] = self.native(model)
        without = subprocess.run(plain, **how)
        regions = 0
        if done.returncode == 0:
            dump = subprocess.run([os.path.join(self.bin, "vmdump"), model, "--json"],
                                  capture_output=True, text=True)
            regions = json.loads(dump.stdout)["program"]["regions"]
        with self.lock:
            self.sources[model] = (cmd[1], regions)
            self.rows.append((cmd[1], regions))
            if done.returncode != without.returncode:
                self.reports.append(f"{cmd[1]}: relayc ends with {done.returncode}, natively with "
                                    f"{without.returncode}: {(done.stderr + without.stderr).strip()[-300:]}")
        return done

    def execute(self, cmd, how):
        done = subprocess.run(cmd, **how)
        source, regions = self.sources[cmd[1]]
        if regions == 0 or "--repeat" in cmd or "--timeout" in cmd:
            return done
        plain = [cmd[0], self.native(cmd[1]), *cmd[2:]]
        place = cmd.index("--output") + 1 if "--output" in cmd else None
        if place is not None:
            plain[place] = cmd[place][:-len(".npz")] + ".native.npz"
        without = subprocess.run(plain, **how)
        why, most = None, 0.0
        if done.returncode != without.returncode:
            why = (f"vmrun ends with {done.returncode}, natively with {without.returncode}: "
                   f"{(done.stderr + without.stderr).strip()[-300:]}")
        elif done.returncode == 0 and place is not None:
            with np.load(cmd[place]) as got, np.load(plain[place]) as want:
                for name in want.files:
                    far = difference(got[name], want[name]) if name in got.files else None
                    if far is None:
                        why = f"{name} is another one"
                    else:
                        most = max(most, far)
            os.remove(plain[place])
            if why is None and most > MOST:
                why = f"differs by {most:.3g} of the largest element"
        with self.lock:
            self.rows.append((source, regions, most))
            if why is not None:
                self.reports.append(f"{source} ({regions} regions): {why}")
        return done

    def summary(self, name):
        compiled = [row for row in self.rows if len(row) == 2]
        runs = [row for row in self.rows if len(row) == 3]
        with_regions = [row for row in compiled if row[1] > 0]
        print(f"{name}: {len(compiled)} programs, {len(with_regions)} with regions, "
              f"{sum(row[1] for row in with_regions)} regions; {len(runs)} runs compared")
        if runs:
            worst = max(runs, key=lambda row: row[2])
            print(f"  largest difference: {worst[2]:.3g} of the largest element, {worst[0]}")
        for line in self.reports:
            print(f"  OTHERWISE {line}")


def call(script, args, tools):
    """Exit status of a script that runs in this process with `tools` for its subprocess."""
    spec = importlib.util.spec_from_file_location(os.path.basename(script)[:-3], script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.subprocess = tools
    before = sys.argv
    sys.argv = [script, *args]
    try:
        return module.main() or 0
    except SystemExit as end:
        return end.code or 0
    finally:
        sys.argv = before


def sample(folder, every, into):
    """The folder again, with links to the files of one case in `every`."""
    cases = sorted((root, files) for root, _, files in os.walk(folder) if "case.json" in files)
    for root, files in cases[::every]:
        place = os.path.join(into, os.path.relpath(root, folder))
        os.makedirs(place)
        for file in files:
            os.symlink(os.path.join(root, file), os.path.join(place, file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("parts", nargs="*", choices=[*SCRIPTS, []])
    parser.add_argument("--shared", default=SHARED)
    parser.add_argument("--engine", default="dnnl")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", help="what was compiled and compared, as JSON")
    args = parser.parse_args()
    failed, rows = False, {}
    for part in args.parts or list(SCRIPTS):
        script = os.path.realpath(os.path.join(args.shared, SCRIPTS[part]))
        tools = Tools(args.bin, args.engine)
        flags = ["--bin", args.bin]
        with tempfile.TemporaryDirectory() as folder:
            if part != "findings":
                flags += ["--jobs", str(args.jobs), "--filter", args.filter]
                if args.every > 1:
                    sample(os.path.dirname(script), args.every, folder)
                    flags += [f"--{part}", folder]
            call(script, flags, tools)
        tools.summary(part)
        rows[part] = tools.rows
        failed = failed or bool(tools.reports)
    if args.report:
        with open(args.report, "w") as out:
            json.dump(rows, out, indent=0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
