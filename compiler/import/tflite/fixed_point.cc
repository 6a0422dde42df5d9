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

// --- Functions of numbers of 16 bits ---
//
// exp by its Taylor polynomial between -1/4 and 0, times a constant for each bit above; 1 / (1 + x)
// by Newton's method. Rounded where a product is.

namespace {

constexpr int16_t kOne15 = INT16_MAX;  // the largest fraction stands for 1

int16_t Word(int32_t of_31_bits) { return static_cast<int16_t>(ShiftedNumber(of_31_bits, 16)); }
int16_t Product16(int16_t a, int16_t b) { return HighProduct16(a, b, true); }
int16_t Left16(int16_t a, int bits) { return Saturated16(int64_t{a} * (int64_t{1} << bits)); }
int16_t Wrapped16(int64_t a) { return static_cast<int16_t>(static_cast<uint16_t>(a)); }

// Of a fraction in -1/4..0.
int16_t ExpNearZero(int16_t a) {
  const int16_t constant = Word(1895147668), third = Word(715827883);  // exp(-1/8), 1/3
  const int16_t x = Wrapped16(int64_t{a} + (1 << 12));
  const int16_t x2 = Product16(x, x), x3 = Product16(x2, x), x4 = Product16(x2, x2);
  const int16_t quarter = static_cast<int16_t>(ShiftedNumber(x4, 2));
  const int16_t inner = Wrapped16(int64_t{Product16(Wrapped16(int64_t{quarter} + x3), third)} + x2);
  const auto rest = static_cast<int16_t>(ShiftedNumber(inner, 1));
  return Saturated16(int64_t{constant} + Product16(constant, Wrapped16(int64_t{x} + rest)));
}

// exp(a), a 0 or less with so many bits before the point.
int16_t ExpOfNegative(int16_t a, int integer_bits) {
  if (a == 0) return kOne15;
  const int fraction = 15 - integer_bits;
  const int quarter = 1 << (fraction - 2);
  const int modulo = (a & (quarter - 1)) - quarter;
  int16_t result = ExpNearZero(Left16(static_cast<int16_t>(modulo), integer_bits));
  const int rest = modulo - a;
  // exp(-1/4), exp(-1/2) .. exp(-16).
  constexpr int32_t kSteps[] = {1672461947, 1302514674, 790015084, 290630308,
                                39332535,   720401,     242};
  for (int i = 0; i < 7; ++i) {
    const int exponent = i - 2;
    if (integer_bits > exponent && (rest & (1 << (fraction + exponent))) != 0)
      result = Product16(result, Word(kSteps[i]));
  }
  if (integer_bits > 5 && a < -(1 << (fraction + 5))) return 0;
  return result;
}

// 2 / (1 + a) with 2 bits before the point, a in 0..1.
int16_t TwoOverOnePlus(int16_t a) {
  const int sum = int{a} + kOne15;
  const auto half = static_cast<int16_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  const int16_t start = Word(1515870810), slope = Word(-1010580540);  // 48/17, -32/17
  int16_t x = Wrapped16(int64_t{start} + Product16(half, slope));
  for (int i = 0; i < 3; ++i) {
    const int16_t off = Wrapped16((1 << 13) - int64_t{Product16(half, x)});
    x = Wrapped16(int64_t{x} + Left16(Product16(x, off), 2));
  }
  return x;
}

template <typename Fn>
std::vector<int64_t> OfAllWords(Fn fn) {
  std::vector<int64_t> table;
  for (int x = INT16_MIN; x <= INT16_MAX; ++x) table.push_back(fn(x));
  return table;
}

}  // namespace

std::vector<int64_t> LogisticOfWords(int integer_bits) {
  return OfAllWords([&](int x) -> int64_t {
    if (x == 0) return 1 << 14;
    const auto below = static_cast<int16_t>(std::max(x < 0 ? x : -x, -32768));
    const int16_t positive = Left16(TwoOverOnePlus(ExpOfNegative(below, integer_bits)), 1);
    return x > 0 ? positive : Wrapped16(int64_t{kOne15} - positive);
  });
}

std::vector<int64_t> TanhOfWords(int integer_bits) {
  return OfAllWords([&](int x) -> int64_t {
    if (x == 0) return 0;
    const auto below = static_cast<int16_t>(std::max(x < 0 ? x : -x, -32768));
    // (1 - e^-2x) / (1 + e^-2x)
    const int16_t y = TwoOverOnePlus(ExpOfNegative(below, integer_bits + 1));
    const int16_t tanh = Left16(Wrapped16(int64_t{y} - (1 << 13)), 2);
    return x > 0 ? tanh : -int64_t{tanh};
  });
}

}  // namespace relayvm::import::tflite
