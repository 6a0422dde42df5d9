// Parts of attention (attention.h) that know sizes when they run: helper functions of the module,
// which its kernels share. All are of float32 but what is turned. Sizes are i64. Stateless. Tested
// through attention_test.cc.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "kernels/codegen/contraction/attention_plan.h"
#include "kernels/codegen/contraction/ir.h"

namespace relayvm::codegen {

// Calls fn(size, at) for pieces that cover [0, count), all of the first of `sizes` that is not
// larger. The last piece ends with `count`, and so may have elements of the one before it again.
// REQUIRES: sizes fall, to 1 where count may be anything.
void EmitPieces(Builder& b, llvm::Value* count, std::span<const unsigned> sizes,
                std::string_view name,
                const std::function<void(unsigned size, llvm::Value* at)>& fn);

// Rows of `from`, `pitch` elements apart, whose first `count` elements become as many rows of the
// panel at `to`. There are `rows` of them: queries past the last one are as that. Reads and writes
// whole vectors of elements of so many bytes.
struct TurnedRows {
  llvm::Value *from, *pitch, *to, *count, *rows;
};
void EmitTurned(Builder& b, const AttentionPanel& panel, int64_t bytes, const TurnedRows& turned);

// `scores`, `count` rows of the panel, become weights. Where earlier ones have been, is_later (i1),
// `state` has what they gave, and their sums of values, `size` rows at `sums`, are rescaled.
struct PanelWeights {
  llvm::Value *scores, *state, *count, *width, *sums, *size, *is_later;
};
void EmitPanelWeights(Builder& b, const AttentionPanel& panel, const PanelWeights& weights);

// `count` rows of `size` elements, `stride` apart, one after the other. Writes whole vectors.
void EmitCopied(Builder& b, unsigned lanes, llvm::Value* to, llvm::Value* from, llvm::Value* stride,
                llvm::Value* count, llvm::Value* size);

// Sums over sums of weights, of `count` queries, to rows of `out`.
struct PanelResult {
  llvm::Value *sums, *state, *square;  // square: room for lanes x lanes
  llvm::Value *out, *stride, *size, *count;
  llvm::Value* has_keys;  // i1: else sums are the result
};
void EmitPanelResult(Builder& b, const AttentionPanel& panel, const PanelResult& result);

// Products of `rows` queries, q_stride apart, with `count` keys; scores are row_keys apart. `fetch`
// is for rows of keys or values that are apart in memory, as those of a cache that grows along its
// first axis are: hardware does not see them coming.
struct RowProducts {
  llvm::Value *queries, *keys, *scores, *count, *size, *q_stride, *k_stride;
  llvm::Value *values, *v_stride;
};
struct RowProductsForm {
  unsigned rows, lanes, vector_registers;
  int64_t row_keys;
  int64_t fetched_keys, fetched_values;  // bytes of a row; 0: none
};
void EmitRowProducts(Builder& b, const RowProductsForm& form, const RowProducts& products);

// The same for rows of scores, row_keys apart with room up to a whole vector. `max` and `sum`: what
// is kept of each row.
struct RowWeights {
  llvm::Value *rows, *scores, *count, *max, *sum, *sums, *size, *is_later;
};
void EmitRowWeights(Builder& b, unsigned lanes, unsigned row_lanes, int64_t row_keys,
                    const RowWeights& weights);

}  // namespace relayvm::codegen
