#include "compiler/import/tflite/quantised.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace relayvm::import::tflite {

namespace {

Value Numbers(TypedBuilder& b, const std::vector<int64_t>& values, DType dtype) {
  return values.size() == 1 ? b.Int(values[0], dtype) : b.Ints(values, dtype);
}

Term RightShift(const Term& x, const Value& bits) { return x.Call("right_shift", bits); }

// h / 2^bits for bits of each place, halves away from zero.
Term ShiftedRightBy(const Term& h, const std::vector<int64_t>& bits) {
  TypedBuilder& b = h.b();
  if (std::ranges::all_of(bits, [](int64_t n) { return n == 0; })) return h;
  const DType type = h.dtype();
  std::vector<int64_t> halves, signs;
  bool all = true;
  for (const int64_t n : bits) {
    halves.push_back(n == 0 ? 0 : int64_t{1} << (n - 1));
    signs.push_back(n == 0 ? 0 : -1);
    all = all && n > 0;
  }
  const int width = DTypeBits(type);
  Term is_negative = RightShift(h, b.Int(width - 1, type));  // -1 or 0
  if (!all) is_negative = is_negative.Call("bitwise_and", Numbers(b, signs, type));
  return RightShift(h + Term(b, Numbers(b, halves, type)) + is_negative, Numbers(b, bits, type));
}

bool SameFactors(const std::vector<double>& factors) {
  return std::ranges::all_of(factors, [&](double f) { return f == factors[0]; });
}

// As TensorFlow Lite rounds floats: halves away from zero.
double RoundAway(double x) { return std::round(x); }

int64_t CodeOf(double real, const Tensor& t) {
  const auto steps = static_cast<double>(static_cast<float>(real / t.quantisation.scale()));
  return t.quantisation.zero() + WholeOf(steps);
}

}  // namespace

int64_t WholeOf(double x) {
  return std::isnan(x) ? 0 : static_cast<int64_t>(std::clamp(RoundAway(x), -1e9, 1e9));
}

Factor FactorOf(double real) {
  if (!(real > 0) || !std::isfinite(real)) return {};
  int shift = 0;
  const double q = std::frexp(real, &shift);
  auto significand = static_cast<int64_t>(RoundAway(q * 0x1p31));
  if (significand == int64_t{1} << 31) {
    significand /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(significand), shift};
}

Term Times(const Term& x, Factor f) {
  const Term h = x.Call("fixed_point_multiply",
                        {{"multiplier", f.significand}, {"shift", std::max(f.shift, 0)}});
  return ShiftedRightBy(h, {std::max(-f.shift, 0)});
}

Term TimesRoundedOnce(const Term& x, Factor f) {
  return x.Call("fixed_point_multiply", {{"multiplier", f.significand}, {"shift", f.shift}});
}

namespace {

// A factor for each place of the last axis; its right shift is left to the caller, or (once) in it.
Term TimesPlaces(const Term& x, const std::vector<double>& factors, bool once,
                 std::vector<int64_t>& right) {
  TypedBuilder& b = x.b();
  std::vector<int64_t> significands, left;
  bool shifts_left = false;
  for (const double real : factors) {
    const Factor f = FactorOf(real);
    significands.push_back(f.significand);
    left.push_back(std::max(f.shift, 0));
    right.push_back(std::max(-f.shift, 0));
    shifts_left |= f.shift > 0;
  }
  const Value shifts = b.Ints(left, DType::kInt32);
  return {b, b.Op("fixed_point_multiply_per_axis",
                  {x, b.Ints(significands, DType::kInt32), shifts, b.Ints(right, DType::kInt32)},
                  {{"is_lshift_required", shifts_left},
                   {"is_rshift_required", once},
                   {"axes", AttrList{static_cast<int64_t>(x.rank()) - 1}}})};
}

}  // namespace

Term TimesEach(const Term& x, const std::vector<double>& factors) {
  if (SameFactors(factors)) return Times(x, FactorOf(factors[0]));
  std::vector<int64_t> right;
  const Term h = TimesPlaces(x, factors, false, right);
  return ShiftedRightBy(h, right);
}

