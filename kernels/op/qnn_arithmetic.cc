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
// of the next exponent.
Multiplier MakeMultiplier(const Tensor& numerator, const Tensor& denominator) {
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
  Multiplier m;
  m.significand = te::Compute("multiplier", bits->shape, [&](const ExprList& i) {
    // A ratio of 0 (or a denormal one) multiplies to 0.
    const Expr normal = Greater(And(ShiftRight(te::Load(bits, i), Int(52)), Int(0x7FF)), Int(0));
    return te::Select(normal, te::Select(overflows(i), Int(int64_t{1} << 30), te::Load(rounded, i)),
                      Int(0));
  });
  m.exponent = te::Compute("shift", bits->shape, [&](const ExprList& i) {
    const Expr exponent =
        And(ShiftRight(te::Load(bits, i), Int(52)), Int(0x7FF)) - Int(kExponentBias);
    return exponent + te::Select(overflows(i), Int(1), Int(0));
  });
  return m;
}

Expr FixedPointMultiply(Expr value, const Multiplier& m, const ExprList& at, int axis,
                        Rounding rounding) {
  const Expr exponent = Parameter(m.exponent, at, axis);
  const Expr left = Clamp(exponent, Int(0), Int(31));
  // Beyond 62 bits nothing is left of a 32-bit value.
  const Expr right = MinExpr(Int(31) + MaxExpr(Int(0) - exponent, Int(0)), Int(62));
  const Expr product = ShiftLeft(te::Cast(std::move(value), DType::kInt64), left) *
                       Parameter(m.significand, at, axis);
  Expr half = ShiftLeft(Int(1), right - Int(1));
  if (rounding == Rounding::kToNearest) {
    half = half - te::Select(product < Int(0), Int(1), Int(0));
  }
  return te::Cast(ShiftRight(product + half, right), DType::kInt32);
}

Expr Requantizer::operator()(const Expr& value, const ExprList& at) const {
  const Expr shifted =
      te::Cast(value, DType::kInt32) - te::Cast(Parameter(zero_in, at, axis), DType::kInt32);
  return FixedPointMultiply(shifted, multiplier, at, axis, rounding) +
         te::Cast(Parameter(zero_out, at, axis), DType::kInt32);
}

Requantizer MakeRequantizer(const Tensor& scale_in, const Tensor& zero_in, const Tensor& scale_out,
                            const Tensor& zero_out, int axis) {
  return {zero_in, zero_out, MakeMultiplier(scale_in, scale_out), axis, Rounding::kUpward};
}

Tensor MultiplyScales(const Tensor& a, const Tensor& b) {
  return Combine("scale_product", a, b, [](Expr x, Expr y) { return std::move(x) * std::move(y); });
}

}  // namespace relayvm::qnn
