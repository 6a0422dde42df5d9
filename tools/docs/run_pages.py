#!/usr/bin/python3
"""Runs the code of pages of Markdown as a reader would, page by page, in a copy of tools/examples that lies as in a checkout.

usage: run_pages.py BUILD_FOLDER SOURCE_FOLDER PAGE_OR_FOLDER...

Blocks of a page run in their order, in one folder:

  ```sh                  commands of a shell; each must end well
  ```python              Python's, with the variables of the page's blocks before
  ```output              what the block before printed: errors too; ... is anything
  ```LANGUAGE file=NAME  is written to that file
  ```LANGUAGE same=FILE  is a file of the source tree, which other tests build and run
  ```sh elsewhere=FILE   is run by another test, which that file of the source tree is

Words behind the language: `needs=NAME,...` (a program, or a module of Python's; where there is none the block is not run, and Python's is
only compiled), `exit=N` (how a shell's block ends), `native` (relayc links a program by itself, which builds with sanitizers cannot).
A page has no other blocks, so that nothing on it is not run. Closes with the line "N blocks ran, N did not, N failed".
"""
import contextlib
import glob
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

PYTHON = "/usr/bin/python3"
FENCE = re.compile(r"^(```+)([^\n]*)\n(.*?)^\1$", re.M | re.S)


class Block:
    def __init__(self, line, info, text):
        words = info.split()
        self.line, self.text = line, text
        self.language = words[0] if words else ""
        self.words = dict(word.partition("=")[::2] for word in words[1:])


def read_blocks(text):
    return [Block(text.count("\n", 0, m.start()) + 1, m.group(2), m.group(3)) for m in FENCE.finditer(text)]


def check_form(path, text, tree):
    """What is wrong with a page before any of it runs."""
    blocks = read_blocks(text)
    for block in blocks:
        known = block.language in ("sh", "python", "output") or block.language.startswith("{") or {"file", "same"} & set(block.words)
        if "elsewhere" in block.words and not os.path.exists(os.path.join(tree, block.words["elsewhere"])):
            yield f"{path}:{block.line}: there is no {block.words['elsewhere']}"
        if not known:
            yield f"{path}:{block.line}: a block ```{block.language} that is not run: expected sh, python, output, file=NAME or same=FILE"
        if "same" in block.words:
            with open(os.path.join(tree, block.words["same"])) as f:
                if f.read() != block.text:
                    yield f"{path}:{block.line}: the block is not as {block.words['same']} is"
    outside = FENCE.sub("", text)
    # Of the site's pages check_links.py looks at what becomes of them, where what is made is there too.
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", outside) if "/pages/" not in path else ():
        if not os.path.exists(os.path.join(os.path.dirname(path), link)):
            yield f"{path}: {link}: there is no such file"
    for line in re.findall(r"(?m)^\n {4}(?! *[-*]| *\d+\.)\S[^\n]*", outside):
        if line.strip() != "sh tools/scripts/quickstart.sh":  # the README's two commands, which install and test
            yield f"{path}: code without a fence: {line.strip()}"


def has(name):
    return shutil.which(name) is not None or importlib.util.find_spec(name) is not None


def matches(expected, found):
    parts = [re.escape(part) for part in expected.strip().split("...")]
    return re.fullmatch(r".*?".join(parts), found.strip(), re.S) is not None