Term TimesEachRoundedOnce(const Term& x, const std::vector<double>& factors) {
  if (SameFactors(factors)) return TimesRoundedOnce(x, FactorOf(factors[0]));
  std::vector<int64_t> right;
  return TimesPlaces(x, factors, true, right);
}

Term TimesWide(const Term& x, const std::vector<double>& factors) {
  TypedBuilder& b = x.b();
  std::vector<int64_t> reduced, shifts, halves;
  for (const double real : factors) {
    const Factor f = FactorOf(real);
    reduced.push_back(f.significand < 0x7FFF0000 ? (f.significand + (1 << 15)) >> 16 : 0x7FFF);
    shifts.push_back(std::clamp(15 - f.shift, 1, 62));
    halves.push_back(int64_t{1} << (shifts.back() - 1));
    if (factors.size() > 1 && SameFactors(factors)) break;
  }
  const DType wide = DType::kInt64;
  const Term product = x * Term(b, Numbers(b, reduced, wide)) + Term(b, Numbers(b, halves, wide));
  return RightShift(product, Numbers(b, shifts, wide)).As(DType::kInt32);
}

Term ShiftedRight(const Term& x, int bits) { return ShiftedRightBy(x, {bits}); }

bool IsQuantised(const Tensor& t) {
  return t.quantisation && t.dtype && IsInt(*t.dtype) && DTypeBytes(*t.dtype) <= 2;
}

Term Centred(NodeContext& n, size_t input) {
  const Term x = Term(n, input).As(DType::kInt32);
  const int64_t zero = n.In(input).quantisation.zero();
  return zero == 0 ? x : x - static_cast<double>(zero);
}

