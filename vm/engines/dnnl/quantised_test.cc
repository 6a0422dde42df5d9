// Quantised products and what comes after them, bit by bit, against integers of 128 bits.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

// Of integers in low .. high, which floats hold.
Tensor Integers(const Dims& dims, uint32_t seed, int low, int high) {
  return Map(Random(dims, seed), [=](float v) {
    return std::clamp(
        std::round((v + 1) / 2 * static_cast<float>(high - low)) + static_cast<float>(low),
        static_cast<float>(low), static_cast<float>(high));
  });
}

struct Ratio {
  float in, out;
};
// TVM's fixed-point multiplication: a significand of 31 bits, halves up or away from zero.
int64_t Scale(int64_t v, Ratio r, bool to_nearest) {
  int exponent = 0;
  auto q = static_cast<int64_t>(
      std::round(std::frexp(double{r.in} / double{r.out}, &exponent) * 0x1p31));
  if (q == int64_t{1} << 31) q /= 2, ++exponent;
  const __int128 unit = static_cast<__int128>(1) << (31 - exponent);
  __int128 product = static_cast<__int128>(v) * q;
  if (to_nearest && product < 0) product -= 1;
  product += unit / 2;
  return static_cast<int64_t>(product >> (31 - exponent));
}
float Clamped(int64_t v, DType dtype) {
  return static_cast<float>(dtype == DType::kInt8    ? std::clamp<int64_t>(v, -128, 127)
                            : dtype == DType::kUInt8 ? std::clamp<int64_t>(v, 0, 255)
                                                     : v);
}

struct Quantised {
  const char* what;
  DType data = DType::kInt8;
  int zero = 0;
  bool is_last = false;  // channels
  int64_t in = 16, out = 24, groups = 1;
  int64_t window = 3, stride = 1, padding = 1;
  int size_of_weight = 127;
};

// x: N C H W, w: O I H W; exact.
Tensor SumsOf(const Tensor& x, const Tensor& w, const Quantised& c) {
  const auto out_extent = [&](int64_t n) { return (n + 2 * c.padding - c.window) / c.stride + 1; };
  Tensor y{{x.dims[0], c.out, out_extent(x.dims[2]), out_extent(x.dims[3])}, {}};
  const int64_t group_in = c.in / c.groups, group_out = c.out / c.groups;
  for (int64_t n = 0; n < y.dims[0]; ++n)
    for (int64_t o = 0; o < c.out; ++o)
      for (int64_t h = 0; h < y.dims[2]; ++h)
        for (int64_t v = 0; v < y.dims[3]; ++v) {
          int64_t sum = 0;
          for (int64_t i = 0; i < group_in; ++i)
            for (int64_t a = 0; a < c.window; ++a)
              for (int64_t b = 0; b < c.window; ++b) {
                const int64_t p = h * c.stride + a - c.padding, q = v * c.stride + b - c.padding;
                if (p < 0 || q < 0 || p >= x.dims[2] || q >= x.dims[3]) continue;
                const int64_t channel = o / group_out * group_in + i;
                const auto at = ((n * c.in + channel) * x.dims[2] + p) * x.dims[3] + q;
                sum += (static_cast<int64_t>(x.data[static_cast<size_t>(at)]) - c.zero) *
                       static_cast<int64_t>(w.data[static_cast<size_t>(
                           ((o * group_in + i) * c.window + a) * c.window + b)]);
              }
          y.data.push_back(static_cast<float>(sum));
        }
  return y;
}

Tensor Scalar(float v) { return {{}, {v}}; }

Net::Attributes AttributesOf(const Quantised& c) {
  return {{"strides", Texts({c.stride, c.stride})},
          {"padding", Texts({c.padding, c.padding})},
          {"groups", Texts({c.groups})},
          {"data_layout", {c.is_last ? "NHWC" : "NCHW"}},
          {"kernel_layout", {c.is_last ? "HWIO" : "OIHW"}},
          {"out_dtype", {"int32"}}};
}

constexpr const char* kNoVnni = "products of bytes need VNNI";
bool CanRun(const Net& net) {
  int32_t status = 0;
  std::string message;
  const TestRegion region(net, &status, &message);
  if (status == RELAYVM_REGION_UNSUPPORTED && message.ends_with(kNoVnni)) return false;
  REQUIRE_MESSAGE(status == RELAYVM_REGION_OK, message);
  return true;
}

