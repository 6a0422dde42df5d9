#include "kernels/codegen/effort.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "kernels/te/te.h"

namespace relayvm {
namespace {

using codegen::KernelWeight;
using codegen::LevelsOf;

TEST_CASE("what most of the time is spent in has all of LLVM's work, the smallest less") {
  const std::vector<KernelWeight> weights = {
      {.cycles = 1e6, .lost = 0.2},
      {.cycles = 1e4, .lost = 0.02},
      {.cycles = 1e2, .lost = 0.02},
      {.cycles = 1e2, .lost = 0.2},
  };
  CHECK(LevelsOf(weights, 3) == std::vector<int>{3, 2, 2, 2});
  CHECK(LevelsOf(weights, 0) == std::vector<int>{0, 0, 0, 0});
  CHECK(LevelsOf({}, 3).empty());
}

TEST_CASE("what loses nothing is lean however long it takes") {
  const std::vector<KernelWeight> weights = {
      {.cycles = 1e6, .lost = 0.004},
      {.cycles = 1e6, .lost = 0.1},
  };
  CHECK(LevelsOf(weights, 3) == std::vector<int>{2, 3});
}

TEST_CASE("what may be a loop counts as often as it may run") {
  std::vector<KernelWeight> weights = {{.cycles = 1e6, .lost = 0.02},
                                       {.cycles = 1e5, .lost = 0.02}};
  CHECK(LevelsOf(weights, 3) == std::vector<int>{3, 2});
  weights[1].runs = 30;
  CHECK(LevelsOf(weights, 3) == std::vector<int>{3, 3});
  weights[0].runs = 30;  // all are loops: as if none was
  CHECK(LevelsOf(weights, 3) == std::vector<int>{3, 2});
}

KernelSpec Doubled(const char* name, Dim size) {
  KernelSpec spec{.name = name, .by_value = {false}};
  spec.inputs = {te::Placeholder("x", {std::move(size)}, DType::kFloat32, 0)};
  spec.outputs = {te::Compute("y", spec.inputs[0]->shape, [&](const std::vector<te::Expr>& i) {
    const te::Expr x = te::Load(spec.inputs[0], i);
    return te::Binary(te::BinaryOp::kAdd, x, x);
  })};
  return spec;
}

TEST_CASE("a compiler chooses by the share of the time, where it is asked to") {
  for (const bool by_share : {false, true}) {
    KernelCompiler compiler(
        {.machine = MachineNamed("x86-64-v3"), .by_share = by_share, .time_kernels = true});
    REQUIRE(compiler.Add(Doubled("small", 4)).ok());
    REQUIRE(compiler.Add(Doubled("large", 1 << 24)).ok());
    REQUIRE(compiler.Add(Doubled("unknown", Dim::Symbol(1, "n"))).ok());
    const Result<KernelImage> image = compiler.Finish();
    REQUIRE(image.ok());
    std::map<std::string, int> levels;
    for (const KernelTime& k : image->times.kernels) {
      CHECK(k.lines > 0);
      CHECK(k.milliseconds > 0);
      levels[k.name] = k.opt_level;
    }
    // With what kernels share.
    CHECK(levels["small_0"] == (by_share ? 2 : 3));
    CHECK(levels["unknown_2"] == (by_share ? 2 : 3));
    CHECK(levels["large_1"] == 3);
  }
}

}  // namespace
}  // namespace relayvm
