// Quantisation: QuantizeLinear and its kin, and products of integers. Rounding is half to even.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/small_floats.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

struct Limits {
  double low, high;
};
std::optional<Limits> LimitsOf(ElementKind t) {
  if (t.bits < 0) return std::nullopt;
  const int bits = t.bits != 0 ? t.bits : DTypeBits(t.dtype);
  if (!IsInt(t.dtype) || bits > 16) return std::nullopt;
  if (IsUnsignedInt(t.dtype)) return Limits{0, std::exp2(bits) - 1};
  return Limits{-std::exp2(bits - 1), std::exp2(bits - 1) - 1};
}

// A scale or zero point where it meets data of `rank`: a scalar, a vector along `axis`, or (blocks)
// one number for each `block` elements of the axis.
std::optional<Term> Parameter(NodeContext& n, const Value& v, const Value& data, int64_t axis,
                              int64_t block) {
  TypedBuilder& b = n.b();
  Term p(b, v);
  if (p.rank() == 0) return p;
  if (p.rank() == 1 && v.dim(0).is_const(1) && block == 0) return AsScalar(p);
  const int at = n.Axis(axis, data.rank());
  if (!b.status().ok()) return std::nullopt;
  if (p.rank() == 1 && block == 0) return Along(p, at, data.rank());
  if (block < 1 || p.rank() != data.rank()) {
    n.Fail("expected a scale and zero point that are scalars, vectors along the axis, or blocks");
    return std::nullopt;
  }
  Term repeated = p.Call("repeat", {{"repeats", block}, {"axis", at}});
  if (repeated.value().dim(at) == data.dim(at)) return repeated;
  // The last block may reach beyond the data.
  const std::vector<Value> cut =
      n.As("Slice", 13, {repeated, b.Ints({0}), b.DimOf(data, at), b.Ints({at})});
  if (cut.empty()) return std::nullopt;
  return Term(b, cut[0]);
}

}  // namespace

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

std::optional<Term> OptionalScalar(NodeContext& n, size_t i) {
  if (!n.Has(i)) return std::nullopt;
  return AsScalar(Term(n, i));
}

Term DequantisedInput(NodeContext& n, size_t data, size_t scale, size_t zero_point) {
  return Dequantised(Term(n, data), AsScalar(Term(n, scale)), OptionalScalar(n, zero_point));
}

Value QuantisedOutput(NodeContext& n, const Term& y, size_t scale, size_t zero_point,
                      DType fallback) {
  const DType dtype = n.Has(zero_point) ? n.Input(zero_point).dtype() : fallback;
  return Quantised(y, AsScalar(Term(n, scale)), OptionalScalar(n, zero_point), {dtype});
}

Term ShiftedBy(NodeContext& n, const Value& v, const Value& zero_point, int axis) {
  Term x = Term(n.b(), v).As(DType::kInt32);
  if (!zero_point) return x;
  const Term z = Term(n.b(), zero_point).As(DType::kInt32);
  if (z.rank() == 0) return x - z;
  if (z.rank() == 1 && z.value().dim(0).is_const(1)) return x - AsScalar(z);
  if (z.rank() == 1) return x - Along(z, axis, x.rank());
  return x - z;
}

std::optional<ByteProduct> ByteProductOf(NodeContext& n, const Value& x, const Value& x_zero,
                                         const Value& w, const Value& w_zero) {
  const auto is_byte = [](const Value& v) {
    return IsInt(v.dtype()) && DTypeBytes(v.dtype()) == 1;
  };
  if (!is_byte(x) || !is_byte(w) || x.bits != 0 || w.bits != 0) return std::nullopt;
  const auto zero_of = [&](const Value& zero, const Value& of) {
    if (!zero) return n.b().Scalar(0, of.dtype());
    const bool one = zero.rank() == 1 && zero.dim(0).is_const(1);
    return one ? n.b().Reshape(zero, {}) : zero;
  };
  ByteProduct p{x, zero_of(x_zero, x), w, zero_of(w_zero, w)};
  if (p.x_zero.rank() != 0 || p.w_zero.rank() > 1 || p.x_zero.dtype() != x.dtype() ||
      p.w_zero.dtype() != w.dtype()) {
    return std::nullopt;
  }
  return p;
}

