// Products by packed weights: quantised layers, dynamic ones, tables of embeddings, and the plain
// weights of files for mobile devices.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/quantised.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/packed.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

Quantisation ResultMeaning(const Call& n, DType dtype) {
  const bool linear = n.schema().Find("Y_scale_i") >= 0;
  return {.scale = n.Number(linear ? "Y_scale_i" : "output_scale", DType::kFloat32),
          .zero_point = n.Number(linear ? "Y_zero_point_i" : "output_zero_point", DType::kInt32),
          .axis = -1,
          .dtype = dtype};
}

bool IsQuantised(const Call& n, const Argument& a, std::string_view what) {
  if (a.is_tensor() && a.quantised != nullptr) return true;
  n.Fail("{}: expected a quantised tensor", what);
  return false;
}

// --- Quantised layers ---

template <bool kRelu>
Results LinearQuantised(Call& n) {
  const auto p = ReadPackedLinear(n, "W_prepack");
  const Argument& x = n.Arg(size_t{0});
  if (!p || !IsQuantised(n, x, "the data") || !IsQuantised(n, p->weight, "the weights")) return {};
  const QuantisedSum sum = QuantisedLinear(n, x.value, *x.quantised, p->weight);
  return {QuantisedOutput(sum, p->bias, ResultMeaning(n, x.quantised->dtype), kRelu)};
}

// Data of a convolution of one dim as pictures of height 1: so its weights are packed.
struct ConvData {
  Value x;
  bool line = false, alone = false;
  Argument Off(Argument y, TypedBuilder& b) const {
    if (line) y.value = b.Squeeze(y.value, {2});
    if (alone) y.value = b.Squeeze(y.value, {0});
    return y;
  }
};
ConvData DataOf(TypedBuilder& b, Value x, const PackedConv& conv) {
  ConvData d{std::move(x)};
  const auto spatial = static_cast<int>(conv.window.spatial());
  const bool packed_line = spatial == 2 && d.x.rank() < 4 && conv.window.kernel[0] == 1;
  if (packed_line) {
    d.line = true;
    d.alone = d.x.rank() == 2;
    if (d.alone) d.x = b.ExpandDims(d.x, 0);
    d.x = b.ExpandDims(d.x, 2);
  } else if (d.x.rank() == spatial + 1) {
    d.alone = true;
    d.x = b.ExpandDims(d.x, 0);
  }
  return d;
}

const char* PackedName(const Call& n) {
  return n.schema().Find("packed_weight") >= 0 ? "packed_weight" : "weight";
}

template <bool kRelu>
Results ConvQuantised(Call& n) {
  const auto conv = ReadPackedConv(n, PackedName(n));
  const Argument& x = n.Arg(size_t{0});
  if (!conv || !IsQuantised(n, x, "the data") || !IsQuantised(n, conv->weight, "the weights"))
    return {};
  const ConvData data = DataOf(n, x.value, *conv);
  const auto sum = QuantisedConv(n, data.x, *x.quantised, *conv);
  if (!sum) return {};
  return {
      data.Off(QuantisedOutput(*sum, conv->bias, ResultMeaning(n, x.quantised->dtype), kRelu), n)};
}

// --- Dynamic ones: the data is quantised by its extremes ---

struct DynamicData {
  Value x;
  Quantisation q;
};
DynamicData Dynamically(const Call& n, const Term& x) {
  const double most = n.Bool("reduce_range") ? 127 : 255;
  const Term zero = x.Number(0);
  const Term low = Minimum(x.Call("min"), zero), high = Maximum(x.Call("max"), zero);
  const Term range = high - low;
  const Term scale = Select(range > 0, range / most, range.Number(0.1));
  const Term point = Clamp((-(low / scale)).Call("round_even"), zero, zero.Number(most));
  const Term steps = (x * (1.0 / scale)).Call("round_even") + point;
  const Term whole = Clamp(steps, zero, zero.Number(most)).As(DType::kUInt8);
  return {
      whole,
      {.scale = scale, .zero_point = point.As(DType::kInt32), .axis = -1, .dtype = DType::kUInt8}};
}

