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

TEST_CASE("what loses next to nothing is quick, as long as all of it is little") {
  const std::vector<KernelWeight> weights = {
      {.cycles = 1e6, .lost = 0.2},
      {.cycles = 1e2, .lost = 0.01, .quick_lost = 0.004},
      {.cycles = 1e2, .lost = 0.01, .quick_lost = 0.0005},
      {.cycles = 1e2, .lost = 0.01, .quick_lost = 0.002},
      {.cycles = 1e2, .runs = 30, .lost = 0.01, .quick_lost = 0.0005},  // as 0.015
  };
  CHECK(LevelsOf(weights, 3) == std::vector<int>{3, 2, 0, 0, 2});
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
    CHECK(levels["small_0"] == (by_share ? 0 : 3));
    CHECK(levels["unknown_2"] == (by_share ? 0 : 3));
    CHECK(levels["large_1"] == 3);
  }
}

// The level of the kernel of n numbers beside one of `others`.
int LevelBeside(const Dim& others, const KernelOptions& options) {
  KernelCompiler compiler(options);
  REQUIRE(compiler.Add(Doubled("open", Dim::Symbol(1, "n"))).ok());
  REQUIRE(compiler.Add(Doubled("others", others)).ok());
  const Result<KernelImage> image = compiler.Finish();
  REQUIRE(image.ok());
  for (const KernelTime& k : image->times.kernels) {
    if (k.name == "open_0") return k.opt_level;
  }
  return -1;
}

TEST_CASE("what grows by itself is not quick, however large the rest may be") {
  KernelOptions options{
      .machine = MachineNamed("x86-64-v3"), .by_share = true, .time_kernels = true};
  CHECK(LevelBeside(Dim(1 << 24), options) == 0);
  CHECK(LevelBeside(Dim::Symbol(2, "m") * Dim(1 << 24), options) > 0);
  options.batching = true;  // its bits are another one's
  CHECK(LevelBeside(Dim(1 << 24), options) > 0);
}

}  // namespace
}  // namespace relayvm
