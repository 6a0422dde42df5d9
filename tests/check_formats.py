#!/usr/bin/env python3
"""Each format of models that relayc reads is documented: a page OPERATORS of its folder is what `--list-operators` says, and
the site's pages show how that is asked.

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
    pages = [page.read_text() for page in (source / "compiler/import").glob("*/OPERATORS*.md")]
    shown, wrong = "".join(page.read_text() for page in (source / "tools/docs/pages").rglob("*.md")), []
    for name in formats:
        if name == "relay":
            continue  # the language of the compiler: kernels/op
        if ask(name).stdout not in pages:
            wrong.append(f"compiler/import: expected an OPERATORS page of what `relayc --list-operators {name}` prints")
        if f"relayc --list-operators {name}" not in shown:
            wrong.append(f"tools/docs/pages: expected a line `relayc --list-operators {name}`")
    print("\n".join(wrong) if wrong else f"documented: {', '.join(formats)}")
    return 1 if wrong or len(formats) < 2 else 0


sys.exit(main())