template <bool kRelu>
Results LinearDynamic(Call& n) {
  const auto p = ReadPackedLinear(n, "W_prepack");
  const Term x = Real(n);
  if (!p) return {};
  Term y = x;
  if (p->weight.quantised == nullptr) {
    // Weights of float16, whose products are made in float32.
    const Term w = Term(n, p->weight.value).As(DType::kFloat16).As(x.dtype());
    y = Term(n, MatMulOf(n, x, w.Transpose({1, 0})));
    if (p->bias) y = y + Term(n, p->bias).As(x.dtype());
  } else {
    const DynamicData d = Dynamically(n, x);
    y = NumbersOfSum(QuantisedLinear(n, d.x, d.q, p->weight), p->bias);
  }
  return {kRelu ? Maximum(y, y.Number(0)) : y};
}
Results ConvDynamic(Call& n) {
  const auto conv = ReadPackedConv(n, PackedName(n));
  if (!conv || !IsQuantised(n, conv->weight, "the weights")) return {};
  const DynamicData d = Dynamically(n, Real(n));
  const ConvData data = DataOf(n, d.x, *conv);
  const auto sum = QuantisedConv(n, data.x, d.q, *conv);
  if (!sum) return {};
  return {data.Off(NumbersOfSum(*sum, conv->bias), n)};
}

// --- Packing and unpacking ---

Results PackLinear(Call& n) { return {MakePackedLinear(n.Arg(size_t{0}), n.Arg(1))}; }
Results UnpackLinear(Call& n) {
  const auto p = ReadPackedLinear(n, n.schema().arguments[0].name);
  if (!p) return {};
  return {p->weight, p->bias ? Argument(p->bias) : Argument()};
}
template <bool kTransposed>
Results PackConv(Call& n) {
  const int rank = n.Arg(size_t{0}).value.rank();
  const size_t spatial = n.name().find("1d") != std::string_view::npos
                             ? 1
                             : static_cast<size_t>(std::max(rank - 2, 1));
  std::vector<int64_t> strides = n.Ints("stride", spatial, 1),
                       padding = n.Ints("padding", spatial, 0),
                       dilations = n.Ints("dilation", spatial, 1),
                       output = kTransposed ? n.Ints("output_padding", spatial, 0)
                                            : std::vector<int64_t>(spatial, 0);
  return {MakePackedConv(n.Arg(size_t{0}), n.Arg("bias"), strides, padding, dilations, output,
                         n.Int("groups", 1), kTransposed)};
}
Results UnpackConv(Call& n) {
  const auto p = ReadPackedConv(n, n.schema().arguments[0].name);
  if (!p) return {};
  return {p->weight, p->bias ? Argument(p->bias) : Argument()};
}

// --- Tables ---

