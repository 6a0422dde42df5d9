#include "kernels/op/step_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

constexpr int64_t kStepBytes = kOrderedColumns * 4;

HostTensor Zeros(std::vector<int64_t> shape) {
  HostTensor t{DType::kInt8, std::move(shape), {}};
  t.data = SharedBytes::Zeros(static_cast<size_t>(t.size()));
  return t;
}

// Normal ones, rounded and within int8.
HostTensor Weights(int64_t panels, int64_t steps, double sigma, uint32_t seed) {
  HostTensor w = Zeros({panels, steps, kOrderedColumns, 4});
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, sigma);
  for (std::byte& byte : w.data.Mutable()) {
    const double number = std::clamp(std::round(normal(random)), -128.0, 127.0);
    byte = static_cast<std::byte>(static_cast<int8_t>(number));
  }
  return w;
}

// The lowest and the highest sum of the products of column pair `pair` of `steps` with uint8 data.
std::pair<int, int> RangeOf(const int8_t* panel, std::initializer_list<int32_t> steps,
                            int64_t pair) {
  int low = 0, high = 0;
  for (const int32_t step : steps) {
    for (int64_t i = 0; i < 2; ++i) {
      const int weight = panel[step * kStepBytes + 2 * pair + i];
      (weight < 0 ? low : high) += 255 * weight;
    }
  }
  return {low, high};
}

bool IsInt16(const int8_t* panel, std::initializer_list<int32_t> steps) {
  for (int64_t pair = 0; pair < kStepBytes / 2; ++pair) {
    const auto [low, high] = RangeOf(panel, steps, pair);
    if (low < -32768 || high > 32767) return false;
  }
  return true;
}

// How much of the steps is paired.
double CheckOrder(const HostTensor& w) {
  const HostTensor order = StepOrder(w);
  const int64_t panels = w.shape[0], steps = w.shape[1];
  REQUIRE(order.dtype == DType::kInt32);
  REQUIRE(order.shape == std::vector<int64_t>{panels, kOrderHead + steps});
  const auto* row = reinterpret_cast<const int32_t*>(order.data.data());
  const auto* panel = reinterpret_cast<const int8_t*>(w.data.data());
  int64_t paired = 0;
  for (int64_t p = 0; p < panels; ++p, row += kOrderHead + steps, panel += steps * kStepBytes) {
    const int64_t pairs = row[0], plain = 2 * pairs + row[1];
    const int32_t* at = row + kOrderHead;
    REQUIRE(plain <= steps);
    std::vector<int32_t> all(at, at + steps);
    std::ranges::sort(all);
    for (int64_t k = 0; k < steps; ++k) REQUIRE(all[static_cast<size_t>(k)] == k);
    for (int64_t i = 0; i < pairs; ++i) CHECK(IsInt16(panel, {at[2 * i], at[2 * i + 1]}));
    for (int64_t i = 2 * pairs; i < plain; ++i) CHECK(IsInt16(panel, {at[i]}));
    for (int64_t column = 0; column < kOrderedColumns; ++column) {
      int64_t begin = 0;
      for (int64_t i = plain; i < steps; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          const int weight = panel[at[i] * kStepBytes + column * 4 + j];
          begin += weight < 0 ? 127 * weight : 128 * weight;
        }
      }
      CHECK(row[kOrderBegins + column] == begin);
    }
    paired += 2 * pairs;
  }
  return static_cast<double>(paired) / static_cast<double>(std::max<int64_t>(panels * steps, 1));
}

TEST_CASE("an order of steps has each step once, of a kind that is exact") {
  uint32_t seed = 0;
  for (const int64_t steps : {0, 1, 2, 9, 127, 128, 129, 576}) {
    for (const double sigma : {0.0, 8.0, 22.0, 35.0, 60.0, 1000.0})
      CheckOrder(Weights(3, steps, sigma, ++seed));
  }
  CheckOrder(Weights(0, 5, 1, ++seed));
}

