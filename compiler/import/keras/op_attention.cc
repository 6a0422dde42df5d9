// Attention. Scores are (batch.., queries, keys), of several heads (batch, heads, queries, keys).
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/attention.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

namespace {

bool CallSays(LayerContext& n, std::string_view key) {
  const Json* v = n.site.named == nullptr ? nullptr : Member(*n.site.named, key);
  return v != nullptr && v->is_boolean() && v->get<bool>();
}
// Inputs that are no masks, in order: query, value, key; and the masks that they bring.
struct Sources {
  Value query, value, key;
  Value query_mask, value_mask, key_mask;
};
Sources SourcesOf(LayerContext& n) {
  Sources s;
  const auto take = [&](Value& to, Value& mask, size_t i) {
    to = n.Input(i);
    mask = n.Mask(i);
  };
  const auto name = [&](size_t i) {
    return i < n.site.names.size() ? std::string_view(n.site.names[i]) : std::string_view();
  };
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    if (name(i) == "query") take(s.query, s.query_mask, i);
    if (name(i) == "value") take(s.value, s.value_mask, i);
    if (name(i) == "key") take(s.key, s.key_mask, i);
  }
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    if (!name(i).empty() || !n.Input(i)) continue;
    if (!s.query) {
      take(s.query, s.query_mask, i);
    } else if (!s.value) {
      take(s.value, s.value_mask, i);
    } else {
      take(s.key, s.key_mask, i);
    }
  }
  if (!s.value) s.value = s.query;
  if (!s.key) s.key = s.value;
  return s;
}
// No key after its query: (queries, keys).
Term Seen(TypedBuilder& b, const Term& q, const Term& k) {
  return RangeOf(b, k, k.rank() - 2) <= RangeOf(b, q, q.rank() - 2).Expand(1);
}

// --- Of tensors as they are ---

Outputs Attention(LayerContext& n, bool additive) {
  TypedBuilder& b = n.b();
  const Sources s = SourcesOf(n);
  const Term q(n, s.query), v(n, s.value), k(n, s.key);
  const int rank = q.rank();
  n.keeps_mask = false;
  if (rank < 3 || v.rank() != rank || k.rank() != rank)
    return n.Fail("expected inputs of one rank, 3 or more");
  const bool scaled = n.Bool("use_scale", additive);
  const auto pairs = [&] { return q.Expand(rank - 1) + k.Expand(rank - 2); };
  Term scores = q;
  if (additive) {
    Term sum = pairs().Call("tanh");
    if (scaled) sum = sum * Term(n, n.Weight());
    scores = sum.Over("sum", {rank}, false);
  } else if (n.String("score_mode", "dot") == "concat") {
    Term sum = pairs();
    if (scaled) sum = sum * Term(n, n.Weight());
    const Term weight(n, n.Weight());
    scores = sum.Call("tanh").Over("sum", {rank}, false) * weight;
  } else {
    scores = Term(b, MatMulOf(b, q, k.Transpose(AxisMoved(rank, rank - 1, rank - 2))));
    if (scaled) scores = scores * Term(n, n.Weight());
  }
  if (!b.status().ok()) return {};
  std::optional<Term> kept;
  if (n.Mask(1)) kept = Term(n, n.Mask(1)).As(DType::kBool).Expand(n.Mask(1).rank() - 1);
  if (CallSays(n, "use_causal_mask") || n.Bool("causal", false)) {
    const Term seen = Seen(b, q, k);
    kept = kept ? And(*kept, seen) : seen.Expand(0, rank - 2);
  }
  if (kept) {
    const double most = scores.dtype() == DType::kFloat16 ? 65504 : 1e9;
    scores = scores - Select(*kept, scores.Number(0), scores.Number(most));
  }
  const Term weights = scores.Call("nn.softmax", {{"axis", rank - 1}});
  Term y(b, MatMulOf(b, weights, v));
  if (n.Mask(0)) {
    const Term counts = Term(n, n.Mask(0)).As(y.dtype());
    y = y * counts.Expand(counts.rank(), rank - counts.rank());
    n.result_mask = n.Mask(0);
  }
  if (CallSays(n, "return_attention_scores")) return {y, weights};
  return {y};
}
Outputs DotAttention(LayerContext& n) { return Attention(n, false); }
Outputs AdditiveAttention(LayerContext& n) { return Attention(n, true); }

// --- Of several heads ---

