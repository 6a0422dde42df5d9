#include "compiler/import/composite/resize.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

using Coordinates = ResizeCoordinates;

struct Case {
  ResizeMethod method;
  Coordinates coordinates;
  ResizeRounding rounding;
  std::vector<int64_t> in, out;
  bool antialias;
  std::vector<double> expected;
};

TEST_CASE("pictures of another size, as PyTorch makes them") {
  const Case cases[] = {
      {ResizeMethod::kLinear,
       Coordinates::kHalfPixel,
       {},
       {2, 3},
       {4, 5},
       false,
       {0,      -0.45,  -1.125,  -0.075, 0.625, -0.125, -0.2875, -0.53125, 0.0875, 0.5,
        -0.375, 0.0375, 0.65625, 0.4125, 0.25,  -0.5,   0.2,     1.25,     0.575,  0.125}},
      {ResizeMethod::kLinear,
       Coordinates::kAlignCorners,
       {},
       {2, 3},
       {4, 5},
       false,
       {0,         -0.5625, -1.125,   -0.25,     0.625,  -0.166667, -0.25,
        -0.333333, 0.0625,  0.458333, -0.333333, 0.0625, 0.458333,  0.375,
        0.291667,  -0.5,    0.375,    1.25,      0.6875, 0.125}},
      {ResizeMethod::kCubic,
       Coordinates::kHalfPixel,
       {},
       {2, 3},
       {3, 5},
       false,
       {0.175361, -0.633898, -1.33116, -0.206398, 0.860361, -0.28, -0.15125, 0.0625, 0.27625, 0.405,
        -0.735361, 0.331398, 1.45616, 0.758898, -0.0503611}},
      {ResizeMethod::kNearest,
       Coordinates::kAsymmetric,
       ResizeRounding::kFloor,
       {2, 3},
       {4, 5},
       false,
       {0,    0,    -1.125, -1.125, 0.625, 0,    0,    -1.125, -1.125, 0.625,
        -0.5, -0.5, 1.25,   1.25,   0.125, -0.5, -0.5, 1.25,   1.25,   0.125}},
      {ResizeMethod::kLinear,
       Coordinates::kHalfPixel,
       {},
       {4, 7},
       {2, 3},
       true,
       {-0.0471939, 0.204832, -0.0280612, -0.0420919, -0.0178571, 0.0063775}},
  };
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    for (const bool open : {false, true}) {
      CAPTURE(open);
      Graph g;
      const std::vector<int64_t> shape = {1, 1, c.in[0], c.in[1]};
      ResizeSpec spec{.x = open ? g.InputRamp(shape) : g.Ramp(shape), .axes = {2, 3}};
      spec.method = c.method;
      spec.coordinates = c.coordinates;
      spec.rounding = c.rounding;
      spec.antialias = spec.exclude_outside = c.antialias;
      spec.sizes = Term(g.b, g.b.Ints(c.out));
      CheckNear(g.Run(Resized(g.b, spec)), c.expected);
    }
  }
}

TEST_CASE("by scales; and a part of the picture, what lies outside being a number") {
  Graph g;
  ResizeSpec spec{.x = g.Constant({1, 2, 3}, {3}), .axes = {0}};
  spec.coordinates = Coordinates::kAsymmetric;
  spec.rounding = ResizeRounding::kFloor;
  spec.known_scales = {2.0};
  CheckNear(g.Run(Resized(g.b, spec)), {1, 1, 2, 2, 3, 3});

  Graph h;
  ResizeSpec crop{.x = h.Constant({1, 2, 3}, {3}), .axes = {0}, .method = ResizeMethod::kLinear};
  crop.coordinates = Coordinates::kCrop;
  crop.extrapolation = -7;
  crop.sizes = Term(h.b, h.b.Ints({3}));
  crop.crop = h.Constant({0.25, 1.25}, {2});  // positions 0.5, 1.5, 2.5
  CheckNear(h.Run(Resized(h.b, crop)), {1.5, 2.5, -7});
}

TEST_CASE("scales that are not positive are an error that names them") {
  Graph g;
  ResizeSpec spec{.x = g.Constant({1, 2, 3}, {3}), .axes = {0}};
  spec.scales = g.Constant({-1}, {1});
  spec.scales_name.emplace(g.b, *spec.scales, "scales 's'");
  Resized(g.b, spec);
  CHECK(g.b.status().message().find("scales 's'") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::import
