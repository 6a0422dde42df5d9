// Arithmetic, element by element, and functions of one number.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "compiler/import/composite/activations.h"
#include "compiler/import/tflite/fixed_point.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

template <OpName kOp>
Outputs Unary(NodeContext& n) {
  const Term x(n, 0);
  if (!IsQuantised(n.In(0)) || !IsQuantised(n.Out())) return {x.Call(kOp.chars)};
  return {QuantisedTo(RealOf(n, x, n.In(0)).Call(kOp.chars), n.Out())};
}

// NaN has no sign.
Outputs SignOf(NodeContext& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return Unary<"sign">(n);
  return {Select(Equal(x, x), x.Call("sign"), x)};
}

// A function that codes have a table for.
template <OpName kOp, double (*kFn)(double)>
Outputs Tabled(NodeContext& n) {
  if (IsQuantised(n.In(0)) && IsQuantised(n.Out())) return {ByTable(n, kFn)};
  return {Term(n, 0).Call(kOp.chars)};
}

double ExpOf(double x) { return std::exp(x); }

Outputs LogOf(NodeContext& n) {
  if (!IsQuantised(n.In(0))) return {Term(n, 0).Call("log")};
  const CodeLimits limits = LimitsOf(n.Out());
  const Quantisation& q = n.Out().quantisation;
  const double least = static_cast<double>(limits.low - q.zero()) * q.scale();
  return {ByTable(n, [&](double x) { return x <= 0 ? least : std::log(x); })};
}

// Codes are cut, not rounded.
Outputs SquareRoot(NodeContext& n) {
  if (!IsQuantised(n.In(0))) return {Term(n, 0).Call("sqrt")};
  const Quantisation &in = n.In(0).quantisation, &out = n.Out().quantisation;
  if (DTypeBytes(n.Input(0).dtype()) == 2) {
    const Term root = RealOf(n, n.Input(0), n.In(0)).Call("nn.relu").Call("sqrt");
    return {CodesOf(Floor(root / out.scale()).As(DType::kInt32), n.Out())};
  }
  const auto from = static_cast<float>(in.scale()), to = static_cast<float>(out.scale());
  return {ByCodes(n, [&](int64_t code) {
    const float x = from * static_cast<float>(code - in.zero());
    return x <= 0 ? out.zero() : static_cast<int64_t>(std::sqrt(x) / to) + out.zero();
  })};
}

Outputs ReciprocalSquareRoot(NodeContext& n) {
  if (!IsQuantised(n.In(0))) return {Term(n, 0).Call("rsqrt")};
  const Quantisation &in = n.In(0).quantisation, &out = n.Out().quantisation;
  if (DTypeBytes(n.Input(0).dtype()) == 2) {
    return {ByTable(n, [&](double x) {
      return x <= 0 ? 32767 * out.scale()
                    : static_cast<double>(1.0F / std::sqrt(static_cast<float>(x)));
    })};
  }
  constexpr int kShift = 20;
  const Factor scale = FactorOf(1 / (std::sqrt(static_cast<float>(in.scale())) * out.scale()));
  return {ByCodes(n, [&](int64_t code) {
    const int64_t value = code - in.zero();
    if (value <= 0) return std::numeric_limits<int64_t>::max();
    const Factor inverse = InverseSquareRoot(static_cast<int32_t>(value));
    const int32_t data = TimesNumber(1, {inverse.significand, inverse.shift + kShift});
    return TimesNumber(data, {scale.significand, scale.shift - kShift}) + out.zero();
  })};
}

Outputs Absolute(NodeContext& n) {
  const Tensor &in = n.In(0), &out = n.Out();
  if (!IsQuantised(in)) return {Term(n, 0).Call("abs")};
  const Term x = Abs(Centred(n, 0));
  const bool same = in.quantisation.scales == out.quantisation.scales;
  return {CodesOf(same ? x : Times(x, FactorOf(in.quantisation.scale() / out.quantisation.scale())),
                  out)};
}

// Codes too: the kernel has no scales, and -128 stays what it is.
Outputs Negative(NodeContext& n) { return {-Term(n, 0)}; }

Outputs Squared(NodeContext& n) {
  const Term x(n, 0);
  if (!IsQuantised(n.In(0))) return {x * x};
  const Term real = RealOf(n, x, n.In(0));
  return {QuantisedTo(real * real, n.Out())};
}

