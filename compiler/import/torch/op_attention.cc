// Attention, and whole layers of it. See composite/attention.h.
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/attention.h"
#include "compiler/import/composite/normalise.h"
#include "compiler/import/torch/convert.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

// The leading dims of a tensor as one, so that its rank is 4: (batch, heads, length, size).
Term AsHeads(const Term& x) {
  TypedBuilder& b = x.b();
  if (x.rank() <= 4) return x.Expand(0, 4 - x.rank());
  return {b, ShapedAs(b, x,
                      {ProductOfDims(b, x, 0, x.rank() - 3), b.DimOf(x, -3), b.DimOf(x, -2),
                       b.DimOf(x, -1)})};
}

struct Attended {
  Term y;
  Term weights, scores;  // (batch, heads, length, keys)
};

// What the arguments of scaled_dot_product_attention and its kin say.
std::optional<Attended> AttendedBy(Call& n) {
  TypedBuilder& b = n.b();
  const Term q(n, n.Tensor("query")), k(n, n.Tensor("key")), v(n, n.Tensor("value"));
  const int rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank)
    return n.Fail(
        "expected queries, keys and values of one rank, 2 or more; found ranks {}, {} and {}", rank,
        k.rank(), v.rank());
  if (n.Float("dropout_p") > 0) return n.Unsupported("dropout_p above 0 is not supported");
  AttentionSpec spec{.scale = n.Float("scale", 0), .bias = {}, .kept = {}, .sink = {}};
  spec.none_is_zero = true;
  if (n.Bool("is_causal")) spec.causal = Causal::kFromFirst;
  const char* mask_name = n.Has("attn_mask") ? "attn_mask" : "attn_bias";
  if (n.Has(mask_name)) {
    Term mask(n, n.Tensor(mask_name));
    mask = AsHeads(mask);
    if (mask.dtype() == DType::kBool) {
      spec.kept = mask;
    } else {
      spec.bias = mask;
    }
  }
  if (!b.status().ok()) return std::nullopt;
  // Halves are multiplied and summed in float32.
  const DType own = q.dtype(), wide = SumType(own);
  const auto heads = [&](const Term& x) { return AsHeads(x.As(wide)); };
  const AttentionResult r = Attend(b, heads(q), heads(k), heads(v), spec);
  Term y = r.y.As(own);
  if (rank < 4) {
    y = {b, b.Squeeze(y, Iota(4 - rank))};
  } else if (rank > 4) {
    std::vector<Value> dims = DimsOf(b, q);
    dims.back() = b.DimOf(v, -1);
    y = {b, ShapedAs(b, y, dims)};
  }
  return Attended{y, r.weights.As(own), r.biased};
}

Term LogSumExp(const Term& scores) {
  const Term x = scores.As(DType::kFloat32), top = Max(x, {3});
  const Term sum = Sum(Exp(x - top), {3}).Call("log") + top;
  return {x.b(), x.b().Squeeze(sum, {3})};
}

Results Attention(Call& n) {
  const auto r = AttendedBy(n);
  if (!r) return {};
  return {r->y};
}
Results AttentionAndWeights(Call& n) {
  const auto r = AttendedBy(n);
  if (!r) return {};
  return {r->y, r->weights};
}
// With what gradients need: the logarithms of sums; the rest of what fused kernels give is empty.
Results FusedAttention(Call& n) {
  TypedBuilder& b = n.b();
  const auto r = AttendedBy(n);
  if (!r) return {};
  Results out = {r->y, LogSumExp(r->scores)};
  const Value none = Filled(b, 0, DType::kInt64, b.Ints({0}));
  while (out.size() < n.schema().results.size()) {
    const bool number = n.schema().results[out.size()].type.base == SchemaType::Base::kInt;
    out.push_back(number ? Argument::Int(0) : Argument(none));
  }
  return out;
}

// --- Layers ---

Term Linear(const Call& n, const Term& x, std::string_view weight, std::string_view bias) {
  const Term w(n, n.Tensor(weight));
  Term y(n, MatMulOf(n, x, w.Transpose({1, 0})));
  if (n.Has(bias)) y = y + Term(n, n.Tensor(bias));
  return y;
}

