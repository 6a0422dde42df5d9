#!/usr/bin/python3
"""Runs the files of each released version: they give what they gave then, and say what they need as they did.

usage: run_released.py BIN_FOLDER

Closes with the line "N runs of N files of N versions".
"""
import glob
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-4  # kernels of another level add in another order


def same(now, then):
    if isinstance(then, dict):
        return isinstance(now, dict) and now.keys() == then.keys() and all(same(now[key], then[key]) for key in then)
    if isinstance(then, list):
        return isinstance(now, list) and len(now) == len(then) and all(map(same, now, then))
    if isinstance(then, float) and isinstance(now, (int, float)):
        return math.isclose(now, then, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return now == then


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}: {done.stderr}"
    return done.stdout


def numbers(text):
    return tuple(map(int, str(text).split(".")))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tool = lambda name: os.path.join(sys.argv[1], name)
    version, form, bytecode = re.search(r"relayvm\) ([\d.]+), \.vmx format ([\d.]+), bytecode (\d+)", run([tool("vmrun"), "--version"])).groups()
    folders = sorted(glob.glob(os.path.join(HERE, "[0-9]*")))
    assert folders, f"{HERE}: expected the folder of a version"
    files = runs = 0
    for folder in folders:
        with open(os.path.join(folder, "cases.json")) as f:
            cases = json.load(f)
        released = os.path.basename(folder)
        assert numbers(released) <= numbers(version), f"{released} is of a later version than {version}"
        assert numbers(cases["format"]) <= numbers(form) and cases["bytecode"] <= int(bytecode), f"{version} reads less than {released} did"
        kept = {os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.vmx"))}
        assert kept == set(cases["files"]), f"{released}: {sorted(kept ^ set(cases['files']))}"
        for name, case in cases["files"].items():
            path = os.path.join(folder, name)
            needs = json.loads(run([tool("vmdump"), path, "--json"]))
            assert {"format": needs["format"], "bytecode": needs["bytecode_version"]} == case["needs"], f"{path}: it needs {needs['format']}"
            assert numbers(needs["format"]) <= numbers(cases["format"]), f"{path} needs more than its version had"
            run([tool("vmdump"), path, "--check"])
            for one in case["runs"]:
                result = json.loads(run([tool("vmrun"), path, *one["arguments"], "--json"]))
                assert same(result, one["result"]), f"{path} {one['arguments']}: expected {one['result']}, found {result}"
                runs += 1
            files += 1
    assert not same({"data": [1.0, 2.0]}, {"data": [1.0, 2.1]}) and not same([1], [1, 2]) and same([1.0000001], [1.0])
    print(f"{runs} runs of {files} files of {len(folders)} versions")


if __name__ == "__main__":
    main()
