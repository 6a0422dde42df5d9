#include "compiler/import/composite/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::Graph;

TEST_CASE("what is drawn lies where it should, and another seed draws other numbers") {
  constexpr double kCount = 4000;
  std::vector<double> first;
  for (const uint32_t seed : {1U, 2U}) {
    Graph g;
    const std::vector<double> drawn = g.Run(UniformOf(g.b, g.b.Ints({40, 100}), seed));
    CHECK(std::ranges::all_of(drawn, [](double v) { return v >= 0 && v < 1; }));
    CHECK(std::accumulate(drawn.begin(), drawn.end(), 0.0) / kCount ==
          doctest::Approx(0.5).epsilon(0.04));
    CHECK(drawn != first);
    first = drawn;
  }
  Graph g;
  const std::vector<double> normal = g.Run(NormalOf(g.b, g.b.Ints({4000}), 7));
  const double mean = std::accumulate(normal.begin(), normal.end(), 0.0) / kCount;
  const double squares =
      std::inner_product(normal.begin(), normal.end(), normal.begin(), 0.0) / kCount;
  CHECK(std::abs(mean) < 0.06);
  CHECK(squares == doctest::Approx(1).epsilon(0.08));
}

}  // namespace
}  // namespace relayvm::import
