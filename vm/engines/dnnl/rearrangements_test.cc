// Reductions, concatenation and images of other sizes, against plain loops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

struct Kind {
  const char* op;
  float start;
  float (*step)(float, float);
};
constexpr Kind kKinds[] = {
    {"sum", 0, [](float a, float b) { return a + b; }},
    {"mean", 0, [](float a, float b) { return a + b; }},
    {"prod", 1, [](float a, float b) { return a * b; }},
    {"max", -std::numeric_limits<float>::infinity(),
     [](float a, float b) { return std::max(a, b); }},
    {"min", std::numeric_limits<float>::infinity(),
     [](float a, float b) { return std::min(a, b); }},
};

// Over the axes whose bit is set.
Tensor Reduced(const Tensor& x, const Kind& kind, unsigned axes, bool keeps) {
  Tensor y;
  std::vector<int> order;
  int64_t count = 1;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if ((axes >> i & 1U) == 0) order.push_back(static_cast<int>(i));
    if ((axes >> i & 1U) == 0 || keeps) y.dims.push_back((axes >> i & 1U) == 0 ? x.dims[i] : 1);
  }
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if ((axes >> i & 1U) == 0) continue;
    order.push_back(static_cast<int>(i));
    count *= x.dims[i];
  }
  const Tensor lines = Transpose(x, order);
  for (int64_t r = 0; r < Count(y.dims); ++r) {
    float value = kind.start;
    for (int64_t k = 0; k < count; ++k) {
      value = kind.step(value, lines.data[static_cast<size_t>(r * count + k)]);
    }
    y.data.push_back(std::string(kind.op) == "mean" ? value / static_cast<float>(count) : value);
  }
  return y;
}

TEST_CASE("reductions over any axes, kept and not") {
  if (Provider() == nullptr) return;
  const Dims dims = {3, 4, 1, 5};
  const Tensor x = Random(dims, 1);
  for (const Kind& kind : kKinds) {
    CAPTURE(std::string(kind.op));
    for (unsigned axes = 1; axes < 16; ++axes) {
      CAPTURE(axes);
      for (const bool keeps : {false, true}) {
        Net::Attributes attributes = {{"keepdims", {keeps ? "1" : "0"}}, {"axis", {}}};
        for (int i = 0; i < 4; ++i) {
          if ((axes >> static_cast<unsigned>(i) & 1U) == 0) continue;
          attributes["axis"].push_back(std::to_string(axes % 2 == 0 ? i : i - 4));
        }
        if (axes == 15) attributes["axis"] = {""};
        const Tensor y = Reduced(x, kind, axes, keeps);
        Net net;
        const int i = net.Input(ShapeOf(dims)), o = net.Input(ShapeOf(y.dims));
        net.Head(net.Kernel(kind.op, {i, o}, ShapeOf(y.dims), attributes, {"abs", "sum input=1"}));
        const Tensor other = Random(y.dims, 2);
        CheckClose(RunOnce(net, {}, {x, other})[0],
                   Broadcast2(Map(y, [](float v) { return std::abs(v); }), other, std::plus<>()));
      }
    }
  }
}

TEST_CASE("reductions of nothing") {
  if (Provider() == nullptr) return;
  for (const Kind& kind : kKinds) {
    Net net;
    const int x = net.Input({"n", 2});
    net.Head(net.Kernel(kind.op, {x}, {2}, {{"axis", {"0"}}}));
    const float y = TestRegion(net).Run({0}, {{{0, 2}, {}}})[0].data[1];
    if (std::string(kind.op) == "mean") {
      CHECK(std::isnan(y));
    } else {
      CHECK(y == kind.start);
    }
  }
}