CodeLimits LimitsOf(const Tensor& t, fb::Activation activation) {
  const DType dtype = t.dtype.value_or(DType::kInt8);
  const bool is_unsigned = IsUnsignedInt(dtype);
  const int bits = std::min(DTypeBits(dtype), 32);
  CodeLimits limits{is_unsigned ? 0 : -(int64_t{1} << (bits - 1)),
                    (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1};
  const auto at_least = [&](double real) { limits.low = std::max(limits.low, CodeOf(real, t)); };
  const auto at_most = [&](double real) { limits.high = std::min(limits.high, CodeOf(real, t)); };
  switch (activation) {
    case fb::Activation::RELU:
      at_least(0);
      break;
    case fb::Activation::RELU6:
      at_least(0), at_most(6);
      break;
    case fb::Activation::RELU_N1_TO_1:
      at_least(-1), at_most(1);
      break;
    default:
      break;
  }
  limits.high = std::max(limits.low, limits.high);
  return limits;
}

Value CodesOf(const Term& x, const Tensor& out, fb::Activation activation) {
  const int64_t zero = out.quantisation.zero();
  const CodeLimits limits = LimitsOf(out, activation);
  const Term y = zero == 0 ? x : x + static_cast<double>(zero);
  return y
      .Call("clip", {{"a_min", static_cast<double>(limits.low)},
                     {"a_max", static_cast<double>(limits.high)}})
      .As(out.dtype.value_or(DType::kInt8));
}

double FloatRatio(const Tensor& x, const Tensor& y) {
  const auto a = static_cast<float>(x.quantisation.scale());
  return static_cast<double>(a / static_cast<float>(y.quantisation.scale()));
}

Value Rescaled(TypedBuilder& b, const Value& codes, const Tensor& from, const Tensor& to) {
  const Quantisation &p = from.quantisation, &q = to.quantisation;
  if (codes.dtype() == to.dtype && p.scales == q.scales && p.zeros == q.zeros) return codes;
  Term x = Term(b, codes).As(DType::kInt32);
  if (p.zero() != 0) x = x - static_cast<double>(p.zero());
  if (p.scales != q.scales) x = Times(x, FactorOf(p.scale() / q.scale()));
  return CodesOf(x, to);
}

Term RealOf(TypedBuilder& b, const Value& codes, const Tensor& t) {
  const Quantisation& q = t.quantisation;
  Term x(b, codes);
  if (!q || IsFloat(codes.dtype())) return x.As(DType::kFloat32);
  const int after = codes.rank() - 1 - q.axis;
  const bool has_zero = std::ranges::any_of(q.zeros, [](int64_t z) { return z != 0; });
  if (has_zero) {
    x = x.As(DType::kInt32);
    x = q.is_per_channel() ? x - Term(b, b.Ints(q.zeros, DType::kInt32)).Expand(1, after)
                           : x - static_cast<double>(q.zero());
  }
  x = x.As(DType::kFloat32);
  if (!q.is_per_channel()) return x * q.scale();
  const std::vector<double> scales(q.scales.begin(), q.scales.end());
  return x * import::Table(b, scales, {static_cast<int64_t>(scales.size())}).Expand(1, after);
}

Value QuantisedTo(const Term& x, const Tensor& t) {
  const Quantisation& q = t.quantisation;
  TypedBuilder& b = x.b();
  Term steps = x;
  const int after = x.rank() - 1 - q.axis;
  if (q.is_per_channel()) {
    const std::vector<double> scales(q.scales.begin(), q.scales.end());
    steps = x / import::Table(b, scales, {static_cast<int64_t>(scales.size())}).Expand(1, after);
  } else {
    // By the inverse, which is a float32 too.
    steps = x * static_cast<double>(1 / static_cast<float>(q.scale()));
  }
  steps = steps.Call("round_even");
  if (q.is_per_channel()) {
    steps = steps + Term(b, b.Ints(q.zeros, DType::kInt32)).As(x.dtype()).Expand(1, after);
  } else if (q.zero() != 0) {
    steps = steps + static_cast<double>(q.zero());
  }
  const CodeLimits limits = LimitsOf(t);
  return steps
      .Call("clip", {{"a_min", static_cast<double>(limits.low)},
                     {"a_max", static_cast<double>(limits.high)}})
      .As(t.dtype.value_or(DType::kInt8));
}

Value ByCodes(NodeContext& n, const std::function<int64_t(int64_t)>& fn) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Input(0).dtype();
  const CodeLimits in = LimitsOf(n.In(0)), out = LimitsOf(n.Out());
  std::vector<int64_t> table;
  for (int64_t code = in.low; code <= in.high; ++code)
    table.push_back(std::clamp(fn(code), out.low, out.high));
  Term index = Term(n, 0).As(DType::kInt32);
  if (IsSignedInt(dtype)) index = index - static_cast<double>(in.low);
  return Term(b, b.Ints(table, n.Out().dtype.value_or(dtype))).Take(index, 0);
}

Value ByTable(NodeContext& n, const RealFn& fn) {
  TypedBuilder& b = n.b();
  const Quantisation &in = n.In(0).quantisation, &out = n.Out().quantisation;
  if (DTypeBytes(n.Input(0).dtype()) == 1) {
    const float inverse = 1 / static_cast<float>(out.scale());
    return ByCodes(n, [&](int64_t code) {
      const float x = static_cast<float>(in.scale()) * static_cast<float>(code - in.zero());
      const auto y = static_cast<float>(fn(static_cast<double>(x)));
      return WholeOf(static_cast<double>(y * inverse)) + out.zero();
    });
  }
  const auto scale = static_cast<float>(in.scale()), to = static_cast<float>(out.scale());
  const std::vector<int64_t> table = LinesOf<float>(fn, scale * -32768.0F, scale * 32767.0F,
                                                    65536.0F / (to * 32767.0F - to * -32768.0F));
  return OnLines(b, Term(n, 0).As(DType::kInt32), table).As(DType::kInt16);
}

Term OnLines(TypedBuilder& b, const Term& x, const std::vector<int64_t>& lines) {
  const Term table(b, b.Ints(lines, DType::kInt32));
  const Term index = RightShift(x, b.Int(7, DType::kInt32)) + 256;
  const Term offset = x.Call("bitwise_and", b.Int(127, DType::kInt32));
  const Term base = table.Take(index, 0), slope = table.Take(index + 1, 0) - base;
  return base + RightShift(slope * offset + 64, b.Int(7, DType::kInt32));
}

