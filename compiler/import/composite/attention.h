// Attention over heads, its masks and caches, and rotary embeddings. Tested by attention_test.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// (batch, length, heads * size) as (batch, heads, length, size), and back.
Term SplitHeads(const Term& x, int64_t heads);
Term JoinHeads(const Term& x);

// A query sees the keys up to its own place: those of as many keys as there are queries before it,
// or, the last query being that of the last key, those before them too.
enum class Causal : uint8_t { kNo, kFromFirst, kToLast };

struct AttentionSpec {
  double scale = 0;  // 0: 1 / sqrt(size of a head)
  double softcap = 0;
  std::optional<Term> bias;  // added to the scores; broadcasts
  std::optional<Term> kept;  // bool: scores that are not kept are -infinity (or `hidden`)
  std::optional<Term> sink;  // scores of one key more, whose value is 0: (1, heads or 1, 1, 1)
  double hidden = -1e30;
  bool none_is_zero = false;  // a query that no key is kept for gives 0, else the keys' average
  Causal causal = Causal::kNo;
};
struct AttentionResult {
  Term y;  // (batch, heads, length, size of a value)
  Term raw, capped, biased,
      weights;  // scores on the way, (batch, heads, length, keys)
};
// q (batch, heads, length, size), k and v (batch, heads of keys, keys, size). Groups of heads share
// a key.
AttentionResult Attend(TypedBuilder& b, const Term& q, const Term& k, const Term& v,
                       const AttentionSpec& spec);

// A mask or bias of scores whose last dim may be shorter than the keys of `k`: what is missing is
// `rest`.
Term WithKeysOf(const Term& mask, const Term& k, double rest);

// x (batch, heads, length, size) rotated by the tables (positions, half) or (batch, length, half).
// `size`: how many of the elements turn, 0: all. `positions` (batch, length) where tables have rank
// 2.
Term Rotate(const Term& x, const Term& cos, const Term& sin, const std::optional<Term>& positions,
            bool interleaved, int64_t size);

// A mask of keys as what is added to scores (batch, heads, length, keys): of rank 1 the number of
// keys of each batch (or ends, then starts; or what follows them are sums), of rank 2 and 3 (batch,
// [length,] keys) 0 where a key does not count.
std::optional<Term> KeyMaskBias(const Value& mask, const Term& k, const Term& q, double hidden);

// The cache (batch, heads, room, size) with `now` behind the first `length` of its keys.
Term CacheWith(const Term& cache, const Term& now, const Term& length);
// Keys of a cache that are there: behind the first `length` stand those of the queries, which see
// no later ones where `causal`. (length of queries or 1, room).
Term SeenOfCache(const Term& cache, const Term& q, const Term& length, bool causal);

// Tables of cosines and sines by position, base 10000, for attention that turns queries and keys.
Term TurnedAt(const Term& x, const Term& past, int64_t size);

}  // namespace relayvm::import