void CheckQuantised(const Quantised& c) {
  CAPTURE(std::string(c.what));
  const bool is_signed = c.data == DType::kInt8;
  const Tensor w = Integers({c.out, c.in / c.groups, c.window, c.window}, 2, -c.size_of_weight,
                            c.size_of_weight);
  const Tensor bias = Integers({c.out}, 3, -5000, 5000);
  const Tensor scales = Map(Random({c.out}, 4), [](float v) { return 0.002F * (v + 1.5F); });
  const std::vector<int> order = c.is_last ? std::vector{0, 2, 3, 1} : std::vector{0, 1, 2, 3};
  const Shape in = c.is_last ? Shape{"n", "h", 7, c.in} : Shape{"n", c.in, "h", 7};
  const int64_t width = (7 + 2 * c.padding - c.window) / c.stride + 1;
  const Shape out = c.is_last ? Shape{"n", "oh", width, c.out} : Shape{"n", c.out, "oh", width};
  // 0: sums; 1: per channel, halves up; 2: of one scale to uint8, halves away from zero, clipped.
  for (const int form : {0, 1, 2}) {
    CAPTURE(form);
    const DType to = form == 0 ? DType::kInt32 : form == 1 ? DType::kInt8 : DType::kUInt8;
    Net net;
    const int x = net.Input(in, c.data);
    const int k = net.Const(c.is_last ? Transpose(w, {2, 3, 1, 0}) : w, DType::kInt8);
    const int xz = net.Const(Scalar(static_cast<float>(c.zero)), DType::kInt32);
    const int wz = net.Const(Scalar(0), DType::kInt32), s = net.Const(Scalar(0.5F));
    std::vector<From> inputs = {x, k, xz, wz, s, s};
    std::vector<std::string> steps;
    const float to_scale = 0.9F;
    const int to_zero = form == 2 ? 117 : -5;
    if (form != 0) {
      inputs.push_back(net.Const(bias, DType::kInt32));
      inputs.push_back(net.Const(form == 1 ? scales : Scalar(0.0037F)));
      inputs.push_back(wz);
      inputs.push_back(net.Const(Scalar(to_scale)));
      inputs.push_back(net.Const(Scalar(static_cast<float>(to_zero)), DType::kInt32));
      steps = {
          "bias input=6",
          fmt::format("requantize input=7 input=8 input=9 input=10 axis={} rounding={} dtype={}",
                      c.is_last ? -1 : 1, form == 1 ? "UPWARD" : "TONEAREST",
                      form == 1 ? "int8" : "int32")};
      if (form == 2) steps.insert(steps.end(), {"clip min=10 max=200", "cast dtype=uint8"});
    }
    net.Head(net.Kernel("qnn.conv2d", inputs, out, AttributesOf(c), steps, to));
    if (!CanRun(net)) return;
    const TestRegion region(net);
    for (const auto& [n, h] : {std::pair<int64_t, int64_t>{2, 6}, {1, 9}, {0, 6}}) {
      const Tensor data = Integers({n, c.in, h, 7}, 1, is_signed ? -128 : 0, is_signed ? 127 : 255);
      Tensor y = SumsOf(data, w, c);
      const int64_t area = y.dims[2] * y.dims[3];
      for (size_t i = 0; form != 0 && i < y.data.size(); ++i) {
        const size_t channel = i / static_cast<size_t>(area) % static_cast<size_t>(c.out);
        const int64_t sum =
            static_cast<int64_t>(y.data[i]) + static_cast<int64_t>(bias.data[channel]);
        const float from = form == 1 ? scales.data[channel] : 0.0037F;
        const int64_t v = Scale(sum, {from, to_scale}, form == 2) + to_zero;
        y.data[i] =
            form == 1 ? Clamped(v, to) : static_cast<float>(std::clamp<int64_t>(v, 10, 200));
      }
      Dims symbols;
      for (const std::string& name : net.symbols())
        symbols.push_back(name == "n" ? n : name == "h" ? h : y.dims[2]);
      CheckClose(region.Run(symbols, {Transpose(data, order)}, n == 2 ? 2 : 1)[0],
                 Transpose(y, order), 0);
    }
  }
}