TEST_CASE("most steps of weights as quantisers make them are paired") {
  CHECK(CheckOrder(Weights(4, 256, 22, 1)) > 0.95);
  CHECK(CheckOrder(Weights(4, 256, 35, 2)) > 0.8);
}

TEST_CASE("steps that no int16 holds together stay alone, and those of none are wide") {
  HostTensor w = Zeros({1, 3, kOrderedColumns, 4});
  auto bytes = w.data.Mutable();
  bytes[0] = bytes[1] = std::byte{64};     // step 0: 128
  bytes[kStepBytes] = std::byte{1};        // step 1: 1 more
  bytes[2 * kStepBytes] = std::byte{127};  // step 2: 129
  bytes[2 * kStepBytes + 1] = std::byte{2};
  const HostTensor order = StepOrder(w);
  const auto* row = reinterpret_cast<const int32_t*>(order.data.data());
  CHECK(row[0] == 0);
  CHECK(row[1] == 2);
  CHECK(row[kOrderHead + 2] == 2);
  CHECK(row[kOrderBegins] == 128 * 129);
}

// Bytes of a small range, so that sums are easily read.
HostTensor Data(std::vector<int64_t> shape) {
  std::vector<double> values;
  for (int64_t i = 0, n = Zeros(shape).size(); i < n; ++i)
    values.push_back(static_cast<double>(i * 37 % 256));
  return Host(DType::kUInt8, std::move(shape), values);
}

// (rows, columns) of int32: the products of rows of `depth` bytes with columns of one panel.
HostTensor Products(const HostTensor& x, const HostTensor& w, std::vector<int64_t> shape,
                    int64_t depth) {
  const int64_t columns = shape.back();
  const std::vector<double> a = Values(x), b = Values(w);
  std::vector<double> sums;
  for (int64_t i = 0, n = Zeros(shape).size(); i < n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t at = k / 4 * kStepBytes + i % columns * 4 + k % 4;
      sum += a[static_cast<size_t>(i / columns * depth + k)] * b[static_cast<size_t>(at)];
    }
    sums.push_back(sum);
  }
  return I32(std::move(shape), sums);
}

TEST_CASE("products and convolutions are the same with an order beside their weights") {
  const HostTensor w = Weights(1, 2, 40, 5);
  const AttrMap dense = {{"units", 7}, {"in_units", 6}, {"out_dtype", "int32"}};
  const HostTensor x = Data({2, 6});
  CheckOp(kOrderedDense, dense, {x, w, StepOrder(w)}, {Products(x, w, {2, 7}, 6)},
          {.static_args = {1, 2}});
  HostTensor kernel = Weights(1, 1, 40, 6);
  const HostTensor order = StepOrder(kernel);
  kernel.shape = {1, 1, 1, 1, kOrderedColumns, 4};
  const AttrMap conv = {
      {"data_layout", "NHWC"}, {"kernel_layout", "OHWI8o4i"}, {"out_dtype", "int32"}};
  const HostTensor image = Data({1, 2, 3, 4});
  CheckOp(kOrderedConv2d, conv, {image, kernel, order},
          {Products(image, kernel, {1, 2, 3, kOrderedColumns}, 4)}, {.static_args = {1, 2}});

  // What is no order of these weights.
  CheckFails(kOrderedDense, dense, {x, w, I64({1, kOrderHead + 2}, Iota(kOrderHead + 2))},
             "the order of steps is of int64, expected int32");
  CheckFails(kOrderedDense, dense, {x, w, I32({1, kOrderHead + 1}, Iota(kOrderHead + 1))},
             "the order of steps");
  HostTensor narrow = Zeros({1, 1, 1, 1, 4, 4});
  CheckFails(kOrderedConv2d, conv, {image, narrow, order},
             "an order of steps is for weights of int8 (panels, steps, 8, 4)");
}

}  // namespace
}  // namespace relayvm::op_testing
