// Quantisation: QuantizeLinear and its kin, and products of integers. Rounding is half to even.
#include <fmt/format.h>

#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/small_floats.h"

namespace relayvm::import {

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
    const auto scale = QuantisationParameter(n, n.Input(1), data, axis, block);
    if (!scale) return {};
    const Term scaled = data.As(DType::kFloat32) / scale->As(DType::kFloat32);
    return {Encoded(scaled, *format, n.Int("saturate", 1) != 0)};
  }
  if (!LimitsOf(type))
    return n.Unsupported("results of {} are not supported", DTypeName(type.dtype));
  const auto scale = QuantisationParameter(n, n.Input(1), data, axis, block);
  if (!scale) return {};
  const auto zero =
      n.Has(2) ? QuantisationParameter(n, n.Input(2), data, axis, block) : std::nullopt;
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
  const auto scale = QuantisationParameter(n, n.Input(1), data, axis, block);
  if (!scale) return {};
  const auto zero =
      n.Has(2) ? QuantisationParameter(n, n.Input(2), data, axis, block) : std::nullopt;
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
