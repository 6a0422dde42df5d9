// Quantisation as torch.export has it: plain tensors of integers, with the numbers that they are
// quantised by beside them.
#include "compiler/import/composite/quantised.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

DType IntegersOfCall(const Call& n) { return n.Dtype().value_or(DType::kInt8); }

// By scale and zero point (float32) that meet x.
Value ToIntegers(const Call& n, const Term& x, const Term& scale, const Term& zero) {
  const Term low(n, n.Number("quant_min", DType::kFloat32)),
      high(n, n.Number("quant_max", DType::kFloat32));
  const Term whole = (x.As(DType::kFloat32) * (1.0 / scale)).Call("round_even") + zero;
  return Clamp(whole, low, high).As(IntegersOfCall(n));
}
Value FromIntegers(const Call& n, const Term& x, const Term& scale,
                   const std::optional<Term>& zero) {
  const Term y = Dequantised(x, scale, zero);
  return y.As(n.Dtype("out_dtype").value_or(n.Dtype("output_dtype").value_or(DType::kFloat32)));
}

Results QuantizeTensor(Call& n) {
  return {ToIntegers(n, Term(n, 0), {n, n.Number("scale", DType::kFloat32)},
                     {n, n.Number("zero_point", DType::kFloat32)})};
}
Results DequantizeTensor(Call& n) {
  return {FromIntegers(n, Term(n, 0), {n, n.Number("scale", DType::kFloat32)},
                       Term(n, n.Number("zero_point", DType::kInt32)))};
}

// Scales along an axis, or one for each row of the last.
Term Met(const Call& n, std::string_view name, const Term& x, DType dtype) {
  const Term v(n, n.Tensor(name));
  if (n.schema().Find("axis") < 0) return v.As(dtype);
  return Along(v.As(dtype), n.Axis("axis", x.rank()), x.rank());
}
Results QuantizeChannels(Call& n) {
  const Term x(n, 0);
  return {ToIntegers(n, x, Met(n, "scales", x, DType::kFloat32),
                     Met(n, "zero_points", x, DType::kFloat32))};
}
Results DequantizeChannels(Call& n) {
  const Term x(n, 0);
  std::optional<Term> zero;
  if (n.Has("zero_points")) zero = Met(n, "zero_points", x, DType::kInt32);
  return {FromIntegers(n, x, Met(n, "scales", x, DType::kFloat32), zero)};
}

// Groups of the last axis of a matrix have a scale each: as rows of their own.
std::optional<Term> GroupsOf(const Call& n, const Term& x) {
  int64_t size = n.Int("group_size", 128);
  const Term scales(n, n.Tensor("scales"));
  const Dim columns = x.value().dim(-1);
  if (x.rank() != 2 || size < 1) return n.Fail("expected a matrix, and groups");
  if (columns.is_const() && size > columns.value() && scales.value().dim(-1).is_const(1))
    size = columns.value();
  if (columns.is_const() && columns.value() % size != 0)
    return n.Fail("{} columns are no groups of {}", columns.value(), size);
  return Term(n, ShapedAs(n, x, {n.b().Ints({-1, size})}));
}
Term GroupNumbers(const Call& n, std::string_view name, DType dtype) {
  return Term(n, n.Tensor(name)).Reshape({-1, 1}).As(dtype);
}
Results QuantizeGroups(Call& n) {
  const Term x(n, 0);
  const auto groups = GroupsOf(n, x);
  if (!groups) return {};
  const Term low(n, n.Number("quant_min", DType::kFloat32)),
      high(n, n.Number("quant_max", DType::kFloat32));
  // Rounded with the zero point.
  const Term whole = (groups->As(DType::kFloat32) * (1.0 / GroupNumbers(n, "scales", low.dtype())) +
                      GroupNumbers(n, "zero_points", low.dtype()))
                         .Call("round_even");
  return {ShapedLike(n, Clamp(whole, low, high).As(IntegersOfCall(n)), x)};
}
Results DequantizeGroups(Call& n) {
  const Term x(n, 0);
  const auto groups = GroupsOf(n, x);
  if (!groups) return {};
  Term y = groups->As(DType::kFloat32);
  if (n.Has("zero_points")) y = y - GroupNumbers(n, "zero_points", y.dtype());
  y = y * GroupNumbers(n, "scales", y.dtype());
  return {ShapedLike(n, y.As(n.Dtype("output_dtype").value_or(y.dtype())), x)};
}

