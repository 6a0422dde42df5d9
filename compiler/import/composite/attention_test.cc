#include "compiler/import/composite/attention.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

TEST_CASE("attention of grouped heads: all keys, causal either way, with a sink, joined") {
  for (const bool open : {false, true}) {
    for (const int part : {0, 1, 2, 3}) {
      CAPTURE(open);
      CAPTURE(part);
      Graph g;
      const Term q = g.Ramp({1, 4, 2, 4}), v = g.Ramp({1, 2, 3, 4}, 43);
      const Term k = g.Ramp({1, 2, 3, 4}, 41);
      // As many heads are known; the rest is open.
      const Term scale = open ? g.Input({1}, {1}) : g.Constant({1}, {1});
      AttentionSpec spec;
      if (part == 1) spec.causal = Causal::kToLast;
      if (part == 2) spec.causal = Causal::kFromFirst;
      if (part == 3) spec.sink = g.Constant({0.5}, {1, 1, 1, 1});
      const AttentionResult a = Attend(g.b, q, k, v * AsScalar(scale), spec);
      CheckNear(
          g.Run(a.y),
          part == 0 ? std::vector<double>{0.297487,     -0.0775129, -0.452513, -0.827513, 0.593054,
                                          0.218054,     -0.156946,  -0.531946, 0.158297,  -0.216703,
                                          -0.591703,    -0.966703,  0.499531,  0.124531,  -0.250469,
                                          -0.625469,    0.531946,   0.156946,  -0.218054, -0.593054,
                                          0.827513,     0.452513,   0.0775129, -0.297487, 0.521016,
                                          0.146016,     -0.228984,  -0.603984, 0.74959,   0.37459,
                                          -0.000409618, -0.37541}
          : part == 1
              ? std::vector<double>{0.623235,     0.248235,  -0.126765, -0.501765, 0.593054,
                                    0.218054,     -0.156946, -0.531946, 0.71166,   0.33666,
                                    -0.03834,     -0.41334,  0.499531,  0.124531,  -0.250469,
                                    -0.625469,    0.19376,   -0.18124,  -0.55624,  -0.93124,
                                    0.827513,     0.452513,  0.0775129, -0.297487, -0.0111739,
                                    -0.386174,    -0.761174, -1.13617,  0.74959,   0.37459,
                                    -0.000409618, -0.37541}
          : part == 2
              ? std::vector<double>{0,         -0.375,    -0.75,    -1.125,   0.759742,   0.384742,
                                    0.0097421, -0.365258, 0,        -0.375,   -0.75,      -1.125,
                                    0.66334,   0.28834,   -0.08666, -0.46166, 1.25,       0.875,
                                    0.5,       0.125,     0.694662, 0.319662, -0.0553381, -0.430338,
                                    1.25,      0.875,     0.5,      0.125,    0.601905,   0.226905,
                                    -0.148095, -0.523095}
              : std::vector<double>{
                    0.17712,   -0.0461501, -0.26942,     -0.49269, 0.482534,  0.177418,  -0.127698,
                    -0.432814, 0.0904837,  -0.123868,    -0.33822, -0.552572, 0.409629,  0.102119,
                    -0.205392, -0.512903,  0.432814,     0.127698, -0.177418, -0.482534, 0.49269,
                    0.26942,   0.0461501,  -0.17712,     0.386485, 0.108313,  -0.169858, -0.44803,
                    0.432712,  0.216238,   -0.000236458, -0.216711});
    }
  }
}

TEST_CASE("heads split and join") {
  Graph g;
  const Term x = g.InputRamp({2, 3, 4});
  CheckNear(g.Run(JoinHeads(SplitHeads(x, 2))), Graph::Numbers(24));
}

TEST_CASE("a quarter turn by tables, halves and interleaved") {
  for (const bool interleaved : {false, true}) {
    Graph g;
    const Term x = g.Constant({1, 2, 3, 4}, {1, 1, 1, 4});
    const Term cos = g.Constant({0, 0}, {1, 2}), sin = g.Constant({1, 1}, {1, 2});
    const Term y =
        Rotate(x, cos, sin, Term(g.b, g.b.Reshape(g.b.Ints({0}), {1, 1})), interleaved, 0);
    CheckNear(g.Run(y),
              interleaved ? std::vector<double>{-2, 1, -4, 3} : std::vector<double>{-3, -4, 1, 2});
  }
}

TEST_CASE("keys of a cache, and a mask of lengths") {
  Graph g;
  const Term cache = g.Constant({1, 2, 3, 4}, {1, 1, 4, 1}), now = g.Constant({9, 8}, {1, 1, 2, 1});
  CheckNear(g.Run(CacheWith(cache, now, Term(g.b, g.b.Int(1)))), {1, 9, 8, 4});
  Graph h;
  const Term k = h.Ramp({1, 1, 3, 1}), q = h.Ramp({1, 1, 2, 1});
  const auto bias = KeyMaskBias(h.b.Ints({2}), k, q, -5);
  REQUIRE(bias.has_value());
  CheckNear(h.Run(*bias), {0, 0, -5});
}

}  // namespace
}  // namespace relayvm::import