TEST_CASE("qnn.conv2d, its sums and what is made of them, bit by bit") {
  if (Provider() == nullptr) return;
  const Quantised kCases[] = {
      {"signed"},
      {"signed, zero point", DType::kInt8, -3},
      {"unsigned", DType::kUInt8},
      {"unsigned, zero point", DType::kUInt8, 131},
      {"channels last", DType::kUInt8, 7, true},
      {"one pixel", DType::kInt8, 5, true, 64, 40, 1, 1, 1, 0},
      {"strides", DType::kUInt8, 128, false, 8, 16, 1, 3, 2, 1},
      {"three channels", DType::kUInt8, 12, true, 3, 8, 1, 3, 2, 1},
      {"groups", DType::kInt8, 4, false, 16, 32, 4},
      {"each channel", DType::kInt8, 9, true, 32, 32, 32},
      {"each channel, signed", DType::kUInt8, 0, false, 32, 32, 32},
      {"one result", DType::kInt8, 1, false, 16, 1},
      {"as large as sums may be", DType::kInt8, -128, false, 48, 8, 1, 3, 1, 1, 127},
  };
  for (const Quantised& c : kCases) CheckQuantised(c);
}

TEST_CASE("qnn.dense to int8 and to float32") {
  if (Provider() == nullptr) return;
  for (const DType data : {DType::kInt8, DType::kUInt8}) {
    for (const int zero : {0, 11}) {
      for (const bool is_float : {false, true}) {
        constexpr int64_t kDepth = 100, kUnits = 33;
        const bool is_signed = data == DType::kInt8;
        const Tensor w = Integers({kUnits, kDepth}, 2, -127, 127);
        const Tensor scales = Map(Random({kUnits}, 4), [](float v) { return 0.002F * (v + 1.5F); });
        Net net;
        const int x = net.Input({2, "n", kDepth}, data), k = net.Const(w, DType::kInt8);
        const int xz = net.Const(Scalar(static_cast<float>(zero)), DType::kInt32);
        const int wz = net.Const(Scalar(0), DType::kInt32), s = net.Const(scales);
        const int to = net.Const(Scalar(0.7F));
        std::vector<From> inputs = {x, k, xz, wz, s, s, s, wz};
        if (!is_float) inputs.insert(inputs.end(), {to, xz});
        const std::string step =
            is_float
                ? std::string("dequantize input=6 input=7 axis=2")
                : fmt::format(
                      "requantize input=6 input=7 input=8 input=9 axis=-1 rounding=None dtype={}",
                      DTypeName(data));
        net.Head(net.Kernel("qnn.dense", inputs, {2, "n", kUnits}, {{"out_dtype", {"int32"}}},
                            {step}, is_float ? DType::kFloat32 : data));
        if (!CanRun(net)) return;
        const TestRegion region(net);
        for (const int64_t n : {1, 5, 1, 0}) {
          const Tensor v = Integers({2, n, kDepth}, 1, is_signed ? -128 : 0, is_signed ? 127 : 255);
          Tensor y{{2, n, kUnits}, {}};
          for (int64_t i = 0; i < 2 * n; ++i) {
            for (int64_t j = 0; j < kUnits; ++j) {
              int64_t sum = 0;
              for (int64_t d = 0; d < kDepth; ++d) {
                sum += (static_cast<int64_t>(v.data[static_cast<size_t>(i * kDepth + d)]) - zero) *
                       static_cast<int64_t>(w.data[static_cast<size_t>(j * kDepth + d)]);
              }
              const float scale = scales.data[static_cast<size_t>(j)];
              y.data.push_back(is_float ? static_cast<float>(sum) * scale
                                        : Clamped(Scale(sum, {scale, 0.7F}, false) + zero, data));
            }
          }
          CheckClose(region.Run({n}, {v})[0], y, 0);
        }
      }
    }
  }
}

