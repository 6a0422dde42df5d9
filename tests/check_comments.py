#!/usr/bin/python3
"""Comments hold what they promise: a test that one names is there, and no line of C or C++ is above 100 columns but for texts.

usage: check_comments.py SOURCE_FOLDER
"""
import os
import re
import shutil
import subprocess
import sys

COLUMNS = 100
TEST = re.compile(r"(?<![\w/.])([\w/]*\w+_test\.(?:cc|c|py))\b")


def sources(folder):
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", folder, "ls-files", "*.h", "*.cc", "*.c"], capture_output=True, text=True)
        if listed.returncode == 0 and listed.stdout:
            yield from listed.stdout.splitlines()
            return
    for root, folders, files in os.walk(folder):  # a tree without its history
        folders[:] = [f for f in folders if f != "build" and not f.startswith(".")]
        for name in files:
            if name.endswith((".h", ".cc", ".c")):
                yield os.path.relpath(os.path.join(root, name), folder)


def comments(text):
    """(line number, line, comment) for each line that has one."""
    block = False
    for number, line in enumerate(text.split("\n"), 1):
        at = 0 if block else min((i for i in (line.find("//"), line.find("/*")) if i >= 0), default=-1)
        if at >= 0:
            yield number, line, line[at:]
        block = (block or "/*" in line) and "*/" not in line[line.rfind("/*") + 2 if "/*" in line else 0:]


def main():
    folder, wrong = sys.argv[1], []
    for path in sources(folder):
        with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as f:
            text = f.read()
        for number, line, comment in comments(text):
            if '"' in line[:line.find(comment)]:
                continue  # a text, or code beside one
            for name in TEST.findall(comment):
                if not any(os.path.exists(os.path.join(folder, at, name)) for at in (os.path.dirname(path), "")):
                    wrong.append(f"{path}:{number}: there is no {name}: expected a file beside this one, or a path from the top")
            is_whole = line.lstrip() == comment
            if is_whole and len(line) > COLUMNS and "   " not in comment.strip() and "http" not in line:
                wrong.append(f"{path}:{number}: {len(line)} columns, expected {COLUMNS} at most")
    print("\n".join(wrong) if wrong else "comments: nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
