#!/usr/bin/python3
"""Runs the programs of a folder through relayrun: the VM at every optimisation level, and the reference interpreter.

usage: run_programs.py BIN_FOLDER PROGRAM_FOLDER [MORE_OPTIONS ...]

With more options of relayrun: the VM with these alone, against what the programs say and the reference.

A program says in comments what must happen; each block begins with its inputs:
  // input: ARG        once a parameter, as for vmrun's --input ({dir} is the program's folder)
  // expect: TEXT      the result as it is printed
  // close: FILE       the result is close to this .npy or .npz
  // same              VM and reference agree (for random inputs)
  // fails: TEXT       running fails with status 3 and a message that holds TEXT
  // error: TEXT       compiling fails with status 2 and a message that holds TEXT (no inputs)
  // options: ...      more options of relayrun, for all blocks
Closes with the line "N passed, N failed".
"""
import os
import subprocess
import sys
import tempfile

MODES = [["-O3", "--verify-ir"], ["-O1", "--verify-ir"], ["-O0", "--verify-ir"], ["--executor", "reference"]]


def blocks(path):
    options, current, found = [], [], []
    for line in open(path):
        key, _, text = line.strip().removeprefix("//").strip().partition(":")
        text = text.strip().replace("{dir}", os.path.dirname(os.path.abspath(path)))
        if not line.startswith("//"):
            continue
        if key == "options":
            options += text.split()
        elif key == "input":
            current.append(text)
        elif key in ("expect", "close", "fails", "error", "same"):
            found.append((current, key, text))
            current = []
    return options, found


def run(binary, path, options, inputs, more):
    command = [os.path.join(binary, "relayrun"), path] + options + more
    for i in inputs:
        command += ["--input", i]
    p = subprocess.run(command, capture_output=True, text=True, timeout=1500)
    return p.returncode, p.stdout.strip(), p.stderr.strip()


def check(binary, path, options, inputs, kind, text, mode):
    """None, or what is wrong."""
    if kind == "same":
        if "reference" in mode:
            return None
        with tempfile.TemporaryDirectory() as folder:
            golden = os.path.join(folder, "golden.npz")
            status, _, err = run(binary, path, options, inputs, ["--executor", "reference", "--output", golden])
            if status != 0:
                return f"reference: exit {status}: {err}"
            status, _, err = run(binary, path, options, inputs, mode + ["--expect", golden, "--rtol", "1e-4", "--atol", "1e-5"])
            return None if status == 0 else f"exit {status}: {err}"
    if kind == "close":
        status, _, err = run(binary, path, options, inputs, mode + ["--expect", text, "--rtol", "1e-4", "--atol", "1e-5"])
        return None if status == 0 else f"exit {status}: {err}"
    status, out, err = run(binary, path, options, inputs, mode)
    if kind == "expect":
        return None if status == 0 and out == text else f"exit {status}: {out} {err}\n    expected {text}"
    wanted = 3 if kind == "fails" else 2
    return None if status == wanted and text in err else f"exit {status}: {out} {err}\n    expected exit {wanted} and {text}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binary, folder, *more = sys.argv[1:]
    modes = [more] if more else MODES
    passed = failed = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".relay"):
            continue
        path = os.path.join(folder, name)
        options, found = blocks(path)
        if not found:
            print(f"{name}: says nothing about what must happen")
            failed += 1
        for inputs, kind, text in found:
            for mode in modes:
                wrong = check(binary, path, options, inputs, kind, text, mode)
                if wrong is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"{name} {' '.join(mode)} {inputs} {kind}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
