"""What the walks of the folders' READMEs share: a README's blocks of code are put into a copy of the tree, made, and asked.

A walk is a section of a README. Each of its blocks ```LANGUAGE FILE is a new file; ```LANGUAGE FILE before TEXT goes before the
line of FILE that has TEXT, which must stand there once; ```LANGUAGE FILE over TEXT takes that line's place.

A script calls `main` with the README, the section, what it compiles in the short form and what it asks in the whole one:

  short  what has changed is compiled and linked with the libraries of the build, and with a test of the script's own (a minute)
  whole  a copy of the tree is configured as the build is, targets are made and asked (many minutes without a cache of the compiler)
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr


class Walk:
    """One walk: `source` is the tree, `build` its build folder, `folder` an empty one to work in."""

    def __init__(self, source, build, folder, readme, section):
        self.source, self.build, self.folder, self.readme, self.section = source, build, folder, readme, section
        with open(os.path.join(build, "CMakeCache.txt")) as f:
            self.settings = re.findall(r"^((?:CMAKE_BUILD_TYPE|RELAYVM_\w+):[A-Z]+=.*)$", f.read(), re.M)
        # Debian's, as tools/python/CMakeLists.txt looks for it; there is no package with sanitizers.
        has_python = {"RELAYVM_PYTHON:BOOL=ON", "RELAYVM_SANITIZE:STRING="} <= set(self.settings)
        self.python = "/usr/bin/python3" if has_python else None

    def steps(self):
        """(file, "before" or "over" or "", the text of its line, code) for each block of the section."""
        with open(os.path.join(self.source, self.readme)) as f:
            section = re.split(r"^## ", f.read().split(f"## {self.section}\n")[1], flags=re.M)[0]
        found = re.findall(r"^```\w+ (\S+)(?: (before|over) ([^\n]+))?\n(.*?)^```$", section, re.M | re.S)
        assert found and len(found) == len(re.findall(r"^```\w+ \S+", section, re.M)), f"{self.readme}: {self.section}"
        return found

    def apply(self, folder):
        """Makes the steps in `folder`, where files of the tree are copied to that are not there; gives the files' paths."""
        files = []
        for path, how, line, code in self.steps():
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if how:
                if not os.path.exists(target):
                    shutil.copy(os.path.join(self.source, path), target)
                with open(target) as f:
                    text = f.read()
                assert text.count(line) == 1, f"{path}: {text.count(line)} times: {line}"
                at = text.rfind("\n", 0, text.index(line)) + 1
                rest = text.index("\n", at) + 1 if how == "over" else at
                code = text[:at] + code + text[rest:]
            else:
                assert not os.path.exists(os.path.join(self.source, path)), f"{path} is there already"
            with open(target, "w") as f:
                f.write(code)
            files.append(path)
        return list(dict.fromkeys(files))

    def short(self, test, program, like, also=()):
        """Compiles changed sources, `also` others that read changed headers, and `test` (a text of C++) as `like` is, a source of the
        tests `program`; links them with what that program is linked with, and runs it. Gives its output and the changed files."""
        changed = self.apply(self.folder)
        sources = [os.path.join(self.folder, path) for path in changed if path.endswith(".cc")]
        sources += [os.path.join(self.source, path) for path in also]
        written = os.path.join(self.folder, "walk_test.cc")
        with open(written, "w") as f:
            f.write(test)
        # What is compiled here goes before what libraries have.
        commands = run(["ninja", "-C", self.build, "-t", "commands", program]).splitlines()
        compiles = next(c for c in commands if " -c " in c and like in c)
        links = next(c for c in commands if f"-o bin/{program}" in c)
        words = shlex.split(compiles)
        words = words[next(i for i, w in enumerate(words) if re.search(r"(\+\+|clang)[^/=]*$", w)):]
        flags, skip = [f"-I{self.folder}"], False
        for word in words[1:]:
            if skip or word in ("-o", "-c", "-MF", "-MT"):
                skip = not skip and word != "-c"
            elif not word.endswith(".cc") and word != "-MD":
                flags.append(word)
        objects = []
        for i, path in enumerate([written, *sources]):
            objects.append(os.path.join(self.folder, f"{i}.o"))
            main = ["-DDOCTEST_CONFIG_IMPLEMENT_WITH_MAIN"] if path == written else []
            run([words[0], *main, *flags, "-O0", "-c", path, "-o", objects[-1]], cwd=self.build)
        link = [word for word in shlex.split(links.split("&&")[1]) if not word.endswith(".o")]
        made = os.path.join(self.folder, "walk")
        link[link.index("-o") + 1] = made
        at = link.index("-o")
        run([*link[:at], *objects, "-Wl,-z,muldefs", *link[at:]], cwd=self.build)
        return run([made]), changed

    def whole(self, targets, package=False):
        """A copy of the tree with the steps, where `targets` are made, and the Python package; gives its folder and its build's."""
        tree, made = os.path.join(self.folder, "tree"), os.path.join(self.folder, "tree/build/walk")
        for path in run(["git", "-C", self.source, "ls-files", "-co", "--exclude-standard"]).splitlines():
            if os.path.exists(os.path.join(self.source, path)):
                os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
                shutil.copy(os.path.join(self.source, path), os.path.join(tree, path))
        self.apply(tree)
        run(["cmake", "-G", "Ninja", "-S", tree, "-B", made, *(f"-D{s}" for s in self.settings)])
        package = package and self.python is not None
        run(["ninja", "-C", made, *targets, *(["relayvm_python", "relayvm_python_compiler"] if package else [])])
        return tree, made

    def ask_package(self, made, code):
        """Runs `code` with the Python package of `made`, if it is built."""
        if self.python:
            print(run([self.python, "-c", code], env={**os.environ, "PYTHONPATH": os.path.join(made, "python")}))


def main(readme, section, short_form, whole_form):
    """Runs the form that the command line asks for: a function that takes the Walk."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("source_folder")
    parser.add_argument("build_folder")
    parser.add_argument("--whole", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(os.path.abspath(given.source_folder), os.path.abspath(given.build_folder), folder, readme, section)
        (whole_form if given.whole else short_form)(walk)
