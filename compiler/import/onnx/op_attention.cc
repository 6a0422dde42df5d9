// Attention and rotary embeddings, of ai.onnx and of com.microsoft. See composite/attention.h.
#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "compiler/import/composite/attention.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"

namespace relayvm::import {

namespace {

// 3 dims: (batch, length, heads * size).
std::optional<Term> Heads(NodeContext& n, size_t i, const char* attr) {
  Term x(n, i);
  if (x.rank() == 4) return x;
  const int64_t heads = n.Int(attr, 0);
  if (x.rank() != 3 || heads < 1)
    return n.Fail("expected an input of rank 4, or of rank 3 with {}", attr);
  return SplitHeads(x, heads);
}

Outputs Attention(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto q = Heads(n, 0, "q_num_heads");
  auto k = Heads(n, 1, "kv_num_heads"), v = Heads(n, 2, "kv_num_heads");
  if (!q || !k || !v) return {};
  if (n.Has(4)) k = Term(b, b.Concat({n.Input(4), *k}, 2));
  if (n.Has(5)) v = Term(b, b.Concat({n.Input(5), *v}, 2));
  AttentionSpec spec;
  spec.scale = n.Float("scale", 0);
  spec.softcap = n.Float("softcap", 0);
  if (n.Has(3)) {
    if (n.Input(3).dtype() == DType::kBool) {
      spec.kept = WithKeysOf(Term(n, 3), *k, 0);
    } else {
      spec.bias = WithKeysOf(Term(n, 3), *k, -HUGE_VAL);
    }
  }
  const auto keep = [&](const Term& more) { spec.kept = spec.kept ? And(*spec.kept, more) : more; };
  const Term key = RangeOf(b, *k, 2);
  std::optional<Term> count;  // of each batch, (batch, 1, 1, 1): its keys
  if (n.Has(6)) {
    if (n.Input(6).rank() != 1) return n.Fail("nonpad_kv_seqlen: expected a number for each batch");
    count = Checked({n, 6, "nonpad_kv_seqlen"}, n.Input(6), 0, Term(b, b.DimOf(*k, 2)) + 1)
                .As(DType::kInt64)
                .Expand(1, 3);
    keep(key < *count);
  }
  spec.none_is_zero = spec.kept.has_value();  // a causal mask by itself keeps the first key
  if (n.Int("is_causal", 0) != 0) {
    // The first query follows the past's keys; or the last query stands at a batch's last key.
    const Term query = RangeOf(b, *q, 2).Expand(1);
    const Term past = count      ? *count - Extent(b, *q, 2)
                      : n.Has(4) ? Extent(b, n.Input(4), 2)
                                 : Term(b, b.Int(0));
    keep(key <= query + past);
  }
  // Less than what a mask makes of the keys that are seen.
  if (spec.bias && spec.kept) spec.hidden = -HUGE_VAL;
  AttentionResult a = Attend(n, *q, *k, *v, spec);
  if (spec.bias) {
    // A query that the mask leaves no key gives 0; as in ONNX Runtime the lowest number hides a key
    // too.
    const double lowest = spec.bias->dtype() == DType::kFloat64   ? -DBL_MAX
                          : spec.bias->dtype() == DType::kFloat16 ? -65504.0
                                                                  : -FLT_MAX;
    const Term& mask = *spec.bias;
    const Term left = spec.kept ? Select(*spec.kept, mask, mask.Number(-HUGE_VAL)) : mask;
    const Term none = Max(left, {left.rank() - 1}) <= lowest;
    a.y = Select(none, a.y.Number(0), a.y);
    if (n.WantsOutput(3)) a.weights = Select(none, a.weights.Number(0), a.weights);
  }
  const int64_t mode = n.Int("qk_matmul_output_mode", 0);
  const Term scores = mode == 0 ? a.raw : mode == 1 ? a.capped : mode == 2 ? a.biased : a.weights;
  const Term y = n.Input(0).rank() == 3 ? JoinHeads(a.y) : a.y;
  return {y, *k, *v, scores};
}

Outputs RotaryEmbedding(NodeContext& n) {
  const auto x = Heads(n, 0, "num_heads");
  if (!x) return {};
  std::optional<Term> positions;
  if (n.Has(3)) {
    positions = Term(n.b(), Below({n, 3, "position_ids"}, n.Input(3), n.b().DimOf(n.Input(1), 0)));
  }
  const Term y = Rotate(*x, Term(n, 1), Term(n, 2), positions, n.Int("interleaved", 0) != 0,
                        n.Count("rotary_embedding_dim", 0));
  return {n.Input(0).rank() == 3 ? JoinHeads(y) : y};
}

// --- com.microsoft ---

void AddTo(std::optional<Term>& sum, const std::optional<Term>& more) {
  if (more) sum = sum ? *sum + *more : *more;
}

// Parts of a vector that holds those of queries, keys and values.
std::vector<Term> QkvParts(NodeContext& n, const Term& v, int axis, std::vector<int64_t> sizes) {
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[1] < 1 || sizes[2] < 1) {
    n.Fail("expected the sizes of queries, keys and values");
    return {v, v, v};
  }
  std::vector<Term> parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    int64_t end = 0;
    if (__builtin_add_overflow(at, size, &end)) {
      n.Fail("the sizes of queries, keys and values overflow");
      return {v, v, v};
    }
    parts.push_back(v.Slice(axis, at, end));
    at = end;
  }
  return parts;
}