std::optional<Value> ByteMatMulOf(NodeContext& n, const ByteProduct& p) {
  TypedBuilder& b = n.b();
  if (p.w_zero.rank() != 0 && p.w.rank() != 2) return std::nullopt;
  if (p.x.rank() == 0 || p.w.rank() == 0) return std::nullopt;
  const Value one = b.Scalar(1, DType::kFloat32);
  return MatMulOf(n, p.x, p.w, [&](const Value& x, const Value& w, bool is_batch) {
    if (is_batch) {
      return b.Op("qnn.batch_matmul", {x, w, p.x_zero, p.w_zero, one, one},
                  {{"transpose_b", false}});
    }
    return b.Op("qnn.dense", {x, b.Transpose(w, {1, 0}), p.x_zero, p.w_zero, one, one});
  });
}

Term IntegerProduct(NodeContext& n, const Value& a, const Value& a_zero, const Value& w,
                    const Value& w_zero) {
  if (const auto p = ByteProductOf(n, a, a_zero, w, w_zero)) {
    if (auto product = ByteMatMulOf(n, *p)) return {n.b(), *product};
  }
  // A vector of zero points has one for each row of the left matrix or column of the right one.
  const Term left = ShiftedBy(n, a, a_zero, std::max(a.rank() - 2, 0));
  const Term right = ShiftedBy(n, w, w_zero, std::max(w.rank() - 1, 0));
  return {n.b(), MatMulOf(n, left, right)};
}

// An int32 accumulator in the scale of a product, requantised by one float32 factor.
Value Requantised(const Term& sum, const Term& factor, const std::optional<Term>& zero,
                  DType dtype) {
  const Term steps = (sum.As(DType::kFloat32) * factor).Call("round_even");
  return Saturate(zero ? steps + zero->As(DType::kFloat32) : steps, {dtype});
}