// A mask of PyTorch's fast path: true is what does not count. 0: (length, length), 1: (batch,
// keys), 2: (batch, heads, length, keys).
std::optional<Term> KeptBy(const Call& n) {
  const Argument& x = n.Arg(size_t{0});
  if (!n.Has("mask") && x.rows == nullptr) return std::nullopt;
  if (!n.Has("mask")) return Term(n.b(), *x.rows).Expand(1, 2);
  const Term mask(n, n.Tensor("mask"));
  const int64_t kind = n.Int("mask_type", mask.rank() == 2 ? 1 : 2);
  const Term kept = Not(Truth(mask));
  if (mask.rank() == 4) return kept;
  if (mask.rank() == 3) return kept.Expand(1);
  return kind == 1 ? kept.Expand(1, 2) : kept.Expand(0, 2);
}

// x (batch, length, width) by the weights of all three, and of the projection.
Attended SelfAttention(const Call& n, const Term& q, const Term& k, const Term& v, int64_t heads) {
  TypedBuilder& b = n.b();
  const Term w(n, n.Tensor("qkv_weight")), bias(n, n.Tensor("qkv_bias"));
  const auto part = [&](const Term& x, int64_t i) {
    const Dim d = w.value().dim(1);
    const int64_t size = d.is_const() ? d.value() : 0;
    const Term rows = w.Slice(0, i * size, (i + 1) * size);
    Term y(b, MatMulOf(b, x, rows.Transpose({1, 0})));
    y = y + bias.Slice(0, i * size, (i + 1) * size);
    return SplitHeads(y, heads);
  };
  AttentionSpec spec{.bias = {}, .kept = KeptBy(n), .sink = {}};
  const AttentionResult r = Attend(b, part(q, 0), part(k, 1), part(v, 2), spec);
  return {Linear(n, JoinHeads(r.y), "proj_weight", "proj_bias"), r.weights, r.biased};
}

bool HasKnownWidth(const Call& n) {
  const Value w = n.Tensor("qkv_weight");
  if (w.rank() == 2 && w.dim(1).is_const() && n.Has("qkv_bias")) return true;
  n.Fail("qkv_weight: expected rank 2 and a known width");
  return false;
}

Results MultiHeadAttention(Call& n) {
  TypedBuilder& b = n.b();
  const Term q(n, n.Tensor("query")), k(n, n.Tensor("key")), v(n, n.Tensor("value"));
  const int64_t heads = n.Int("num_head", 1);
  if (q.rank() != 3 || heads < 1) return n.Fail("expected queries of rank 3, and heads");
  if (!HasKnownWidth(n)) return {};
  const Attended r = SelfAttention(n, q, k, v, heads);
  if (!n.Bool("need_weights", true)) return {r.y, Argument()};
  if (!n.Bool("average_attn_weights", true)) return {r.y, r.weights};
  return {r.y, Term(b, r.weights).Over("mean", {1}, false)};
}

Argument Nested(const Term& x, const std::shared_ptr<const Value>& rows) {
  Argument a(x);
  a.rows = rows;
  return a;
}

Results EncoderLayer(Call& n) {
  const Term x(n, 0);
  const int64_t heads = n.Int("num_heads", 1);
  if (x.rank() != 3 || heads < 1) return n.Fail("expected data of rank 3, and heads");
  if (n.Has("mask") && n.Arg(size_t{0}).rows != nullptr)
    return n.Unsupported("a mask of a nested tensor");
  const double epsilon = n.Float("eps", 1e-5);
  const bool first = n.Bool("norm_first"), gelu = n.Bool("use_gelu");
  if (!HasKnownWidth(n)) return {};
  const auto norm = [&](const Term& y, std::string_view weight, std::string_view bias) {
    return Term(n, ScaledLayerNorm(y, n.Tensor(weight), n.Tensor(bias), epsilon));
  };
  const auto norm1 = [&](const Term& y) { return norm(y, "norm_weight_1", "norm_bias_1"); };
  const auto norm2 = [&](const Term& y) { return norm(y, "norm_weight_2", "norm_bias_2"); };
  const auto feed = [&](const Term& y) {
    const Term inner = Linear(n, y, "ffn_weight_1", "ffn_bias_1");
    return Linear(n, gelu ? GeluOf(inner) : NotBelow(inner, 0), "ffn_weight_2", "ffn_bias_2");
  };
  if (first) {
    const Term in = norm1(x), y = x + SelfAttention(n, in, in, in, heads).y;
    return {Nested(y + feed(norm2(y)), n.Arg(size_t{0}).rows)};
  }
  const Term y = norm1(x + SelfAttention(n, x, x, x, heads).y);
  return {Nested(norm2(y + feed(y)), n.Arg(size_t{0}).rows)};
}

