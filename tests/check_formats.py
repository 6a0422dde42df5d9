#!/usr/bin/env python3
"""Each format of models that relayc reads is documented: its folder's OPERATORS.md is what `--list-operators` says, and
the README shows how that is asked.

usage: check_formats.py RELAYC SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys


def main():
    relayc, source = sys.argv[1], pathlib.Path(sys.argv[2])
    ask = lambda name: subprocess.run([relayc, "--list-operators", name], capture_output=True, text=True)
    formats = re.search(r"not in \{(.*)\}", ask("?").stderr).group(1).split(",")
    readme, wrong = (source / "README.md").read_text(), []
    for name in formats:
        if name == "relay":
            continue  # the language of the compiler: kernels/op
        listed = source / "compiler/import" / name / "OPERATORS.md"
        if not listed.exists() or listed.read_text() != ask(name).stdout:
            wrong.append(f"{listed}: expected what `relayc --list-operators {name}` prints")
        if f"relayc --list-operators {name}" not in readme:
            wrong.append(f"README.md: expected a line `relayc --list-operators {name}`")
    print("\n".join(wrong) if wrong else f"documented: {', '.join(formats)}")
    return 1 if wrong or len(formats) < 2 else 0


sys.exit(main())
