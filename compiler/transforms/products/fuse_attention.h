// Attention that a program spells out becomes one operator, nn.attention (kernels/op/attention.cc),
// whose kernel keeps no matrix of scores:
//
//   nn.batch_matmul(nn.softmax(steps(nn.batch_matmul(q, k))), v)
//
// in float32, of rank 3 or, by nn.matmul and nn.dense, of rank 2, either operand transposed. Steps
// multiply or divide, add or subtract a mask, choose by a condition (where), bound (tanh). Views
// that join or part batches and heads may stand between them; transpositions before and after
// become layouts, and keys and values that are repeated for groups of heads are read unrepeated.
// Nothing else may use the scores. Keys and values are no weights, and there is more than a unit of
// work.
//
// Before: typed, common subexpressions merged. After: typed. What is not used any more goes with
// EliminateDeadCode. Tested by fuse_attention_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module FuseAttention(const Module& m);

}  // namespace relayvm::ir
