#include "compiler/import/composite/window.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

constexpr int64_t kRows = 5, kColumns = 4;

Term Picture(Graph& g, bool open) {
  const std::vector<int64_t> shape = {1, 2, kRows, kColumns};
  return open ? g.InputRamp(shape) : g.Ramp(shape);
}

TEST_CASE(
    "a convolution whose padding follows from extents, known or open, channels first or last") {
  for (const bool upper : {true, false}) {
    for (const bool open : {false, true}) {
      for (const bool last : {false, true}) {
        CAPTURE(upper);
        CAPTURE(open);
        CAPTURE(last);
        Graph g;
        Term x = Picture(g, open), w = g.Ramp({3, 2, 3, 3}, 41);
        ConvSpec spec;
        spec.window = {.kernel = {3, 3}, .strides = {2, 2}, .dilations = {1, 1}, .pads = {}};
        spec.window.padding = upper ? WindowPadding::kSameUpper : WindowPadding::kSameLower;
        if (last) {
          x = x.Transpose({0, 2, 3, 1});
          w = w.Transpose({2, 3, 1, 0});
          spec.window.channels_last = true;
          spec.kernel_layout = "HWIO";
        }
        const auto y = Convolved(g.b, x, w, spec);
        REQUIRE(y.has_value());
        CheckNear(
            g.Run(last ? Term(g.b, *y).Transpose({0, 3, 1, 2}).value() : *y),
            upper ? std::vector<double>{-2.59375, 2.26562, -3.375, 0.59375, 1.54688, -1.32812,
                                        -2.98438, 0.546875, -2.53125, -0.671875, 1.26562, -2.01562,
                                        -4.45312, -4.04688, -1.6875, -3.73438, 3.85938, -3.42188}
                  : std::vector<double>{4.51562, -0.515625, -2.03125, -0.015625, -1.6875, -0.125,
                                        0.828125, 2.54688, -3.73438, 4.03125, -1.46875, -0.90625,
                                        0.734375, 7.76562, -2.92188, 3.04688, -1.25, -0.609375});
      }
    }
  }
}

TEST_CASE("pools: ceil, averages without what is padded, places of maxima") {
  for (const bool open : {false, true}) {
    CAPTURE(open);
    for (const int part : {0, 1, 2, 3}) {
      CAPTURE(part);
      Graph g;
      const Term x = Picture(g, open);
      PoolSpec spec;
      spec.window = {.kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}, .pads = {}};
      if (part == 0) {
        spec.ceil = true;
        const auto y = Pooled(g.b, x, spec);
        REQUIRE(y.has_value());
        CheckNear(g.Run(*y),
                  {1.25, 0.75, 1.375, 0.375, 1, -0.125, 0.625, 1.25, 1.375, 0.875, -0.25, 0.375});
      } else if (part == 1) {
        spec.average = true;
        spec.window.kernel = {3, 3};
        spec.window.padding = WindowPadding::kSameUpper;
        const auto y = Pooled(g.b, x, spec);
        REQUIRE(y.has_value());
        CheckNear(g.Run(*y), {-0.0208333, -0.03125, 0.0972222, -0.3125, -0.104167, -0.59375, 0,
                              0.46875, -0.0416667, 0.1875, -0.0833333, -0.09375});
      } else {
        const auto y = PooledWithPlaces(g.b, x, spec, false);
        REQUIRE(y.has_value());
        CheckNear(g.Run(part == 2 ? y->max : y->place),
                  part == 2
                      ? std::vector<double>{1.25, 0.75, 1.375, 0.375, 0.625, 1.25, 1.375, 0.875}
                      : std::vector<double>{4, 7, 9, 15, 5, 7, 12, 15});
      }
    }
  }
}

TEST_CASE("a convolution of bytes less their zero points") {
  Graph g;
  const Term x = g.Constant({1, 2, 3, 4, 5}, {1, 1, 5}, DType::kUInt8);
  const Term w = g.Constant({1, -1}, {1, 1, 2}, DType::kInt8);
  ConvSpec spec;
  spec.window = {.kernel = {2}, .strides = {1}, .dilations = {1}, .pads = {1, 0}};
  const auto y = IntegerConv(g.b, x, g.b.Scalar(3, DType::kUInt8), w, {}, spec);
  REQUIRE(y.has_value());
  CheckNear(g.Run(*y), {2, -1, -1, -1, -1});
}

TEST_CASE("windows that are none are errors") {
  for (const auto& [kernel, pads, what] :
       std::initializer_list<std::tuple<std::vector<int64_t>, std::vector<int64_t>, const char*>>{
           {{2}, {}, "of 2 numbers"},
           {{0, 2}, {}, "that are positive"},
           {{2, 2}, {1}, "pads: expected 4 numbers, found 1"}}) {
    Graph g;
    PoolSpec spec;
    spec.window = {.kernel = kernel, .strides = {2, 2}, .dilations = {1, 1}, .pads = pads};
    CHECK(!Pooled(g.b, Picture(g, false), spec).has_value());
    CHECK(g.b.status().message().find(what) != std::string::npos);
  }
}

}  // namespace
}  // namespace relayvm::import