// --- Numbers to quantise by ---

struct Chosen {
  Term scale, zero;
};
Chosen ByExtremesOf(const Term& low, const Term& high, double least, double most, double epsilon) {
  const Term zero = low.Number(0), down = Minimum(low, zero), up = Maximum(high, zero);
  const Term scale = Maximum((up - down) / (most - least), zero.Number(epsilon));
  const Term point =
      Clamp(least - (down / scale).Call("round_even"), zero.Number(least), zero.Number(most));
  return {scale, point};
}
template <bool kSymmetric>
Results ChooseForTensor(Call& n) {
  const Term x = Term(n, 0).As(DType::kFloat32);
  const double least = n.Float("quant_min"), most = n.Float("quant_max"), epsilon = n.Float("eps");
  Term low = x.Call("min"), high = x.Call("max");
  if (kSymmetric) {
    high = Maximum(-low, high);
    low = -high;
  }
  const Chosen c = ByExtremesOf(low, high, least, most, epsilon);
  return {c.scale.As(DType::kFloat64).Reshape({1}), c.zero.As(DType::kInt64).Reshape({1})};
}
template <bool kSymmetric>
Results ChooseForTokens(Call& n) {
  const Term x = Term(n, 0).As(DType::kFloat32);
  const std::vector<int64_t> last = {x.rank() - 1};
  if (kSymmetric) {
    const Term most = Max(Abs(x), last);
    const Term scale = Maximum(most, most.Number(1e-5)) / 127;
    const DType own = SumType(n.Input(0).dtype());
    return {scale.As(own), (scale * 0.0).As(own)};
  }
  const Chosen c =
      ByExtremesOf(x.Over("min", last), Max(x, last), -128, 127, 1.1920928955078125e-07);
  return {c.scale.As(DType::kFloat64), c.zero.As(DType::kInt64)};
}

constexpr OperatorDef kDecomposedOperators[] = {
    {"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int "
     "zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QuantizeTensor},
    {"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QuantizeTensor},
    {"quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, "
     "Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor",
     QuantizeTensor},
    {"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int "
     "zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? "
     "out_dtype=None) -> Tensor",
     DequantizeTensor},
    {"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, "
     "Tensor zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? "
     "out_dtype=None) -> Tensor",
     DequantizeTensor},
    {"quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, "
     "Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, "
     "ScalarType? out_dtype=None) -> Tensor",
     DequantizeTensor},
    {"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor "
     "zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QuantizeChannels},
    {"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? "
     "zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, "
     "ScalarType? out_dtype=None) -> Tensor",
     DequantizeChannels},
    {"quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor "
     "zero_points, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     QuantizeChannels},
    {"quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor "
     "zero_points, int quant_min, int quant_max, ScalarType dtype, ScalarType "
     "output_dtype) -> Tensor",
     DequantizeChannels},
    {"quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor "
     "zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size=128) -> Tensor",
     QuantizeGroups},
    {"quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? "
     "zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size=128, ScalarType "
     "output_dtype=6) -> Tensor",
     DequantizeGroups},
    {"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int "
     "quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
     ChooseForTensor<false>},
    {"quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, "
     "int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
     ChooseForTensor<true>},
    {"quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> "
     "(Tensor, Tensor)",
     ChooseForTokens<true>},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType "
     "dtype) -> (Tensor, Tensor)",
     ChooseForTokens<false>},
};

}  // namespace

OperatorTable DecomposedOperators() { return kDecomposedOperators; }

}  // namespace relayvm::import::torch
