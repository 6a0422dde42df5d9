#!/usr/bin/python3
"""Adds the pass of compiler/transforms/README.md ("A pass, step by step") as it says there, and looks for it where it should be.

usage: add_pass.py SOURCE_FOLDER BUILD_FOLDER [--whole]

The short form (a minute) asks the pipeline; --whole asks relayc, the tests of passes and the Python package (walk.py).
"""
import os
import subprocess

import walk
from walk import run

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


def short_form(w):
    print(w.short(TEST, "relayvm_compile_api_tests", "pass_options_test.cc")[0])


def whole_form(w):
    tree, made = w.whole(["relayc", "relayvm_transforms_tests"], package=True)
    print(run([os.path.join(made, "bin/relayvm_transforms_tests"), "-tc=powers up to a limit*"]))
    program = os.path.join(w.folder, "power.relay")
    with open(program, "w") as f:
        f.write(PROGRAM)
    relayc = [os.path.join(made, "bin/relayc"), program, "-o", os.devnull]
    assert "--most-unrolled N" in run([relayc[0], "--help"]) and "UnrollPowers" in run([relayc[0], "--list-passes"])
    printed = ["--print-ir-after", "UnrollPowers"]
    assert "multiply" in run([*relayc, *printed]) and "multiply" not in run([*relayc, *printed, "--most-unrolled", "2"])
    wrong = subprocess.run([*relayc, "--most-unrolled", "0"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "--most-unrolled 0: expected a whole number from 1 to 64" in wrong.stderr
    if w.python:
        package = {**os.environ, "PYTHONPATH": os.path.join(made, "python")}
        assert "    most_unrolled: int\n" in run([w.python, os.path.join(tree, "tools/python/tests/test_stubs.py")], env=package)
    w.ask_package(
        made, "import relayvm as rvm\n"
        f"mod = rvm.parse({PROGRAM!r})\n"
        "assert rvm.PassContext.list_configs()['most_unrolled']['default'] == '4'\n"
        "with rvm.PassContext(config={'most_unrolled': 2}): assert 'power' in str(rvm.transform.UnrollPowers()(mod))\n"
        "assert 'multiply' in str(rvm.transform.UnrollPowers(most_unrolled=3)(mod)) and rvm.compile(mod, most_unrolled=3).kernels\n"
        "print('the Python package has it')")


walk.main("compiler/transforms/README.md", "A pass, step by step", short_form, whole_form)