// Queries, keys and values as one (batch, length, sizes), with inputs that are a mask, the past, a
// bias of scores and how many keys the past has (where it has room for more).
Outputs AttendAsOne(NodeContext& n, const Term& product, size_t mask, size_t past, size_t bias,
                    size_t past_length) {
  TypedBuilder& b = n.b();
  const int64_t heads = n.Count("num_heads", 0);
  const Dim width = product.value().dim(2);
  if (product.rank() != 3 || heads < 1 || !width.is_const())
    return n.Fail("expected data (batch, length, size), weights of rank 2 and num_heads");
  const int64_t third = width.value() / 3;
  const std::vector<Term> parts =
      QkvParts(n, product, 2, n.Ints("qkv_hidden_sizes", {third, third, third}));
  if (!b.status().ok()) return {};
  Term q = SplitHeads(parts[0], heads), k = SplitHeads(parts[1], heads),
       v = SplitHeads(parts[2], heads);
  const bool shared = n.Int("past_present_share_buffer", 0) != 0 && n.Has(past);
  if (shared && !n.Has(past_length)) return n.Fail("expected past_sequence_length");
  if (n.Has(past) && n.Input(past).rank() != 5) return n.Fail("past: expected rank 5");
  const auto cached = [&](int64_t i) {
    return Term(b, b.Squeeze(Term(n, past).Slice(0, i, i + 1), {0}));
  };
  const Term before = shared        ? AsScalar(Term(n, past_length)).As(DType::kInt64)
                      : n.Has(past) ? Extent(b, n.Input(past), 3)
                                    : Term(b, b.Int(0));
  if (n.Int("do_rotary", 0) != 0) {
    const Dim size = q.value().dim(3);
    const int64_t turning = n.Count("rotary_embedding_dim", 0);
    if (!size.is_const()) return n.Unsupported("do_rotary needs the size of a head");
    constexpr int64_t kMostTurning = 1 << 20;  // their frequencies are listed
    if (turning > size.value() || turning % 2 != 0 ||
        (turning > 0 ? turning : size.value()) > kMostTurning) {
      return n.Fail(
          "rotary_embedding_dim: expected an even number up to the size of a head, and to 2^20");
    }
    q = TurnedAt(q, before, turning > 0 ? turning : size.value());
    k = TurnedAt(k, before, turning > 0 ? turning : size.value());
  }
  AttentionSpec spec;
  spec.scale = n.Float("scale", 0);
  if (n.Int("unidirectional", 0) != 0) spec.causal = Causal::kToLast;
  if (shared) {
    k = CacheWith(cached(0), k, before);
    v = CacheWith(cached(1), v, before);
    spec.kept = SeenOfCache(k, q, before, spec.causal != Causal::kNo);
    spec.causal = Causal::kNo;
  } else if (n.Has(past)) {
    k = Term(b, b.Concat({cached(0), k}, 2));
    v = Term(b, b.Concat({cached(1), v}, 2));
  }
  if (n.Has(mask)) {
    spec.bias = KeyMaskBias(n.Input(mask), k, q, n.Float("mask_filter_value", -10000));
    if (!spec.bias) return {};
  }
  if (spec.bias && shared) spec.bias = WithKeysOf(*spec.bias, k, 0);
  if (n.Has(bias)) AddTo(spec.bias, shared ? WithKeysOf(Term(n, bias), k, 0) : Term(n, bias));
  const AttentionResult a = Attend(n, q, k, v, spec);
  const Value present = n.WantsOutput(1) ? b.Concat({k.Expand(0), v.Expand(0)}, 0) : Value{};
  return {JoinHeads(a.y), present};
}