def run_python(code, name, variables):
    """What a block prints, and its traceback or ""."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            exec(compile(code, name, "exec"), variables)
        except BaseException:
            return said.getvalue(), traceback.format_exc()
    return said.getvalue(), ""


def run_page(path, has_python, sanitized):
    """Runs a page here; gives [ran, left out, failed]."""
    with open(path) as f:
        blocks = read_blocks(f.read())
    variables, said, counts = {"__name__": "__main__"}, None, [0, 0, 0]

    def fail(block, what):
        counts[2] += 1
        print(f"{path}:{block.line}: {what}")

    for block in blocks:
        if block.language.startswith("{") or {"same", "elsewhere"} & set(block.words):
            continue
        if "file" in block.words:
            os.makedirs(os.path.dirname(block.words["file"]) or ".", exist_ok=True)
            with open(block.words["file"], "w") as f:
                f.write(block.text)
            continue
        if block.language == "output":
            if said is not None and not matches(block.text, said):
                fail(block, f"expected\n{block.text}found\n{said}")
            continue
        needs = [name for name in block.words.get("needs", "").split(",") if name and not has(name)]
        said = None
        if needs or "native" in block.words and sanitized or block.language == "python" and not has_python:
            counts[1] += 1
            if block.language == "python":
                compile(block.text, path, "exec")
            continue
        counts[0] += 1
        if block.language == "python":
            said, trouble = run_python("\n" * block.line + block.text, path, variables)
            if trouble:
                fail(block, f"{said}{trouble}")
        else:
            p = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.text], text=True, stdin=subprocess.DEVNULL, timeout=300,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            said = p.stdout
            if p.returncode != int(block.words.get("exit", "0")):
                fail(block, f"exit {p.returncode}\n{block.text}{said}")
        if counts[2]:
            break  # what follows builds on it
    return counts


def environment_of(folder, build, scratch):
    """What a reader has who installed relayvm: the tools in PATH, $PREFIX, the package."""
    prefix, programs = os.path.join(scratch, "prefix"), os.path.join(scratch, "programs")
    os.makedirs(prefix)
    os.makedirs(programs)
    os.symlink(os.path.join(build, "include", "runtime"), os.path.join(prefix, "include"))
    os.makedirs(os.path.join(prefix, "lib"))
    for found in ("lib/*", "vm/librelayvm.so*", "vm/graph/librelayvm_graph.so*"):
        for path in glob.glob(os.path.join(build, found)):
            os.symlink(path, os.path.join(prefix, "lib", os.path.basename(path)))
    sanitize = os.environ.get("SANITIZE", "")
    for name in ("cc", "c++"):  # a program links with the build's libraries, which have its sanitizers
        with open(os.path.join(programs, name), "w") as f:
            f.write(f'#!/bin/sh\nexec /usr/bin/{name} {sanitize} "$@"\n')
        os.chmod(os.path.join(programs, name), 0o755)
    os.symlink(PYTHON, os.path.join(programs, "python3"))
    path = os.pathsep.join((programs, os.path.join(build, "bin"), os.environ["PATH"]))
    package = os.path.join(build, "python")
    return {**os.environ, "PATH": path, "PREFIX": prefix, "BUILD": build, "PYTHONPATH": package,
            "RELAYVM_CACHE": os.path.join(scratch, "cache"), "HOME": scratch}


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--page":
        counts = run_page(sys.argv[2], os.path.isdir(os.environ["PYTHONPATH"]), bool(os.environ.get("SANITIZE")))
        print(json.dumps(counts))
        return 0
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, tree = map(os.path.abspath, sys.argv[1:3])
    paths = []
    for path in map(os.path.abspath, sys.argv[3:]):
        paths += sorted(glob.glob(os.path.join(path, "**/*.md"), recursive=True)) if os.path.isdir(path) else [path]
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as scratch:
        environment = environment_of(scratch, build, scratch)
        isolated = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"] if shutil.which("ip") else []
        if isolated and subprocess.run([*isolated, "true"], capture_output=True).returncode != 0:
            isolated = []
        for i, path in enumerate(paths):
            with open(path) as f:
                wrong = list(check_form(path, text := f.read(), tree))
            if wrong:
                print("\n".join(wrong))
                total[2] += len(wrong)
                continue
            if not any(b.language in ("sh", "python") for b in read_blocks(text)):
                continue
            checkout = os.path.join(scratch, f"page{i}")
            copy = shutil.copytree(os.path.join(tree, "tools/examples"), os.path.join(checkout, "tools/examples"))
            for name in ("tests", "kernels", "compiler", "bytecode", "vm"):  # as it lies in a checkout
                os.symlink(os.path.join(tree, name), os.path.join(checkout, name))
            # With ports of its own, where that may be.
            p = subprocess.run([*isolated, PYTHON, os.path.abspath(__file__), "--page", path], cwd=copy, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
            lines = p.stdout.rstrip().split("\n")
            try:
                counts = json.loads(lines[-1])
            except ValueError:
                lines.append(f"{path}: exit {p.returncode}")
                counts = [0, 0, 1]
            else:
                lines.pop()
            if lines:
                print("\n".join(lines))
            total = [a + b for a, b in zip(total, counts)]
    print("{} blocks ran, {} did not, {} failed".format(*total))
    return 1 if total[2] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
