#include "compiler/import/composite/axes.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

// Axes that are numbers of the data.
Term Axes(Graph& g, const std::vector<double>& axes) {
  const auto count = static_cast<int64_t>(axes.size());
  return g.Input(axes, {count}).As(DType::kInt64).Reshape({count});
}

TEST_CASE("axes that are known when it runs: squeezed, inserted, reduced over") {
  for (const std::vector<double>& axes : {std::vector<double>{1, 3}, std::vector<double>{-1, -3}}) {
    Graph g;
    const Term x = g.InputRamp({2, 1, 3, 1});
    const Term checked = CheckedAxes({g.b, Axes(g, axes), "axes"}, 4, 2);
    const Value squeezed = SqueezeBy({g.b, x, "data"}, checked, 2);
    REQUIRE(squeezed.rank() == 2);
    const Value y = UnsqueezeBy(g.b, squeezed, checked, 2);
    REQUIRE(y.rank() == 4);
    // Its dims are (2, 1, 3, 1) again: a product with weights along axis 2 shows it.
    CheckNear(g.Run(Term(g.b, y) * g.Ramp({1, 1, 3, 1}, 5)),
              {0, -0.703125, 0.78125, -0, 0.78125, 0.15625});
  }
}

TEST_CASE("reductions over axes that are known when it runs") {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"sum", {-1.375, 0, 1.375}},
      {"max", {0.875, 1.25, 1.375}},
      {"mean", {-0.171875, 0, 0.171875}}};
  for (const auto& [op, expected] : cases) {
    CAPTURE(op);
    for (const bool keep : {false, true}) {
      Graph g;
      const Term x = g.InputRamp({2, 3, 4});
      const Term axes = CheckedAxes({g.b, Axes(g, {0, -1}), "axes"}, 3, 2);
      const Value y = ReduceBy({g.b, x, "data"}, op, axes, keep, true);
      CHECK(y.rank() == (keep ? 3 : 1));
      CheckNear(g.Run(y), expected);
    }
  }
}

TEST_CASE("a vector whose length decides a rank must be known") {
  Graph g;
  CHECK_FALSE(CountOf(g.b, g.Input({1, 2}, {2}), "axes"));
  CHECK(g.b.status().code() == StatusCode::kUnsupported);
}

}  // namespace
}  // namespace relayvm::import
