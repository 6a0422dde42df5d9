#!/usr/bin/python3
"""Adds the pass of compiler/transforms/README.md ("A pass, step by step") as it says there, and looks for it where it should be.

usage: add_pass.py SOURCE_FOLDER BUILD_FOLDER [--whole]

Without --whole (a minute): the pass, its test and the pipeline are compiled and linked with the libraries of the build.
With it: a copy of the tree is configured as the build is, and relayc, the tests of passes and the Python package are made and asked
(many minutes without a cache of the compiler).
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

README = "compiler/transforms/README.md"
TEST = """
#include <doctest/doctest.h>
#include "compiler/api/compiler.h"
#include "compiler/pipeline.h"

TEST_CASE("the walk's pass runs, and its option is at the door") {
  using namespace relayvm;
  CompilerOptions options;
  CHECK(options.Set("most-unrolled", "3").ok());
  CHECK(options.Set("most-unrolled", "100").message() ==
        "--most-unrolled 100: expected a whole number from 1 to 64");
  CHECK(options.Set("most-unroled", "3").message().find("did you mean most-unrolled?") != std::string::npos);
  PipelineOptions pipeline;
  pipeline.options = options.pass_options;
  const auto plan = PlanPasses(pipeline);
  REQUIRE_MESSAGE(plan.ok(), plan.status().message());
  size_t found = 0;
  for (const PlannedPass& p : *plan) found += p.pass.name == "UnrollPowers" ? 1 : 0;
  CHECK(found == 1);
}
"""
PROGRAM = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { power(%x, 3f) }\n'


def steps(source):
    """(file, text that it goes before, code) for each step; new files have no such text."""
    with open(os.path.join(source, README)) as f:
        section = f.read().split("## A pass, step by step")[1]
    found = re.findall(r"^```cpp (\S+)(?: before ([^\n]+))?\n(.*?)^```$", section, re.M | re.S)
    assert len(found) == 6, f"{README}: {len(found)} steps, expected 6"
    return found


def apply(source, folder):
    """Makes the steps in `folder`, where changed files of `source` are put that are not there; gives the files."""
    files = []
    for path, before, code in steps(source):
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if before:
            if not os.path.exists(target):
                shutil.copy(os.path.join(source, path), target)
            with open(target) as f:
                text = f.read()
            assert text.count(before) == 1, f"{path}: {text.count(before)} times: {before}"
            at = text.rindex("\n", 0, text.index(before)) + 1
            code = text[:at] + code + text[at:]
        else:
            assert not os.path.exists(os.path.join(source, path)), f"{path} is there already"
        with open(target, "w") as f:
            f.write(code)
        files.append(path)
    return list(dict.fromkeys(files))


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr


def short_form(source, build, folder):
    sources = [os.path.join(folder, path) for path in apply(source, folder) if path.endswith(".cc")]
    test = os.path.join(folder, "walk_test.cc")
    with open(test, "w") as f:
        f.write(TEST)
    # As the tests of the compiler's API are compiled and linked; what is compiled here goes before what libraries have.
    commands = run(["ninja", "-C", build, "-t", "commands", "relayvm_compile_api_tests"]).splitlines()
    compiles = next(c for c in commands if " -c " in c and "pass_options_test.cc" in c)
    links = next(c for c in commands if "-o bin/relayvm_compile_api_tests" in c)
    words = shlex.split(compiles)
    words = words[next(i for i, w in enumerate(words) if re.search(r"(\+\+|clang)[^/=]*$", w)):]
    flags, skip = [f"-I{folder}"], False
    for word in words[1:]:
        if skip or word in ("-o", "-c", "-MF", "-MT"):
            skip = not skip and word != "-c"
        elif not word.endswith(".cc") and word != "-MD":
            flags.append(word)
    objects = []
    for i, path in enumerate([test, *sources]):
        objects.append(os.path.join(folder, f"{i}.o"))
        main = ["-DDOCTEST_CONFIG_IMPLEMENT_WITH_MAIN"] if path == test else []
        run([words[0], *main, *flags, "-O0", "-c", path, "-o", objects[-1]], cwd=build)
    link = shlex.split(links.split("&&")[1])
    link = [word for word in link if not word.endswith(".o")]
    program = os.path.join(folder, "walk")
    link[link.index("-o") + 1] = program
    at = link.index("-o")
    run([*link[:at], *objects, "-Wl,-z,muldefs", *link[at:]], cwd=build)
    print(run([program]))


def whole_form(source, build, folder):
    tree, made = os.path.join(folder, "tree"), os.path.join(folder, "tree/build/walk")
    for path in run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"]).splitlines():
        if os.path.exists(os.path.join(source, path)):
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            shutil.copy(os.path.join(source, path), os.path.join(tree, path))
    apply(source, tree)
    with open(os.path.join(build, "CMakeCache.txt")) as f:
        kept = re.findall(r"^((?:CMAKE_BUILD_TYPE|RELAYVM_\w+):[A-Z]+=.*)$", f.read(), re.M)
    run(["cmake", "-G", "Ninja", "-S", tree, "-B", made, *(f"-D{k}" for k in kept)])
    targets = ["relayc", "relayvm_transforms_tests"]
    # Debian's, as tools/python/CMakeLists.txt looks for it; there is no package with sanitizers.
    python = "/usr/bin/python3" if {"RELAYVM_PYTHON:BOOL=ON", "RELAYVM_SANITIZE:STRING="} <= set(kept) else None
    run(["ninja", "-C", made, *targets, *(["relayvm_python", "relayvm_python_compiler"] if python else [])])
    print(run([os.path.join(made, "bin/relayvm_transforms_tests"), "-tc=powers up to a limit*"]))
    program = os.path.join(folder, "power.relay")
    with open(program, "w") as f:
        f.write(PROGRAM)
    relayc = [os.path.join(made, "bin/relayc"), program, "-o", os.devnull]
    assert "--most-unrolled N" in run([relayc[0], "--help"]) and "UnrollPowers" in run([relayc[0], "--list-passes"])
    printed = ["--print-ir-after", "UnrollPowers"]
    assert "multiply" in run([*relayc, *printed]) and "multiply" not in run([*relayc, *printed, "--most-unrolled", "2"])
    wrong = subprocess.run([*relayc, "--most-unrolled", "0"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "--most-unrolled 0: expected a whole number from 1 to 64" in wrong.stderr
    if python:
        package = {**os.environ, "PYTHONPATH": os.path.join(made, "python")}
        assert "    most_unrolled: int\n" in run([python, os.path.join(tree, "tools/python/tests/test_stubs.py")], env=package)
        run([python, "-c", "import relayvm as rvm\n"
             f"mod = rvm.parse({PROGRAM!r})\n"
             "assert rvm.PassContext.list_configs()['most_unrolled']['default'] == '4'\n"
             "with rvm.PassContext(config={'most_unrolled': 2}): assert 'power' in str(rvm.transform.UnrollPowers()(mod))\n"
             "assert 'multiply' in str(rvm.transform.UnrollPowers(most_unrolled=3)(mod)) and rvm.compile(mod, most_unrolled=3).kernels"],
            env=package)
        print("the Python package has it")


def main():
    source, build = (os.path.abspath(folder) for folder in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        (whole_form if "--whole" in sys.argv[3:] else short_form)(source, build, folder)


main()
