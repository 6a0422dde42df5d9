#!/usr/bin/env python3
"""No source asks for an operator by its name.

What an operator is stands in its definition (kernels/op). Passes, costs, packing, lowering and the
planner of kernels ask the definition, or a problem that is made of a call (kernels/op/problem.h); a
pass that asks for a name serves that operator alone. So string literals that are names of operators
stand in kernels/op, importers, the frontend and rule files, and nowhere else.

check_operator_names.py RELAYC SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

FOLDERS = ["compiler", "kernels/codegen"]
NOT_READ = ["compiler/import", "compiler/frontend"]

# Words that mean something else there: names of blocks of code, keys, functions of C.
WORDS = {"all", "any", "copy", "max", "min", "or", "not", "power", "tile", "zeros"}

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def operators(relayc):
    text = subprocess.run([relayc, "--list-operators", "relay"], capture_output=True, text=True,
                          check=True).stdout
    names = set(re.findall(r"^\| ([a-z_0-9.A-Z]+) \| ", text, re.M)) - {"operator"}
    assert len(names) > 200, "the list of operators has another form"
    return names


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cc", ".h") or any(name.startswith(f) for f in NOT_READ):
                continue
            if re.search(r"(_test|testing)\.(cc|h)$", name) or "/end_to_end/" in name:
                continue
            yield name, path


def main():
    relayc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    names = operators(relayc)
    failures = []
    for name, path in sources(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for literal in LITERAL.findall(re.sub(r"//.*", "", line)):
                if literal in names - WORDS:
                    failures.append(f'{name}:{number}: names the operator "{literal}": ask its '
                                    "definition (kernels/op/op.h) or its problem "
                                    "(kernels/op/problem.h)")
    print("\n".join(failures) or f"{len(names)} operators, none named where it may not be")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
