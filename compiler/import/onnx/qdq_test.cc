// Quantised ONNX models in QDQ form: sums of integers, rounded once, halves to even. Scales are
// powers of two, so that what the results must be is exact, ties included.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>

#include "compiler/driver.h"
#include "compiler/import/onnx/testing.h"
#include "compiler/import/onnx/value_cases.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

using Bytes = std::vector<int64_t>;  // elements of int8 and uint8

constexpr int kU8 = 2, kI8 = 3;
constexpr double kXScale = 1.0 / 32, kYScale = 1.0 / 4;
constexpr int64_t kXZero = 119, kYZero = 101;

Bytes Random(size_t count, int64_t low, int64_t high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> number(low, high);
  Bytes out(count);
  for (int64_t& v : out) v = number(generator);
  return out;
}

int64_t Saturated(double steps) {
  return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(steps)) + kYZero, 0, 255);
}

std::string Integers(const char* name, int type, const std::vector<int64_t>& dims, const Bytes& v) {
  std::string text = fmt::format("initializer {{ name: '{}' data_type: {} ", name, type);
  for (int64_t d : dims) text += fmt::format("dims: {} ", d);
  return text + fmt::format("int32_data: [{}] }} ", fmt::join(v, ", "));
}

// x and y are uint8; xd is x as real numbers, r what is quantised.
std::string Around(const std::string& graph) {
  return FloatScalar("x_scale", kXScale) + FloatScalar("y_scale", kYScale) +
         Integers("x_zero", kU8, {}, {kXZero}) + Integers("y_zero", kU8, {}, {kYZero}) +
         Node("DequantizeLinear", "x x_scale x_zero", "xd") + graph +
         Node("QuantizeLinear", "r y_scale y_zero", "y");
}
std::string Weights(const std::vector<int64_t>& dims, const Bytes& w,
                    const std::vector<float>& scales, int axis) {
  return Integers("w", kI8, dims, w) + Floats("w_scale", scales) +
         Integers("w_zero", kI8, {static_cast<int64_t>(scales.size())}, Bytes(scales.size(), 0)) +
         Node("DequantizeLinear", "w w_scale w_zero", "wd", Int("axis", axis));
}
std::string Bias(const Bytes& bias, const std::vector<float>& scales) {
  std::vector<float> product;
  for (float s : scales) product.push_back(s * static_cast<float>(kXScale));
  return Integers("b", 6, {static_cast<int64_t>(bias.size())}, bias) + Floats("b_scale", product) +
         Integers("b_zero", 6, {static_cast<int64_t>(bias.size())}, Bytes(bias.size(), 0)) +
         Node("DequantizeLinear", "b b_scale b_zero", "bd", Int("axis", 0));
}

Bytes Run(const std::string& graph, const std::vector<std::string>& dims,
          const std::vector<int64_t>& shape, const Bytes& x) {
  auto module = ImportText(
      GraphModel(Around(graph) + Tensor("input", "x", dims, kU8) + "output { name: 'y' } "));
  const std::unique_ptr<Invocation> invocation = Runnable(std::move(module));
  const std::vector<uint8_t> bytes(x.begin(), x.end());
  auto input = relayvm::Value::CopyTensor(DType::kUInt8, shape, bytes.data());
  auto y = invocation->Run("main", {*input});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  REQUIRE(y->dtype() == DType::kUInt8);
  const auto* data = static_cast<const uint8_t*>(y->data());
  return {data, data + y->num_elements()};
}

TEST_CASE("QDQ: convolutions are sums of integers, also beyond what float32 holds") {
  for (const int64_t channels : {3, 600}) {  // sums below and above 2^24
    for (const char* activation : {"", "Relu", "Clip"}) {
      CAPTURE(channels);
      CAPTURE(activation);
      const int64_t out = 4, size = 5;
      const Bytes x = Random(static_cast<size_t>(channels * size * size), 0, 255, 1);
      const Bytes w =
          Random(static_cast<size_t>(out * channels * 9), channels == 3 ? -127 : 90, 127, 2);
      const Bytes bias = Random(out, -2000, 2000, 3);
      const std::vector<float> scales = {1.0F / 64, 1.0F / 128, 1.0F / 32, 1.0F / 4096};
      std::string graph = Weights({out, channels, 3, 3}, w, scales, 0) + Bias(bias, scales) +
                          Node("Conv", "xd wd bd", *activation == 0 ? "r" : "c",
                               "attribute { name: 'pads' type: INTS ints: [1, 1, 1, 1] } ");
      if (*activation == 'R') graph += Node("Relu", "c", "r");
      if (*activation == 'C') {
        graph += FloatScalar("low", -1) + FloatScalar("high", 6) + Node("Clip", "c low high", "r");
      }
      const Bytes y =
          Run(graph, {"b", std::to_string(channels), "h", "w_"}, {1, channels, size, size}, x);
      Bytes expected;
      for (int64_t o = 0; o < out; ++o) {
        for (int64_t i = 0; i < size * size; ++i) {
          int64_t sum = bias[static_cast<size_t>(o)];
          for (int64_t k = 0; k < channels * 9; ++k) {
            const int64_t row = i / size + k % 9 / 3 - 1, column = i % size + k % 3 - 1;
            if (row < 0 || column < 0 || row >= size || column >= size) continue;
            sum += (x[static_cast<size_t>((k / 9 * size + row) * size + column)] - kXZero) *
                   w[static_cast<size_t>(o * channels * 9 + k)];
          }
          double real = static_cast<double>(sum) * kXScale * scales[static_cast<size_t>(o)];
          if (*activation == 'R') real = std::max(real, 0.0);
          if (*activation == 'C') real = std::clamp(real, -1.0, 6.0);
          expected.push_back(Saturated(real / kYScale));
        }
      }
      CHECK(y == expected);
    }
  }
}