// Of rank 3 and 2; else an error.
bool DataAndWeights(NodeContext& n) {
  if (n.Input(0).rank() == 3 && n.Input(1).rank() == 2) return true;
  n.Fail("expected data (batch, length, size), weights of rank 2 and num_heads");
  return false;
}

// Inputs: data, weights and bias of queries, keys and values as one, mask, past, bias of scores.
Outputs MsAttention(NodeContext& n) {
  if (!DataAndWeights(n)) return {};
  Term product(n.b(), MatMulOf(n, n.Input(0), n.Input(1)));
  if (n.Has(2)) product = product + Term(n, 2);
  return AttendAsOne(n, product, 3, 4, 5, 6);
}

// The same of integers. Inputs: data, weights, bias, their two scales, mask, their zero points,
// past.
Outputs QAttention(NodeContext& n) {
  if (!DataAndWeights(n)) return {};
  const Term sum = IntegerProduct(n, n.Input(0), n.Input(6), n.Input(1), n.Input(7));
  const Term columns(n, 4);
  const bool one = columns.rank() == 0 || columns.value().dim(0).is_const(1);
  const Term scale = AsScalar(Term(n, 3)) * (one ? AsScalar(columns) : columns);
  Term product = sum.As(scale.dtype()) * scale;
  if (n.Has(2)) product = product + Term(n, 2);
  return AttendAsOne(n, product, 5, 8, n.num_inputs(), n.num_inputs());
}

// Inputs: query, key, value, bias of the three, mask of keys, bias of scores, past keys and values.
Outputs MultiHeadAttention(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t heads = n.Count("num_heads", 0);
  Term query(n, 0);
  if (heads < 1) return n.Fail("num_heads: expected 1 or more");
  std::optional<Term> q, k, v;
  const auto packed = [&](const Term& x,
                          int64_t i) {  // (batch, length, heads, parts, size)
    return Term(b, b.Squeeze(x.Slice(3, i, i + 1), {3})).Transpose({0, 2, 1, 3});
  };
  std::optional<std::vector<Term>> bias;
  if (n.Has(3)) {
    const Value value = n.Has(2) ? n.Input(2) : n.Input(0);
    const Dim width = query.rank() == 3 ? query.value().dim(2) : Dim(0);
    const Dim all = n.Input(3).dim(0);
    if (!width.is_const() || !all.is_const() || query.rank() != 3 || value.rank() > 4)
      return n.Unsupported("a bias needs queries of rank 3 whose size is known");
    const int64_t size = width.value();
    const int64_t rest = size > all.value() / 2 ? 0 : all.value() - 2 * size;
    bias = QkvParts(n, Term(n, 3), 0, {size, size, rest});
    if (!b.status().ok()) return {};
  }
  const auto split = [&](Term x, size_t part) {
    if (x.rank() == 4) return x;
    if (bias) x = x + (*bias)[part];
    return SplitHeads(x, heads);
  };
  if (query.rank() == 5) {
    q = packed(query, 0);
    k = packed(query, 1);
    v = packed(query, 2);
  } else if (query.rank() == 3 && n.Has(1) && n.Input(1).rank() == 5) {
    q = split(query, 0);
    k = packed(Term(n, 1), 0);
    v = packed(Term(n, 1), 1);
  } else if (query.rank() == 3 && n.Has(1) && n.Has(2) && n.Input(1).rank() >= 3 &&
             n.Input(2).rank() >= 3) {
    q = split(query, 0);
    k = split(Term(n, 1), 1);
    v = split(Term(n, 2), 2);
  } else {
    return n.Fail("expected queries, keys and values of rank 3, or packed ones of rank 5");
  }
  AttentionSpec spec;
  spec.scale = n.Float("scale", 0);
  if (n.Int("unidirectional", 0) != 0) spec.causal = Causal::kToLast;
  const bool shared = n.Has(8) && n.Has(6) && n.Has(7);  // the past has room for more
  if (n.Has(9)) return n.Unsupported("cache_indirection is not supported");
  if (shared) {
    const Term before = AsScalar(Term(n, 8)).As(DType::kInt64);
    k = CacheWith(Term(n, 6), *k, before);
    v = CacheWith(Term(n, 7), *v, before);
    spec.kept = SeenOfCache(*k, *q, before, spec.causal != Causal::kNo);
    spec.causal = Causal::kNo;
  } else {
    if (n.Has(6)) k = Term(b, b.Concat({n.Input(6), *k}, 2));
    if (n.Has(7)) v = Term(b, b.Concat({n.Input(7), *v}, 2));
  }
  if (n.Has(4)) {
    spec.bias = KeyMaskBias(n.Input(4), *k, *q, n.Float("mask_filter_value", -10000));
    if (!spec.bias) return {};
  }
  if (n.Has(5)) AddTo(spec.bias, Term(n, 5));
  if (spec.bias && shared) spec.bias = WithKeysOf(*spec.bias, *k, 0);
  const AttentionResult a = Attend(n, *q, *k, *v, spec);
  return {JoinHeads(a.y), *k, *v, a.biased};
}