TEST_CASE("concatenate, with operands of no elements and after convolutions") {
  if (Provider() == nullptr) return;
  for (const DType dtype : {DType::kFloat32, DType::kInt8, DType::kUInt8, DType::kInt32}) {
    for (int axis = -1; axis < 3; ++axis) {
      const int at = axis < 0 ? 2 : axis;
      Dims dims = {2, 3, 4}, out = dims;
      Net net;
      Shape shape = ShapeOf(dims), result = ShapeOf(dims);
      shape[static_cast<size_t>(at)] = Dim("n");
      result[static_cast<size_t>(at)] = Dim("m");
      const int a = net.Input(shape, dtype), b = net.Input(ShapeOf(dims), dtype);
      net.Head(net.Kernel("concatenate", {a, b, a}, result, {{"axis", {std::to_string(axis)}}}, {},
                          dtype));
      const TestRegion region(net);
      for (const int64_t n : {0, 1, 5}) {
        dims = {2, 3, 4};
        const auto whole = [](float v) { return std::round(std::abs(v) * 100); };
        const Tensor second = Map(Random(dims, 2), whole);
        dims[static_cast<size_t>(at)] = n;
        const Tensor first = Map(Random(dims, 1), whole);
        // Lines along the axis, one after the other.
        std::vector<int> order = {at};
        for (int i = 0; i < 3; ++i) {
          if (i != at) order.push_back(i);
        }
        std::vector<int> back(3);
        for (size_t i = 0; i < 3; ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
        Tensor joined = Transpose(first, order);
        for (const Tensor& t : {Transpose(second, order), Transpose(first, order)}) {
          joined.data.insert(joined.data.end(), t.data.begin(), t.data.end());
          joined.dims[0] += t.dims[0];
        }
        Dims symbols;
        for (const std::string& s : net.symbols()) symbols.push_back(s == "n" ? n : joined.dims[0]);
        const std::vector<Tensor> y = region.Run(symbols, {first, second});
        CheckClose(y[0], Transpose(joined, back), 0);
      }
    }
  }
  Net net;
  const int x = net.Input({1, 16, 6, 6});
  const int w = net.Const(Random({24, 16, 3, 3}, 1)), v = net.Const(Random({8, 16, 3, 3}, 1));
  const int a = net.Kernel("nn.conv2d", {x, w}, {1, 24, 4, 4});
  const int b = net.Kernel("nn.conv2d", {x, v}, {1, 8, 4, 4});
  for (const int h : {net.Kernel("concatenate", {a, b}, {1, 32, 4, 4}, {{"axis", {"1"}}}), a, b})
    net.Head(h);
  const std::vector<Tensor> y = RunOnce(net, {}, {Random({1, 16, 6, 6}, 3)});
  Tensor joined = y[1];
  joined.dims[1] = 32;
  joined.data.insert(joined.data.end(), y[2].data.begin(), y[2].data.end());
  CheckClose(y[0], joined, 0);
}

TEST_CASE("concatenate, of values in several layouts, and a number times one of them") {
  if (Provider() == nullptr) return;
  for (const int64_t channels : {8, 16}) {
    const Shape shape = {1, channels, 4, "w"};
    Net net;
    const int x = net.Input(shape), y = net.Input({1, 3, 4, "w"});
    const int w = net.Const(Random({channels, channels, 1, 1}, 1)),
              two = net.Const({{1, 1, 1, 1}, {2}});
    const int conv = net.Kernel("nn.conv2d", {x, w}, shape);
    const int back = net.Kernel("nn.conv2d_transpose", {x, w}, shape);
    const int twice = net.Kernel("multiply", {back, two}, shape);
    const Net::Attributes axis = {{"axis", {"1"}}};
    for (const int h :
         {net.Kernel("concatenate", {y, conv, twice}, {1, 3 + 2 * channels, 4, "w"}, axis), conv,
          twice, back}) {
      net.Head(h);
    }
    const Tensor first = Random({1, channels, 4, 5}, 2), second = Random({1, 3, 4, 5}, 3);
    const std::vector<Tensor> out = TestRegion(net).Run({5}, {first, second});
    Tensor joined = second;
    joined.dims[1] = 3 + 2 * channels;
    for (const size_t k : {1, 2}) {
      joined.data.insert(joined.data.end(), out[k].data.begin(), out[k].data.end());
    }
    CheckClose(out[0], joined, 0);
    CheckClose(out[2], Map(out[3], [](float v) { return v * 2; }), 0);
  }
}

// One axis, the last, of `from` to `size` positions.
Tensor ResizeLast(const Tensor& x, int64_t size, bool is_linear) {
  Tensor y{x.dims, {}};
  const int64_t from = x.dims.back();
  y.dims.back() = size;
  for (int64_t line = 0; line < Count(x.dims) / from; ++line) {
    for (int64_t i = 0; i < size; ++i) {
      const auto at = [&](double k) {
        const auto c = std::clamp<int64_t>(static_cast<int64_t>(k), 0, from - 1);
        return x.data[static_cast<size_t>(line * from + c)];
      };
      const double p =
          (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(size) -
          0.5;
      const double t = p - std::floor(p);
      y.data.push_back(static_cast<float>(
          is_linear ? at(std::floor(p)) * (1 - t) + at(std::floor(p) + 1) * t : at(std::round(p))));
    }
  }
  return y;
}

TEST_CASE("image.resize2d: lines between pixels to any size, nearest ones by whole factors") {
  if (Provider() == nullptr) return;
  for (const std::string layout : {"NCHW", "NHWC"}) {
    const bool is_last = layout == "NHWC";
    const std::vector<int> order = is_last ? std::vector{0, 2, 3, 1} : std::vector{0, 1, 2, 3};
    for (const bool is_linear : {true, false}) {
      for (const auto& [h, w] :
           {std::pair{8, 15}, std::pair{4, 5}, std::pair{12, 25}, std::pair{3, 9}}) {
        if (!is_linear && h == 3) continue;
        const Tensor x = Random({2, 16, 4, 5}, 1);
        const Tensor y = Transpose(
            ResizeLast(
                Transpose(ResizeLast(Transpose(x, {0, 1, 3, 2}), h, is_linear), {0, 1, 3, 2}), w,
                is_linear),
            order);
        for (const std::string coordinates : {"half_pixel", "asymmetric"}) {
          if (is_linear && coordinates == "asymmetric") continue;
          Net net;
          const int i = net.Input(ShapeOf(Transpose(x, order).dims));
          net.Head(
              net.Kernel("image.resize2d", {i}, ShapeOf(y.dims),
                         {{"layout", {layout}},
                          {"size", {std::to_string(h), std::to_string(w)}},
                          {"method", {is_linear ? "linear" : "nearest_neighbor"}},
                          {"coordinate_transformation_mode", {coordinates}},
                          {"rounding_method", {coordinates == "asymmetric" ? "floor" : "round"}}}));
          CheckClose(RunOnce(net, {}, {Transpose(x, order)})[0], y);
        }
      }
    }
  }
}

TEST_CASE("images that oneDNN samples elsewhere are refused") {
  if (Provider() == nullptr) return;
  const auto refusal = [](const char* method, const char* coordinates, const Shape& from) {
    Net net;
    const int x = net.Input(from);
    net.Head(net.Kernel("image.resize2d", {x}, {1, 3, 8, 9},
                        {{"method", {method}}, {"coordinate_transformation_mode", {coordinates}}}));
    return Refusal(net);
  };
  CHECK(refusal("linear", "align_corners", {1, 3, 4, 4}) ==
        "1: dnnl.image.resize2d: method linear with coordinates align_corners");
  CHECK(refusal("cubic", "half_pixel", {1, 3, 4, 4}) ==
        "1: dnnl.image.resize2d: method cubic with coordinates half_pixel");
  CHECK(refusal("nearest_neighbor", "half_pixel", {1, 3, 4, 4}) ==
        "1: dnnl.image.resize2d: nearest pixels of an image that does not grow by a whole factor");
  CHECK(refusal("nearest_neighbor", "half_pixel", {1, 3, "h", 3}) ==
        "1: dnnl.image.resize2d: nearest pixels of an image that does not grow by a whole factor");
  CHECK(refusal("nearest_neighbor", "asymmetric", {1, 3, 4, 3}) ==
        "1: dnnl.image.resize2d: coordinates asymmetric rounded by \"round\"");
}

}  // namespace
}  // namespace relayvm::onednn_testing
