// Attention as the operators of ai.onnx and com.microsoft share it.
#pragma once

#include <optional>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// (batch, length, heads * size) as (batch, heads, length, size), and back.
Term SplitHeads(const Term& x, int64_t heads);
Term JoinHeads(const Term& x);

struct AttentionSpec {
  double scale = 0;  // 0: 1 / sqrt(size of a head)
  double softcap = 0;
  std::optional<Term> bias;  // added to the scores; broadcasts
  std::optional<Term> kept;  // bool: scores that are not kept are -infinity (or `hidden`)
  std::optional<Term> sink;  // scores of one key more, whose value is 0: (1, heads or 1, 1, 1)
  double hidden = -1e30;
  bool none_is_zero = false;  // a query that no key is kept for gives 0, else the keys' average
  bool causal = false;  // a query sees the keys up to its own place; the last query the last key
};
struct AttentionResult {
  Term y;                             // (batch, heads, length, size of a value)
  Term raw, capped, biased, weights;  // scores on the way, (batch, heads, length, keys)
};
// q (batch, heads, length, size), k and v (batch, heads of keys, keys, size). Groups of heads share
// a key.
AttentionResult Attend(NodeContext& n, const Term& q, const Term& k, const Term& v,
                       const AttentionSpec& spec);

// A mask or bias of scores whose last dim may be shorter than the keys of `k`: what is missing is
// `rest`.
Term WithKeysOf(const Term& mask, const Term& k, double rest);

// x (batch, heads, length, size) rotated by the tables (positions, half) or (batch, length, half).
// `size`: how many of the elements turn, 0: all. `positions` (batch, length) where tables have rank 2.
Term Rotate(const Term& x, const Term& cos, const Term& sin, const std::optional<Term>& positions,
            bool interleaved, int64_t size);

}  // namespace relayvm::import
