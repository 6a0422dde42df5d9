#!/usr/bin/python3
"""The README says what is so: its C++ and C examples are the programs that the tests build, and its tour and its Python run as written.

usage: check_readme.py README.md EMBEDDING_FOLDER BIN_FOLDER EXAMPLES_FOLDER [PYTHON_FOLDER]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    readme, embedding, binary, examples = open(sys.argv[1]).read(), *sys.argv[2:5]
    blocks = re.findall(r"```(?:cpp|c)\n(.*?)```", readme, re.S)
    names = ("main.cc", "main.c", "observing/main.cc", "observing/main.c", "graph/main.c", "compiling/main.cc",
             "compiling/main.c")
    if len(blocks) != len(names):
        sys.exit(f"expected {len(names)} examples in the README, found {len(blocks)}")
    for block, name in zip(blocks, names):
        example = os.path.join(embedding, name)
        if block != open(example).read():
            sys.exit(f"the README's example and {example} differ")
    commands = []
    block = re.search(r"## A tour\n.*?\n((?:    [^\n]*\n)+)", readme, re.S).group(1)
    commands += [line.strip() for line in block.splitlines()]
    native = re.search(r"\n## Native code\n(.*?)\n## ", readme, re.S).group(1)
    environment = dict(os.environ, PATH=os.path.abspath(binary) + os.pathsep + os.environ["PATH"])
    if environment.get("SANITIZE"):  # such builds make no programs of their own
        native = native.split("`--emit exe`")[0]
    rewrites = re.search(r"\n\*\*Rewrites need no code\*\*(.*?)\nA program may call", readme, re.S).group(1)
    commands += [line.strip() for line in re.findall(r"(?m)^    .*$", native + rewrites)]
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(examples, os.path.join(folder, "examples"))
        # What an installation has, of the build.
        prefix = environment["PREFIX"] = os.path.join(folder, "prefix")
        os.mkdir(prefix)
        build = os.path.dirname(os.path.abspath(binary))
        os.symlink(os.path.join(build, "include", "runtime"), os.path.join(prefix, "include"))
        os.symlink(os.path.join(build, "lib"), os.path.join(prefix, "lib"))
        for command in commands:
            if command.startswith("cc "):
                command = "cc " + environment.get("SANITIZE", "") + command[2:]
            p = subprocess.run(command, shell=True, cwd=copy, env=environment, capture_output=True, text=True, timeout=300)
            if p.returncode != 0 or not p.stdout + p.stderr and not command.startswith(("relayc", "cc")):
                sys.exit(f"{command}\nexit {p.returncode}: {p.stdout}{p.stderr}")
    print(f"{len(commands)} commands of the tour ran")
    if len(sys.argv) == 6:
        programs = re.findall(r"```python\n(.*?)```", readme, re.S)
        environment["PYTHONPATH"] = os.path.abspath(sys.argv[5])
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(examples, os.path.join(folder, "examples"))
            for program in programs:
                p = subprocess.run(["/usr/bin/python3", "-c", program], cwd=copy, env=environment, capture_output=True, text=True, timeout=300)
                if p.returncode != 0:
                    sys.exit(f"{program}\nexit {p.returncode}: {p.stdout}{p.stderr}")
        print(f"{len(programs)} Python programs ran")


if __name__ == "__main__":
    main()
