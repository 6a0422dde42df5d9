#include "compiler/import/composite/quantised.h"

#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"

namespace relayvm::import {

std::optional<IntegerLimits> LimitsOf(ElementKind t) {
  if (t.bits < 0) return std::nullopt;
  const int bits = t.bits != 0 ? t.bits : DTypeBits(t.dtype);
  if (!IsInt(t.dtype) || bits > 16) return std::nullopt;
  if (IsUnsignedInt(t.dtype)) return IntegerLimits{0, std::exp2(bits) - 1};
  return IntegerLimits{-std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

std::optional<Term> QuantisationParameter(TypedBuilder& b, const Value& v, const Value& data,
                                          int64_t axis, int64_t block) {
  Term p(b, v);
  if (p.rank() == 0) return p;
  if (p.rank() == 1 && v.dim(0).is_const(1) && block == 0) return AsScalar(p);
  const int at = AxisIn(b, axis, data.rank());
  if (!b.status().ok()) return std::nullopt;
  if (p.rank() == 1 && block == 0) return Along(p, at, data.rank());
  if (block < 1 || p.rank() != data.rank()) {
    return b.Fail(
        "expected a scale and zero point that are scalars, vectors along the axis, or blocks");
  }
  Term repeated = p.Call("repeat", {{"repeats", block}, {"axis", at}});
  if (repeated.value().dim(at) == data.dim(at)) return repeated;
  // The last block may reach beyond the data.
  if (data.dim(at).is_const()) return repeated.Slice(at, 0, data.dim(at).value());
  return repeated.Take(RangeOf(b, data, at), at);
}

Value Saturate(const Term& x, ElementKind type) {
  const auto limits = LimitsOf(type);
  Value y = limits
                ? x.Call("clip", {{"a_min", limits->low}, {"a_max", limits->high}}).As(type.dtype)
                : x.As(type.dtype);
  y.bits = type.bits;
  return y;
}

Value Quantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point,
                ElementKind type) {
  const Term steps = (x / scale).Call("round_even");
  return Saturate(zero_point ? steps + zero_point->As(x.dtype()) : steps, type);
}

Term Dequantised(const Term& x, const Term& scale, const std::optional<Term>& zero_point) {
  Term whole = x.As(DType::kInt32);
  if (zero_point) whole = whole - zero_point->As(DType::kInt32);
  return whole.As(scale.dtype()) * scale;
}

Term ShiftedBy(TypedBuilder& b, const Value& v, const Value& zero_point, int axis) {
  Term x = Term(b, v).As(DType::kInt32);
  if (!zero_point) return x;
  const Term z = Term(b, zero_point).As(DType::kInt32);
  if (z.rank() == 0) return x - z;
  if (z.rank() == 1 && z.value().dim(0).is_const(1)) return x - AsScalar(z);
  if (z.rank() == 1) return x - Along(z, axis, x.rank());
  return x - z;
}

std::optional<ByteProduct> ByteProductOf(TypedBuilder& b, const Value& x, const Value& x_zero,
                                         const Value& w, const Value& w_zero) {
  const auto is_byte = [](const Value& v) {
    return IsInt(v.dtype()) && DTypeBytes(v.dtype()) == 1;
  };
  if (!is_byte(x) || !is_byte(w) || x.bits != 0 || w.bits != 0) return std::nullopt;
  const auto zero_of = [&](const Value& zero, const Value& of) {
    if (!zero) return b.Scalar(0, of.dtype());
    const bool one = zero.rank() == 1 && zero.dim(0).is_const(1);
    return one ? b.Reshape(zero, {}) : zero;
  };
  ByteProduct p{x, zero_of(x_zero, x), w, zero_of(w_zero, w)};
  if (p.x_zero.rank() != 0 || p.w_zero.rank() > 1 || p.x_zero.dtype() != x.dtype() ||
      p.w_zero.dtype() != w.dtype()) {
    return std::nullopt;
  }
  return p;
}

std::optional<Value> ByteMatMulOf(TypedBuilder& b, const ByteProduct& p) {
  if (p.w_zero.rank() != 0 && p.w.rank() != 2) return std::nullopt;
  if (p.x.rank() == 0 || p.w.rank() == 0) return std::nullopt;
  const Value one = b.Scalar(1, DType::kFloat32);
  return MatMulOf(b, p.x, p.w, [&](const Value& x, const Value& w, bool is_batch) {
    if (is_batch) {
      return b.Op("qnn.batch_matmul", {x, w, p.x_zero, p.w_zero, one, one},
                  {{"transpose_b", false}});
    }
    return b.Op("qnn.dense", {x, b.Transpose(w, {1, 0}), p.x_zero, p.w_zero, one, one});
  });
}

Term IntegerProduct(TypedBuilder& b, const Value& a, const Value& a_zero, const Value& w,
                    const Value& w_zero) {
  if (const auto p = ByteProductOf(b, a, a_zero, w, w_zero)) {
    if (auto product = ByteMatMulOf(b, *p)) return {b, *product};
  }
  // A vector of zero points has one for each row of the left matrix or column of the right one.
  const Term left = ShiftedBy(b, a, a_zero, std::max(a.rank() - 2, 0));
  const Term right = ShiftedBy(b, w, w_zero, std::max(w.rank() - 1, 0));
  return {b, MatMulOf(b, left, right)};
}

// An int32 accumulator in the scale of a product, requantised by one float32 factor.
Value Requantised(const Term& sum, const Term& factor, const std::optional<Term>& zero,
                  DType dtype) {
  const Term steps = (sum.As(DType::kFloat32) * factor).Call("round_even");
  return Saturate(zero ? steps + zero->As(DType::kFloat32) : steps, {dtype});
}

DynamicallyQuantised QuantiseDynamically(const Term& x) {
  const Term zero = x.Number(0);
  const Term high = Maximum(x.Call("max"), zero), low = Minimum(x.Call("min"), zero);
  // Where all are 0 any scale will do.
  const Term range = high - low;
  const Term scale = Select(range > 0, range, x.Number(255)) / 255;
  const Term zero_point(x.b(), Saturate((zero - low / scale).Call("round_even"), {DType::kUInt8}));
  return {{x.b(), Quantised(x, scale, zero_point, {DType::kUInt8})}, scale, zero_point};
}

}  // namespace relayvm::import
