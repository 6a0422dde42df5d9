#!/usr/bin/python3
"""Adds the operator of kernels/op/README.md ("An operator, step by step") as it says there, and looks for it where it should be.

usage: add_operator.py SOURCE_FOLDER BUILD_FOLDER [--whole]

The short form (a minute) runs its test, and a program with it by the compiler and the VM; --whole asks relayc, vmrun, the tests that
walk the table of operators and the Python package (walk.py).
"""
import os
import subprocess

import walk
from walk import run

TEST = """
#include <doctest/doctest.h>
#include <vector>
#include "compiler/api/compiler.h"
#include "vm/api/relayvm.h"

TEST_CASE("the walk's operator runs, fused with others, and its attribute is checked") {
  using namespace relayvm;
  const auto compile = [](const char* attributes) {
    return CompileModel(ModelSource::Text(
        std::string("#[version = \\"0.0.5\\"]\\ndef @main(%x: Tensor[(?), float32]) { add(nn.hardshrink(multiply(%x, 2f)") +
        attributes + "), 1f) }"));
  };
  auto compiled = compile(", lambd=1f");
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto program = compiled->Load();
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *program);
  REQUIRE(invocation.ok());
  const std::vector<float> x = {-4, -0.5, 0.25, 3};
  auto y = (*invocation)->Run("main", {*Value::CopyTensor(DType::kFloat32, {{4}}, x.data())});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* found = static_cast<const float*>(y->data());
  CHECK(std::vector<float>(found, found + 4) == std::vector<float>{-7, 1, 1, 7});
  CHECK(compile(", lambda=1f").status().ToString().find("lambda") != std::string::npos);
}
"""
PROGRAM = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { nn.hardshrink(%x, lambd=1f) }\n'


def short_form(w):
    print(w.short(TEST, "relayvm_compile_api_tests", "pass_options_test.cc")[0])


def whole_form(w):
    made = w.whole(["relayc", "vmrun", "relayvm_op_tests", "operator_tests"])[1]
    print(run([os.path.join(made, "bin/relayvm_op_tests")]))
    print(run([os.path.join(made, "bin/operator_tests")]))
    program = os.path.join(w.folder, "walk.relay")
    with open(program, "w") as f:
        f.write(PROGRAM)
    run([os.path.join(made, "bin/relayc"), program, "-o", program + ".vmx"])
    assert "[-2" in run([os.path.join(made, "bin/vmrun"), program + ".vmx", "--input", "[-2, 0.5]"])
    wrong = subprocess.run([os.path.join(made, "bin/vmrun"), program + ".vmx"], capture_output=True, text=True)
    assert wrong.returncode != 0
    w.ask_package(made, "import numpy as np, relayvm as rvm\n"
                  f"y = rvm.compile(rvm.parse({PROGRAM!r})).run(np.array([-2, 0.5], 'float32'))\n"
                  "assert y.tolist() == [-2, 0], y\n"
                  "print('the Python package has it')")


walk.main("kernels/op/README.md", "An operator, step by step", short_form, whole_form)
