// Normalisation and attention.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/attention.h"
#include "compiler/import/composite/normalise.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

namespace {

Outputs BatchNormalization(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, n.Input(0));
  // Keras 2 writes a list of one.
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  if (!b.status().ok()) return {};
  const bool scale = n.Bool("scale", true), centre = n.Bool("center", true);
  const Value gamma = scale ? n.Weight() : Value{}, beta = centre ? n.Weight() : Value{};
  const Value mean = n.Weight(), variance = n.Weight();
  if (!b.status().ok() || !mean.dim(0).is_const()) return {};
  const std::vector<int64_t> shape = {mean.dim(0).value()};
  const Value one = gamma ? gamma : b.Full(shape, 1, mean.dtype()),
              zero = beta ? beta : b.Full(shape, 0, mean.dtype());
  const std::vector<Value> all =
      b.Ops("nn.batch_norm", {x.As(mean.dtype()), one, zero, mean, variance},
            {{"axis", axis}, {"epsilon", n.Float("epsilon", 1e-3)}});
  return all.empty() ? Outputs{} : Outputs{all[0]};
}

// Weights of the axes, which follow each other, as they meet x.
Term AlongAxes(LayerContext& n, const Term& x, const std::vector<int64_t>& axes) {
  const Term w(n, n.Weight());
  return axes.empty() ? w : w.Expand(w.rank(), x.rank() - 1 - static_cast<int>(axes.back()));
}

Outputs LayerNormalization(LayerContext& n) {
  const Term x(n, n.Input(0));
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  std::sort(axes.begin(), axes.end());
  if (!n.b().status().ok()) return {};
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1)
      return n.Unsupported("axis: expected axes that follow each other");
  }
  const double epsilon = n.Float("epsilon", 1e-3);
  const bool rms = n.Bool("rms_scaling", false);
  const Term y = rms ? RmsNormOf(x, axes, epsilon).y : LayerNormOf(x, axes, epsilon).y;
  if (rms) return {y * AlongAxes(n, x, axes)};
  Term out = y;
  if (n.Bool("scale", true)) out = out * AlongAxes(n, x, axes);
  if (n.Bool("center", true)) out = out + AlongAxes(n, x, axes);
  return {out};
}

Outputs RmsNormalization(LayerContext& n) {
  const Term x(n, n.Input(0));
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  if (!n.b().status().ok()) return {};
  return {RmsNormOf(x, axes, n.Float("epsilon", 1e-6)).y * AlongAxes(n, x, axes)};
}

Outputs GroupNormalization(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, n.Input(0));
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  if (!b.status().ok()) return {};
  const Dim channels = x.value().dim(axis);
  if (!channels.is_const()) return n.Unsupported("the number of channels must be known");
  int64_t groups = n.Int("groups", 32);
  if (groups == -1) groups = channels.value();
  if (groups < 1 || channels.value() % groups != 0)
    return n.Fail("groups: {} does not divide {} channels", groups, channels.value());
  const Term first = x.Transpose(AxisMoved(x.rank(), axis, 1));
  const Term normal = GroupNormOf(first, groups, n.Float("epsilon", 1e-3));
  Term y = normal.Transpose(AxisMoved(x.rank(), 1, axis));
  if (n.Bool("scale", true)) y = y * Along(Term(n, n.Weight()), axis, x.rank());
  if (n.Bool("center", true)) y = y + Along(Term(n, n.Weight()), axis, x.rank());
  return {y};
}

Outputs UnitNormalization(LayerContext& n) {
  const Term x(n, n.Input(0));
  std::vector<int64_t> axes = n.Ints("axis", {-1});
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  const Term size = Sum(x * x, axes);
  return {x * Maximum(size, size.Number(1e-12)).Call("rsqrt")};
}

// --- Attention ---

// Inputs query, value and key, which may be left out; `additive`: of sums, not products.
Outputs Attention(LayerContext& n, bool additive) {
  TypedBuilder& b = n.b();
  const Term q(n, n.Input(0)), v(n, n.Input(1));
  const Term k = n.Has(2) ? Term(n, n.Input(2)) : v;
  n.keeps_mask = false;
  if (q.rank() != 3 || v.rank() != 3 || k.rank() != 3) return n.Fail("expected inputs of rank 3");
  const bool scaled = n.Bool("use_scale", additive);
  Term scores = q;
  if (additive) {
    Term sum = (q.Expand(2) + k.Expand(1)).Call("tanh");  // (batch, queries, keys, size)
    if (scaled) sum = sum * Term(n, n.Weight());
    scores = sum.Over("sum", {3}, false);
  } else if (n.String("score_mode", "dot") == "concat") {
    const bool weighs = scaled;
    Term scale = q.Number(1);
    if (weighs) scale = Term(n, n.Weight());
    const Term concat_weight(n, n.Weight());
    const Term sum = ((q.Expand(2) + k.Expand(1)) * scale).Call("tanh");
    scores = sum.Over("sum", {3}, false) * concat_weight;
  } else {
    scores = Term(b, MatMulOf(b, q, k.Transpose({0, 2, 1})));
    if (scaled) scores = scores * Term(n, n.Weight());
  }
  std::optional<Term> kept;
  if (n.Mask(1)) kept = Term(n, n.Mask(1)).Expand(1);
  const Json* named = n.site.named;
  const Json* causal = named == nullptr ? nullptr : Member(*named, "use_causal_mask");
  if ((causal != nullptr && causal->is_boolean() && causal->get<bool>()) ||
      n.Bool("causal", false)) {
    const Term seen = RangeOf(b, scores, 2) <= RangeOf(b, scores, 1).Expand(1);
    kept = kept ? And(*kept, seen) : seen.Expand(0);
  }
  if (kept) scores = scores - Select(*kept, scores.Number(0), scores.Number(1e9));
  const Term weights = scores.Call("nn.softmax", {{"axis", 2}});
  Term y(b, MatMulOf(b, weights, v));
  if (n.Mask(0)) y = y * Term(n, n.Mask(0)).As(y.dtype()).Expand(2);
  return {y};
}
Outputs DotAttention(LayerContext& n) { return Attention(n, false); }
Outputs AdditiveAttention(LayerContext& n) { return Attention(n, true); }