// Two convolutions, and the sum of the second and of the first's input.
TEST_CASE("a chain of quantised convolutions with a sum") {
  if (Provider() == nullptr) return;
  const Quantised c{"", DType::kInt8, 3, false, 16, 16};
  const Tensor w = Integers({16, 16, 3, 3}, 2, -90, 90);
  const Shape shape = {"n", 16, "h", 7};
  const float own = 0.9F, others = 0.31F, to = 0.6F;
  Net net;
  const int x = net.Input(shape, DType::kInt8), k = net.Const(w, DType::kInt8);
  const int z = net.Const(Scalar(3), DType::kInt32), none = net.Const(Scalar(0), DType::kInt32);
  const int from = net.Const(Scalar(0.003F)), a = net.Const(Scalar(own));
  const int b = net.Const(Scalar(others)), t = net.Const(Scalar(to));
  const std::string requantize =
      "requantize input=6 input=7 input=8 input=9 axis=1 rounding=UPWARD dtype=int8";
  const int first = net.Kernel("qnn.conv2d", {x, k, z, none, a, a, from, none, a, z}, shape,
                               AttributesOf(c), {requantize, "clip min=3 max=127"}, DType::kInt8);
  net.Head(
      net.Kernel("qnn.conv2d", {first, k, z, none, a, a, from, none, a, z, x, a, z, b, none, t, z},
                 shape, AttributesOf(c),
                 {requantize, "sum input=10 input=11 input=12 input=13 input=14 input=15 input=16",
                  "clip min=-100 max=100"},
                 DType::kInt8));
  if (!CanRun(net)) return;
  const TestRegion region(net);
  for (const auto& [n, h] : {std::pair<int64_t, int64_t>{1, 6}, {3, 4}}) {
    const Tensor data = Integers({n, 16, h, 7}, 1, -128, 127);
    Tensor y = SumsOf(data, w, c);
    const auto requantized = [&](float v) {
      return Clamped(Scale(static_cast<int64_t>(v), {0.003F, own}, false) + 3, DType::kInt8);
    };
    y = Map(y, [&](float v) { return std::max(requantized(v), 3.0F); });
    y = Map(SumsOf(y, w, c), requantized);
    y = Broadcast2(y, data, [&](float v, float o) {
      const int64_t sum = Scale(static_cast<int64_t>(v) - 3, {own, to}, false) +
                          Scale(static_cast<int64_t>(o), {others, to}, false) + 3;
      return std::clamp(Clamped(sum, DType::kInt8), -100.0F, 100.0F);
    });
    CheckClose(region.Run({n, h}, {data})[0], y, 0);
  }
}

// x: N C H W, w: I O H W; exact. Data is 0 where there is none, whatever its zero point.
Tensor TransposedSums(const Tensor& x, const Tensor& w, const Quantised& c, int64_t more) {
  const auto out_extent = [&](int64_t n) {
    return (n - 1) * c.stride + c.window - 2 * c.padding + more;
  };
  Tensor y{{x.dims[0], c.out, out_extent(x.dims[2]), out_extent(x.dims[3])}, {}};
  y.data.assign(static_cast<size_t>(Count(y.dims)), 0);
  const int64_t group_in = c.in / c.groups, group_out = c.out / c.groups;
  const auto at = [](const Dims& d, int64_t i, int64_t j, int64_t k, int64_t l) {
    return static_cast<size_t>(((i * d[1] + j) * d[2] + k) * d[3] + l);
  };
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t i = 0; i < c.in; ++i)
      for (int64_t h = 0; h < x.dims[2]; ++h)
        for (int64_t v = 0; v < x.dims[3]; ++v)
          for (int64_t o = 0; o < group_out; ++o)
            for (int64_t a = 0; a < c.window; ++a)
              for (int64_t b = 0; b < c.window; ++b) {
                const int64_t p = h * c.stride + a - c.padding, q = v * c.stride + b - c.padding;
                if (p < 0 || q < 0 || p >= y.dims[2] || q >= y.dims[3]) continue;
                y.data[at(y.dims, n, i / group_in * group_out + o, p, q)] +=
                    (x.data[at(x.dims, n, i, h, v)] - static_cast<float>(c.zero)) *
                    w.data[at(w.dims, i, o, a, b)];
              }
  return y;
}

