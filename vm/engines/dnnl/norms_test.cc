// Normalisations and prelu, along each axis, against their formulas.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

std::vector<int> AxisLast(int rank, int axis) {
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  return order;
}
std::vector<int> Back(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return inverse;
}

// Each line along `axis`, changed by f.
Tensor ByLine(const Tensor& x, int axis, const std::function<void(std::vector<float>&)>& f) {
  const std::vector<int> order = AxisLast(static_cast<int>(x.dims.size()), axis);
  Tensor lines = Transpose(x, order);
  const auto n = static_cast<size_t>(lines.dims.back());
  for (size_t at = 0; at < lines.data.size(); at += n) {
    std::vector<float> line(lines.data.begin() + static_cast<int64_t>(at),
                            lines.data.begin() + static_cast<int64_t>(at + n));
    f(line);
    std::copy(line.begin(), line.end(), lines.data.begin() + static_cast<int64_t>(at));
  }
  return Transpose(lines, Back(order));
}

// The region with a symbol for extent 0, at two sizes.
void CheckNet(const Net& net, const std::vector<Tensor>& data, const Tensor& y,
              double tolerance = 1e-4) {
  const TestRegion region(net);
  CheckClose(region.Run({data[0].dims[0]}, data)[0], y, tolerance);
  Dims none = data[0].dims;
  none[0] = 0;
  CheckClose(region.Run({0}, {{none, {}}})[0], {none, {}});
}

const std::vector<Dims>& Shapes() {
  static const std::vector<Dims> shapes = {{3, 20}, {2, 5, 7}, {2, 16, 5, 3}, {2, 3, 4, 5, 6}};
  return shapes;
}
Shape Open(const Dims& dims) {
  Shape shape = ShapeOf(dims);
  shape[0] = Dim("n");
  return shape;
}

TEST_CASE("nn.softmax and nn.log_softmax along each axis") {
  if (Provider() == nullptr) return;
  for (const Dims& dims : Shapes()) {
    for (int axis = -1; axis < static_cast<int>(dims.size()); ++axis) {
      for (const bool is_log : {false, true}) {
        const int at = axis < 0 ? static_cast<int>(dims.size()) - 1 : axis;
        const Tensor x = Map(Random(dims, 1), [](float v) { return v * 8; });
        const Tensor y = ByLine(x, at, [&](std::vector<float>& line) {
          const float max = *std::max_element(line.begin(), line.end());
          float sum = 0;
          for (const float v : line) sum += std::exp(v - max);
          for (float& v : line) v = is_log ? v - max - std::log(sum) : std::exp(v - max) / sum;
        });
        Net net;
        const int i = net.Input(Open(dims));
        net.Head(net.Kernel(is_log ? "nn.log_softmax" : "nn.softmax", {i}, Open(dims),
                            {{"axis", {std::to_string(axis)}}}));
        CheckNet(net, {x}, y);
      }
    }
  }
}

TEST_CASE("nn.layer_norm along each axis, with and without scale and center") {
  if (Provider() == nullptr) return;
  for (const Dims& dims : Shapes()) {
    for (int axis = 1; axis < static_cast<int>(dims.size()); ++axis) {
      for (const int flags : {0, 1, 2, 3}) {
        const Dims channels = {dims[static_cast<size_t>(axis)]};
        const Tensor x = Random(dims, 1), gamma = Random(channels, 2), beta = Random(channels, 3);
        const Tensor y = ByLine(x, axis, [&](std::vector<float>& line) {
          const auto n = static_cast<double>(line.size());
          double mean = 0, variance = 0;
          for (const float v : line) mean += v / n;
          for (const float v : line) variance += (v - mean) * (v - mean) / n;
          for (size_t i = 0; i < line.size(); ++i) {
            double v = (line[i] - mean) / std::sqrt(variance + 1e-3);
            if ((flags & 1) != 0) v *= gamma.data[i];
            if ((flags & 2) != 0) v += beta.data[i];
            line[i] = static_cast<float>(v);
          }
        });
        Net net;
        const int i = net.Input(Open(dims)), g = net.Const(gamma), b = net.Const(beta);
        net.Head(net.Kernel("nn.layer_norm", {i, g, b}, Open(dims),
                            {{"axis", {std::to_string(axis)}},
                             {"epsilon", {"0.001"}},
                             {"scale", {(flags & 1) != 0 ? "1" : "0"}},
                             {"center", {(flags & 2) != 0 ? "1" : "0"}}}));
        CheckNet(net, {x}, y);
      }
    }
  }
}

TEST_CASE("nn.batch_norm by the moving statistics, along each axis") {
  if (Provider() == nullptr) return;
  for (const Dims& dims : Shapes()) {
    for (int axis = 1; axis < static_cast<int>(dims.size()); ++axis) {
      const Dims channels = {dims[static_cast<size_t>(axis)]};
      const int rank = static_cast<int>(dims.size());
      const Tensor x = Random(dims, 1), gamma = Random(channels, 2), beta = Random(channels, 3);
      const Tensor mean = Random(channels, 4);
      const Tensor variance = Map(Random(channels, 5), [](float v) { return v * v + 0.1F; });
      const auto along = [&](const Tensor& t) { return AlongAxis(t, axis, rank); };
      Tensor y = Broadcast2(x, along(mean), std::minus<>());
      y = Broadcast2(y, along(variance), [](float a, float b) { return a / std::sqrt(b + 1e-5F); });
      y = Broadcast2(Broadcast2(y, along(gamma), std::multiplies<>()), along(beta), std::plus<>());
      y = Map(y, [](float v) { return std::max(v, 0.0F); });
      Net net;
      const int i = net.Input(Open(dims)), g = net.Const(gamma), b = net.Const(beta);
      const int m = net.Const(mean), v = net.Const(variance);
      net.Head(net.Kernel("nn.batch_norm", {i, g, b, m, v}, Open(dims),
                          {{"axis", {std::to_string(axis)}}, {"epsilon", {"1e-05"}}}, {"relu"},
                          DType::kFloat32, {ShapeOf(channels), ShapeOf(channels)}));
      CheckNet(net, {x}, y);
    }
  }
}

