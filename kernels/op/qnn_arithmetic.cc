#include <limits>
#include <utility>

#include "kernels/op/qnn.h"

namespace relayvm::qnn {
namespace {

using te::BinaryOp;
using te::Expr;
using te::Tensor;

Expr ShiftLeft(Expr a, Expr b) {
  return te::Binary(BinaryOp::kShiftLeft, std::move(a), std::move(b));
}
Expr ShiftRight(Expr a, Expr b) {
  return te::Binary(BinaryOp::kShiftRight, std::move(a), std::move(b));
}
Expr And(Expr a, Expr b) { return te::Binary(BinaryOp::kAnd, std::move(a), std::move(b)); }
Expr Or(Expr a, Expr b) { return te::Binary(BinaryOp::kOr, std::move(a), std::move(b)); }

bool IsScalar(const Tensor& t) {
  for (const Dim& d : t->shape) {
    if (!d.is_const(1)) return false;
  }
  return true;
}

Expr LoadScalar(const Tensor& t) { return te::Load(t, ExprList(t->shape.size(), Int(0))); }

// An elementwise function of two parameters, either of which may be a scalar.
Tensor Combine(const char* name, const Tensor& a, const Tensor& b,
               const std::function<Expr(Expr, Expr)>& fn) {
  const std::vector<Dim>& shape = IsScalar(a) ? b->shape : a->shape;
  return te::Compute(name, shape, [&](const ExprList& i) {
    const auto load = [&](const Tensor& t) { return IsScalar(t) ? LoadScalar(t) : te::Load(t, i); };
    return fn(load(a), load(b));
  });
}

constexpr int64_t kSignificandMask = (int64_t{1} << 52) - 1;
constexpr int64_t kExponentBias = 1022;  // of a significand in [0.5, 1)

// What a value is at most, and how far its product with a significand of 31 bits is shifted right:
// so the product, and half of what is shifted out, fit an int64. A value that is itself the product
// of two of 16 bits is more, which leaves no room for the half.
constexpr int64_t kMostSteps = int64_t{3} << 30;
constexpr int64_t kMostOfProducts = int64_t{1} << 32;
constexpr int64_t kMostShift = 62;
// The bits of results that are int32, so that two of them and zero points have a sum.
constexpr int64_t kNarrowBits = 28;

}  // namespace

int64_t LowestOf(DType t) { return IsSignedInt(t) ? -(int64_t{1} << (DTypeBits(t) - 1)) : 0; }
int64_t HighestOf(DType t) { return (int64_t{1} << (DTypeBits(t) - (IsSignedInt(t) ? 1 : 0))) - 1; }

Expr Parameter(const Tensor& t, const ExprList& at, int axis) {
  return IsScalar(t) ? LoadScalar(t) : te::Load(t, {at[axis]});
}

Expr Saturate(Expr value, DType dtype) {
  if (value->dtype == dtype) return value;
  // In this order NaN gives the upper bound.
  const Expr low = te::Const(static_cast<double>(LowestOf(dtype)), value->dtype);
  const Expr high = te::Const(static_cast<double>(HighestOf(dtype)), value->dtype);
  return te::Cast(MaxExpr(MinExpr(std::move(value), high), low), dtype);
}

int ParameterAxis(int64_t axis, size_t rank) { return CanonicalAxis(axis, static_cast<int>(rank)); }

Status RequireParameter(TypeContext& tc, size_t i, const std::vector<Dim>& shape, int64_t axis,
                        std::string_view what) {
  const TensorType& t = tc.tensor(i);
  bool scalar = true;
  for (const Dim& d : t.shape) scalar = scalar && d.is_const(1);
  if (scalar) return OkStatus();
  RELAYVM_RETURN_IF_ERROR(RequireRank(t, 1, what));
  RELAYVM_ASSIGN_OR_RETURN(int at, NormalizeAxis(axis, static_cast<int>(shape.size())));
  return tc.RequireEqual(t.shape[0], shape[at], fmt::format("{} and axis {} of data", what, at));
}

Result<Rounding> ParseRounding(const std::string& text) {
  if (text == "UPWARD" || text == "None") return Rounding::kUpward;
  if (text == "TONEAREST") return Rounding::kToNearest;
  return Invalid("rounding is \"{}\", expected UPWARD or TONEAREST", text);
}

// As frexp: the bits of the double are taken apart. A significand that rounds up to 1 becomes 0.5
// of the next exponent. What is infinite (a scale of 0) or no number has an exponent by which all
// but 0 saturates.
Multiplier MakeMultiplier(const Tensor& numerator, const Tensor& denominator, DType out,
                          bool of_products) {
  const DType real = DType::kFloat64;
  const Tensor bits = Combine("scale_ratio", numerator, denominator, [&](Expr a, Expr b) {
    return te::Reinterpret(nn::Divide(te::Cast(std::move(a), real), te::Cast(std::move(b), real)),
                           DType::kInt64);
  });
  const Tensor rounded = te::Compute("scale_significand", bits->shape, [&](const ExprList& i) {
    const Expr half_to_one = te::Reinterpret(
        Or(And(te::Load(bits, i), Int(kSignificandMask)), Int(kExponentBias << 52)), real);
    return te::Cast(te::Unary(te::UnaryOp::kRound, half_to_one * te::FloatImm(0x1p31, real)),
                    DType::kInt64);
  });
  const Expr one = Int(int64_t{1} << 31);
  const auto overflows = [&](const ExprList& i) { return te::Load(rounded, i) == one; };
  const Tensor exponent = te::Compute("exponent", bits->shape, [&](const ExprList& i) {
    const Expr biased = And(ShiftRight(te::Load(bits, i), Int(52)), Int(0x7FF));
    return biased - Int(kExponentBias) + te::Select(overflows(i), Int(1), Int(0));
  });
  const Tensor significand = te::Compute("significand", bits->shape, [&](const ExprList& i) {
    const Expr magnitude = te::Select(overflows(i), Int(int64_t{1} << 30), te::Load(rounded, i));
    // The sign of what is no number differs between machines.
    const Expr number = LessEqual(And(te::Load(bits, i), Int(std::numeric_limits<int64_t>::max())),
                                  Int(int64_t{0x7FF} << 52));
    const Expr is_negative = number && te::Load(bits, i) < Int(0);
    // Of so small a ratio (and of 0, or a denormal one) nothing is left.
    return te::Select(te::Load(exponent, i) < Int(31 - kMostShift), Int(0),
                      te::Select(is_negative, Int(0) - magnitude, magnitude));
  });

  // Narrow results are told from those that saturate by some bits more than they have; int32 takes
  // all that an int64 has room for.
  const bool narrow = DTypeBits(out) <= 16;
  const int64_t bits_before = narrow ? kNarrowBits : 32;
  const auto derived = [&](const char* name, const auto& of_exponent) {
    return te::Compute(name, bits->shape,
                       [&](const ExprList& i) { return of_exponent(te::Load(exponent, i), i); });
  };
  const auto left = [&](const Expr& e) { return Clamp(e, Int(0), Int(bits_before)); };
  const auto shift = [&](const Expr& e) {
    return MinExpr(Int(31) + MaxExpr(Int(0) - e, Int(0)), Int(kMostShift));
  };
  Multiplier m;
  m.result = narrow ? DType::kInt32 : DType::kInt64;
  m.halves_first = of_products;
  const int64_t first = of_products ? 1 : 0;
  m.factor = derived("multiplier", [&](const Expr& e, const ExprList& i) {
    return ShiftLeft(te::Load(significand, i), left(e));
  });
  m.limit = derived("limit", [&](const Expr& e, const ExprList&) {
    const Expr saturating = ShiftLeft(ShiftRight(Int(int64_t{1} << bits_before), left(e)),
                                      Clamp(Int(0) - e, Int(0), Int(8)));
    return MinExpr(saturating, Int(of_products ? kMostOfProducts : kMostSteps));
  });
  m.half = derived("half", [&](const Expr& e, const ExprList&) {
    return ShiftLeft(Int(1), shift(e) - Int(1 + first));
  });
  m.shift = derived("shift", [&](const Expr& e, const ExprList&) { return shift(e) - Int(first); });
  return m;
}

Expr FixedPointMultiply(const Expr& value, const Multiplier& m, const ExprList& at, int axis,
                        Rounding rounding) {
  const auto parameter = [&](const Tensor& t) { return Parameter(t, at, axis); };
  const Expr limit = parameter(m.limit);
  Expr product = Clamp(ToIndex(value), Int(0) - limit, limit) * parameter(m.factor);
  const Expr half = parameter(m.half);
  if (rounding == Rounding::kToNearest) {
    product = product - te::Select(product < Int(0), Int(1), Int(0));
  }
  if (m.halves_first) product = ShiftRight(std::move(product), Int(1));
  return te::Cast(ShiftRight(product + half, parameter(m.shift)), m.result);
}

Expr ZeroOut(const Tensor& zero_point, const Multiplier& m, const ExprList& at, int axis) {
  Expr zero = ToIndex(Parameter(zero_point, at, axis));
  if (m.result == DType::kInt64) return zero;
  const Expr most = Int(int64_t{1} << kNarrowBits);
  return te::Cast(Clamp(zero, Int(0) - most, most), m.result);
}

Expr Requantizer::operator()(const Expr& value, const ExprList& at) const {
  const Expr shifted = ToIndex(value) - ToIndex(Parameter(zero_in, at, axis));
  return FixedPointMultiply(shifted, multiplier, at, axis, rounding) +
         ZeroOut(zero_out, multiplier, at, axis);
}

Requantizer MakeRequantizer(const Tensor& scale_in, const Tensor& zero_in, const Tensor& scale_out,
                            const Tensor& zero_out, int axis, DType out) {
  return {zero_in, zero_out, MakeMultiplier(scale_in, scale_out, out), axis, Rounding::kUpward};
}

Tensor MultiplyScales(const Tensor& a, const Tensor& b) {
  return Combine("scale_product", a, b, [](Expr x, Expr y) { return std::move(x) * std::move(y); });
}

}  // namespace relayvm::qnn