// --- Two operands ---

fb::Activation ActivationOf(NodeContext& n) {
  switch (n.code()) {
    case Code::ADD:
      return n.Get<fb::AddOptions>().activation();
    case Code::SUB:
      return n.Get<fb::SubOptions>().activation();
    case Code::MUL:
      return n.Get<fb::MulOptions>().activation();
    case Code::DIV:
      return n.Get<fb::DivOptions>().activation();
    default:
      return fb::Activation::NONE;
  }
}

// What the codes of both are worth in one scale, which is twice the larger one, times 2^bits; and
// that scale.
struct CommonScale {
  Term x, y;
  double scale;
};
CommonScale Common(NodeContext& n, int bits) {
  const double a = n.In(0).quantisation.scale(), b = n.In(1).quantisation.scale();
  const double twice = 2 * std::max(a, b);
  const double by = std::exp2(bits);
  return {Times(Centred(n, 0) * by, FactorOf(a / twice)),
          Times(Centred(n, 1) * by, FactorOf(b / twice)), twice};
}

// Scales of powers of two: the exponent; nullopt for others.
std::optional<int> PowerOfTwo(const Tensor& t) {
  int exponent = 0;
  const double half = std::frexp(t.quantisation.scale(), &exponent);
  return half == 0.5 ? std::optional(exponent - 1) : std::nullopt;
}

std::optional<Value> SumByShifts(NodeContext& n, bool by_shifts, bool negates) {
  const auto x = PowerOfTwo(n.In(0)), y = PowerOfTwo(n.In(1)), out = PowerOfTwo(n.Out());
  const bool fits = by_shifts && n.Input(0).dtype() == DType::kInt16 && x && y && out;
  if (!fits || *x > *out || *y > *out || std::max(*x, *y) != *out) return std::nullopt;
  const Term a = ShiftedRight(Centred(n, 0), *out - *x);
  const Term b = ShiftedRight(Centred(n, 1), *out - *y);
  return CodesOf(negates ? a - b : a + b, n.Out(), ActivationOf(n));
}

template <bool kNegates>
Outputs Sum(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  const fb::Activation activation = ActivationOf(n);
  if (!IsQuantised(n.Out())) return {Activated(kNegates ? x - y : x + y, activation)};
  const bool by_shifts = kNegates ? n.Get<fb::SubOptions>().pot_scale_int16()
                                  : n.Get<fb::AddOptions>().pot_scale_int16();
  if (auto sum = SumByShifts(n, by_shifts, kNegates)) return {*sum};
  const int bits = x.dtype() == DType::kInt16 ? 15 : 20;
  const CommonScale c = Common(n, bits);
  const double factor = c.scale / (std::exp2(bits) * n.Out().quantisation.scale());
  return {CodesOf(Times(kNegates ? c.x - c.y : c.x + c.y, FactorOf(factor)), n.Out(), activation)};
}

Outputs Product(NodeContext& n) {
  const fb::Activation activation = ActivationOf(n);
  if (!IsQuantised(n.Out()) || !IsQuantised(n.In(0)) || !IsQuantised(n.In(1)))
    return {Activated(Term(n, 0) * Term(n, 1), activation)};
  // Computed in float32, as it is there.
  const float factor = n.In(0).quantisation.scales[0] * n.In(1).quantisation.scales[0] /
                       n.Out().quantisation.scales[0];
  return {CodesOf(Times(Centred(n, 0) * Centred(n, 1), FactorOf(static_cast<double>(factor))),
                  n.Out(), activation)};
}

Outputs Quotient(NodeContext& n) {
  const fb::Activation activation = ActivationOf(n);
  if (!IsQuantised(n.Out())) return {Activated(Term(n, 0) / Term(n, 1), activation)};
  const double factor =
      n.In(0).quantisation.scale() / (n.In(1).quantisation.scale() * n.Out().quantisation.scale());
  // Of a negative divisor both change their sign.
  const Term given = Centred(n, 0), by = Centred(n, 1);
  const Term x = Select(by < 0, -given, given), y = Abs(by);
  const Term real = x.As(DType::kFloat64) * factor / y.As(DType::kFloat64);
  const Term steps = real.Call("round").Call("clip", {{"a_min", -1e6}, {"a_max", 1e6}});
  // Small quotients are shifted by 32 bits or more there, which is not at all.
  const Term zeros = LeadingZeros(Maximum(x, -x - 1)), divisor = LeadingZeros(y);
  const Term shift = zeros - 1 + 31 - divisor - FactorOf(factor).shift;
  const Term most = Select(x > 0, x.Number(1e6), Select(x < 0, x.Number(-1e6), x.Number(1)));
  return {CodesOf(Select(shift >= 32, most, steps.As(DType::kInt32)), n.Out(), activation)};
}