TEST_CASE("QDQ: matrix products") {
  const int64_t rows = 3, inner = 40, columns = 6;
  const Bytes x = Random(rows * inner, 0, 255, 4), bias = Random(columns, -2000, 2000, 6);
  const std::vector<float> scales = {1.0F / 64, 1.0F / 128, 1, 1.0F / 256, 1.0F / 32, 1.0F / 64};
  for (const bool flipped : {false, true}) {
    for (const bool gemm : {false, true}) {
      if (flipped && !gemm) continue;
      CAPTURE(flipped);
      CAPTURE(gemm);
      const Bytes w = Random(inner * columns, -127, 127, 5);
      const std::string weights = Weights(
          flipped ? std::vector<int64_t>{columns, inner} : std::vector<int64_t>{inner, columns}, w,
          scales, flipped ? 0 : 1);
      const std::string graph =
          gemm ? weights + Bias(bias, scales) +
                     Node("Gemm", "xd wd bd", "r", flipped ? Int("transB", 1) : "")
               : weights + Node("MatMul", "xd wd", "r");
      const Bytes y = Run(graph, {"n", "40"}, {rows, inner}, x);
      Bytes expected;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          int64_t sum = gemm ? bias[static_cast<size_t>(j)] : 0;
          for (int64_t k = 0; k < inner; ++k) {
            sum += (x[static_cast<size_t>(i * inner + k)] - kXZero) *
                   w[static_cast<size_t>(flipped ? j * inner + k : k * columns + j)];
          }
          expected.push_back(Saturated(static_cast<double>(sum) * kXScale *
                                       scales[static_cast<size_t>(j)] / kYScale));
        }
      }
      CHECK(y == expected);
    }
  }
}

TEST_CASE("QDQ: what moves elements, maxima and means") {
  const Bytes x = Random(2 * 4 * 4, 0, 255, 7);
  const auto requantised = [](int64_t v) {
    return Saturated(static_cast<double>(v - kXZero) * kXScale / kYScale);
  };
  const auto at = [&](int64_t c, int64_t h, int64_t w) {
    return x[static_cast<size_t>((c * 4 + h) * 4 + w)];
  };
  const std::vector<std::string> dims = {"1", "2", "h", "w_"};
  const std::string pool =
      "attribute { name: 'kernel_shape' type: INTS ints: [2, 2] } attribute { name: 'strides' "
      "type: "
      "INTS ints: [2, 2] } ";
  const auto pooled = [&](const std::function<int64_t(const Bytes&)>& fn) {
    Bytes out;
    for (int64_t c = 0; c < 2; ++c) {
      for (int64_t h = 0; h < 4; h += 2) {
        for (int64_t w = 0; w < 4; w += 2) {
          out.push_back(fn({at(c, h, w), at(c, h, w + 1), at(c, h + 1, w), at(c, h + 1, w + 1)}));
        }
      }
    }
    return out;
  };
  CHECK(Run(Node("MaxPool", "xd", "r", pool), dims, {1, 2, 4, 4}, x) ==
        pooled([&](const Bytes& v) { return requantised(*std::max_element(v.begin(), v.end())); }));
  CHECK(Run(Node("AveragePool", "xd", "r", pool), dims, {1, 2, 4, 4}, x) ==
        pooled([](const Bytes& v) {
          return Saturated(static_cast<double>(v[0] + v[1] + v[2] + v[3] - 4 * kXZero) * kXScale /
                           4 / kYScale);
        }));
  Bytes turned, twice;
  for (int64_t h = 0; h < 4; ++h) {
    for (int64_t w = 0; w < 4; ++w) {
      for (int64_t c = 0; c < 2; ++c) turned.push_back(requantised(at(c, h, w)));
    }
  }
  CHECK(Run(Node("Transpose", "xd", "r", Perm({0, 2, 3, 1})), dims, {1, 2, 4, 4}, x) == turned);
  for (int copy = 0; copy < 2; ++copy) {
    for (int64_t v : x) twice.push_back(requantised(v));
  }
  CHECK(Run(Node("Concat", "xd xd", "r", Int("axis", 1)), dims, {1, 2, 4, 4}, x) == twice);
}

}  // namespace
}  // namespace relayvm
