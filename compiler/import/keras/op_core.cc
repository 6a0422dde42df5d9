// Products, activations, shapes, merges, and what does nothing when a model only runs.
#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/activations.h"
#include "compiler/import/keras/model_builder.h"
#include "compiler/import/keras/operands.h"

namespace relayvm::import::keras {

namespace {

Outputs Same(LayerContext& n) { return {n.Input(0)}; }

// --- Products ---

// What a policy of quantised weights is called ("int8"); empty: they are real numbers.
std::string QuantisedMode(LayerContext& n) {
  const Json* dtype = n.Setting("dtype");
  const Json* config = dtype == nullptr ? nullptr : Member(*dtype, "config");
  if (config == nullptr) return "";
  const std::string mode = TextAt(*config, "mode"), name = TextAt(*config, "name");
  const size_t from = name.find("_from_");
  return !mode.empty() ? mode : from == std::string::npos ? "" : name.substr(0, from);
}
// False with an error.
bool AreReal(LayerContext& n) {
  const std::string mode = QuantisedMode(n);
  if (!mode.empty()) n.Unsupported("weights that are quantised as {} are not supported", mode);
  return mode.empty();
}

// Bytes times bytes: rows of x are rounded to 127 steps of what is greatest in them, weights come
// with a scale for each column.
Outputs ByteDense(LayerContext& n) {
  const Term x(n, n.Real(0));
  const Term kernel = Term(n, n.Weight()).As(DType::kFloat32);
  std::optional<Term> bias;
  if (n.Bool("use_bias", true)) bias = Term(n, n.Weight());
  const Term of_kernel = Term(n, n.Weight()).As(DType::kFloat32);
  const Term wide = x.As(DType::kFloat32);
  const Term of_x = 127.0 / (Max(Abs(wide), {x.rank() - 1}) + 1e-7);
  const Term steps = (wide * of_x).Call("round_even");
  const Term bytes = Clamp(steps, wide.Number(-127), wide.Number(127));
  Term y = (Term(n, MatMulOf(n, bytes, kernel)) / (of_kernel * of_x)).As(x.dtype());
  if (bias) y = y + *bias;
  return {n.Activated(y)};
}

Outputs Dense(LayerContext& n) {
  if (QuantisedMode(n) == "int8" && n.IsNull("lora_rank")) return ByteDense(n);
  if (!AreReal(n)) return {};
  Term y(n, MatMulOf(n, n.Real(0), n.Weight()));
  if (n.Bool("use_bias", true)) y = y + Term(n, n.Weight());
  return {n.Activated(y)};
}

// "...x,xy->...y": the ellipsis and batch letters are the data's.
Outputs EinsumDense(LayerContext& n) {
  if (!AreReal(n)) return {};
  const Value kernel = n.Weight();
  Term y(n, n.b().Op("einsum", {n.b().Tuple({n.Real(0), kernel})},
                     {{"equation", n.String("equation", "")}}));
  if (!n.IsNull("bias_axes")) y = y + Term(n, n.Weight());
  return {n.Activated(y)};
}

Outputs Embedding(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::string mode = QuantisedMode(n);
  if (mode != "int8" && !AreReal(n)) return {};
  const Value table = n.Weight();
  const Term ids = Term(n, n.Input(0)).As(DType::kInt32);
  if (n.Bool("mask_zero", false)) n.result_mask = b.Op("not_equal", {ids, ids.Number(0)});
  n.keeps_mask = false;
  const Value places = Below({b, ids, "indices"}, ids, b.DimOf(table, 0));
  const Term rows = Term(b, table).Take(places, 0);
  if (mode != "int8") return {rows};
  const Term scales = Term(n, n.Weight()).Take(places, 0);
  return {(rows.As(DType::kFloat32) / scales.Expand(scales.rank()))
              .As(n.ComputeDType().value_or(DType::kFloat32))};
}
// An embedding, or with `reverse` the scores of its rows.
Outputs ReversibleEmbedding(LayerContext& n) {
  const Json* reverse = n.Setting("reverse");
  if (reverse == nullptr || !reverse->is_boolean() || !reverse->get<bool>()) return Embedding(n);
  if (!AreReal(n)) return {};
  Term kernel = Term(n, n.Weight());
  if (!n.Bool("tie_weights", true)) {
    kernel = Term(n, n.Weight());
  } else if (kernel.rank() == 2) {
    kernel = kernel.Transpose({1, 0});
  }
  Term y(n, MatMulOf(n, n.Real(0), kernel));
  if (n.IsNull("logit_soft_cap")) return {y};
  const double cap = n.Float("logit_soft_cap", 1);
  return {(y / cap).Call("tanh") * cap};
}

Outputs Masking(LayerContext& n) {
  const Term x(n, n.Input(0));
  const Term other(n, n.b().Op("not_equal", {x, x.Number(n.Float("mask_value", 0))}));
  const Term kept = other.Over("any", {x.rank() - 1});
  n.result_mask = n.b().Squeeze(kept, {x.rank() - 1});
  return {x * kept.As(x.dtype())};
}

// --- Activations ---

Outputs Activation(LayerContext& n) { return {n.Activated(Term(n, n.Input(0)))}; }

Outputs ReluLayer(LayerContext& n) {
  const Term x(n, n.Input(0));
  const double slope = n.Float("negative_slope", 0), threshold = n.Float("threshold", 0);
  Term y = x;
  if (slope == 0 && threshold == 0) {
    y = FindActivation("relu")->apply(x, 0, 0);
  } else {
    y = Select(x >= threshold, x, (x - threshold) * slope);
  }
  if (!n.IsNull("max_value")) y = Minimum(y.Number(n.Float("max_value", 0)), y);
  return {y};
}
Outputs LeakyRelu(LayerContext& n) {
  const double slope =
      n.IsNull("negative_slope") ? n.Float("alpha", 0.3) : n.Float("negative_slope", 0.3);
  return {FindActivation("leakyrelu")->apply(Term(n, n.Input(0)), slope, 0)};
}
Outputs EluLayer(LayerContext& n) {
  return {FindActivation("elu")->apply(Term(n, n.Input(0)), n.Float("alpha", 1), 0)};
}
Outputs PRelu(LayerContext& n) {
  const Term x(n, n.Input(0)), slope(n, n.Weight());
  return {Select(x > 0, x, x * slope)};
}
Outputs ThresholdedRelu(LayerContext& n) {
  return {FindActivation("thresholdedrelu")->apply(Term(n, n.Input(0)), n.Float("theta", 1), 0)};
}
Outputs SoftmaxLayer(LayerContext& n) {
  Term x(n, n.Real(0));
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  if (n.Mask()) {
    const double most = x.dtype() == DType::kFloat16 ? 65504 : 1e9;
    x = x - Select(Term(n, n.Mask()), x.Number(0), x.Number(most));
  }
  if (axes.size() == 1) return {x.Call("nn.softmax", {{"axis", axes[0]}})};
  const Term power = Exp(x - Max(x, axes));
  return {power / Sum(power, axes)};
}

// --- Shapes ---

// The data's other dims follow `first` ones; -1 is what is left.
Outputs ReshapeLayer(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  n.keeps_mask = false;
  std::vector<Value> dims = {b.DimOf(x, 0)};
  std::vector<int64_t> target = n.Ints("target_shape");
  // With a batch that is open there may be no second open dim: it is computed where it can be.
  const auto rest = std::find(target.begin(), target.end(), -1);
  int64_t total = 1, known = 1;
  bool fixed = true;
  for (int i = 1; i < x.rank(); ++i) {
    fixed &= x.dim(i).is_const();
    if (fixed) total *= x.dim(i).value();
  }
  for (const int64_t d : target) {
    if (d < -1 || d > INT32_MAX || known > (int64_t{1} << 40))
      return n.Fail("target_shape: out of range");
    if (d != -1) known *= std::max<int64_t>(d, 1);
  }
  if (rest != target.end() && fixed && total % known == 0) *rest = total / known;
  dims.push_back(b.Ints(target));
  return {ShapedAs(b, x, dims)};
}

Outputs Flatten(LayerContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  n.keeps_mask = false;
  if (x.rank() == 1) return {b.ExpandDims(x, 1)};
  if (!n.ChannelsLast() && x.rank() > 2) x = b.Transpose(x, AxisMoved(x.rank(), 1, x.rank() - 1));
  return {ShapedAs(b, x, {b.DimOf(x, 0), ProductOfDims(b, x, 1, x.rank())})};
}

Outputs Permute(LayerContext& n) {
  std::vector<int64_t> axes = n.Ints("dims");
  axes.insert(axes.begin(), 0);
  n.keeps_mask = false;
  return {n.b().Transpose(n.Input(0), axes)};
}

Outputs RepeatVector(LayerContext& n) {
  const int64_t count = n.Int("n", 1);
  if (count < 0 || count > INT32_MAX) return n.Fail("n: expected 0 or more");
  n.keeps_mask = false;
  return {n.b().Op("repeat", {n.b().ExpandDims(n.Input(0), 1)}, {{"repeats", count}, {"axis", 1}})};
}

// --- Merges: shapes of lower rank get dims of 1 behind the batch ---

std::vector<Term> Aligned(LayerContext& n) {
  int rank = 0;
  for (const Value& v : n.inputs()) rank = std::max(rank, v.rank());
  std::vector<Term> all;
  for (const Value& v : n.inputs()) {
    const bool shorter = v.rank() > 0 && v.rank() < rank;
    all.emplace_back(n, shorter ? n.b().ExpandDims(v, 1, rank - v.rank()) : v);
  }
  return all;
}
// Which steps of a merge count: in Keras 3 those that count in any, if all have masks; in Keras 2
// those that count in all that have one.
void MergeMasks(LayerContext& n) {
  const bool newer = n.model().version >= 3;
  n.keeps_mask = false;
  if (newer && std::ranges::any_of(n.masks, [](const Value& m) { return !m; })) return;
  for (const Value& m : n.masks) {
    if (!m) continue;
    const Term more(n, m);
    n.result_mask = !n.result_mask ? m
                    : newer        ? Or({n, n.result_mask}, more).value()
                                   : And({n, n.result_mask}, more).value();
  }
}
template <Term (*kApply)(const Term&, const Term&)>
Outputs Merge(LayerContext& n) {
  const std::vector<Term> all = Aligned(n);
  MergeMasks(n);
  Term y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = kApply(y, all[i]);
  return {y};
}
Term Plus(const Term& x, const Term& y) { return x + y; }
Term Minus(const Term& x, const Term& y) { return x - y; }
// In Keras 3 what does not count is 1, and 0 where nothing counts.
Outputs MultiplyLayer(LayerContext& n) {
  std::vector<Term> all = Aligned(n);
  MergeMasks(n);
  const auto spread = [](const Term& mask, const Term& x) {
    return mask.Expand(mask.rank(), x.rank() - mask.rank());
  };
  for (size_t i = 0; i < all.size() && n.model().version >= 3; ++i) {
    const Value mask = n.Mask(i);
    if (mask && mask.rank() <= all[i].rank())
      all[i] = Select(spread({n, mask}, all[i]), all[i], all[i].Number(1));
  }
  Term y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = y * all[i];
  if (n.model().version < 3 || !n.result_mask) return {y};
  return {Select(spread({n, n.result_mask}, y), y, y.Number(0))};
}
Outputs AverageLayer(LayerContext& n) {
  const Term sum(n, Merge<Plus>(n)[0]);
  const auto count = static_cast<double>(n.num_inputs());
  return {IsFloat(sum.dtype()) ? sum / count : sum.As(DType::kFloat64) / count};
}

Outputs Concatenate(LayerContext& n) {
  const int axis = n.Axis(n.Int("axis", -1), n.Input(0).rank());
  n.keeps_mask = false;
  if (std::ranges::any_of(n.masks, [](const Value& m) { return static_cast<bool>(m); })) {
    // All elements of an input without a mask count; a step counts where all that meet do.
    std::vector<Value> parts;
    for (size_t i = 0; i < n.num_inputs(); ++i) {
      const Term ones = Term(n, n.Input(i)).Call("ones_like").As(DType::kBool);
      const Value mask = n.Mask(i);
      parts.push_back(mask ? And(ones, Term(n, mask).Expand(mask.rank(), ones.rank() - mask.rank()))
                           : ones);
    }
    const Term all(n, n.b().Concat(parts, axis));
    n.result_mask = all.Over("all", {all.rank() - 1}, false);
  }
  return {n.b().Concat(n.inputs(), axis)};
}

// Products along an axis of each, per batch.
Outputs DotLayer(LayerContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, n.Input(0)), y(n, n.Input(1));
  n.keeps_mask = false;
  std::vector<int64_t> axes = n.Ints("axes");
  if (axes.size() == 1) axes.push_back(axes[0]);
  if (axes.size() != 2) return n.Fail("axes: expected one or two");
  const int ax = n.Axis(axes[0], x.rank()), ay = n.Axis(axes[1], y.rank());
  if (!b.status().ok()) return {};
  if (n.Bool("normalize", false)) {
    const auto unit = [](const Term& v, int axis) {
      const Term size = Sum(v * v, {axis});
      return v * Maximum(size, size.Number(1e-12)).Call("rsqrt");
    };
    x = unit(x, ax), y = unit(y, ay);
  }
  // (batch, rest of x, k) times (batch, k, rest of y).
  const int rx = x.rank(), ry = y.rank();
  const Term left = x.Transpose(AxisMoved(rx, ax, rx - 1)),
             right = y.Transpose(AxisMoved(ry, ay, 1));
  std::vector<Value> dims;
  for (int i = 0; i + 1 < rx; ++i) dims.push_back(b.DimOf(left, i));
  for (int i = 2; i < ry; ++i) dims.push_back(b.DimOf(right, i));
  const Value rows = ProductOfDims(b, left, 1, rx - 1), columns = ProductOfDims(b, right, 2, ry);
  const Value l = ShapedAs(b, left, {b.DimOf(left, 0), rows, b.DimOf(left, rx - 1)});
  const Value r = ShapedAs(b, right, {b.DimOf(right, 0), b.DimOf(right, 1), columns});
  if (dims.size() == 1) dims.push_back(b.Ints({1}));
  return {ShapedAs(b, MatMulOf(b, l, r), dims)};
}

constexpr LayerDef kCoreLayers[] = {
    {"Activation", 1, 1, Activation},
    {"ActivityRegularization", 1, 1, Same},
    {"Add", 1, -1, Merge<Plus>},
    {"AlphaDropout", 1, 1, Same},
    {"Average", 1, -1, AverageLayer},
    {"Concatenate", 1, -1, Concatenate},
    {"Dense", 1, 1, Dense},
    {"Dot", 2, 2, DotLayer},
    {"Dropout", 1, 1, Same},
    {"ELU", 1, 1, EluLayer},
    {"EinsumDense", 1, 1, EinsumDense},
    {"Embedding", 1, 1, Embedding},
    {"Flatten", 1, 1, Flatten},
    {"GaussianDropout", 1, 1, Same},
    {"GaussianNoise", 1, 1, Same},
    {"Identity", 1, 1, Same},
    {"InputLayer", 1, 1, Same},
    {"LeakyReLU", 1, 1, LeakyRelu},
    {"Masking", 1, 1, Masking},
    {"Maximum", 1, -1, Merge<Larger>},
    {"Minimum", 1, -1, Merge<Smaller>},
    {"Multiply", 1, -1, MultiplyLayer},
    {"PReLU", 1, 1, PRelu},
    {"Permute", 1, 1, Permute},
    {"ReLU", 1, 1, ReluLayer},
    {"RepeatVector", 1, 1, RepeatVector},
    {"Reshape", 1, 1, ReshapeLayer},
    {"ReversibleEmbedding", 1, 1, ReversibleEmbedding},
    {"Softmax", 1, 2, SoftmaxLayer},
    {"SpatialDropout1D", 1, 1, Same},
    {"SpatialDropout2D", 1, 1, Same},
    {"SpatialDropout3D", 1, 1, Same},
    {"Subtract", 1, 2, Merge<Minus>},
    {"ThresholdedReLU", 1, 1, ThresholdedRelu},
};

}  // namespace

std::span<const LayerDef> CoreLayers() { return kCoreLayers; }

}  // namespace relayvm::import::keras