TEST_CASE("quantised transposed convolutions, exactly") {
  if (Provider() == nullptr) return;
  const Quantised kCases[] = {
      {"plain", DType::kUInt8},
      {"signed, with a zero point", DType::kInt8, -7},
      {"unsigned, with a zero point", DType::kUInt8, 131},
      {"strides", DType::kUInt8, 3, false, 16, 24, 1, 2, 2, 0},
      {"strides, padding, channels last", DType::kInt8, 5, true, 16, 24, 1, 3, 2, 1},
      {"a window above the strides", DType::kUInt8, 100, true, 32, 16, 1, 4, 2, 1},
      {"groups", DType::kInt8, 2, false, 32, 32, 2, 3, 1, 1},
      {"few channels", DType::kUInt8, 9, true, 3, 5, 1, 3, 2, 1},
  };
  for (const Quantised& c : kCases) {
    CAPTURE(std::string(c.what));
    const int64_t more = c.stride - 1;
    const Tensor w = Integers({c.in, c.out / c.groups, c.window, c.window}, 2, -127, 127);
    const std::vector<int> order = c.is_last ? std::vector{0, 2, 3, 1} : std::vector{0, 1, 2, 3};
    const int64_t width = 6 * c.stride + c.window - 2 * c.padding + more;
    Net::Attributes attributes = AttributesOf(c);
    attributes["kernel_layout"] = {c.is_last ? "HWIO" : "IOHW"};
    attributes["output_padding"] = Texts({more, more});
    for (const bool is_requantized : {false, true}) {
      Net net;
      const int x =
          net.Input(c.is_last ? Shape{"n", "h", 7, c.in} : Shape{"n", c.in, "h", 7}, c.data);
      const int k = net.Const(c.is_last ? Transpose(w, {2, 3, 0, 1}) : w, DType::kInt8);
      const int xz = net.Const(Scalar(static_cast<float>(c.zero)), DType::kInt32);
      const int wz = net.Const(Scalar(0), DType::kInt32), s = net.Const(Scalar(0.0037F));
      const int to = net.Const(Scalar(0.9F));
      const DType dtype = is_requantized ? DType::kInt8 : DType::kInt32;
      std::vector<std::string> steps;
      if (is_requantized)
        steps = {"requantize input=6 input=7 input=8 input=9 axis=1 rounding=UPWARD dtype=int8"};
      std::vector<From> inputs = {x, k, xz, wz, s, s};
      if (is_requantized) inputs.insert(inputs.end(), {s, wz, to, wz});
      const Shape out = c.is_last ? Shape{"n", "oh", width, c.out} : Shape{"n", c.out, "oh", width};
      net.Head(net.Kernel("qnn.conv2d_transpose", inputs, out, attributes, steps, dtype));
      if (!CanRun(net)) return;
      const TestRegion region(net);
      for (const auto& [n, h] : {std::pair<int64_t, int64_t>{2, 5}, {1, 3}}) {
        const bool is_signed = c.data == DType::kInt8;
        const Tensor data =
            Integers({n, c.in, h, 7}, 1, is_signed ? -128 : 0, is_signed ? 127 : 255);
        Tensor y = TransposedSums(data, w, c, more);
        if (is_requantized) {
          y = Map(y, [](float v) {
            return Clamped(Scale(static_cast<int64_t>(v), {0.0037F, 0.9F}, false), DType::kInt8);
          });
        }
        Dims symbols;
        for (const std::string& name : net.symbols())
          symbols.push_back(name == "n" ? n : name == "h" ? h : y.dims[2]);
        CheckClose(region.Run(symbols, {Transpose(data, order)}, n == 2 ? 2 : 1)[0],
                   Transpose(y, order), 0);
      }
    }
  }
}

TEST_CASE("quantised products of two tensors, in batches") {
  if (Provider() == nullptr) return;
  for (const int64_t depth : {33, 514}) {
    for (const unsigned form : {0U, 1U, 2U, 3U, 4U, 7U, 8U, 15U}) {
      const bool transpose_a = (form & 1U) != 0, transpose_b = (form & 2U) != 0;
      const bool is_constant = (form & 4U) != 0, is_signed = (form & 8U) == 0;
      CAPTURE(depth);
      CAPTURE(form);
      const int zero = is_signed ? -3 : 140;
      const Tensor w = Integers(
          {is_constant ? 1 : 3, transpose_b ? 20 : depth, transpose_b ? depth : 20}, 2, -128, 127);
      Net net;
      const int x = net.Input(transpose_a ? Shape{3, depth, "m"} : Shape{3, "m", depth},
                              is_signed ? DType::kInt8 : DType::kUInt8);
      const int k =
          is_constant ? net.Const(w, DType::kInt8) : net.Input(ShapeOf(w.dims), DType::kInt8);
      const int xz = net.Const(Scalar(static_cast<float>(zero)), DType::kInt32);
      const int wz = net.Const(Scalar(0), DType::kInt32), s = net.Const(Scalar(0.01F));
      net.Head(net.Kernel(
          "qnn.batch_matmul", {x, k, xz, wz, s, s, s, wz}, {3, "m", 20},
          {{"transpose_a", {transpose_a ? "1" : "0"}}, {"transpose_b", {transpose_b ? "1" : "0"}}},
          {"dequantize input=6 input=7"}));
      if (!CanRun(net)) return;
      const TestRegion region(net);
      for (const int64_t m : {5, 1, 0}) {
        const Tensor data = Integers(transpose_a ? Dims{3, depth, m} : Dims{3, m, depth}, 1,
                                     is_signed ? -128 : 0, is_signed ? 127 : 255);
        const Tensor a = transpose_a ? Transpose(data, {0, 2, 1}) : data;
        const Tensor b = transpose_b ? Transpose(w, {0, 2, 1}) : w;
        Tensor y{{3, m, 20}, {}};
        for (int64_t i = 0; i < 3 * m; ++i) {
          for (int64_t j = 0; j < 20; ++j) {
            int64_t sum = 0;
            for (int64_t d = 0; d < depth; ++d) {
              const int64_t row = (is_constant ? 0 : i / m) * depth + d;
              sum += (static_cast<int64_t>(a.data[static_cast<size_t>(i * depth + d)]) - zero) *
                     static_cast<int64_t>(b.data[static_cast<size_t>(row * 20 + j)]);
            }
            y.data.push_back(static_cast<float>(sum) * 0.01F);
          }
        }
        std::vector<Tensor> inputs = {data};
        if (!is_constant) inputs.push_back(w);
        CheckClose(region.Run({m}, inputs, 1)[0], y, 0);
      }
    }
  }
}