// Rows of a packed table as numbers.
std::optional<Argument> PackedTable(const Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (a.is_tensor()) return a;
  const Argument* state = a.is(Kind::kObject) && a.object != nullptr ? &a.object->state : nullptr;
  if (state == nullptr || state->items.size() < 2 || state->items[1].items.empty() ||
      !state->items[1].items[0].is_tensor() || state->items[1].items[0].value.rank() != 2) {
    return n.Fail("expected packed weights, found {}", KindText(a));
  }
  return state->items[1].items[0];
}
Results EmbeddingPacked(Call& n) {
  TypedBuilder& b = n.b();
  const auto table = PackedTable(n);
  if (!table) return {};
  const Term indices = Term(n, 1).As(DType::kInt64);
  const Value places = Below({n, 1, "indices"}, indices, b.DimOf(table->value, 0));
  Argument rows(Term(b, table->value).Take(places, 0));
  if (table->quantised == nullptr) return {rows};
  const Quantisation& q = *table->quantised;
  const auto taken = [&](const Value& v) {
    const Term all(b, v);
    return all.rank() == 0 ? all : all.Take(places, 0).Expand(indices.rank());
  };
  const Term zero = taken(q.zero_point).As(DType::kFloat32);
  return {(Term(b, rows.value).As(DType::kFloat32) - zero) * taken(q.scale)};
}
Results EmbeddingBagPacked(Call& n) {
  TypedBuilder& b = n.b();
  const auto table = PackedTable(n);
  if (!table) return {};
  if (n.Has("compressed_indices_mapping") && n.Bool("pruned_weights"))
    return n.Unsupported("pruned weights are not supported");
  Argument offsets = n.Arg("offsets"), indices = n.Arg("indices");
  if (indices.value.rank() == 2) {
    // A bag for each row.
    const Term count = Extent(b, indices.value, 0), each = Extent(b, indices.value, 1);
    offsets = Argument(Range(count) * each);
    indices = Argument(b.Reshape(indices.value, {-1}));
  }
  const Term numbers(b, NumbersOf(b, *table));
  return {n.ValueAs(
      "aten::embedding_bag",
      {Argument(numbers), indices, offsets, Argument::Bool(false), n.Arg("mode"),
       Argument::Bool(false), n.Arg("per_sample_weights"), n.Arg("include_last_offset")})};
}
Results PackEmbedding(Call& n) {
  auto object = std::make_shared<Object>();
  object->type = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase";
  object->state = Argument::Tuple({Argument::Int(1), Argument::List({n.Arg(size_t{0})})});
  return {Argument::OfObject(std::move(object))};
}
Results UnpackEmbedding(Call& n) {
  const auto table = PackedTable(n);
  if (!table) return {};
  return {*table};
}

// --- Mobile files: weights as they are, and limits of the results ---

// The state of a context: weight, bias, numbers by the class, and the two limits.
const Argument* ContextOf(const Call& n, size_t items) {
  const Argument& a = n.Arg(1);
  if (a.is(Kind::kObject) && a.object != nullptr && a.object->state.items.size() == items)
    return &a.object->state;
  n.Fail("expected packed weights of {} parts, found {}", items, KindText(a));
  return nullptr;
}
Argument Limited(TypedBuilder& b, const Value& v, const Argument& low, const Argument& high) {
  Term y(b, v);
  if (low.is_known_number()) y = Maximum(y, y.Number(low.number()));
  if (high.is_known_number()) y = Minimum(y, y.Number(high.number()));
  return y;
}
Results LinearClamp(Call& n) {
  const Argument* s = ContextOf(n, 4);
  if (s == nullptr) return {};
  const auto& parts = s->items;
  return {Limited(n, n.ValueAs("aten::linear", {n.Arg(size_t{0}), parts[0], parts[1]}), parts[2],
                  parts[3])};
}
Results ConvClamp(Call& n) {
  const Argument* s = ContextOf(n, 8);
  if (s == nullptr) return {};
  const auto& p = s->items;
  return {Limited(n,
                  n.ValueAs("aten::conv2d", {n.Arg(size_t{0}), p[0], p[1], p[2], p[3], p[4], p[5]}),
                  p[6], p[7])};
}
Results ConvTransposeClamp(Call& n) {
  const Argument* s = ContextOf(n, 9);
  if (s == nullptr) return {};
  const auto& p = s->items;
  return {Limited(n,
                  n.ValueAs("aten::conv_transpose2d",
                            {n.Arg(size_t{0}), p[0], p[1], p[2], p[3], p[4], p[6], p[5]}),
                  p[7], p[8])};
}
// The arguments in the order of the class's state: that of the schema.
Results PackContext(Call& n) {
  std::vector<Argument> parts;
  for (size_t i = 0; i < n.size(); ++i) parts.push_back(n.Arg(i));
  auto object = std::make_shared<Object>();
  object->type = "__torch__.torch.classes.xnnpack.OpContext";
  object->state = Argument::Tuple(std::move(parts));
  return {Argument::OfObject(std::move(object))};
}

