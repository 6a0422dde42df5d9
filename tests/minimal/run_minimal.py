#!/usr/bin/python3
"""Builds the runtime of RELAYVM_MINIMAL for a machine of 32 bits, and runs programs with it and with vmrun, which must say the same.

usage: run_minimal.py SOURCE_FOLDER BUILD_FOLDER BIN_FOLDER

Programs: tests/minimal, and those of tests/programs that need no kernels of native code; their comments say what must happen (see
run_programs.py; `error`: the minimal runtime does not load it). The archive of the runtime must need nothing that is not there.
Status 77: there is no compiler for such a machine (Debian's g++-i686-linux-gnu).
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run_programs

MACHINE = "i686-linux-gnu-"
# Threads, mapped memory, descriptors, signals, exceptions, fibers, shared libraries.
ABSENT = re.compile(r"^(pthread_\w+|mmap\w*|munmap|mprotect|madvise|memfd_create|open\w*|read|write|fork|sig\w+|sched_\w+|__cxa_throw|"
                    r"__cxa_begin_catch|\w+_fcontext|dlopen|dlsym|_ZNSt6thread\w+|_ZNSt18condition_variable\w+)$")
FEWEST = 12  # programs


def build(source, folder):
    """The folder of what was built."""
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DRELAYVM_MINIMAL=ON", f"-DCMAKE_C_COMPILER={MACHINE}gcc",
                 f"-DCMAKE_CXX_COMPILER={MACHINE}g++"]
    for command in [configure, ["cmake", "--build", folder]]:
        p = subprocess.run(command, capture_output=True, text=True)
        if p.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stdout[-4000:]}{p.stderr[-4000:]}")
    return os.path.join(folder, "vm", "platform", "minimal")


def needs(archive):
    """What the archive's objects take from elsewhere that a minimal platform does not have."""
    symbols = subprocess.run([MACHINE + "nm", "-u", archive], capture_output=True, text=True, check=True).stdout
    return sorted({name for name in re.findall(r"[UwW] (\S+)", symbols) if ABSENT.match(name)})


def run(command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return p.returncode, p.stdout.strip(), p.stderr.strip()


def check(binary, minimal, vmx, inputs, kind, text):
    """None, or what is wrong."""
    status, out, _ = run([minimal, vmx] + inputs)
    if kind == "error":
        return None if status == 2 and text in out else f"exit {status}: {out}\n    expected exit 2 and {text}"
    if kind == "fails":
        return None if status == 3 and text in out else f"exit {status}: {out}\n    expected exit 3 and {text}"
    if kind == "expect" and (status != 0 or out != text):
        return f"exit {status}: {out}\n    expected {text}"
    named = [word for value in inputs for word in ("--input", value)]
    expected = run([os.path.join(binary, "vmrun"), vmx, "--memory-limit", "64MiB"] + named)
    return None if (status, out) == expected[:2] else f"exit {status}: {out}\n    vmrun: {expected}"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, folder, binary = sys.argv[1:]
    if shutil.which(MACHINE + "g++") is None:
        print(f"skipped: there is no {MACHINE}g++")
        return 77
    built = build(source, folder)
    minimal = os.path.join(built, "run_minimal")
    wrong = [f"the runtime needs {name}" for name in needs(os.path.join(built, "librelayvm_minimal.a"))]
    programs = passed = 0
    vmx = os.path.join(folder, "program.vmx")
    for tests in ["minimal", "programs"]:
        tests = os.path.join(source, "tests", tests)
        for name in sorted(os.listdir(tests)):
            path = os.path.join(tests, name)
            options, blocks = run_programs.blocks(path) if name.endswith(".relay") else ([], [])
            if not blocks or run([os.path.join(binary, "relayc"), path, "-q", "-o", vmx] + options)[0] != 0:
                continue
            loads = run([os.path.join(binary, "vmdump"), vmx])[1].find(" 0 images") >= 0
            if not loads and blocks[0][1] != "error":
                continue
            programs += 1
            for inputs, kind, text in blocks:
                said = check(binary, minimal, vmx, inputs, kind, text)
                passed += said is None
                if said is not None:
                    wrong.append(f"{name} {inputs} {kind}: {said}")
    if programs < FEWEST:
        wrong.append(f"{programs} programs, expected {FEWEST} or more")
    print("\n".join(wrong + [f"{programs} programs, {passed} passed, {len(wrong)} failed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
