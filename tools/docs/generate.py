#!/usr/bin/python3
"""Fills a folder with the site's sources: the pages that stand here, and the reference, which is made of the tools and sources themselves.

usage: generate.py BUILD_FOLDER FOLDER

Files that nothing makes any more are removed.
"""
import os
import sys

from generators import Build, errors, formats, headers, inside, opcodes, operators, passes, python, readmes, schemas, tools

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, out = Build(os.path.dirname(os.path.dirname(HERE)), os.path.abspath(sys.argv[1])), sys.argv[2]
    files = {}
    pages = os.path.join(HERE, "pages")
    for folder, _, names in os.walk(pages):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, pages)] = f.read()
    for generator in (tools, operators, passes, opcodes, formats, headers, python, errors, inside, readmes, schemas):
        for path, text in generator.pages(build):
            assert path not in files, f"{path} is made twice"
            files[path] = text if isinstance(text, bytes) else text.encode()
    for path, data in files.items():
        target = os.path.join(out, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(data)
    # What pages include of the tree by {literalinclude} /tree/FILE.
    link = os.path.join(out, "tree")
    if not os.path.islink(link):
        os.symlink(build.tree, link)
    for folder, folders, names in os.walk(out):
        folders[:] = [f for f in folders if f != "tree"]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, out) not in files and not os.path.islink(path):
                os.remove(path)


if __name__ == "__main__":
    main()