// x (batch, length, width) by a kernel (width, heads, size), with a bias: (batch, heads, length,
// size).
Term Projected(LayerContext& n, const Term& x, std::string_view part) {
  TypedBuilder& b = n.b();
  const Value kernel = n.Weight(part);
  if (!b.status().ok() || kernel.rank() != 3) return x;
  const Value flat = ShapedAs(b, kernel, {b.DimOf(kernel, 0), b.Ints({-1})});
  Term y(b, MatMulOf(b, x, flat));
  y = Term(b,
           ShapedAs(b, y, {b.DimOf(x, 0), b.DimOf(x, 1), b.DimOf(kernel, 1), b.DimOf(kernel, 2)}));
  if (n.Bool("use_bias", true)) y = y + Term(n, n.Weight(part));
  return y.Transpose({0, 2, 1, 3});
}

// Which scores count: of inputs' masks, of a mask that is given, and no later ones if asked.
std::optional<Term> KeptScores(LayerContext& n, const Term& q, const Term& k) {
  TypedBuilder& b = n.b();
  std::optional<Term> kept;
  const auto add = [&](const Term& more) { kept = kept ? And(*kept, more) : more; };
  if (n.Mask(0)) add(Term(n, n.Mask(0)).Expand(1).Expand(3));
  if (n.Mask(1)) add(Term(n, n.Mask(1)).Expand(1, 2));
  if (const Value given = n.Named("attention_mask")) {
    Term mask = Term(b, given).As(DType::kBool);
    if (mask.rank() == 3) mask = mask.Expand(1);
    add(mask);
  }
  const Json* named = n.site.named;
  const Json* causal = named == nullptr ? nullptr : Member(*named, "use_causal_mask");
  if (causal != nullptr && causal->is_boolean() && causal->get<bool>())
    add((RangeOf(b, k, 2) <= RangeOf(b, q, 2).Expand(1)).Expand(0, 2));
  return kept;
}

Outputs MultiHeadAttention(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term query(n, n.Input(0));
  const Value named_value = n.Named("value"), named_key = n.Named("key");
  const Term value(n, named_value ? named_value : n.Has(1) ? n.Input(1) : n.Input(0));
  const bool third = !named_key && n.Has(2) && (n.site.names.size() < 3 || n.site.names[2].empty());
  const Term key(n, named_key ? named_key : third ? n.Input(2) : value.value());
  if (query.rank() != 3 || value.rank() != 3 || key.rank() != 3)
    return n.Unsupported("attention over more than one axis");
  if (!n.IsNull("attention_axes") && n.Ints("attention_axes") != std::vector<int64_t>{1})
    return n.Unsupported("attention_axes: expected 1");
  // Weights come in this order, whatever is read first.
  const Term q = Projected(n, query, "query_dense"), k = Projected(n, key, "key_dense"),
             v = Projected(n, value, "value_dense");
  if (!b.status().ok() || q.rank() != 4) return {};
  AttentionSpec spec;
  const int64_t size = n.Int("key_dim", n.Int("head_dim", 1));
  spec.scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1)));
  spec.kept = KeptScores(n, q, k);
  const Term y =
      Attend(b, q, k, v, spec).y.Transpose({0, 2, 1, 3});  // (batch, length, heads, size)
  const Value kernel = n.Weight("output_dense");
  if (!b.status().ok() || kernel.rank() != 3) return n.Fail("expected an output kernel of rank 3");
  const Value joined = ShapedAs(b, y, {b.DimOf(y, 0), b.DimOf(y, 1), b.Ints({-1})});
  Term out(b, MatMulOf(b, joined, ShapedAs(b, kernel, {b.Ints({-1}), b.DimOf(kernel, 2)})));
  if (n.Bool("use_bias", true)) out = out + Term(n, n.Weight("output_dense"));
  return {out};
}

constexpr LayerDef kNormLayers[] = {
    {"AdditiveAttention", 2, 3, AdditiveAttention},
    {"Attention", 2, 3, DotAttention},
    {"BatchNormalization", 1, 1, BatchNormalization},
    {"GroupNormalization", 1, 1, GroupNormalization},
    {"GroupQueryAttention", 2, 4, MultiHeadAttention},
    {"GroupedQueryAttention", 2, 4, MultiHeadAttention},
    {"LayerNormalization", 1, 1, LayerNormalization},
    {"MultiHeadAttention", 1, 4, MultiHeadAttention},
    {"RMSNormalization", 1, 1, RmsNormalization},
    {"UnitNormalization", 1, 1, UnitNormalization},
};

}  // namespace

std::span<const LayerDef> NormLayers() { return kNormLayers; }

}  // namespace relayvm::import::keras
