#include "compiler/import/composite/quantised.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

TEST_CASE("quantised: halves to even, saturated, by channel and by block") {
  Graph g;
  const Term x = g.Constant({0.5, 1.5, 2.5, 300, -300}, {5});
  CheckNear(
      g.Run(Quantised(x, g.Constant({1}, {}), g.Constant({1}, {}, DType::kInt8), {DType::kInt8})),
      {1, 3, 3, 127, -128});

  Graph h;
  const Term q = h.Constant({1, 2, 3, 4, 5, 6}, {2, 3}, DType::kInt8);
  const auto scale = QuantisationParameter(h.b, h.Constant({2, 3}, {2}), q, 0, 0);
  REQUIRE(scale.has_value());
  CheckNear(h.Run(Dequantised(q, *scale, std::nullopt)), {2, 4, 6, 12, 15, 18});

  Graph i;
  const Term r = i.Constant({1, 2, 3, 4, 5, 6}, {2, 3}, DType::kInt8);
  const auto blocks = QuantisationParameter(i.b, i.Constant({1, 10, 2, 20}, {2, 2}), r, 1, 2);
  REQUIRE(blocks.has_value());
  CheckNear(i.Run(Dequantised(r, *blocks, std::nullopt)), {1, 2, 30, 8, 10, 120});
}

TEST_CASE("4 bits have their own limits") {
  Graph g;
  const Value v = Saturate(g.Constant({-20, 20, 3}, {3}), {DType::kInt8, 4});
  CHECK(v.bits == 4);
  CheckNear(g.Run(v), {-8, 7, 3});
}

TEST_CASE("products of integers less their zero points, and a sum in another scale") {
  Graph g;
  const Term a = g.Constant({1, 2, 3, 4}, {2, 2}, DType::kUInt8);
  const Term w = g.Constant({1, -1, 2, 3}, {2, 2}, DType::kInt8);
  const Term sum = IntegerProduct(g.b, a, g.Constant({1}, {}, DType::kUInt8), w,
                                  g.Constant({1, -1}, {2}, DType::kInt8));
  // (0 1; 2 3) times (0 0; 1 4)
  const Term zero = g.Constant({3}, {}, DType::kUInt8);
  CheckNear(g.Run(Requantised(sum, g.Constant({0.5}, {}), zero, DType::kUInt8)), {3, 5, 5, 9});
}

TEST_CASE("to bytes by the extremes of the data") {
  Graph g;
  const DynamicallyQuantised q = QuantiseDynamically(g.Constant({0, 2, -3, 0.4}, {4}));
  CheckNear(g.Run(q.data), {153, 255, 0, 173});
}

TEST_CASE("a parameter that does not meet its data is an error") {
  Graph g;
  CHECK(!QuantisationParameter(g.b, g.Ramp({2, 2}), g.Ramp({2, 3}), 0, 0).has_value());
  CHECK(g.b.status().message().find("scalars, vectors along the axis, or blocks") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm::import