TEST_CASE("nn.lrn across each axis") {
  if (Provider() == nullptr) return;
  for (const Dims& dims : {Dims{2, 16, 5, 3}, Dims{2, 6, 7, 8}}) {
    for (const int axis : {1, 2, 3}) {
      const Tensor x = Map(Random(dims, 1), [](float v) { return v * 3; });
      const Tensor y = ByLine(x, axis, [&](std::vector<float>& line) {
        const std::vector<float> from = line;
        const auto n = static_cast<int64_t>(line.size());
        for (int64_t i = 0; i < n; ++i) {
          double sum = 0;
          for (int64_t k = std::max<int64_t>(i - 2, 0); k <= std::min(i + 2, n - 1); ++k) {
            sum += double{from[static_cast<size_t>(k)]} * from[static_cast<size_t>(k)];
          }
          line[static_cast<size_t>(i)] /= static_cast<float>(std::pow(2 + 0.3 / 5 * sum, 0.75));
        }
      });
      Net net;
      const int i = net.Input(Open(dims));
      net.Head(net.Kernel("nn.lrn", {i}, Open(dims),
                          {{"axis", {std::to_string(axis)}},
                           {"size", {"5"}},
                           {"alpha", {"0.3"}},
                           {"beta", {"0.75"}},
                           {"bias", {"2"}}}));
      CheckNet(net, {x}, y);
    }
  }
}

TEST_CASE("nn.prelu along each axis") {
  if (Provider() == nullptr) return;
  for (const Dims& dims : Shapes()) {
    for (int axis = 1; axis < static_cast<int>(dims.size()); ++axis) {
      const Tensor x = Random(dims, 1), slope = Random({dims[static_cast<size_t>(axis)]}, 2);
      const Tensor y = Broadcast2(x, AlongAxis(slope, axis, static_cast<int>(dims.size())),
                                  [](float a, float s) { return a < 0 ? a * s : a; });
      Net net;
      const int i = net.Input(Open(dims)), s = net.Const(slope);
      net.Head(net.Kernel("nn.prelu", {i, s}, Open(dims), {{"axis", {std::to_string(axis)}}}));
      CheckNet(net, {x}, y);
    }
  }
}

TEST_CASE("normalisations in the layout of a convolution before") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({32, 16, 3, 3}, 1), gamma = Random({32}, 2), beta = Random({32}, 3);
  const Tensor variance = Map(Random({32}, 5), [](float v) { return v * v + 0.1F; });
  Net net;
  const int i = net.Input({1, 16, 7, 7}), k = net.Const(w), g = net.Const(gamma);
  const int b = net.Const(beta), v = net.Const(variance);
  const Shape shape = {1, 32, 5, 5};
  const int conv = net.Kernel("nn.conv2d", {i, k}, shape);
  const int norm = net.Kernel("nn.batch_norm", {conv, g, b, b, v}, shape);
  const int slope = net.Kernel("nn.prelu", {norm, g}, shape);
  const int lrn = net.Kernel("nn.lrn", {slope}, shape);
  net.Head(net.Kernel("nn.softmax", {lrn}, shape, {{"axis", {"1"}}}));
  for (const int h : {conv, norm, slope, lrn}) net.Head(h);
  const std::vector<Tensor> y = RunOnce(net, {}, {Random({1, 16, 7, 7}, 2)});
  const auto along = [](const Tensor& t) { return AlongAxis(t, 1, 4); };
  Tensor expected = Broadcast2(y[1], along(beta), std::minus<>());
  expected = Broadcast2(expected, along(variance),
                        [](float a, float s) { return a / std::sqrt(s + 1e-5F); });
  expected = Broadcast2(Broadcast2(expected, along(gamma), std::multiplies<>()), along(beta),
                        std::plus<>());
  CheckClose(y[2], expected);
  CheckClose(y[3],
             Broadcast2(y[2], along(gamma), [](float a, float s) { return a < 0 ? a * s : a; }));
  CheckClose(y[0], ByLine(y[4], 1, [](std::vector<float>& line) {
               float sum = 0;
               for (float& e : line) sum += e = std::exp(e);
               for (float& e : line) e /= sum;
             }));
}

TEST_CASE("normalisations that oneDNN means otherwise, or whose operands do not fit, are refused") {
  if (Provider() == nullptr) return;
  Net even, wrong, second;
  const int x = even.Input({1, 4, 5, 6});
  even.Head(even.Kernel("nn.lrn", {x}, {1, 4, 5, 6}, {{"size", {"4"}}}));
  CHECK(Refusal(even) == "1: dnnl.nn.lrn: size is 4: oneDNN begins even windows one later");
  const int i = wrong.Input({2, 4}), g = wrong.Input({3});
  wrong.Head(wrong.Kernel("nn.layer_norm", {i, g, g}, {2, 4}));
  CHECK(Refusal(wrong) == "2: dnnl.nn.layer_norm: input 1 is no vector along axis 1");
}

}  // namespace
}  // namespace relayvm::onednn_testing