// A nested tensor, as the fast path of nn.TransformerEncoder makes one, stays padded: which rows
// are there is kept beside it.
Results NestedFromMask(Call& n) {
  const Term mask(n, 1);
  if (n.Input(0).rank() != 3 || mask.rank() != 2)
    return n.Fail("expected data of rank 3, a mask of rank 2");
  return {Nested(Term(n, 0), std::make_shared<const Value>(Truth(mask)))};
}
Results ToPadded(Call& n) {
  const Argument& x = n.Arg(size_t{0});
  if (x.rows == nullptr) return n.Unsupported("a tensor that is not nested");
  if (!n.Has("output_size"))
    return n.Unsupported("without output_size, which the longest of what is there says");
  TypedBuilder& b = n.b();
  const std::vector<Value> sizes = n.SymInts("output_size");
  for (size_t i = 0; i < sizes.size() && b.status().ok(); ++i) {
    const auto known = b.Elements(sizes[i]);
    const bool same = i < static_cast<size_t>(x.value.rank()) && known &&
                      !Dim::ProvablyDifferent((*known)[0], x.value.dim(static_cast<int>(i)));
    if (!same) return n.Unsupported("an output_size that is not that of the mask");
  }
  const Term padding = Term(n, x.value).Number(n.Float("padding", 0));
  return {b.Op("where", {Term(b, *x.rows).Expand(2), x.value, padding})};
}

// (batch, length, 3 * width) as three of (batch, heads, length, size); queries scaled.
Results BiasRescaleQkv(Call& n) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0) + Term(n, 1);
  const int64_t heads = n.Int("num_heads", 1);
  const std::vector<Value> parts = b.Ops("split", {x}, {{"indices_or_sections", 3}, {"axis", 2}});
  if (parts.size() != 3 || x.rank() != 3) return n.Fail("expected three parts of rank 3");
  Results out;
  for (const Value& p : parts) out.emplace_back(SplitHeads({b, p}, heads));
  const Term q(b, out[0].value);
  out[0] = q / Sqrt(Extent(b, q, 3).As(q.dtype()));
  return out;
}

constexpr OperatorDef kAttentionOperators[] = {
    {"aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
     "bool enable_gqa=False) -> Tensor",
     Attention},
    {"aten::_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_mask=None, float dropout_p=0., bool need_attn_weights=False, bool "
     "is_causal=False) -> (Tensor, Tensor)",
     AttentionAndWeights},
    {"aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? "
     "dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
     AttentionAndWeights},
    {"aten::_scaled_dot_product_attention_forward(Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_mask=None, float dropout_p=0., bool need_attn_weights=False, bool "
     "is_causal=False) -> (Tensor, Tensor)",
     AttentionAndWeights},
    {"aten::_scaled_dot_product_attention_math_for_mps(Tensor query, Tensor key, Tensor "
     "value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? "
     "dropout_mask=None, *, float? scale=None) -> (Tensor, Tensor)",
     AttentionAndWeights},
    {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor "
     "value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? "
     "scale=None) -> (Tensor, Tensor)",
     FusedAttention},
    {"aten::_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, "
     "float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? "
     "scale=None) -> (Tensor, Tensor, Tensor, Tensor, int, int, Tensor, Tensor, Tensor)",
     FusedAttention},
    {"aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor "
     "value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool "
     "is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)",
     FusedAttention},
    {"aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool "
     "is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor, "
     "Tensor, Tensor, Tensor, int, int, Tensor, Tensor, Tensor)",
     FusedAttention},
    {"aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int "
     "embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, "
     "Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool "
     "average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
     MultiHeadAttention},
    {"aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
     "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool "
     "use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, "
     "Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, "
     "Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> "
     "Tensor",
     EncoderLayer, Takes::kNested},
    {"aten::_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) -> Tensor",
     NestedFromMask},
    {"aten::to_padded_tensor(Tensor self, float padding, int[]? output_size=None) -> Tensor",
     ToPadded, Takes::kNested},
    {"aten::_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> "
     "(Tensor, Tensor, Tensor)",
     BiasRescaleQkv},
};

}  // namespace

OperatorTable AttentionOperators() { return kAttentionOperators; }

}  // namespace relayvm::import::torch