// x (batch, dims.., width) by a kernel (width, heads, size), with a bias: (batch, dims.., heads,
// size).
Term Projected(LayerContext& n, const Term& x, std::string_view part) {
  TypedBuilder& b = n.b();
  const Value kernel = n.Weight(part);
  if (!b.status().ok() || kernel.rank() != 3) {
    n.Fail("expected a kernel of rank 3");
    return x;
  }
  const Value flat = ShapedAs(b, kernel, {b.DimOf(kernel, 0), b.Ints({-1})});
  std::vector<Value> dims;
  for (int i = 0; i + 1 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  dims.push_back(b.DimOf(kernel, 1));
  dims.push_back(b.DimOf(kernel, 2));
  Term y(b, ShapedAs(b, MatMulOf(b, x, flat), dims));
  if (n.Bool("use_bias", true)) y = y + Term(n, n.Weight(part));
  return y;
}

// Which scores count: of inputs' masks, of a mask that is given, and no later ones if asked.
std::optional<Term> KeptScores(LayerContext& n, const Sources& s, const Term& q, const Term& k) {
  std::optional<Term> kept;
  const auto add = [&](const Term& more) { kept = kept ? And(*kept, more) : more; };
  // Of the argument, or what the input brings.
  const auto mask = [&](std::string_view name, const Value& brought) -> Value {
    const Value given = n.Named(name);
    return given ? n.b().Cast(given, DType::kBool) : brought;
  };
  // Layers of several heads do not look at the queries' mask that they are given.
  const bool looks = n.class_name() != "MultiHeadAttention";
  if (const Value m = looks ? mask("query_mask", s.query_mask) : s.query_mask)
    add(Term(n, m).Expand(1).Expand(3));
  if (const Value m = mask("value_mask", s.value_mask)) add(Term(n, m).Expand(1, 2));
  if (const Value m = mask("key_mask", s.key_mask)) add(Term(n, m).Expand(1, 2));
  if (const Value given = n.Named("attention_mask")) {
    Term m = Term(n, given).As(DType::kBool);
    if (m.rank() == 3) m = m.Expand(1);
    if (m.rank() == 2) m = m.Expand(0, 2);
    add(m);
  }
  if (CallSays(n, "use_causal_mask")) add(Seen(n.b(), q, k).Expand(0, 2));
  if (!n.IsNull("sliding_window")) {
    const Term apart = RangeOf(n.b(), k, k.rank() - 2) - RangeOf(n.b(), q, q.rank() - 2).Expand(1);
    add((Abs(apart) < static_cast<double>(n.Int("sliding_window", 1))).Expand(0, 2));
  }
  return kept;
}

// The heads' outputs together (batch, dims.., heads, size) by a kernel (heads, size, width..).
Outputs OutputOf(LayerContext& n, Term y) {
  TypedBuilder& b = n.b();
  const Value kernel = n.Weight("output_dense");
  if (!b.status().ok() || kernel.rank() < 3) return n.Fail("expected an output kernel of rank 3");
  std::vector<Value> dims, joined;
  for (int i = 0; i + 2 < y.rank(); ++i) dims.push_back(b.DimOf(y, i));
  joined = dims;
  joined.push_back(b.Ints({-1}));
  for (int i = 2; i < kernel.rank(); ++i) dims.push_back(b.DimOf(kernel, i));
  const Value flat = ShapedAs(b, kernel, {ProductOfDims(b, kernel, 0, 2), b.Ints({-1})});
  Term out(b, ShapedAs(b, MatMulOf(b, ShapedAs(b, y, joined), flat), dims));
  if (n.Bool("use_bias", true)) out = out + Term(n, n.Weight("output_dense"));
  return {out};
}

// Of (batch, heads, length, size).
AttentionResult Weigh(LayerContext& n, const Sources& s, const Term& q, const Term& k,
                      const Term& v, bool masked) {
  const int64_t size = n.Int("key_dim", n.Int("head_dim", 1));
  AttentionSpec spec;
  spec.scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1)));
  if (q.dtype() == DType::kFloat16) spec.hidden = -3e4;
  if (masked) spec.kept = KeptScores(n, s, q, k);
  // Keras 3 has two ways: the one that makes the scores leaves nothing where all are masked.
  spec.none_is_zero = n.model().version >= 3 &&
                      (n.Float("dropout", 0) > 0 || CallSays(n, "return_attention_scores"));
  return Attend(n, q, k, v, spec);
}

bool HasMask(LayerContext& n) {
  for (const Value& m : n.masks) {
    if (m) return true;
  }
  for (const std::string& name : n.site.names) {
    if (name.ends_with("mask")) return true;
  }
  return CallSays(n, "use_causal_mask") || !n.IsNull("sliding_window");
}

// What the heads' outputs are multiplied with, (batch, dims.., heads, size).
std::optional<Term> GateOf(LayerContext& n, const Term& query) {
  if (!n.Bool("use_gate", false)) return std::nullopt;
  return Projected(n, query, "gate_dense").Call("sigmoid");
}