Outputs SquaredDifference(NodeContext& n) {
  if (!IsQuantised(n.Out())) {
    const Term d = Term(n, 0) - Term(n, 1);
    return {d * d};
  }
  constexpr int kBits = 7;
  const CommonScale c = Common(n, kBits);
  const Term d = c.x - c.y;
  const double factor = c.scale * c.scale / (std::exp2(2 * kBits) * n.Out().quantisation.scale());
  return {CodesOf(Times(d * d, FactorOf(factor)), n.Out())};
}

Outputs SumOfAll(NodeContext& n) {
  if (n.num_inputs() == 0) return n.Fail("there is nothing to add");
  Term sum(n, 0);
  if (!IsQuantised(n.Out())) {
    for (size_t i = 1; i < n.num_inputs(); ++i) sum = sum + Term(n, i);
    return {sum};
  }
  double largest = 0;
  for (size_t i = 0; i < n.num_inputs(); ++i)
    largest = std::max(largest, n.In(i).quantisation.scale());
  const double by = 1 << 20;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    const Term x =
        Times(Centred(n, i) * by, FactorOf(n.In(i).quantisation.scale() / (2 * largest)));
    sum = i == 0 ? x : sum + x;
  }
  return {
      CodesOf(Times(sum, FactorOf(2 * largest / (by * n.Out().quantisation.scale()))), n.Out())};
}

// Codes of both have one scale.
template <OpName kOp>
Outputs Extreme(NodeContext& n) {
  return {Term(n, 0).Call(kOp.chars, n.Input(1))};
}

template <OpName kOp>
Outputs Binary(NodeContext& n) {
  return {Term(n, 0).Call(kOp.chars, n.Input(1))};
}

Outputs Power(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  if (IsFloat(x.dtype())) return {x.Call("power", y)};
  const Term real = x.As(DType::kFloat64).Call("power", y.As(DType::kFloat64));
  return {real.Call("round").As(x.dtype())};
}

Outputs RightShifted(NodeContext& n) { return {Term(n, 0).Call("right_shift", n.Input(1))}; }

// The remainder of a division that cuts, moved to the divisor's side of 0: finite by infinite too.
Outputs FloorModulo(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  if (!IsFloat(x.dtype())) return Binary<"floor_mod">(n);
  const Term cut = x.Call("mod", y), zero = cut.Number(0);
  const Term moved =
      Select(Equal((cut < zero).As(DType::kInt8), (y < zero).As(DType::kInt8)), cut, cut + y);
  return {Select(Equal(cut, zero), cut, moved)};
}

// Zeros have signs, and two infinities are equally long.
Outputs ArcTangent(NodeContext& n) {
  constexpr double kPi = 3.14159265358979323846;
  const Term both = And(Term(n, 0).Call("isinf"), Term(n, 1).Call("isinf"));
  const auto cut = [&](const Term& v) { return Select(both, v.Call("sign"), v); };
  const Term y = cut(Term(n, 0)), x = cut(Term(n, 1)), zero = y.Number(0);
  const auto is_negative = [&](const Term& v) { return Or(v < zero, 1.0 / v < zero); };
  const Term angle = (y / x).Call("atan");
  const Term half = Select(is_negative(y), y.Number(-kPi), y.Number(kPi));
  const Term upright = Select(Equal(y, zero), Select(is_negative(x), half, y), half * 0.5);
  const Term turned = Select(Equal(x, zero), upright, Select(x < zero, angle + half, angle));
  const Term sum = x + y;
  return {Select(Equal(sum, sum), turned, sum)};
}

Outputs Gelu(NodeContext& n) {
  const bool nearly = n.Get<fb::GeluOptions>().approximate();
  if (!IsQuantised(n.In(0))) return {nearly ? TanhGeluOf(Term(n, 0)) : GeluOf(Term(n, 0))};
  return {ByTable(n, [&](double x) {
    constexpr double kTwoOverPi = 0.63661977236758134308;
    if (nearly)
      return 0.5 * x * (1 + std::tanh(std::sqrt(kTwoOverPi) * (x + 0.044715 * x * x * x)));
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  })};
}

}  // namespace

