#!/usr/bin/env python3
"""Runs a benchmark and keeps what it measured, with its command, its machine and the day: the site's page of figures is made of it.

usage: PYTHON record.py NAME [--as COMMAND] COMMAND...

Writes recorded/NAME.json. COMMAND is one of the benchmarks (its path, without an interpreter: it is run by the one that runs this), with
its options; where it has --json, what it writes by it is kept, else what it prints. --as is how a reader should write the command, where
paths of this machine stand in it.
"""
import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("onnxruntime", "openvino", "torch", "numpy", "fastapi", "uvicorn")


def processor():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    flags = re.search(r"^flags\s*: (.*)", text, re.M).group(1).split()
    level = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    return f"{re.search(r'^model name *	*: (.*)', text, re.M).group(1)} with {level}, {os.cpu_count()} processors"


def system():
    with open("/etc/os-release") as f:
        name = re.search(r'^PRETTY_NAME="(.*)"', f.read(), re.M).group(1)
    return f"{name}, Linux {platform.release()}"


def versions():
    from importlib import metadata
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return found


def main():
    words = sys.argv[1:]
    if len(words) < 2 or not re.fullmatch(r"[\w-]+", words[0]):
        sys.exit(__doc__)
    name, command, shown = words[0], words[1:], None
    if command[0] == "--as":
        shown, command = command[1], command[2:]
    with open(command[0]) as f:
        has_json = '"--json"' in f.read()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        done = subprocess.run([sys.executable, *command, *(["--json", out] if has_json else [])], stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        if done.returncode:
            sys.exit(f"{command[0]}: exit {done.returncode}: nothing is kept")
        record = {"benchmark": os.path.basename(command[0]), "command": shown or shlex.join(command), "date": datetime.date.today().isoformat(),
                  "machine": processor(), "system": system(), "versions": versions(), "printed": done.stdout.strip().splitlines()}
        if has_json:
            with open(out) as f:
                record["results"] = json.load(f)
    path = os.path.join(HERE, "recorded", name + ".json")
    with open(path, "w") as f:
        json.dump(record, f, indent=1)
        f.write("\n")
    print(f"{path} is written")


if __name__ == "__main__":
    main()