// Inputs: data, positions (the first one, or each), tables of cosines and sines.
Outputs MsRotaryEmbedding(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Term cos(n, 2);
  if (n.Float("scale", 1) != 1 || n.Int("is_packed_batching", 0) != 0)
    return n.Unsupported("scale and is_packed_batching are not supported");
  int64_t heads = n.Count("num_heads", 0);
  const int64_t size = n.Count("rotary_embedding_dim", 0);
  const bool joined = x.rank() == 3;
  if (joined) {
    const Dim width = x.value().dim(2), half = cos.value().dim(1);
    if (heads == 0 && width.is_const() && half.is_const() && half.value() > 0) {
      heads = width.value() / 2 / half.value();
    }
    if (heads < 1) return n.Fail("num_heads: expected 1 or more");
    x = SplitHeads(x, heads);
  }
  if (x.rank() != 4 || cos.rank() != 2) return n.Fail("expected data of rank 3 or 4");
  Term positions = Term(n, 1).As(DType::kInt64);
  if (positions.rank() == 1) positions = (RangeOf(b, x, 2) + AsScalar(positions)).Expand(0);
  positions = Term(b, Below({n, 1, "position_ids"}, positions, b.DimOf(cos, 0)));
  const Term y = Rotate(x, cos, Term(n, 3), positions, n.Int("interleaved", 0) != 0, size);
  return {joined ? JoinHeads(y) : y};
}

