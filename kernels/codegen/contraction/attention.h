// Attention in one kernel: softmax(score(q . k)) . v without the matrix of scores in memory.
//
// Keys come in blocks. Of each block the scores are computed, and with the maximum and the sum of
// their rows so far, the sum of values weighed by them is brought to the new maximum and added to:
// Milakov, Gimelshein, "Online normalizer calculation for softmax" (2018); Dao, Fu, Ermon, Rudra,
// Re, "FlashAttention" (2022).
//
// A unit is a panel of queries of one head. Its queries are packed, transposed, and all products
// are transposed too: vectors run along the queries, and tiles (tile.h) read keys and values by
// broadcasts where they are. So neither is packed, rows' maxima and sums are those of vectors, and
// the weights of a block are where the second product reads them.
//
// What softmax gives where it is no number, it gives: a row whose scores are all -inf is NaN, and
// so is one that has a NaN or +inf. Without keys the result is 0. The order of sums depends on the
// number of keys and of queries alone.
//
// A group qualifies when its one output is a float32 computation with the hint kAttention (te.h),
// keys and values are memory, and elements of the result follow each other in it. Queries and what
// the score's steps read may be computed. Thread-safe but for the emitter. Tested by
// attention_test.cc.
#pragma once

#include <optional>

#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::codegen {

// nullopt: the generic loops serve it.
std::optional<ContractionPlan> PlanAttention(const KernelSpec& spec,
                                             const ContractionTarget& target);

// As EmitContraction.
void EmitAttention(const AttentionDetail& detail, Emitter& emitter, Builder& builder,
                   llvm::Value* begin, llvm::Value* end, llvm::Value* scratch);

}  // namespace relayvm::codegen
