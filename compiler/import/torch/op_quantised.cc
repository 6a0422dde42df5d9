// Quantised tensors: to and from numbers, arithmetic and functions on them, as if on the numbers
// that they stand for.
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/quantised.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

namespace {

// --- To integers and back ---

Results QuantizePerTensor(Call& n) {
  TypedBuilder& b = n.b();
  const auto dtype = DTypeOfQuantised(n.Int("dtype"));
  if (!dtype) return n.Unsupported("of {} is not supported", TorchDTypeName(n.Int("dtype")));
  const Quantisation q{.scale = n.Number("scale", DType::kFloat32),
                       .zero_point = n.Number("zero_point", DType::kInt32),
                       .axis = -1,
                       .dtype = *dtype};
  return {QuantisedAs({b, b.Cast(n.Input(0), DType::kFloat32)}, q)};
}
Results QuantizePerChannel(Call& n) {
  TypedBuilder& b = n.b();
  const auto dtype = DTypeOfQuantised(n.Int("dtype"));
  if (!dtype) return n.Unsupported("of {} is not supported", TorchDTypeName(n.Int("dtype")));
  const Term x(n, 0);
  const Value zero = n.Tensor("zero_points");
  const Quantisation q{.scale = b.Cast(n.Tensor("scales"), DType::kFloat32),
                       .zero_point = IsFloat(zero.dtype()) ? zero : b.Cast(zero, DType::kInt32),
                       .axis = n.Axis("axis", x.rank()),
                       .dtype = *dtype};
  return {QuantisedAs(x.As(DType::kFloat32), q)};
}

// Scale and zero point of numbers by their extremes and 0, in low..high.
Quantisation ByExtremes(const Term& x, double low, double high, DType dtype) {
  const Term zero(x.b(), x.b().Scalar(0, DType::kFloat32));
  const Term least = Minimum(x.As(DType::kFloat32).Call("min"), zero),
             most = Maximum(x.As(DType::kFloat32).Call("max"), zero);
  const Term width = (most - least) / (high - low);
  const Term scale = Select(width > 0, width, width.Number(0.1));
  const Term point =
      Clamp((low - least / scale).Call("round_even"), zero.Number(low), zero.Number(high));
  return {.scale = scale, .zero_point = point.As(DType::kInt32), .axis = -1, .dtype = dtype};
}
Results QuantizeDynamic(Call& n) {
  const auto dtype = DTypeOfQuantised(n.Int("dtype"));
  if (!dtype || *dtype == DType::kInt32)
    return n.Unsupported("of {} is not supported", TorchDTypeName(n.Int("dtype")));
  QuantisedRange range = RangeOfIntegers(*dtype);
  if (n.Bool("reduce_range")) range = {std::trunc(range.low / 2), std::trunc(range.high / 2)};
  const Term x(n, 0);
  return {QuantisedAs(x, ByExtremes(x, range.low, range.high, *dtype))};
}
Results ChooseParameters(Call& n) {
  const Quantisation q =
      ByExtremes(Term(n, 0), 0, n.Bool("reduce_range") ? 127 : 255, DType::kUInt8);
  return {ScalarArgument(n, q.scale), ScalarArgument(n, q.zero_point)};
}

Argument Plain(TypedBuilder& b, const Argument& a) {
  if (a.is_tensor()) return a.quantised == nullptr ? a : Argument(NumbersOf(b, a));
  if (!a.is_list()) return a;
  Argument out = a;
  for (Argument& item : out.items) item = Plain(b, item);
  return out;
}
Results Dequantize(Call& n) { return {Plain(n, n.Arg(size_t{0}))}; }

// How argument 0 is quantised; an error and null where it is not.
const Quantisation* MeaningOf(const Call& n) {
  const auto& q = n.Arg(size_t{0}).quantised;
  if (q == nullptr) n.Fail("expected a quantised tensor");
  return q.get();
}
Results IntegersOf(Call& n) {
  if (MeaningOf(n) == nullptr) return {};
  return {n.Arg(size_t{0}).value};
}
Results ScaleOfTensor(Call& n) {
  const Quantisation* q = MeaningOf(n);
  if (q == nullptr) return {};
  return {ScalarArgument(n, q->scale)};
}
Results ZeroPointOfTensor(Call& n) {
  const Quantisation* q = MeaningOf(n);
  if (q == nullptr) return {};
  return {ScalarArgument(n, q->zero_point)};
}
Results ScalesOfChannels(Call& n) {
  const Quantisation* q = MeaningOf(n);
  if (q == nullptr) return {};
  return {n.b().Cast(q->scale, DType::kFloat64)};
}
Results ZeroPointsOfChannels(Call& n) {
  const Quantisation* q = MeaningOf(n);
  if (q == nullptr) return {};
  return {n.b().Cast(q->zero_point, DType::kInt64)};
}
Results AxisOfChannels(Call& n) {
  const Quantisation* q = MeaningOf(n);
  if (q == nullptr) return {};
  return {Argument::Int(q->axis)};
}

// Integers that are given as a quantised tensor.
Results MakePerTensor(Call& n) {
  const Value x = n.Input(0);
  return {WithMeaning(x, {.scale = n.Number("scale", DType::kFloat32),
                          .zero_point = n.Number("zero_point", DType::kInt32),
                          .axis = -1,
                          .dtype = x.dtype()})};
}
Results MakePerChannel(Call& n) {
  const Value x = n.Input(0), zero = n.Tensor("zero_point");
  return {
      WithMeaning(x, {.scale = n.b().Cast(n.Tensor("scale"), DType::kFloat32),
                      .zero_point = IsFloat(zero.dtype()) ? zero : n.b().Cast(zero, DType::kInt32),
                      .axis = n.Axis("axis", x.rank()),
                      .dtype = x.dtype()})};
}

// --- Numbers as integers would have them ---

// By scale and zero point that meet x; the second result says which are within the limits.
Results FakeQuantised(const Call& n, const Term& x, const Term& scale, const Term& zero) {
  const double low = n.Float("quant_min"), high = n.Float("quant_max");
  const Term whole = (x * (1.0 / scale)).Call("round_even") + zero;
  const Term kept = Clamp(whole, whole.Number(low), whole.Number(high));
  Results out = {(kept - zero) * scale};
  if (n.schema().results.size() > 1) out.emplace_back(And(whole >= low, whole <= high));
  return out;
}
Results FakePerTensor(Call& n) {
  const Term x(n, 0);
  return FakeQuantised(n, x, {n, n.Number("scale", x.dtype())},
                       {n, n.Number("zero_point", x.dtype())});
}
Results FakePerChannel(Call& n) {
  const Term x(n, 0);
  const int axis = n.Axis("axis", x.rank());
  const auto along = [&](std::string_view name) {
    return Along(Term(n, n.Tensor(name)).As(x.dtype()), axis, x.rank());
  };
  return FakeQuantised(n, x, along("scale"), along("zero_point"));
}

// --- Arithmetic ---

// What results are quantised by: the call's numbers, in the dtype of `like`.
Quantisation OutputOf(const Call& n, const Argument& like) {
  const DType dtype = like.quantised != nullptr ? like.quantised->dtype : DType::kUInt8;
  const bool named = n.schema().Find("output_scale") >= 0;
  if (!named && !n.Has("scale") && like.quantised != nullptr) return *like.quantised;
  return {.scale = n.Number(named ? "output_scale" : "scale", DType::kFloat32),
          .zero_point = n.Number(named ? "output_zero_point" : "zero_point", DType::kInt32),
          .axis = -1,
          .dtype = dtype};
}
Term NumbersAt(const Call& n, size_t i) { return {n, NumbersOf(n, n.Arg(i))}; }
Argument Rectified(const Term& x, const Quantisation& q, bool relu) {
  return QuantisedAs(relu ? Maximum(x, x.Number(0)) : x, q);
}

template <bool kRelu>
Results AddQuantised(Call& n) {
  return {Rectified(NumbersAt(n, 0) + NumbersAt(n, 1), OutputOf(n, n.Arg(size_t{0})), kRelu)};
}
template <bool kRelu>
Results MultiplyQuantised(Call& n) {
  return {Rectified(NumbersAt(n, 0) * NumbersAt(n, 1), OutputOf(n, n.Arg(size_t{0})), kRelu)};
}
Results MatmulQuantised(Call& n) {
  const Value product = MatMulOf(n, NumbersAt(n, 0), NumbersAt(n, 1));
  return {QuantisedAs({n, product}, OutputOf(n, n.Arg(size_t{0})))};
}

// Scale, zero point and integers that are known numbers; nullopt with an error.
struct KnownMeaning {
  double scale, zero_point;
};
std::optional<KnownMeaning> KnownMeaningOf(const Call& n, const Quantisation& q) {
  const Argument scale = ScalarArgument(n, q.scale), zero = ScalarArgument(n, q.zero_point);
  if (scale.is_known_number() && zero.is_known_number())
    return KnownMeaning{scale.number(), zero.number()};
  return n.Unsupported("the scale must be known when compiling");
}

// x + c moves the zero point, and widens the scale where that leaves the integers' range.
template <bool kRelu>
Results AddScalarQuantised(Call& n) {
  TypedBuilder& b = n.b();
  const bool swapped = !n.Arg(size_t{0}).is_tensor();
  const Argument& a = n.Arg(swapped ? 1 : 0);
  if (a.quantised == nullptr) return n.Fail("expected a quantised tensor");
  const auto known = KnownMeaningOf(n, *a.quantised);
  const double c = n.Float("b");
  if (!known || !b.status().ok()) return {};
  const auto [low, high] = RangeOfIntegers(a.quantised->dtype);
  const double moved = known->zero_point - std::nearbyint(c / known->scale);
  Quantisation q = QuantisedBy(b, known->scale, moved, a.quantised->dtype);
  if (moved < low) {
    q = QuantisedBy(b, (high - moved) / (high - low) * known->scale, low, q.dtype);
  } else if (moved > high) {
    q = QuantisedBy(b, (moved - low) / (high - low) * known->scale, high, q.dtype);
  } else if (!kRelu) {
    return {WithMeaning(a.value, q)};
  }
  // The numbers of the moved integers.
  const Term x = (Term(b, a.value).As(DType::kFloat32) - moved) * known->scale;
  return {Rectified(x, q, kRelu)};
}
// x * c scales the scale, and mirrors the integers where c is negative.
template <bool kRelu>
Results MultiplyScalarQuantised(Call& n) {
  TypedBuilder& b = n.b();
  const bool swapped = !n.Arg(size_t{0}).is_tensor();
  const Argument& a = n.Arg(swapped ? 1 : 0);
  if (a.quantised == nullptr) return n.Fail("expected a quantised tensor");
  const auto known = KnownMeaningOf(n, *a.quantised);
  const double c = n.Float("b");
  if (!known || !b.status().ok()) return {};
  const auto [low, high] = RangeOfIntegers(a.quantised->dtype);
  const DType dtype = a.quantised->dtype;
  const Term x(b, a.value);
  if (c == 0) return {WithMeaning(x.Call("zeros_like"), QuantisedBy(b, 1, 0, dtype))};
  const double zero = c > 0 ? known->zero_point : low + high - known->zero_point;
  const Quantisation q = QuantisedBy(b, known->scale * std::abs(c), zero, dtype);
  Term whole = x.As(DType::kInt32);
  if (c < 0) whole = (low + high) - whole;
  if (kRelu) whole = Maximum(whole, whole.Number(zero));
  return {WithMeaning(whole.As(dtype), q)};
}

// --- Functions ---

// A function of numbers by its row of aten, with the call's own arguments by name.
Results ByRow(const Call& n, std::string_view row, std::vector<std::string_view> names) {
  std::vector<Argument> arguments = {Argument(NumbersAt(n, 0))};
  for (const std::string_view name : names) arguments.push_back(n.Arg(name));
  const Value y = n.ValueAs(row, arguments);
  return {QuantisedAs({n, y}, OutputOf(n, n.Arg(size_t{0})))};
}
Results SigmoidQuantised(Call& n) { return ByRow(n, "aten::sigmoid", {}); }
Results HardswishQuantised(Call& n) { return ByRow(n, "aten::hardswish", {}); }
Results LeakyReluQuantised(Call& n) { return ByRow(n, "aten::leaky_relu", {"negative_slope"}); }
Results EluQuantised(Call& n) { return ByRow(n, "aten::elu", {"alpha", "scale", "input_scale"}); }
Results CeluQuantised(Call& n) { return ByRow(n, "aten::celu", {"alpha"}); }
Results SoftmaxQuantised(Call& n) { return ByRow(n, "aten::softmax.int", {"dim"}); }
Results PReluQuantised(Call& n) { return ByRow(n, "aten::prelu", {"weight"}); }
Results Relu6Quantised(Call& n) { return ByRow(n, "aten::relu6", {}); }
Results ClampQuantised(Call& n) { return ByRow(n, "aten::clamp", {"min", "max"}); }
Results ThresholdQuantised(Call& n) { return ByRow(n, "aten::threshold", {"threshold", "value"}); }
Results LayerNormQuantised(Call& n) {
  return ByRow(n, "aten::layer_norm", {"normalized_shape", "weight", "bias", "eps"});
}
Results GroupNormQuantised(Call& n) {
  return ByRow(n, "aten::group_norm", {"num_groups", "weight", "bias", "eps"});
}
Results InstanceNormQuantised(Call& n) {
  const Value y = n.ValueAs("aten::instance_norm", {Argument(NumbersAt(n, 0)),
                                                    n.Arg("weight"),
                                                    n.Arg("bias"),
                                                    {},
                                                    {},
                                                    Argument::Bool(true),
                                                    Argument::Float(0.1),
                                                    n.Arg("eps"),
                                                    Argument::Bool(false)});
  return {QuantisedAs({n, y}, OutputOf(n, n.Arg(size_t{0})))};
}
template <bool kRelu>
Results BatchNormQuantised(Call& n) {
  const Value y =
      n.ValueAs("aten::batch_norm", {Argument(NumbersAt(n, 0)), n.Arg("weight"), n.Arg("bias"),
                                     n.Arg("mean"), n.Arg("var"), Argument::Bool(false),
                                     Argument::Float(0.1), n.Arg("eps"), Argument::Bool(false)});
  return {Rectified({n, y}, OutputOf(n, n.Arg(size_t{0})), kRelu)};
}
Results DropoutQuantised(Call& n) { return {n.Arg(size_t{0})}; }

template <bool kRelu>
Results CatQuantised(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& list = n.Arg(size_t{0});
  if (!list.is_list() || list.items.empty()) return n.Fail("expected tensors");
  const Quantisation q = OutputOf(n, list.items[0]);
  std::vector<Value> parts;
  for (const Argument& item : list.items)
    parts.push_back(Rectified({b, NumbersOf(b, item)}, q, kRelu).value);
  return {WithMeaning(b.Concat(parts, n.Axis("dim", parts[0].rank())), q)};
}

template <size_t kSpatial>
Results MaxPoolQuantised(Call& n) {
  const char* row = kSpatial == 1 ? "aten::max_pool1d" : "aten::max_pool2d";
  const Argument& a = n.Arg(size_t{0});
  const Value y = n.ValueAs(row, {Argument(a.value), n.Arg("kernel_size"), n.Arg("stride"),
                                  n.Arg("padding"), n.Arg("dilation"), n.Arg("ceil_mode")});
  if (a.quantised == nullptr) return {y};
  return {WithMeaning(y, *a.quantised)};
}

constexpr OperatorDef kQuantisedOperators[] = {
    {"aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType "
     "dtype) -> Tensor",
     QuantizePerTensor},
    {"aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor "
     "zero_point, ScalarType dtype) -> Tensor",
     QuantizePerTensor},
    {"aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor "
     "zero_points, ScalarType dtype) -> Tensor[]",
     QuantizePerTensor},
    {"aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int "
     "axis, ScalarType dtype) -> Tensor",
     QuantizePerChannel},
    {"aten::quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) "
     "-> Tensor",
     QuantizeDynamic},
    {"aten::_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, "
     "int)",
     ChooseParameters},
    {"aten::dequantize.self(Tensor self) -> Tensor", Dequantize, Takes::kQuantised},
    {"aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]", Dequantize, Takes::kQuantised},
    {"aten::dequantize.tensor(Tensor qtensor) -> Tensor", Dequantize, Takes::kQuantised},
    {"aten::dequantize.list(Tensor[] qtensors) -> Tensor[]", Dequantize, Takes::kQuantised},
    {"aten::dequantize.any(Any tensors) -> Any", Dequantize, Takes::kQuantised},
    {"aten::int_repr(Tensor self) -> Tensor", IntegersOf, Takes::kQuantised},
    {"aten::q_scale(Tensor self) -> float", ScaleOfTensor, Takes::kQuantised},
    {"aten::q_zero_point(Tensor self) -> int", ZeroPointOfTensor, Takes::kQuantised},
    {"aten::q_per_channel_scales(Tensor self) -> Tensor", ScalesOfChannels, Takes::kQuantised},
    {"aten::q_per_channel_zero_points(Tensor self) -> Tensor", ZeroPointsOfChannels,
     Takes::kQuantised},
    {"aten::q_per_channel_axis(Tensor self) -> int", AxisOfChannels, Takes::kQuantised},
    {"aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) "
     "-> Tensor",
     MakePerTensor},
    {"aten::_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis) -> Tensor",
     MakePerChannel},
    {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int "
     "quant_min, int quant_max) -> Tensor",
     FakePerTensor},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, "
     "Tensor zero_point, int quant_min, int quant_max) -> Tensor",
     FakePerTensor},
    {"aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int "
     "zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     FakePerTensor},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor "
     "scale, Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) "
     "-> (Tensor output, Tensor mask)",
     FakePerTensor},
    {"aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
     FakePerTensor},
    {"aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max) -> Tensor",
     FakePerChannel},
    {"aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     FakePerChannel},
    {"aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
     FakePerChannel},
    {"quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     AddQuantised<false>, Takes::kQuantised},
    {"quantized::add.Scalar(Tensor qa, Scalar b) -> Tensor qc", AddScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::add.Scalar2(Scalar b, Tensor qa) -> Tensor qc", AddScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     AddQuantised<true>, Takes::kQuantised},
    {"quantized::add_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", AddScalarQuantised<true>,
     Takes::kQuantised},
    {"quantized::add_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", AddScalarQuantised<true>,
     Takes::kQuantised},
    {"quantized::mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     MultiplyQuantised<false>, Takes::kQuantised},
    {"quantized::mul.Scalar(Tensor qa, Scalar b) -> Tensor qc", MultiplyScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::mul.Scalar2(Scalar b, Tensor qa) -> Tensor qc", MultiplyScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     MultiplyQuantised<true>, Takes::kQuantised},
    {"quantized::mul_relu.Scalar(Tensor qa, Scalar b) -> Tensor qc", MultiplyScalarQuantised<true>,
     Takes::kQuantised},
    {"quantized::mul_relu.Scalar2(Scalar b, Tensor qa) -> Tensor qc", MultiplyScalarQuantised<true>,
     Takes::kQuantised},
    {"_quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     AddQuantised<false>, Takes::kQuantised},
    {"quantized::add_scalar(Tensor qa, Scalar b) -> Tensor qc", AddScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::add_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc", AddScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::add_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", AddScalarQuantised<true>,
     Takes::kQuantised},
    {"quantized::add_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     AddScalarQuantised<true>, Takes::kQuantised},
    {"quantized::mul_scalar(Tensor qa, Scalar b) -> Tensor qc", MultiplyScalarQuantised<false>,
     Takes::kQuantised},
    {"quantized::mul_scalar.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     MultiplyScalarQuantised<false>, Takes::kQuantised},
    {"quantized::mul_scalar_relu(Tensor qa, Scalar b) -> Tensor qc", MultiplyScalarQuantised<true>,
     Takes::kQuantised},
    {"quantized::mul_scalar_relu.Tensor(Tensor qa, Tensor b) -> Tensor qc",
     MultiplyScalarQuantised<true>, Takes::kQuantised},
    {"quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     MatmulQuantised, Takes::kQuantised},
    {"quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor",
     SigmoidQuantised, Takes::kQuantised},
    {"quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> "
     "Tensor",
     HardswishQuantised, Takes::kQuantised},
    {"quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float "
     "output_scale, int output_zero_point) -> Tensor",
     LeakyReluQuantised, Takes::kQuantised},
    {"quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar "
     "alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
     EluQuantised, Takes::kQuantised},
    {"quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar "
     "alpha=1) -> Tensor",
     CeluQuantised, Takes::kQuantised},
    {"quantized::softmax(Tensor qx, int dim, float output_scale, int output_zero_point) "
     "-> Tensor",
     SoftmaxQuantised, Takes::kQuantised},
    {"quantized::prelu(Tensor qx, Tensor weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     PReluQuantised, Takes::kQuantised},
    {"quantized::relu6(Tensor qx, bool inplace=False) -> Tensor", Relu6Quantised,
     Takes::kQuantised},
    {"quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", ClampQuantised,
     Takes::kQuantised},
    {"quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
     ThresholdQuantised, Takes::kQuantised},
    {"quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? "
     "bias, float eps, float output_scale, int output_zero_point) -> Tensor",
     LayerNormQuantised, Takes::kQuantised},
    {"quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, "
     "float eps, float output_scale, int output_zero_point) -> Tensor",
     GroupNormQuantised, Takes::kQuantised},
    {"quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, "
     "float output_scale, int output_zero_point) -> Tensor",
     InstanceNormQuantised, Takes::kQuantised},
    {"quantized::batch_norm(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor "
     "var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<false>, Takes::kQuantised},
    {"quantized::batch_norm1d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<false>, Takes::kQuantised},
    {"quantized::batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<false>, Takes::kQuantised},
    {"quantized::batch_norm3d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<false>, Takes::kQuantised},
    {"aten::quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<false>, Takes::kQuantised},
    {"quantized::batch_norm_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<true>, Takes::kQuantised},
    {"quantized::batch_norm1d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<true>, Takes::kQuantised},
    {"quantized::batch_norm2d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<true>, Takes::kQuantised},
    {"quantized::batch_norm3d_relu(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "
     "Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
     BatchNormQuantised<true>, Takes::kQuantised},
    {"quantized::dropout(Tensor self, float output_scale, int output_zero_point, Scalar "
     "p=0.5, bool training=False) -> Tensor",
     DropoutQuantised, Takes::kQuantised},
    {"quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
     CatQuantised<false>, Takes::kQuantised},
    {"quantized::cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
     CatQuantised<true>, Takes::kQuantised},
    {"quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, "
     "int[] dilation, bool ceil_mode) -> Tensor",
     MaxPoolQuantised<1>, Takes::kQuantised},
    {"quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, "
     "int[] dilation, bool ceil_mode) -> Tensor",
     MaxPoolQuantised<2>, Takes::kQuantised},
};

}  // namespace

OperatorTable QuantisedOperators() { return kQuantisedOperators; }

}  // namespace relayvm::import::torch
