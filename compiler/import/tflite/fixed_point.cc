#include "compiler/import/tflite/fixed_point.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace relayvm::import::tflite {

namespace {

constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kLeast32 = std::numeric_limits<int32_t>::min();

int32_t Saturated(int64_t x) {
  return static_cast<int32_t>(std::clamp<int64_t>(x, kLeast32, kMost32));
}

int16_t Saturated16(int64_t x) {
  return static_cast<int16_t>(std::clamp<int64_t>(x, INT16_MIN, INT16_MAX));
}
// Of fractions of 15 bits; rounded, halves up, or toward zero.
int16_t HighProduct16(int16_t a, int16_t b, bool rounded) {
  const int32_t product = int32_t{a} * b;
  return Saturated16(rounded ? (product + (1 << 14)) >> 15 : product / (1 << 15));
}

// 15 bits of a factor's 31.
int16_t Reduced(Factor f) {
  constexpr int32_t kHalf = 1 << 15;
  if (f.significand >= kMost32 - kHalf) return INT16_MAX;
  return static_cast<int16_t>((f.significand + kHalf) >> 16);
}

}  // namespace

int32_t HighProduct(int32_t a, int32_t b) {
  return Saturated((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

int32_t ShiftedNumber(int32_t x, int bits) {
  if (bits <= 0) return x;
  const int64_t half = int64_t{1} << (bits - 1);
  return static_cast<int32_t>((int64_t{x} + half - (x < 0 ? 1 : 0)) >> bits);
}

int32_t TimesNumber(int32_t x, Factor f) {
  const int32_t shifted = Saturated(int64_t{x} << std::clamp(f.shift, 0, 31));
  return ShiftedNumber(HighProduct(shifted, f.significand), std::clamp(-f.shift, 0, 31));
}

Factor InverseSquareRoot(int32_t x) {
  if (x <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int shift = 11;
  while (x >= (1 << 29)) {
    x /= 4;
    ++shift;
  }
  const int pairs = (std::countl_zero(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  shift -= pairs;
  x <<= 2 * pairs;
  // Numbers with 3 bits before the point; a product of three has 9, of two 6.
  const auto rescaled = [](int32_t v, int bits) { return Saturated(int64_t{v} << bits); };
  const int32_t half = ShiftedNumber(x >> 1, 1), half_three = (1 << 28) + (1 << 27);
  int32_t y = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = rescaled(HighProduct(HighProduct(y, y), y), 6);
    y = rescaled(static_cast<int32_t>(static_cast<uint32_t>(HighProduct(half_three, y)) -
                                      static_cast<uint32_t>(HighProduct(half, cube))),
                 3);
  }
  constexpr int32_t kHalfSqrt2 = 1518500250;
  y = HighProduct(y, kHalfSqrt2);
  if (shift < 0) {
    y = Saturated(int64_t{y} << -shift);
    shift = 0;
  }
  return {y, -shift};
}

int64_t HardSwishCode(int64_t code, const Quantisation& in, const Quantisation& out,
                      CodeLimits limits) {
  const float hires = (1.0F / 128.0F) * static_cast<float>(in.scale());
  const Factor to_out = FactorOf(static_cast<double>(hires / static_cast<float>(out.scale())));
  const Factor to_relu = FactorOf(static_cast<double>(hires / (3.0F / 32768.0F)));
  const int16_t value = Saturated16((code - in.zero()) * 128);
  const int16_t scaled = HighProduct16(value, Reduced(to_out), true);
  int16_t relu = value;
  if (to_relu.shift > 0) relu = Saturated16(int64_t{relu} << (to_relu.shift - 1));
  relu = HighProduct16(relu, Reduced(to_relu), true);
  if (to_relu.shift > 0) relu = Saturated16(int64_t{relu} * 2);
  if (to_relu.shift < 0) relu = static_cast<int16_t>(ShiftedNumber(relu, -to_relu.shift));
  relu = static_cast<int16_t>((relu + (1 << 15)) >> 1);
  const int16_t product = HighProduct16(relu, scaled, false);
  return std::clamp(ShiftedNumber(product, -to_out.shift) + out.zero(), limits.low, limits.high);
}

}  // namespace relayvm::import::tflite
