// Sizes with an upper bound: memory is planned when the program is compiled, and the bound is
// checked when it is called.
#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/frontend/parser.h"
#include "compiler/lowering/lower.h"
#include "compiler/pipeline.h"

namespace relayvm::lower {
namespace {

Program Lower(const char* text, const SymbolBounds& bounds_by_axis) {
  auto parsed = frontend::ParseRelay("test.relay", text);
  REQUIRE(parsed.ok());
  PipelineOptions options;
  options.opt_level = 1;
  auto module = RunPipeline(std::move(*parsed), options);
  REQUIRE(module.ok());
  // Bounds are by symbol; the test names axes of the first parameter.
  const auto& type = *module->functions.at("main")->params[0]->type->As<TensorType>();
  SymbolBounds bounds;
  for (const auto& [axis, bound] : bounds_by_axis) bounds[type.shape[axis].symbol_id()] = bound;
  auto lowered = LowerModule(*module, KernelOptions{}, {.bounds = bounds});
  REQUIRE(lowered.ok());
  return std::move(lowered->program);
}

const FunctionInfo& Function(const Program& program, const char* name) {
  auto at = std::find_if(program.functions.begin(), program.functions.end(),
                         [&](const FunctionInfo& f) { return f.name == name; });
  REQUIRE(at != program.functions.end());
  return *at;
}

constexpr const char* kSteps = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, ?), float32]) {
  let %a = nn.softmax(%x, axis=0);
  let %b = nn.softmax(%a, axis=1);
  let %c = nn.softmax(concatenate((%b, %b), axis=0), axis=0);
  sum(%c)
}
)";

TEST_CASE("with bounds on every size, what a function needs in between has a place in its arena") {
  Program program = Lower(kSteps, {{0, 100}, {1, 16}});
  const FunctionInfo& main = Function(program, "main");
  uint64_t rows = 100 * 16 * 4;
  CHECK(main.arena_bytes >= 3 * rows);
  CHECK(main.arena_bytes <= 4 * rows + 256);
  auto says = [](const std::string& m) {
    return m.find("the bound that the program was compiled with") != std::string::npos;
  };
  CHECK(std::count_if(program.messages.begin(), program.messages.end(), says) == 2);
}

TEST_CASE("one size without a bound leaves the allocation to the run") {
  CHECK(Function(Lower(kSteps, {{0, 100}}), "main").arena_bytes < 400);
  CHECK(Function(Lower(kSteps, {}), "main").arena_bytes < 400);
}

TEST_CASE("a bound beyond every memory is none") {
  CHECK(Function(Lower(kSteps, {{0, INT64_MAX}, {1, INT64_MAX}}), "main").arena_bytes < 400);
}

}  // namespace
}  // namespace relayvm::lower
