#include "compiler/import/composite/padding.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

TEST_CASE("padding by numbers and by what is computed, known dims and open ones") {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"constant",
       {2.5,  2.5,   2.5, 2.5,  2.5, 2.5, 2.5, 0,      -1.125, 0.625, -0.5,   2.5, 2.5, 2.5,
        1.25, 0.125, -1,  0.75, 2.5, 2.5, 2.5, -0.375, 1.375,  0.25,  -0.875, 2.5, 2.5, 2.5,
        2.5,  2.5,   2.5, 2.5,  2.5, 2.5, 2.5, 2.5,    2.5,    2.5,   2.5,    2.5, 2.5, 2.5}},
      {"reflect",
       {1.25,  0.125,  -1,     0.75,   -1,    0.125,  1.25,  0,      -1.125, 0.625, -0.5,
        0.625, -1.125, 0,      1.25,   0.125, -1,     0.75,  -1,     0.125,  1.25,  -0.375,
        1.375, 0.25,   -0.875, 0.25,   1.375, -0.375, 1.25,  0.125,  -1,     0.75,  -1,
        0.125, 1.25,   0,      -1.125, 0.625, -0.5,   0.625, -1.125, 0}},
      {"edge",
       {0,      -1.125, 0.625,  -0.5,   -0.5,   -0.5,   -0.5,   0,      -1.125, 0.625,  -0.5,
        -0.5,   -0.5,   -0.5,   1.25,   0.125,  -1,     0.75,   0.75,   0.75,   0.75,   -0.375,
        1.375,  0.25,   -0.875, -0.875, -0.875, -0.875, -0.375, 1.375,  0.25,   -0.875, -0.875,
        -0.875, -0.875, -0.375, 1.375,  0.25,   -0.875, -0.875, -0.875, -0.875}},
      {"symmetric",
       {0,     -1.125, 0.625,  -0.5,   -0.5,  0.625, -1.125, 0,     -1.125, 0.625,  -0.5,
        -0.5,  0.625,  -1.125, 1.25,   0.125, -1,    0.75,   0.75,  -1,     0.125,  -0.375,
        1.375, 0.25,   -0.875, -0.875, 0.25,  1.375, -0.375, 1.375, 0.25,   -0.875, -0.875,
        0.25,  1.375,  1.25,   0.125,  -1,    0.75,  0.75,   -1,    0.125}},
      {"wrap", {-0.375, 1.375,  0.25,   -0.875, -0.375, 1.375, 0.25, 0,      -1.125, 0.625, -0.5,
                0,      -1.125, 0.625,  1.25,   0.125,  -1,    0.75, 1.25,   0.125,  -1,    -0.375,
                1.375,  0.25,   -0.875, -0.375, 1.375,  0.25,  0,    -1.125, 0.625,  -0.5,  0,
                -1.125, 0.625,  1.25,   0.125,  -1,     0.75,  1.25, 0.125,  -1}},
  };
  for (const auto& [mode, expected] : cases) {
    CAPTURE(mode);
    for (const bool open : {false, true}) {
      CAPTURE(open);
      Graph known;
      const Term x = open ? known.InputRamp({3, 4}) : known.Ramp({3, 4});
      const PadSpec spec{.fill = Like(known.b, x, 2.5), .mode = mode};
      const auto y = Padded(known.b, x, {{1, 2}, {0, 3}}, spec);
      REQUIRE(y.has_value());
      CheckNear(known.Run(*y), expected);

      Graph g;
      const Term data = open ? g.InputRamp({3, 4}) : g.Ramp({3, 4});
      const Term pads = g.Input({1, 0, 2, 3}, {4}).As(DType::kInt64).Reshape({4});
      CheckNear(g.Run(PaddedBy({g.b, pads, "pads"}, data, pads.Slice(0, 0, 2), pads.Slice(0, 2, 4),
                               {.fill = Like(g.b, data, 2.5), .mode = mode})),
                expected);
    }
  }
}

TEST_CASE("negative pads cut off first, and no more than there is") {
  const std::vector<double> expected = {0,     0,    1.25, 0.125, -1, 0, 0, -0.375,
                                        1.375, 0.25, 0,    0,     0,  0, 0};
  for (const bool open : {false, true}) {
    CAPTURE(open);
    Graph g;
    const Term x = open ? g.InputRamp({3, 4}) : g.Ramp({3, 4});
    const auto y = Padded(g.b, x, {{-1, 1}, {2, -1}}, {.fill = Like(g.b, x, 0)});
    REQUIRE(y.has_value());
    CheckNear(g.Run(*y), expected);
    Graph computed;
    const Term data = open ? computed.InputRamp({3, 4}) : computed.Ramp({3, 4});
    const Term pads = computed.Input({-1, 2, 1, -1}, {4}).As(DType::kInt64).Reshape({4});
    CheckNear(computed.Run(PaddedBy({computed.b, pads, "pads"}, data, pads.Slice(0, 0, 2),
                                    pads.Slice(0, 2, 4), {.fill = Like(computed.b, data, 0)})),
              expected);
  }
  Graph g;
  const Term x = g.Ramp({3, 4});
  CHECK_FALSE(Padded(g.b, x, {{-2, -2}, {0, 0}}, {.fill = Like(g.b, x, 0)}));
  CHECK(g.b.status().message().find("axis 0 has 3 elements, and loses more") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::import