std::span<const OperatorDef> MathOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::ABS, 1, 1, Absolute},
      {Code::NEG, 1, 1, Negative},
      {Code::SQUARE, 1, 1, Squared},
      {Code::SQRT, 1, 1, SquareRoot},
      {Code::RSQRT, 1, 1, ReciprocalSquareRoot},
      {Code::EXP, 1, 1, Tabled<"exp", ExpOf>},
      {Code::LOG, 1, 1, LogOf},
      {Code::SIN, 1, 1, Unary<"sin">},
      {Code::COS, 1, 1, Unary<"cos">},
      {Code::FLOOR, 1, 1, Unary<"floor">},
      {Code::CEIL, 1, 1, Unary<"ceil">},
      {Code::ROUND, 1, 1, Unary<"round_even">},
      {Code::SIGN, 1, 1, SignOf},
      {Code::GELU, 1, 1, Gelu, Options::GeluOptions},
      {Code::ADD, 2, 2, Sum<false>, Options::AddOptions},
      {Code::SUB, 2, 2, Sum<true>, Options::SubOptions},
      {Code::MUL, 2, 2, Product, Options::MulOptions},
      {Code::DIV, 2, 2, Quotient, Options::DivOptions},
      {Code::ADD_N, 1, -1, SumOfAll},
      {Code::SQUARED_DIFFERENCE, 2, 2, SquaredDifference},
      {Code::MAXIMUM, 2, 2, Extreme<"maximum">},
      {Code::MINIMUM, 2, 2, Extreme<"minimum">},
      {Code::FLOOR_DIV, 2, 2, Binary<"floor_divide">},
      {Code::FLOOR_MOD, 2, 2, FloorModulo},
      {Code::POW, 2, 2, Power},
      {Code::ATAN2, 2, 2, ArcTangent},
      {Code::BITWISE_XOR, 2, 2, Binary<"bitwise_xor">},
      {Code::RIGHT_SHIFT, 2, 2, RightShifted},
  };
  return kTable;
}

// --- Comparisons and logic ---

namespace {

// Codes are compared by what they are worth in 1/256, rounded: numbers that are nearly equal are.
// Those of 16 bits are as they stand where one is asked to be less.
template <OpName kOp>
Outputs Comparison(NodeContext& n) {
  const bool any_width = n.code() == Code::EQUAL || n.code() == Code::NOT_EQUAL;
  if (!IsQuantised(n.In(0)) || (DTypeBytes(n.Input(0).dtype()) != 1 && !any_width))
    return {Term(n, 0).Call(kOp.chars, n.Input(1))};
  const Term x = Times(Centred(n, 0) * 256, FactorOf(n.In(0).quantisation.scale()));
  const Term y = Times(Centred(n, 1) * 256, FactorOf(n.In(1).quantisation.scale()));
  return {x.Call(kOp.chars, y)};
}

// The condition's dims are the first ones of the others' (SELECT), or it broadcasts.
Outputs Selection(NodeContext& n) {
  Term condition(n, 0);
  const int rank = n.Input(1).rank();
  const bool leads = n.code() == Code::SELECT && condition.rank() == 1 && rank > 1;
  if (leads) condition = condition.Expand(1, rank - 1);
  return {Select(condition, Term(n, 1), Term(n, 2))};
}

}  // namespace

std::span<const OperatorDef> CompareOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::EQUAL, 2, 2, Comparison<"equal">},
      {Code::NOT_EQUAL, 2, 2, Comparison<"not_equal">},
      {Code::LESS, 2, 2, Comparison<"less">},
      {Code::LESS_EQUAL, 2, 2, Comparison<"less_equal">},
      {Code::GREATER, 2, 2, Comparison<"greater">},
      {Code::GREATER_EQUAL, 2, 2, Comparison<"greater_equal">},
      {Code::LOGICAL_AND, 2, 2, Binary<"logical_and">},
      {Code::LOGICAL_OR, 2, 2, Binary<"logical_or">},
      {Code::LOGICAL_NOT, 1, 1, Unary<"logical_not">},
      {Code::SELECT, 3, 3, Selection},
      {Code::SELECT_V2, 3, 3, Selection},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