constexpr OperatorDef kQuantisedProductOperators[] = {
    {"quantized::linear(Tensor X, Any W_prepack, float Y_scale_i, int Y_zero_point_i) -> "
     "Tensor Y",
     LinearQuantised<false>, Takes::kQuantised},
    {"quantized::linear_relu(Tensor X, Any W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     LinearQuantised<true>, Takes::kQuantised},
    {"_quantized::linear(Tensor X, Any W_prepack, float Y_scale_i, int Y_zero_point_i) -> "
     "Tensor Y",
     LinearQuantised<false>, Takes::kQuantised},
    {"quantized::conv1d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv1d_relu(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"quantized::conv2d.new(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv2d(Tensor qx, Any weight, int[] stride, int[] padding, int[] "
     "dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv2d_relu.new(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"quantized::conv2d_relu(Tensor qx, Any weight, int[] stride, int[] padding, int[] "
     "dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"quantized::conv3d.new(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv3d(Tensor qx, Any weight, int[] stride, int[] padding, int[] "
     "dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv3d_relu.new(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"quantized::conv3d_relu(Tensor qx, Any weight, int[] stride, int[] padding, int[] "
     "dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"_quantized::conv2d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"_quantized::conv2d_relu(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"_quantized::conv3d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"_quantized::conv3d_relu(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<true>, Takes::kQuantised},
    {"quantized::conv_transpose1d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv_transpose2d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::conv_transpose3d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"_quantized::conv_transpose1d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"_quantized::conv_transpose2d(Tensor qx, Any packed_weight, float output_scale, int "
     "output_zero_point) -> Tensor",
     ConvQuantised<false>, Takes::kQuantised},
    {"quantized::linear_dynamic(Tensor X, Any W_prepack, bool reduce_range=False) -> "
     "Tensor Y",
     LinearDynamic<false>, Takes::kQuantised},
    {"quantized::linear_relu_dynamic(Tensor X, Any W_prepack, bool reduce_range=False) -> "
     "Tensor Y",
     LinearDynamic<true>, Takes::kQuantised},
    {"quantized::linear_dynamic_fp16(Tensor X, Any W_prepack) -> Tensor Y", LinearDynamic<false>,
     Takes::kQuantised},
    {"quantized::linear_relu_dynamic_fp16(Tensor X, Any W_prepack) -> Tensor Y",
     LinearDynamic<true>, Takes::kQuantised},
    {"_quantized::linear_dynamic(Tensor X, Any W_prepack, bool reduce_range=False) -> "
     "Tensor Y",
     LinearDynamic<false>, Takes::kQuantised},
    {"quantized::conv1d_dynamic(Tensor qx, Any packed_weight, bool reduce_range=False) -> "
     "Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::conv2d_dynamic(Tensor qx, Any packed_weight, bool reduce_range=False) -> "
     "Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::conv3d_dynamic(Tensor qx, Any packed_weight, bool reduce_range=False) -> "
     "Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::conv_transpose1d_dynamic(Tensor qx, Any packed_weight, bool "
     "reduce_range=False) -> Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::conv_transpose2d_dynamic(Tensor qx, Any packed_weight, bool "
     "reduce_range=False) -> Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::conv_transpose3d_dynamic(Tensor qx, Any packed_weight, bool "
     "reduce_range=False) -> Tensor",
     ConvDynamic, Takes::kQuantised},
    {"quantized::linear_prepack(Tensor W, Tensor? B=None) -> Any W_prepack", PackLinear,
     Takes::kQuantised},
    {"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> Any W_prepack", PackLinear,
     Takes::kQuantised},
    {"_quantized::linear_prepack(Tensor W, Tensor? B=None) -> Any W_prepack", PackLinear,
     Takes::kQuantised},
    {"quantized::linear_unpack(Any W_prepack) -> (Tensor W_origin, Tensor? B_origin)", UnpackLinear,
     Takes::kQuantised},
    {"quantized::linear_unpack.legacy(Tensor W_prepack) -> (Tensor W_origin, Tensor? "
     "B_origin)",
     UnpackLinear, Takes::kQuantised},
    {"quantized::linear_unpack_fp16(Any W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
     UnpackLinear, Takes::kQuantised},
    {"quantized::linear_unpack_fp16.legacy(Tensor W_prepack) -> (Tensor W_origin, Tensor? "
     "B_origin)",
     UnpackLinear, Takes::kQuantised},
    {"quantized::conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
     "int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"quantized::conv1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
     "int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
     "int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"quantized::conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
     "int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"quantized::conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, "
     "int[] padding, int[] output_padding, int[] dilation, int groups) -> Any",
     PackConv<true>, Takes::kQuantised},
    {"quantized::conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, "
     "int[] padding, int[] output_padding, int[] dilation, int groups) -> Any",
     PackConv<true>, Takes::kQuantised},
    {"quantized::conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, "
     "int[] padding, int[] output_padding, int[] dilation, int groups) -> Any",
     PackConv<true>, Takes::kQuantised},
    {"_quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
     "padding, int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"_quantized::conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] "
     "padding, int[] dilation, int groups) -> Any",
     PackConv<false>, Takes::kQuantised},
    {"quantized::conv_unpack(Any packed_weights) -> (Tensor unpacked_weights, Tensor? "
     "B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv1d_unpack(Any packed_weights) -> (Tensor unpacked_weights, Tensor? "
     "B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv2d_unpack(Any packed_weights) -> (Tensor unpacked_weights, Tensor? "
     "B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv3d_unpack(Any packed_weights) -> (Tensor unpacked_weights, Tensor? "
     "B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv_transpose1d_unpack(Any packed_weights) -> (Tensor unpacked_weights, "
     "Tensor? B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv_transpose2d_unpack(Any packed_weights) -> (Tensor unpacked_weights, "
     "Tensor? B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::conv_transpose3d_unpack(Any packed_weights) -> (Tensor unpacked_weights, "
     "Tensor? B_origin)",
     UnpackConv, Takes::kQuantised},
    {"quantized::embedding_byte(Any weight, Tensor indices, bool pruned_weights=False) -> "
     "Tensor",
     EmbeddingPacked, Takes::kQuantised},
    {"quantized::embedding_4bit(Any weight, Tensor indices, bool pruned_weights=False) -> "
     "Tensor",
     EmbeddingPacked, Takes::kQuantised},
    {"quantized::embedding_bag_byte(Any weight, Tensor indices, Tensor? offsets=None, "
     "bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? "
     "per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool "
     "include_last_offset=False) -> Tensor",
     EmbeddingBagPacked, Takes::kQuantised},
    {"quantized::embedding_bag_4bit(Any weight, Tensor indices, Tensor? offsets=None, "
     "bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? "
     "per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool "
     "include_last_offset=False) -> Tensor",
     EmbeddingBagPacked, Takes::kQuantised},
    {"quantized::embedding_bag_prepack(Tensor weight) -> Any W_prepack", PackEmbedding,
     Takes::kQuantised},
    {"quantized::embedding_bag_unpack(Any W_prepack) -> Tensor W_origin", UnpackEmbedding,
     Takes::kQuantised},
    {"prepacked::linear_clamp_run(Tensor X, Any W_prepack) -> Tensor Y", LinearClamp},
    {"prepacked::conv2d_clamp_run(Tensor X, Any W_prepack) -> Tensor Y", ConvClamp},
    {"prepacked::conv2d_transpose_clamp_run(Tensor X, Any W_prepack) -> Tensor Y",
     ConvTransposeClamp},
    {"prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, Scalar? output_min=None, "
     "Scalar? output_max=None) -> Any",
     PackContext},
    {"prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, "
     "int[2] dilation, int groups, Scalar? output_min=None, Scalar? output_max=None) -> "
     "Any",
     PackContext},
    {"prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] stride, "
     "int[2] padding, int[2] output_padding, int[2] dilation, int groups, Scalar? "
     "output_min=None, Scalar? output_max=None) -> Any",
     PackContext},
};

}  // namespace

OperatorTable QuantisedProductOperators() { return kQuantisedProductOperators; }

}  // namespace relayvm::import::torch
