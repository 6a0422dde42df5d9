#!/usr/bin/python3
"""Makes the backend of tools/examples/engines/README.md ("Write your own accelerator's backend") as it says there, and runs regions on it.

usage: add_engine.py SOURCE_FOLDER BUILD_FOLDER [--whole]

The short form calls the library's functions; both build it and run the program by the commands that stand there (walk.py).
"""
import os
import re
import shutil

import walk
from walk import run

TEST = r"""
#include <doctest/doctest.h>
#include <cstdlib>
#include <string>
#include "bytecode/region_abi.h"

extern "C" const RelayvmRegionProvider* relayvm_region_provider();

TEST_CASE("a product with its steps") {
  const RelayvmRegionProvider* p = relayvm_region_provider();
  CHECK(std::string(p->engine) == "mine");
  RelayvmRegionError error = {};
  const char* version = nullptr;
  CHECK(p->open(&version, &error) == RELAYVM_REGION_OK);
  std::string json = R"({"symbols": ["n0"], "heads": [[2, 0, 0]], "nodes": [
    {"op": "input", "name": "x", "attrs": {"dtype": [["float32"]], "shape": [[["n0", 3]]]}},
    {"op": "const", "name": "w", "attrs": {"dtype": [["float32"]], "shape": [[[2, 3]]]}},
    {"op": "kernel", "name": "mine.dense_relu_clip", "inputs": [[0, 0, 0], [1, 0, 0]],
     "attrs": {"dtype": [["float32"]], "shape": [[["n0", 2]]], "operator": [["nn.dense"]],
               "post_ops": [["relu", "clip min=0 max=5"]]}}]})";
  float weights[] = {1, 1, 1, 1, 0, 0}, x[] = {1, 2, 3, -1, 0, 0}, y[4] = {};
  const int64_t of_w[] = {2, 3}, of_x[] = {2, 3}, of_y[] = {2, 2}, n0 = 2;
  const RelayvmRegionTensor w = {weights, of_w, 2, 11}, in = {x, of_x, 2, 11}, out = {y, of_y, 2, 11};
  RelayvmRegion* region = nullptr;
  REQUIRE_MESSAGE(p->create(json.data(), json.size(), &w, 1, &region, &error) == RELAYVM_REGION_OK, error.message);
  RelayvmPlan* plan = nullptr;
  uint64_t bytes = 0;
  REQUIRE(p->prepare(region, &n0, 1, 1, &plan, &bytes, &error) == RELAYVM_REGION_OK);
  void* scratch = bytes == 0 ? nullptr : std::aligned_alloc(64, bytes);
  const RelayvmRegionEnv env = {sizeof(RelayvmRegionEnv), 1, [](const RelayvmRegionEnv*) { return int32_t{0}; }};
  CHECK(p->run(region, plan, &env, &in, 1, &out, 1, scratch, &error) == RELAYVM_REGION_OK);
  std::free(scratch);
  p->release(region, plan);
  p->destroy(region);
  CHECK(y[0] == 5);
  CHECK(y[1] == 1);
  CHECK(y[2] == 0);
  CHECK(y[3] == 0);
  json.replace(json.find("relu\""), 5, "tanh\"");
  CHECK(p->create(json.data(), json.size(), &w, 1, &region, &error) == RELAYVM_REGION_UNSUPPORTED);
  CHECK(std::string(error.message) == "step tanh");
}
"""


def commands(w):
    """Those that stand in the section, one a line."""
    with open(os.path.join(w.source, w.readme)) as f:
        section = f.read().split(f"## {w.section}\n")[1]
    return "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)).splitlines()


def by_commands(w, folder):
    """The library and the program as the section says; `folder` has its files."""
    shutil.copytree(os.path.join(w.source, "bytecode"), os.path.join(folder, "bytecode"), dirs_exist_ok=True)
    shutil.copy(os.path.join(w.source, "tools/examples/engines/region.h"), os.path.join(folder, "tools/examples/engines"))
    path = {**os.environ, "PATH": os.path.join(w.build, "bin") + os.pathsep + os.environ["PATH"]}
    build, compiled, runs = commands(w)
    run(build.split(), cwd=folder)
    run(compiled.split(), cwd=folder, env=path)
    at = runs.split().index("--engine")
    native = run(runs.split()[:at] + runs.split()[at + 2:], cwd=folder, env=path)
    found = run([*runs.split(), "--profile"], cwd=folder, env=path)
    values = [next(line for line in text.splitlines() if line.startswith("Tensor")) for text in (native, found)]
    assert values[0] == values[1] and "mine_main_0" in found, (native, found)
    print(values[1])


def short_form(w):
    print(w.short(TEST, "engine_examples_tests", "engines_test.cc")[0])
    by_commands(w, w.folder)


def whole_form(w):
    w.apply(w.folder)
    by_commands(w, w.folder)


walk.main("tools/examples/engines/README.md", "Write your own accelerator's backend", short_form, whole_form)
