#include "compiler/import/composite/loops.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;
using State = TypedBuilder::State;

TEST_CASE("running sums: straight code, a loop, and from the last row on") {
  for (const bool open : {false, true}) {
    for (const bool backward : {false, true}) {
      CAPTURE(open);
      CAPTURE(backward);
      Graph g;
      const Term x =
          open ? g.Input({1, 2, 3, 4, 5, 6}, {3, 2}) : g.Constant({1, 2, 3, 4, 5, 6}, {3, 2});
      const Value zero = Term(g.b, g.b.Op("take", {x, g.b.Int(0)}, {{"axis", 0}})) * 0.0;
      const State out = ScanRows(g.b, {.initial = {zero},
                                       .scanned = {x},
                                       .backward = {backward},
                                       .body =
                                           [&](const State& s, const std::vector<Value>& rows) {
                                             const Value sum = g.b.Op("add", {s[0], rows[0]});
                                             return Turn{{}, {sum}, {sum}};
                                           },
                                       .nodes = 1});
      REQUIRE(out.size() == 2);
      CheckNear(g.Run(out[1]), backward ? std::vector<double>{5, 6, 8, 10, 9, 12}
                                        : std::vector<double>{1, 2, 4, 6, 9, 12});
    }
  }
}

TEST_CASE("a known loop of few turns is straight code; of many it is a loop") {
  for (const int64_t turns : {3, 1000}) {
    Graph g;
    int bodies = 0;
    const State out = RunOrUnroll(g.b,
                                  {g.b.Int(turns),
                                   {},
                                   {g.b.Int(1)},
                                   [&](const Value& i, const State& s) {
                                     ++bodies;
                                     return Turn{{}, {g.b.Op("add", {s[0], i})}, {}};
                                   }},
                                  1);
    REQUIRE(out.size() == 1);
    CHECK((turns == 3) == (bodies == 3));
    CheckNear(g.Run(out[0]), {static_cast<double>(1 + turns * (turns - 1) / 2)});
  }
}

TEST_CASE("branches of one type, and of none") {
  for (const bool which : {true, false}) {
    Graph g;
    const Term x = g.Input({which ? 1.0 : -1.0}, {1});
    const Value positive = AsScalar(x > 0);
    const auto y = Branches(g.b, positive, {g.Constant({1, 2}, {2})}, {g.Constant({3}, {1})});
    REQUIRE(y.has_value());
    CheckNear(g.Run((*y)[0]), which ? std::vector<double>{1, 2} : std::vector<double>{3});
    CHECK(!Branches(g.b, positive, {g.Constant({1}, {1})}, {g.Constant({1}, {})}).has_value());
    CHECK(g.b.status().ok());
  }
}

}  // namespace
}  // namespace relayvm::import