Outputs MultiHeadAttention(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Sources s = SourcesOf(n);
  const Term query(n, s.query), value(n, s.value), key(n, s.key);
  const int rank = query.rank();
  if (rank < 3 || value.rank() != rank || key.rank() != rank)
    return n.Fail("expected inputs of one rank, 3 or more");
  // Weights come in this order, whatever is read first.
  const Term q = Projected(n, query, "query_dense"), k = Projected(n, key, "key_dense");
  const std::optional<Term> gate = GateOf(n, query);
  const Term v = Projected(n, value, "value_dense");
  if (!b.status().ok() || q.rank() != rank + 1) return {};
  // Attention is over some axes, which go last and become one; others are batches.
  std::vector<int64_t> over = n.Ints("attention_axes", Iota(rank - 2, 1)), axes;
  for (int64_t& axis : over) axis = n.Axis(axis, rank);
  for (int i = 0; i + 1 < rank; ++i) {
    if (std::ranges::count(over, i) == 0) axes.push_back(i);
  }
  const auto batches = static_cast<int>(axes.size());
  if (!b.status().ok() || batches + static_cast<int>(over.size()) != rank - 1)
    return n.Fail("attention_axes: expected different ones");
  const bool plain = rank == 3 && batches == 1;
  if (!plain && HasMask(n)) return n.Unsupported("masks of attention over other axes than 1");
  if (!plain && CallSays(n, "return_attention_scores"))
    return n.Unsupported("scores of attention over other axes than 1");
  axes.push_back(rank - 1);
  axes.insert(axes.end(), over.begin(), over.end());
  axes.push_back(rank);
  // (batches.., heads, dims.., size) as (batches, heads, length, size)
  const auto turned = [&](const Term& x) { return x.Transpose(axes); };
  const auto flat = [&](const Term& x) {
    return Term(b, ShapedAs(b, x,
                            {ProductOfDims(b, x, 0, batches), b.DimOf(x, batches),
                             ProductOfDims(b, x, batches + 1, rank), b.DimOf(x, rank)}));
  };
  const Term turned_q = turned(q);
  const AttentionResult all = Weigh(n, s, flat(turned_q), flat(turned(k)), flat(turned(v)), plain);
  std::vector<Value> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(b.DimOf(turned_q, i));
  dims.push_back(b.DimOf(v, rank));
  std::vector<int64_t> back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  const Term y = Term(b, ShapedAs(b, all.y, dims)).Transpose(back);
  Outputs out = OutputOf(n, gate ? y * *gate : y);
  if (CallSays(n, "return_attention_scores")) out.push_back(all.weights);
  n.result_mask = s.query_mask;
  return out;
}

// Heads of keys and values are fewer: several of queries share one.
Outputs GroupedQueryAttention(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Sources s = SourcesOf(n);
  const Term query(n, s.query), value(n, s.value), key(n, s.key);
  if (query.rank() != 3 || value.rank() != 3 || key.rank() != 3)
    return n.Fail("expected inputs of rank 3");
  const Term q = Projected(n, query, "query_dense"), k = Projected(n, key, "key_dense");
  const std::optional<Term> gate = GateOf(n, query);
  const Term v = Projected(n, value, "value_dense");
  if (!b.status().ok() || q.rank() != 4) return {};
  const int64_t heads = n.Int("num_query_heads", 1), own = n.Int("num_key_value_heads", 1);
  if (own < 1 || heads < own || heads > 1 << 16 || heads % own != 0)
    return n.Fail("num_key_value_heads: {} does not divide {}", own, heads);
  const auto turned = [&](const Term& x, int64_t times) {
    const Term first = x.Transpose({0, 2, 1, 3});
    return times == 1 ? first : first.Call("repeat", {{"repeats", times}, {"axis", 1}});
  };
  const AttentionResult all =
      Weigh(n, s, turned(q, 1), turned(k, heads / own), turned(v, heads / own), true);
  const Term y = all.y.Transpose({0, 2, 1, 3});
  Outputs out = OutputOf(n, gate ? y * *gate : y);
  if (CallSays(n, "return_attention_scores")) out.push_back(all.weights);
  return out;
}

constexpr LayerDef kAttentionLayers[] = {
    {"AdditiveAttention", 2, 3, AdditiveAttention},
    {"Attention", 2, 3, DotAttention},
    {"GroupQueryAttention", 1, 7, GroupedQueryAttention},
    {"GroupedQueryAttention", 1, 7, GroupedQueryAttention},
    {"MultiHeadAttention", 1, 7, MultiHeadAttention},
};

}  // namespace

std::span<const LayerDef> AttentionLayers() { return kAttentionLayers; }

}  // namespace relayvm::import::keras