// --- By factors that are computed ---

namespace {

// Products of fractions of 31 bits, and left shifts, that saturate; int32.
Term ProductOfFractions(const Term& x, const Term& y) {
  const Term product = x.As(DType::kInt64) * y.As(DType::kInt64) + 0x1p30;
  return RightShift(product, x.b().Int(31)).As(DType::kInt32);
}
Term SaturatedLeft(const Term& x, int bits) {
  return (x.As(DType::kInt64) * std::exp2(bits))
      .Call("clip", {{"a_min", -0x1p31}, {"a_max", 0x1p31 - 1}})
      .As(DType::kInt32);
}

}  // namespace

Term LeadingZeros(const Term& x) {
  TypedBuilder& b = x.b();
  std::vector<int64_t> powers;
  for (int i = 0; i < 32; ++i) powers.push_back(int64_t{1} << i);
  const Term is_less = x.As(DType::kInt64).Expand(x.rank()) < Term(b, b.Ints(powers));
  return is_less.As(DType::kInt32).Over("sum", {x.rank()}, false);
}

Term TimesComputed(const Term& x, const Term& significand, const Term& shift) {
  const Term zero = shift.Number(0), one(x.b(), x.b().Int(1));
  const Term left = Maximum(shift, zero).As(DType::kInt64);
  const Term right = Maximum(zero - shift, zero).As(DType::kInt64);
  const Term shifted = x.As(DType::kInt64).Call("left_shift", left);
  const Term h = RightShift(shifted * significand.As(DType::kInt64) + 0x1p30, x.b().Int(31));
  const Term half = RightShift(one.Call("left_shift", right), one);
  const Term nudge = Select(And(h < 0, right > 0), h.Number(-1), h.Number(0));
  return RightShift(h + half + nudge, right).As(DType::kInt32);
}

ComputedFactor InverseSquareRootOf(const Term& x) {
  const Term large = x >= 0x1p29;
  const Term small =
      Maximum(Select(large, RightShift(x, x.b().Int(2, DType::kInt32)), x), x.Number(2));
  const Term pairs = RightShift(LeadingZeros(small) - 1, x.b().Int(1, DType::kInt32)) - 1;
  Term shift = large.As(DType::kInt32) + 11 - pairs;
  const Term v = small.Call("left_shift", pairs * 2);
  const Term half = ShiftedRight(RightShift(v, x.b().Int(1, DType::kInt32)), 1);
  const Term half_three = x.Number((1 << 28) + (1 << 27));
  Term y = x * 0 + static_cast<double>(1 << 28);
  for (int i = 0; i < 5; ++i) {
    const Term cube = SaturatedLeft(ProductOfFractions(ProductOfFractions(y, y), y), 6);
    y = SaturatedLeft(ProductOfFractions(half_three, y) - ProductOfFractions(half, cube), 3);
  }
  constexpr double kHalfSqrt2 = 1518500250;
  y = ProductOfFractions(y, y.Number(kHalfSqrt2));
  const Term up = Maximum(shift.Number(0) - shift, shift.Number(0));
  y = y.Call("left_shift", up);
  shift = Maximum(shift, shift.Number(0));
  const Term is_small = x <= 1;
  return {Select(is_small, x.Number(0x1p31 - 1), y),
          Select(is_small, shift.Number(0), shift.Number(0) - shift)};
}

Term Activated(const Term& x, fb::Activation activation) {
  const auto clip = [&](double low, double high) {  // NaN stays
    return Maximum(x.Number(low), Minimum(x.Number(high), x));
  };
  switch (activation) {
    case fb::Activation::RELU:
      return Maximum(x.Number(0), x);
    case fb::Activation::RELU6:
      return clip(0, 6);
    case fb::Activation::RELU_N1_TO_1:
      return clip(-1, 1);
    case fb::Activation::TANH:
      return x.Call("tanh");
    case fb::Activation::SIGN_BIT:
      return (x < 0).As(x.dtype());
    default:
      return x;
  }
}

}  // namespace relayvm::import::tflite
