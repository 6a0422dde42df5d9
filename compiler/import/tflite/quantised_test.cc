#include "compiler/import/tflite/quantised.h"

#include <doctest/doctest.h>

#include <cmath>

#include "compiler/import/tflite/fixed_point.h"

namespace relayvm::import::tflite {
namespace {

TEST_CASE("factors have 31 bits and a shift") {
  CHECK(FactorOf(0.75).significand == 3 << 29);
  CHECK(FactorOf(0.75).shift == 0);
  CHECK(FactorOf(3).shift == 2);
  CHECK(FactorOf(1 - 0x1p-40).significand == 1 << 30);  // rounds up to 1
  CHECK(FactorOf(1 - 0x1p-40).shift == 1);
  CHECK(FactorOf(0).significand == 0);
  CHECK(FactorOf(0x1p-40).significand == 0);
}

TEST_CASE("products are rounded twice: halves up, then away from zero") {
  const Factor eighth = FactorOf(0.125);
  CHECK(TimesNumber(12, eighth) == 2);  // 1.5
  CHECK(TimesNumber(-12, eighth) == -2);
  CHECK(TimesNumber(11, eighth) == 2);  // 1.375, by way of 6 / 4
  CHECK(ShiftedNumber(-5, 1) == -3);
  CHECK(HighProduct(INT32_MIN, INT32_MIN) == INT32_MAX);
}

TEST_CASE("inverse square roots, and functions of words, are as near as their bits") {
  for (const int32_t x : {2, 3, 100, 65536, 1 << 29, INT32_MAX}) {
    CAPTURE(x);
    const Factor f = InverseSquareRoot(x);
    const double found = std::ldexp(f.significand, f.shift - 31);
    CHECK(found == doctest::Approx(1 / std::sqrt(x)).epsilon(1e-5));
  }
  const std::vector<int64_t> logistic = LogisticOfWords(3), tanh = TanhOfWords(4);
  for (int x = -32768; x < 32768; x += 257) {
    CAPTURE(x);
    const auto i = static_cast<size_t>(x + 32768);
    const double in_eighths = x / 4096.0, in_sixteenths = x / 2048.0;
    CHECK(std::abs(static_cast<double>(logistic[i]) / 32768 - 1 / (1 + std::exp(-in_eighths))) <
          4e-4);
    CHECK(std::abs(static_cast<double>(tanh[i]) / 32768 - std::tanh(in_sixteenths)) < 4e-4);
  }
}

TEST_CASE("lines between entries follow a function") {
  const std::vector<int64_t> lines =
      LinesOf<double>([](double x) { return std::exp(x); }, -10, 0, 32768);
  REQUIRE(lines.size() == 513);
  CHECK(lines[512] == 32767);
  CHECK(std::abs(static_cast<double>(lines[256]) - 32768 * std::exp(-5)) < 1);
}

}  // namespace
}  // namespace relayvm::import::tflite