std::optional<Value> IntegerConv(NodeContext& n, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero) {
  if (const auto p = ByteProductOf(n, x, x_zero, w, w_zero)) {
    if (auto product = ByteConvOf(n, *p)) return product;
  }
  const Outputs product =
      n.As("Conv", 11, {ShiftedBy(n, x, x_zero, 1), ShiftedBy(n, w, w_zero, 0)});
  return product.empty() ? std::nullopt : std::optional(product[0]);
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

namespace {

Outputs QuantizeLinear(NodeContext& n) {
  const Term data(n, 0);
  const int64_t axis = n.Int("axis", 1), block = n.Int("block_size", 0);
  ElementKind type{DType::kUInt8};
  if (n.Has(2)) {
    type = KindOf(n.Input(2));
  } else if (n.Int("output_dtype", 0) != 0) {
    type = n.Kind("output_dtype", type.dtype);
  }
  if (const SmallFloat* format = SmallFloatOf(type.bits)) {
    const auto scale = Parameter(n, n.Input(1), data, axis, block);
    if (!scale) return {};
    const Term scaled = data.As(DType::kFloat32) / scale->As(DType::kFloat32);
    return {Encoded(scaled, *format, n.Int("saturate", 1) != 0)};
  }
  if (!LimitsOf(type)) {
    return n.Unsupported(fmt::format("results of {} are not supported", DTypeName(type.dtype)));
  }
  const auto scale = Parameter(n, n.Input(1), data, axis, block);
  if (!scale) return {};
  const auto zero = n.Has(2) ? Parameter(n, n.Input(2), data, axis, block) : std::nullopt;
  if (n.Has(2) && !zero) return {};
  const DType real = data.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (scale->rank() == 0 && real == DType::kFloat32 && type.bits == 0) {
    if (auto y = QuantisedInIntegers(n, scale->As(real), zero, type.dtype)) return {*y};
  }
  return {Quantised(data.As(real), scale->As(real), zero, type)};
}

Outputs DequantizeLinear(NodeContext& n) {
  const Term data(n, 0);
  const int64_t axis = n.Int("axis", 1), block = n.Int("block_size", 0);
  const auto scale = Parameter(n, n.Input(1), data, axis, block);
  if (!scale) return {};
  const auto zero = n.Has(2) ? Parameter(n, n.Input(2), data, axis, block) : std::nullopt;
  if (n.Has(2) && !zero) return {};
  const DType out = n.Type("output_dtype", scale->dtype());
  if (const SmallFloat* format = SmallFloatOf(data.value().bits))
    return {(Decoded(data, *format) * scale->As(DType::kFloat32)).As(out)};
  return {Dequantised(data, scale->As(DType::kFloat32), zero).As(out)};
}

Outputs DynamicQuantizeLinear(NodeContext& n) {
  const DynamicallyQuantised q = QuantiseDynamically(Term(n, 0));
  return {q.data, q.scale, q.zero_point};
}

Outputs MatMulInteger(NodeContext& n) {
  return {IntegerProduct(n, n.Input(0), n.Input(2), n.Input(1), n.Input(3))};
}

Outputs QLinearMatMul(NodeContext& n) {
  const Term sum = IntegerProduct(n, n.Input(0), n.Input(2), n.Input(3), n.Input(5));
  const auto scale = [&](size_t i, bool columns) {
    const Term s = Term(n, i).As(DType::kFloat32);
    if (s.rank() == 1 && s.value().dim(0).is_const(1)) return AsScalar(s);
    return s.rank() == 1 && !columns ? s.Expand(1) : s;
  };
  const Term factor = scale(1, false) * scale(4, true) / AsScalar(Term(n, 6)).As(DType::kFloat32);
  return {Requantised(sum, factor, OptionalScalar(n, 7), n.Input(7).dtype())};
}

Outputs ConvInteger(NodeContext& n) {
  const auto product = IntegerConv(n, n.Input(0), n.Input(2), n.Input(1), n.Input(3));
  if (!product) return {};
  return {*product};
}

Outputs QLinearConv(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto product = IntegerConv(n, n.Input(0), n.Input(2), n.Input(3), n.Input(5));
  if (!product || !b.status().ok()) return {};
  Term sum(b, *product);
  if (n.Has(8)) sum = sum + Along(Term(n, 8), 1, sum.rank());
  Term w_scale = Term(n, 4).As(DType::kFloat32);
  w_scale = w_scale.rank() == 1 && !w_scale.value().dim(0).is_const(1)
                ? Along(w_scale, 1, sum.rank())
                : AsScalar(w_scale);
  const Term factor = AsScalar(Term(n, 1)) * w_scale / AsScalar(Term(n, 6));
  return {Requantised(sum, factor, OptionalScalar(n, 7), n.Input(7).dtype())};
}

constexpr OperatorDef kQuantOperators[] = {
    {"ConvInteger", 2, 4, ConvInteger, 10},
    {"DequantizeLinear", 2, 3, DequantizeLinear, 10},
    {"DequantizeLinear", 2, 3, DequantizeLinear, 1, kMicrosoft},
    {"DynamicQuantizeLinear", 1, 1, DynamicQuantizeLinear, 11},
    {"MatMulInteger", 2, 4, MatMulInteger, 10},
    {"QLinearConv", 8, 9, QLinearConv, 10},
    {"QLinearMatMul", 8, 8, QLinearMatMul, 10},
    {"QuantizeLinear", 2, 3, QuantizeLinear, 10},
    {"QuantizeLinear", 2, 3, QuantizeLinear, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> QuantOperators() { return kQuantOperators; }

}  // namespace relayvm::import
