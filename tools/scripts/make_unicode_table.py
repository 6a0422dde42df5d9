#!/usr/bin/env python3
"""Writes compiler/import/unicode_table.inc from the files of the Unicode Character Database (Debian's unicode-data).

    python3 tools/scripts/make_unicode_table.py [/usr/share/unicode]

A string of runs is, for each run of characters from U+0000 on: a code, and the run's length where it is not 1. A
code is a capital letter, or a small and a capital one; it says which of the names the run belongs to.
"""
import collections
import os
import re
import sys

LAST = 0x10FFFF
FOLDER = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../compiler/import/unicode_table.inc")


def rows(name, pattern):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [m for m in (re.match(pattern, line) for line in file) if m]


def values(name, missing):
    """The value of each character in a file of `low..high ; value`."""
    value = [missing] * (LAST + 1)
    for m in rows(name, r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)"):
        for c in range(int(m[1], 16), int(m[2] or m[1], 16) + 1):
            value[c] = m[3]
    return value


def runs(value):
    """(names by code, the string of runs)."""
    found, begin = [], 0
    for c in range(1, LAST + 2):
        if c > LAST or value[c] != value[begin]:
            found.append((value[begin], c - begin))
            begin = c
    names = [name for name, _ in collections.Counter(name for name, _ in found).most_common()]
    code = [chr(65 + i) if i < 26 else chr(96 + i // 26) + chr(65 + i % 26) for i in range(len(names))]
    code = dict(zip(names, code))
    return names, "".join(code[name] + (str(n) if n > 1 else "") for name, n in found)


def folds():
    """Rows (first, how far its folded form is, step, count), of the simple forms."""
    fold = {int(m[1], 16): int(m[3], 16) for m in rows("CaseFolding.txt", r"([0-9A-F]+); ([CS]); ([0-9A-F]+);")}
    found = []
    while fold:
        first = min(fold)
        by = fold[first] - first

        def count(step):
            n = 0
            while fold.get(first + n * step, -1) == first + n * step + by:
                n += 1
            return n

        step = max((1, 2), key=count)
        found.append((first, by, step, count(step)))
        for i in range(found[-1][3]):
            del fold[first + i * step]
    return found


def text(name, value):
    lines = [value[i : i + 112] for i in range(0, len(value), 112)]
    return f"constexpr char {name}[] =\n" + "\n".join(f'    "{line}"' for line in lines) + ";\n"


with open(os.path.join(FOLDER, "Scripts.txt"), encoding="utf-8") as source:
    version = re.search(r"Scripts-([\d.]+)\.txt", source.readline())[1]
with open(OUT, "w", encoding="ascii") as out:
    out.write(f"// Made by tools/scripts/make_unicode_table.py, which says how runs are written, of Unicode {version}.\n")
    for name, value in (("Category", values("extracted/DerivedGeneralCategory.txt", "Cn")),
                        ("Script", values("Scripts.txt", "Unknown"))):
        names, encoded = runs(value)
        out.write(text(f"k{name}Names", " ".join(names)))
        out.write(text(f"k{name}Runs", encoded))
    out.write("constexpr Fold kFolds[] = {\n")
    line = ""
    for row in folds():
        item = "{%d, %d, %d, %d}, " % row
        if len(line) + len(item) > 114:
            out.write(f"    {line.rstrip()}\n")
            line = ""
        line += item
    out.write(f"    {line.rstrip()}\n}};\n")
