#include "compiler/transforms/layouts/min_cut.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

namespace relayvm::ir {
namespace {

struct Edge {
  uint32_t from, to;
  int64_t cost;
};

int64_t CostOf(const std::vector<Edge>& edges, uint32_t in_first) {
  int64_t cost = 0;
  for (const Edge& e : edges) {
    if ((in_first >> e.from & 1) != 0 && (in_first >> e.to & 1) == 0) cost += e.cost;
  }
  return cost;
}

TEST_CASE("the cheapest cut of random graphs is that of all cuts") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const uint32_t nodes = 2 + random() % 8;
    std::vector<Edge> edges;
    MinCut cut;
    for (uint32_t n = 2; n < nodes; ++n) cut.Add();
    for (uint32_t i = random() % 24; i > 0; --i) {
      edges.push_back({static_cast<uint32_t>(random() % nodes),
                       static_cast<uint32_t>(random() % nodes),
                       static_cast<int64_t>(random() % 20)});
      cut.AddEdge(edges.back().from, edges.back().to, edges.back().cost);
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    for (uint32_t parts = 0; parts < 1U << nodes; ++parts) {
      if ((parts & 3) == 1) least = std::min(least, CostOf(edges, parts));
    }
    CHECK(cut.Solve() == least);
    uint32_t found = 0;
    for (uint32_t n = 0; n < nodes; ++n) found |= (cut.IsInFirst(n) ? 1U : 0U) << n;
    CHECK((found & 3) == 1);
    CHECK(CostOf(edges, found) == least);
  }
}

TEST_CASE("what never pays is never cut") {
  MinCut cut;
  const MinCut::Node a = cut.Add(), b = cut.Add();
  cut.AddEdge(MinCut::kFirst, a, MinCut::kNever);
  cut.AddBoth(a, b, std::numeric_limits<int64_t>::max());
  cut.AddEdge(b, MinCut::kSecond, 5);
  CHECK(cut.Solve() == 5);
  CHECK(cut.IsInFirst(a));
  CHECK(cut.IsInFirst(b));
}

}  // namespace
}  // namespace relayvm::ir
