#include "compiler/import/tflite/products.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/typing/op_typing.h"

namespace relayvm::import::tflite {

std::vector<double> ProductFactors(const Tensor& x, const Tensor& w, const Tensor& out) {
  std::vector<double> factors;
  if (w.quantisation.scales.size() == 1) {
    // The product of two scales is a float32 there.
    const float product = static_cast<float>(x.quantisation.scale()) * w.quantisation.scales[0];
    return {static_cast<double>(product) / out.quantisation.scale()};
  }
  for (const float scale : w.quantisation.scales) {
    factors.push_back(x.quantisation.scale() * static_cast<double>(scale) /
                      out.quantisation.scale());
  }
  return factors;
}

namespace {

// Sums times their scales, rounded, halves away from zero; int32.
Term RoundedInDouble(const Term& sums, const Tensor& x, const Tensor& w, const Tensor& out) {
  std::vector<double> factors;
  for (const float scale : w.quantisation.scales) {
    factors.push_back(x.quantisation.scale() * static_cast<double>(scale) /
                      out.quantisation.scale());
  }
  const Term real = sums.As(DType::kFloat64);
  const auto count = static_cast<int64_t>(factors.size());
  const Term scaled = count == 1
                          ? real * factors[0]
                          : real * import::Table(sums.b(), factors, {count}, DType::kFloat64);
  return scaled.Call("round")
      .Call("clip", {{"a_min", -0x1p31}, {"a_max", 0x1p31 - 1}})
      .As(DType::kInt32);
}

}  // namespace

std::optional<Value> SummedCodes(NodeContext& n, size_t x, size_t w, size_t bias, const SumFn& sum,
                                 fb::Activation activation, WideRounding rounding) {
  TypedBuilder& b = n.b();
  const Value data = n.Input(x);
  const Tensor &in = n.In(x), &out = n.Out();
  if (!IsQuantised(in) || !n.In(w).quantisation || !IsQuantised(out))
    return n.Fail("expected scales of its input, its weights and its output");
  const std::vector<double> factors = ProductFactors(in, n.In(w), out);
  if (DTypeBytes(data.dtype()) == 1) {
    const auto found =
        sum(data, b.Scalar(static_cast<double>(in.quantisation.zero()), data.dtype()));
    if (!found) return std::nullopt;
    Term total(b, *found);
    if (n.Has(bias)) total = total + Term(n, bias).As(DType::kInt32);
    return CodesOf(TimesEach(total, factors), out, activation);
  }
  // 256 * high + low, of which the low byte has no sign.
  const Term wide = Term(n, x);
  const Term high = wide.Call("right_shift", b.Int(8, wide.dtype())).As(DType::kInt8);
  const Term low = wide.Call("bitwise_and", b.Int(255, wide.dtype())).As(DType::kUInt8);
  const auto of_high = sum(high, b.Int(0, DType::kInt8));
  const auto of_low = of_high ? sum(low, b.Int(0, DType::kUInt8)) : std::nullopt;
  if (!of_low) return std::nullopt;
  Term total = Term(b, *of_high).As(DType::kInt64) * 256 + Term(b, *of_low).As(DType::kInt64);
  if (n.Has(bias)) total = total + Term(n, bias).As(DType::kInt64);
  if (rounding == WideRounding::kInDouble)
    return CodesOf(RoundedInDouble(total, in, n.In(w), out), out, activation);
  if (n.Has(bias) && n.Input(bias).dtype() == DType::kInt32)
    return CodesOf(TimesEach(total.As(DType::kInt32), factors), out, activation);
  return CodesOf(TimesWide(total, factors), out, activation);
}

QuantisedRows QuantiseRows(const Term& x, const std::vector<int64_t>& axes, bool has_zero) {
  const auto limited = [](const Term& y, double low) {
    return y.Call("clip", {{"a_min", low}, {"a_max", 127.0}}).As(DType::kInt8);
  };
  const Term zero = x.Number(0);
  if (!has_zero) {
    const Term most = Max(Abs(x), axes);
    const Term scale = Select(most > 0, most, most.Number(127)) / 127;
    return {limited((x / scale).Call("round"), -127), scale, std::nullopt};
  }
  const Term high = Maximum(Max(x, axes), zero), low = Minimum(x.Over("min", axes), zero);
  const Term range = high - low;
  const Term scale = Select(range > 0, range, range.Number(255)) / 255;
  const Term from_low = scale.Number(-128) - low / scale,
             from_high = scale.Number(127) - high / scale;
  const Term is_low = Abs(low / scale) + 128 < Abs(high / scale) + 127;
  const Term at = Select(is_low, from_low, from_high)
                      .Call("round")
                      .Call("clip", {{"a_min", -128.0}, {"a_max", 127.0}});
  return {limited((at + x / scale).Call("round"), -128), scale, at};
}

Value SignedWeights(NodeContext& n, size_t x, size_t w) {
  const bool is_unsigned = n.Input(w).dtype() == DType::kUInt8 && n.In(w).quantisation;
  if (!is_unsigned || n.Input(x).dtype() != DType::kFloat32) return n.Input(w);
  return Term(n, w).Call("reinterpret", {{"dtype", std::string(DTypeName(DType::kInt8))}});
}

bool IsHybrid(NodeContext& n, size_t x, size_t w) {
  return n.Input(x).dtype() == DType::kFloat32 && n.In(w).quantisation &&
         n.Input(w).dtype() == DType::kInt8;
}

Term ScaleOf(TypedBuilder& b, const Tensor& w) {
  const auto& scales = w.quantisation.scales;
  if (scales.size() == 1) return {b, b.Scalar(static_cast<double>(scales[0]), DType::kFloat32)};
  return import::Table(b, {scales.begin(), scales.end()}, {static_cast<int64_t>(scales.size())});
}

bool IsExactInFloat(const Value& weights, int64_t channels_axis) {
  if (weights.constant == nullptr || IsFloat(weights.dtype())) return false;
  const std::vector<int64_t> codes = typing::IntegerElements(*weights.constant);
  const auto axis = static_cast<int>(channels_axis);
  int64_t inner = 1;
  for (int i = axis + 1; i < weights.rank(); ++i) inner *= weights.dim(i).value();
  const int64_t channels = weights.dim(axis).value();
  std::vector<int64_t> sums(static_cast<size_t>(std::max<int64_t>(channels, 1)), 0);
  for (size_t i = 0; i < codes.size(); ++i)
    sums[static_cast<size_t>(static_cast<int64_t>(i) / inner % channels)] += std::abs(codes[i]);
  return *std::ranges::max_element(sums) * 255 < (1 << 24);
}

}  // namespace relayvm::import::tflite
