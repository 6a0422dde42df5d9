#include "compiler/import/composite/from_windows.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

TEST_CASE("transposed convolutions by pads and by the extents that are asked for") {
  struct Row {
    Window window;
    TransposedConvSpec more;
    std::vector<double> expected;
  };
  const auto window = [](std::vector<int64_t> pads, WindowPadding padding) {
    return Window{.kernel = {3, 3},
                  .strides = {2, 2},
                  .dilations = {1, 1},
                  .pads = std::move(pads),
                  .padding = padding};
  };
  using enum WindowPadding;
  const std::vector<Row> rows = {
      {window({1, 0, 1, 0}, kGiven),
       {.window = {}, .extra = {1, 0}},
       {-1.125,   -0.5,     -0.15625, -0.046875, 0.1875,  0.703125, 1.17188,   -0.640625,
        -2.95312, -1.10938, 0.203125, 0.046875,  0.9375,  0.5,      -0.046875, -0.234375,
        0.46875,  -2.40625, -2.21875, 1.65625,   1.53125, 0.59375,  -1.20312,  -0.390625,
        0.078125, -1.28125, 1.375,    1.70312,   1.375,   -0.671875}},
      {window({}, kSameUpper),
       {.window = {}, .shape = {6, 4}},
       {-0.125,    0.5,     1.21875,   0.328125, -1.125,   -0.5,     -0.15625, -0.046875,
        0.703125,  1.17188, -0.640625, -2.95312, 0.203125, 0.046875, 0.9375,   0.5,
        -0.234375, 0.46875, -2.40625,  -2.21875, 1.53125,  0.59375,  -1.20312, -0.390625}},
      {window({}, kGiven),
       {.window = {}, .shape = {6, 4}},
       {-0.5,     -0.15625, -0.046875, 0.1875,    1.17188, -0.640625, -2.95312, -1.10938,
        0.046875, 0.9375,   0.5,       -0.046875, 0.46875, -2.40625,  -2.21875, 1.65625,
        0.59375,  -1.20312, -0.390625, 0.078125,  1.375,   1.70312,   1.375,    -0.671875}},
      {window({}, kGiven),
       {.window = {}, .shape = {9, 6}},
       {-0.125,    0.5,      1.21875, 0.328125, 0.5625,    0,         -1.125,    -0.5,     -0.15625,
        -0.046875, 0.1875,   0,       0.703125, 1.17188,   -0.640625, -2.95312,  -1.10938, 0,
        0.203125,  0.046875, 0.9375,  0.5,      -0.046875, 0,         -0.234375, 0.46875,  -2.40625,
        -2.21875,  1.65625,  0,       1.53125,  0.59375,   -1.20312,  -0.390625, 0.078125, 0,
        -1.28125,  1.375,    1.70312, 1.375,    -0.671875, 0,         0,         0,        0,
        0,         0,        0,       0,        0,         0,         0,         0,        0}},
      {window({}, kSameUpper), {}, {-0.125,   0.5,       1.21875,  0.328125, -1.125,    -0.5,
                                    -0.15625, -0.046875, 0.703125, 1.17188,  -0.640625, -2.95312,
                                    0.203125, 0.046875,  0.9375,   0.5,      -0.234375, 0.46875,
                                    -2.40625, -2.21875,  1.53125,  0.59375,  -1.20312,  -0.390625}},
      {window({0, 0, -2, -1}, kGiven),
       {},
       {-0.125,    0.5,      1.21875, 0.328125, 0.5625,    0,         -1.125,    -0.5,     -0.15625,
        -0.046875, 0.1875,   0,       0.703125, 1.17188,   -0.640625, -2.95312,  -1.10938, 0,
        0.203125,  0.046875, 0.9375,  0.5,      -0.046875, 0,         -0.234375, 0.46875,  -2.40625,
        -2.21875,  1.65625,  0,       1.53125,  0.59375,   -1.20312,  -0.390625, 0.078125, 0,
        -1.28125,  1.375,    1.70312, 1.375,    -0.671875, 0,         0,         0,        0,
        0,         0,        0,       0,        0,         0,         0,         0,        0}},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    for (const bool open : {false, true}) {
      CAPTURE(open);
      Graph g;
      const Term x = open ? g.InputRamp({1, 2, 3, 2}) : g.Ramp({1, 2, 3, 2});
      TransposedConvSpec spec = rows[i].more;
      spec.window = rows[i].window;
      const auto y = TransposedConv(g.b, x, g.Ramp({2, 1, 3, 3}, 41), spec);
      REQUIRE(y.has_value());
      CheckNear(g.Run(*y), rows[i].expected);
    }
  }
}

TEST_CASE("unpooling puts maxima back where they were") {
  for (const bool open : {false, true}) {
    CAPTURE(open);
    Graph g;
    const std::vector<double> maxima = {0.625, 1.25, -0.125, 1.125, 1.375, 0.375, 1.25, -0.375};
    const Term x = open ? g.Input(maxima, {1, 2, 2, 2}) : g.Constant(maxima, {1, 2, 2, 2});
    const Term places = g.Constant({1, 2, 9, 11, 16, 19, 25, 27}, {1, 2, 2, 2}, DType::kInt64);
    const auto y =
        UnpooledMax({g.b, places, "indices"}, x,
                    {.kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}, .pads = {}});
    REQUIRE(y.has_value());
    CheckNear(g.Run(y->data),
              {0,     0.625, 1.25, 0,     0, 0, 0, 0, 0, -0.125, 0, 1.125,  0, 0, 0, 0,
               1.375, 0,     0,    0.375, 0, 0, 0, 0, 0, 1.25,   0, -0.375, 0, 0, 0, 0});
  }
}

TEST_CASE("folded windows add up where they overlap") {
  for (const bool open : {false, true}) {
    CAPTURE(open);
    for (const bool padded : {false, true}) {
      CAPTURE(padded);
      Graph g;
      const std::vector<int64_t> shape = {1, padded ? 4 : 8, 6};
      const Term x = open ? g.InputRamp(shape, 7) : g.Ramp(shape, 7);
      const Term block = g.Constant({2, 2}, {2}, DType::kInt64);
      const Term image =
          padded ? g.Constant({2, 3}, {2}, DType::kInt64) : g.Constant({3, 4}, {2}, DType::kInt64);
      const int64_t pad = padded ? 1 : 0;
      const auto y = Folded(x, {g.b, image, "image_shape"}, {g.b, block, "block_shape"},
                            {.strides = {1, 1}, .dilations = {1, 1}, .pads = {pad, 0, pad, 0}});
      REQUIRE(y.has_value());
      CheckNear(g.Run(*y), padded
                               ? std::vector<double>{-2.125, 2.25, -1.375, 1.375, -2.25, 2.125}
                               : std::vector<double>{0,      0.375, -0.75,  1.25,   -1.25,  1.125,
                                                     -1.125, 1.25,  -1.25,  0.75,   -0.375, 0,
                                                     0.875,  -0.75, 1,      -0.75,  0.5,    -1.125,
                                                     -0.5,   0.125, -0.375, -0.375, 1.375,  0.875});
    }
  }
}

}  // namespace
}  // namespace relayvm::import
