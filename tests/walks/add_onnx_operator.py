#!/usr/bin/python3
"""Adds the operator of compiler/import/README.md ("An ONNX operator, step by step") as it says there, and looks for it where it should be.

usage: add_onnx_operator.py SOURCE_FOLDER BUILD_FOLDER [--whole]

The short form (a minute) runs its values, the tests over the table and the list of operators; --whole asks relayc and all tests of
importers too (walk.py).
"""
import os

import walk
from walk import run

TEST = """
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include "compiler/import/onnx/importer.h"
#include "compiler/import/onnx/operator.h"

TEST_CASE("the walk's operator is found from its opset on, and listed") {
  using namespace relayvm::import;
  CHECK(FindOperator("", "Cube", 16) == nullptr);
  CHECK(FindOperator("", "Cube", 18) != nullptr);
  std::ifstream file("LIST");
  std::ostringstream listed;
  listed << file.rdbuf();
  CHECK(listed.str() == OnnxOperatorTable());
}
"""


def short_form(w):
    listed = os.path.join(w.folder, "compiler/import/onnx/OPERATORS.md")
    print(w.short(TEST.replace("LIST", listed), "relayvm_import_tests", "op_math_test.cc",
                  also=["compiler/import/onnx/number_ranges_test.cc"])[0])


def whole_form(w):
    tree, made = w.whole(["relayc", "relayvm_import_tests"])
    print(run([os.path.join(made, "bin/relayvm_import_tests")]))
    with open(os.path.join(tree, "compiler/import/onnx/OPERATORS.md")) as f:
        assert f.read() == run([os.path.join(made, "bin/relayc"), "--list-operators", "onnx"])
    w.ask_package(made, "import relayvm as rvm\nassert 'Cube' in str(rvm.list_operators('onnx'))\nprint('the Python package has it')")


walk.main("compiler/import/README.md", "An ONNX operator, step by step", short_form, whole_form)
