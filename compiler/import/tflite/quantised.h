// Integer arithmetic of quantised tensors as TensorFlow Lite's reference kernels have it, bit for
// bit. A real factor is a number of 31 bits and a shift; a product with one is rounded twice:
//
//   h = (x * 2^left * significand + 2^30) >> 31          halves up
//   y = (h + 2^(right-1) - (h < 0)) >> right             halves away from zero
//
// (B. Jacob et al., "Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference", CVPR 2018, and gemmlowp's fixed-point arithmetic.) All values
// are int32 terms, in units that their names say. Tested by quantised_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/tflite/operator.h"

namespace relayvm::import::tflite {

// significand * 2^(shift - 31); the significand is 0 or from 2^30 to 2^31 - 1.
struct Factor {
  int32_t significand = 0;
  int shift = 0;
};
Factor FactorOf(double real);  // 0 or more
// Rounded, halves away from zero, within 10^9; 0 of what is no number.
int64_t WholeOf(double x);

// x * factor, rounded twice; once: to the nearest, halves up.
Term Times(const Term& x, Factor factor);
Term TimesRoundedOnce(const Term& x, Factor factor);
// By one factor, or (several) one for each place of the last axis.
Term TimesEach(const Term& x, const std::vector<double>& factors);
Term TimesEachRoundedOnce(const Term& x, const std::vector<double>& factors);
// The same of sums of int64, by 15 bits of each factor, rounded once; gives int32.
Term TimesWide(const Term& x, const std::vector<double>& factors);
// x / 2^bits, halves away from zero.
Term ShiftedRight(const Term& x, int bits);

bool IsQuantised(const Tensor& t);  // integers of 8 or 16 bits with a scale
// Codes less the zero point, int32.
Term Centred(NodeContext& n, size_t input);
// The limits of codes of a tensor, those of a fused activation among them.
struct CodeLimits {
  int64_t low, high;
};
CodeLimits LimitsOf(const Tensor& t, fb::Activation activation = fb::Activation::NONE);
// An int32 term, in units of the output's scale, as its codes: with the zero point, within limits.
Value CodesOf(const Term& x, const Tensor& out, fb::Activation activation = fb::Activation::NONE);
// The quotient of two scales, computed in float32 as some kernels do.
double FloatRatio(const Tensor& x, const Tensor& y);
// Codes of one scale and zero point as those of another.
Value Rescaled(TypedBuilder& b, const Value& codes, const Tensor& from, const Tensor& to);

// Real numbers, float32: (q - zero point) * scale; `t` says which.
Term RealOf(TypedBuilder& b, const Value& codes, const Tensor& t);
// round(x / scale) + zero point, halves to even.
Value QuantisedTo(const Term& x, const Tensor& t);

// Codes of 8 bits by a table of all of them; what `fn` gives is limited.
Value ByCodes(NodeContext& n, const std::function<int64_t(int64_t)>& fn);
// A function of real numbers on codes: by a table (of 8 bits), or one with lines between its
// entries (of 16).
using RealFn = std::function<double(double)>;
Value ByTable(NodeContext& n, const RealFn& fn);

// 513 entries of codes of 16 bits, at equal steps from `low` to `high`, for lines between them:
// each is moved by half of what its line is off in the middle. `inverse` is 1 / the result's scale;
// F is what it is computed in.
template <typename F>
std::vector<int64_t> LinesOf(const RealFn& fn, F low, F high, F inverse) {
  constexpr int kSteps = 512;
  const F step = (high - low) / kSteps, half = step / 2;
  const auto at = [&](F x) { return static_cast<F>(fn(static_cast<double>(x))); };
  const auto limited = [](F x) {
    return WholeOf(static_cast<double>(std::min(std::max(x, F{-32768}), F{32767})));
  };
  std::vector<int64_t> table;
  for (int i = 0; i < kSteps; ++i) {
    const F here = low + static_cast<F>(i) * step, next = low + static_cast<F>(i + 1) * step;
    const F sample = std::round(at(here) * inverse);
    const F line = std::round((at(next) * inverse + sample) / 2);
    const F error = line - std::round(at(here + half) * inverse);
    table.push_back(limited(sample - std::round(error / 2)));
  }
  table.push_back(limited(std::round(at(high) * inverse)));
  return table;
}
// What the lines are at x, codes of 16 bits in int32.
Term OnLines(TypedBuilder& b, const Term& x, const std::vector<int64_t>& lines);

// --- By factors that are computed ---

// How many bits are 0 before the first that is 1, of 32; x is int32 and not negative.
Term LeadingZeros(const Term& x);
// x * significand * 2^(shift - 31), rounded twice; all int32.
Term TimesComputed(const Term& x, const Term& significand, const Term& shift);
struct ComputedFactor {
  Term significand, shift;
};
// 1 / sqrt(x), as InverseSquareRoot of fixed_point.h has it.
ComputedFactor InverseSquareRootOf(const Term& x);

// What a fused activation does to real numbers.
Term Activated(const Term& x, fb::Activation activation);

}  // namespace relayvm::import::tflite