// As TVM's legalize_qnn_for_dnnl writes them.
TEST_CASE("quantised products that go on in float32: each operation rounds") {
  if (Provider() == nullptr) return;
  const Quantised c{"", DType::kUInt8, 0, false, 16, 16};
  const Tensor w = Integers({16, 16, 3, 3}, 2, -90, 90), b = Random({16, 1, 1}, 3);
  const Tensor scales = Map(Random({16, 1, 1}, 4), [](float v) { return (v + 1.5F) * 0.0011F; });
  const Shape shape = {"n", 16, "h", 7};
  for (const DType to : {DType::kUInt8, DType::kInt8, DType::kInt32, DType::kFloat32}) {
    CAPTURE(DTypeName(to));
    Net net;
    const int x = net.Input(shape, DType::kUInt8), k = net.Const(w, DType::kInt8);
    const int z = net.Const(Scalar(0), DType::kInt32), s = net.Const(Scalar(1));
    const int bias = net.Const(b), scale = net.Const(scales), act = net.Const(Scalar(0.7F));
    const int others = net.Const(Scalar(0.31F)), zero = net.Const(Scalar(-11.3F));
    std::vector<std::string> steps = {"cast dtype=float32", "add input=6",
                                      "multiply input=7",   "clip min=0 max=255",
                                      "multiply input=8",   "scaled_sum input=9 input=10",
                                      "add input=11"};
    if (to != DType::kFloat32) steps.push_back(fmt::format("cast dtype={}", DTypeName(to)));
    net.Head(net.Kernel("qnn.conv2d", {x, k, z, z, s, s, bias, scale, act, x, others, zero}, shape,
                        AttributesOf(c), steps, to));
    if (!CanRun(net)) return;
    const TestRegion region(net);
    for (const auto& [n, h] : {std::pair<int64_t, int64_t>{1, 6}, {3, 4}}) {
      const Tensor data = Integers({n, 16, h, 7}, 1, 0, 255);
      Tensor y = Broadcast2(SumsOf(data, w, c), b, std::plus<>());
      y = Map(Broadcast2(y, scales, std::multiplies<>()),
              [](float v) { return std::clamp(v, 0.0F, 255.0F); });
      y = Map(y, [](float v) { return v * 0.7F; });
      y = Broadcast2(y, Map(data, [](float v) { return v * 0.31F; }), std::plus<>());
      y = Map(y, [to](float v) {
        v += -11.3F;
        // Native code converts to int32, and takes as many bits as there are.
        const auto whole = static_cast<int32_t>(v);
        return to == DType::kUInt8   ? static_cast<float>(static_cast<uint8_t>(whole))
               : to == DType::kInt8  ? static_cast<float>(static_cast<int8_t>(whole))
               : to == DType::kInt32 ? static_cast<float>(whole)
                                     : v;
      });
      CheckClose(region.Run({n, h}, {data}, n == 3 ? 2 : 1)[0], y, 0);
    }
  }
}