// Keys and values of groups of heads, with a cache whose batches may differ in length. Inputs:
// query, key, value, past key, past value, lengths - 1, the longest length, cosines, sines,
// positions, bias of scores, scores of a key that has no value.
Outputs GroupQueryAttention(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int64_t heads = n.Count("num_heads", 0), shared = n.Count("kv_num_heads", 0);
  Term query(n, 0);
  if (heads < 1 || shared < 1 || query.rank() != 3)
    return n.Fail("expected queries of rank 3, num_heads and kv_num_heads");
  std::vector<Term> parts = {query, query, query};
  if (n.Has(1)) {
    if (!n.Has(2)) return n.Fail("expected values");
    parts = {query, Term(n, 1), Term(n, 2)};
  } else {
    const Dim width = query.value().dim(2);
    if (!width.is_const()) return n.Unsupported("the size of packed queries must be known");
    const int64_t size = width.value() / (heads + 2 * shared);
    parts = QkvParts(n, query, 2, {heads * size, shared * size, shared * size});
  }
  if (!b.status().ok()) return {};
  Term q = SplitHeads(parts[0], heads), k = SplitHeads(parts[1], shared),
       v = SplitHeads(parts[2], shared);
  const Term longest = AsScalar(Term(n, 6)).As(DType::kInt64);
  const Term length = Extent(b, q, 2);
  const Term room = n.Has(3) ? Maximum(Extent(b, n.Input(3), 2), longest) : Extent(b, k, 2);
  const Term last = Checked({n, 5, "seqlens_k"}, Term(n, 5).Reshape({-1}), 0, room.Reshape({1}));
  const Term total = last.As(DType::kInt64) + 1;  // by batch
  // The first call has no past; its shorter batches are padded at the end.
  const Term first = Equal(length, longest);
  const Term past = Select(first, total * 0.0, total - length);  // by batch
  if (n.Int("do_rotary", 0) != 0) {
    if (!n.Has(7) || !n.Has(8)) return n.Fail("do_rotary needs cos_cache and sin_cache");
    const Term cos(n, 7), sin(n, 8);
    Term positions = n.Has(9) ? Term(n, 9) : past.Expand(1) + Range(length);
    positions = n.Has(9)
                    ? Term(b, Below({n, 9, "position_ids"}, positions, b.DimOf(cos, 0)))
                    : Term(b, Below({n, 5, "positions by seqlens_k"}, positions, b.DimOf(cos, 0)));
    const Dim half = cos.value().dim(1), size = q.value().dim(3);
    const bool part =
        half.is_const() && size.is_const() && half.value() < size.value() - half.value();
    const int64_t turning = part ? 2 * half.value() : 0;
    const bool interleaved = n.Int("rotary_interleaved", 0) != 0;
    q = Rotate(q, cos, sin, positions, interleaved, turning);
    k = Rotate(k, cos, sin, positions, interleaved, turning);
  }
  if (n.Has(3) && n.Has(4)) {
    // New keys follow each batch's own past.
    const Term old = Extent(b, n.Input(3), 2);
    const Term place = Range(room);
    const Term behind = place - past.Expand(1);
    const Term at = Select(behind < 0, place, Minimum(old + behind, old + length - 1));
    const auto join = [&](size_t i, const Term& now) {
      const Term both = Term(b, b.Concat({n.Input(i), now}, 2)).Transpose({0, 2, 1, 3});
      return both.Call("take", at, {{"axis", 1}, {"batch_dims", 1}}).Transpose({0, 2, 1, 3});
    };
    k = join(3, k);
    v = join(4, v);
  }
  AttentionSpec spec;
  spec.scale = n.Float("scale", 0);
  spec.softcap = n.Float("softcap", 0);
  const Term key = RangeOf(b, k, 2);
  const Term own = (past.Expand(1) + Range(length)).Expand(2);  // (batch, length, 1)
  Term seen = And(key <= own, key < total.Expand(1, 2));
  if (const int64_t window = n.Int("local_window_size", -1); window > 0) {
    seen = And(seen, key > own - static_cast<double>(window));
  }
  spec.kept = seen.Expand(1);
  if (n.Has(10)) spec.bias = WithKeysOf(Term(n, 10), k, 0);
  if (n.Has(11)) {
    spec.sink = Term(n, 11).Reshape({1, -1, 1, 1});
  } else if (n.Int("smooth_softmax", 0) > 0) {
    spec.sink = q.Number(0);
  }
  const AttentionResult a = Attend(n, q, k, v, spec);
  return {JoinHeads(a.y), k, v};
}

constexpr OperatorDef kAttentionOperators[] = {
    {"Attention", 3, 7, Attention, 23},
    {"Attention", 2, 7, MsAttention, 1, kMicrosoft},
    {"GroupQueryAttention", 7, 12, GroupQueryAttention, 1, kMicrosoft},
    {"MultiHeadAttention", 1, 10, MultiHeadAttention, 1, kMicrosoft},
    {"QAttention", 5, 9, QAttention, 1, kMicrosoft},
    {"RotaryEmbedding", 3, 4, RotaryEmbedding, 23},
    {"RotaryEmbedding", 4, 4, MsRotaryEmbedding, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> AttentionOperators() { return kAttentionOperators; }

}  // namespace relayvm::import
