#include "compiler/import/composite/sequence.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

// Two elements, of a known length or of one that only running tells.
Value Pair(Graph& g, bool known) {
  const Value both = g.b.Tuple({g.Constant({1, 2}, {2}), g.Constant({3}, {1})});
  if (known) return both;
  return SequenceErase(
      g.b.Tuple({g.Constant({1, 2}, {2}), g.Constant({3}, {1}), g.Constant({4}, {1})}),
      {g.b, AsScalar(g.Input({-1}, {1})).As(DType::kInt64), "place"});
}

TEST_CASE("sequences of a known length, and of one that only running tells") {
  for (const bool known : {true, false}) {
    CAPTURE(known);
    for (const int part : {0, 1, 2, 3}) {
      CAPTURE(part);
      Graph g;
      TypedBuilder& b = g.b;
      const Value s = Pair(g, known);
      if (part == 0) CheckNear(g.Run(SequenceLength(b, s)), {2});
      if (part == 1) CheckNear(g.Run(SequenceAt(s, {b, b.Int(-2), "place"})), {1, 2});
      if (part == 2) CheckNear(g.Run(SequenceJoin(b, s, -1, false)), {1, 2, 3});
      if (part == 3) {
        const Value more =
            SequenceInsert(b, s, g.Constant({9}, {1}), InputName(b, b.Int(1), "place"));
        CheckNear(g.Run(SequenceJoin(b, more, 0, false)), {1, 2, 9, 3});
      }
    }
  }
}

TEST_CASE("a place that there is not is an error with its name") {
  Graph g;
  CHECK(!SequenceAt(Pair(g, true), {g.b, g.b.Int(2), "index 'i'"}));
  CHECK(g.b.status().message().find("index 'i': 2, expected -2 to 1") != std::string::npos);
}

TEST_CASE("parts of sizes that are known, or only when it runs") {
  for (const bool known : {true, false}) {
    CAPTURE(known);
    Graph g;
    TypedBuilder& b = g.b;
    const Value size = known ? b.Int(2) : AsScalar(g.Input({2}, {1})).As(DType::kInt64).value();
    const Value parts =
        SequenceOfParts(b, {.x = g.Ramp({5, 2}), .axis = 0, .sizes = {b, size, "size"}});
    CheckNear(g.Run(SequenceAt(parts, {b, b.Int(2), "place"})),
              {Graph::Numbers(10)[8], Graph::Numbers(10)[9]});
  }
}

}  // namespace
}  // namespace relayvm::import