// OpenMP gives no threads inside of its own.
TEST_CASE("a region that a host's OpenMP threads run is computed by each of them alone") {
  if (Provider() == nullptr) return;
  const Quantised c{"", DType::kUInt8, 5, false, 16, 64};
  Net net;
  const int x = net.Input({"n", 16, "h", 7}, DType::kUInt8);
  const int w = net.Const(Integers({64, 16, 3, 3}, 2, -90, 90), DType::kInt8);
  const int z = net.Const(Scalar(5), DType::kInt32), none = net.Const(Scalar(0), DType::kInt32);
  const int s = net.Const(Scalar(0.5F));
  net.Head(net.Kernel("qnn.conv2d", {x, w, z, none, s, s}, {"n", 64, "h", 7}, AttributesOf(c), {},
                      DType::kInt32));
  void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr || !CanRun(net)) return;  // this oneDNN has other threads
  using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
  const auto parallel = reinterpret_cast<Parallel>(dlsym(library, "GOMP_parallel"));
  REQUIRE((parallel != nullptr));
  struct Work {
    TestRegion region;
    Tensor x = Integers({2, 16, 20, 7}, 1, 0, 255);
    std::vector<Tensor> expected;
    std::atomic<int> runs = 0, good = 0;
  } work{TestRegion(net)};
  work.expected = TestRegion(net).Run({2, 20}, {work.x}, 2);
  const auto run = [](void* data) {
    Work& here = *static_cast<Work*>(data);
    int32_t status = 0;
    const std::vector<Tensor> y = here.region.Run({2, 20}, {here.x}, 2, &status);
    ++here.runs;
    here.good += status == RELAYVM_REGION_OK && y[0].data == here.expected[0].data ? 1 : 0;
  };
  parallel(run, &work, 2, 0);
  run(&work);
  CHECK(work.runs >= 2);
  CHECK(work.good == work.runs);
}

TEST_CASE("quantised products that oneDNN would not compute to the bit are refused") {
  if (Provider() == nullptr) return;
  const auto refusal = [](int64_t depth, int weight, int weight_zero, const std::string& step) {
    Net net;
    const int x = net.Input({"n", depth}, DType::kInt8);
    const int k = net.Const(Integers({4, depth}, 1, weight, weight), DType::kInt8);
    const int xz = net.Const(Scalar(1), DType::kInt32), s = net.Const(Scalar(0.5F));
    const int wz = net.Const(Scalar(static_cast<float>(weight_zero)), DType::kInt32);
    net.Head(
        net.Kernel("qnn.dense", {x, k, xz, wz, s, s, s, xz, s, xz}, {"n", 4}, {},
                   {"requantize input=6 input=7 input=8 input=9 rounding=UPWARD dtype=int8", step},
                   DType::kInt8));
    return Refusal(net);
  };
  if (refusal(16, 1, 0, "relu").ends_with(kNoVnni)) return;
  CHECK(refusal(600, 120, 0, "relu") ==
        "1: dnnl.qnn.dense: weights of a result have 72000 in all: its sums may leave the 24 bits "
        "that "
        "oneDNN keeps");
  CHECK(refusal(16, 1, 2, "relu") == "1: dnnl.qnn.dense: a weight's zero point that is not 0");
  CHECK(refusal(16, 1, 0, "tanh") == "1: dnnl.qnn.dense: a quantised product has no step \"tanh\"");
  CHECK(refusal(16, 1, 0, "clip min=-300 max=1") == "1: dnnl.qnn.dense: clip to -300 .. 1 of int8");
  CHECK(refusal(16, 1, 0, "requantize input=6 input=7 input=8 input=9 dtype=int8") ==
        "2: dnnl.qnn.dense: the step requantize has rounding \"\", expected None, UPWARD or "
        "TONEAREST");
  CHECK(refusal(16, 1, 0, "requantize input=6 input=7 input=8 input=9 rounding=None") ==
        "2: dnnl.qnn.dense: the step requantize has dtype \"\"");
  CHECK(refusal(16, 1, 0, "add input=9") == "1: dnnl.qnn.dense: an addition of int8");
  CHECK(refusal(16, 1, 0, "requantize input=6 input=7 input=8 input=9 compute_dtype=float32") ==
        "1: dnnl.qnn.dense: compute_dtype float32");
}

}  // namespace
}  // namespace relayvm::onednn_testing
