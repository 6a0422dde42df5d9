// Attention that a program spells out becomes one operator, nn.attention (kernels/op/attention.cc),
// whose kernel keeps no matrix of scores:
//
//   nn.batch_matmul(nn.softmax(steps(nn.batch_matmul(q, k))), v)
//
// attention.relay says which products, steps and views are meant. Transpositions before and after
// become layouts, and keys and values that are repeated for groups of heads are read unrepeated.
// Nothing else may use the scores. Keys and values are no weights, and there is more than a unit of
// work.
//
// Before: typed, common subexpressions merged. After: typed. What is not used any more goes with
// EliminateDeadCode. Tested by fuse_attention_test.cc.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/rules/rules.h"

namespace relayvm::rules {

// `report`, which may be null: how often, and why not where a softmax stands before a product.
ir::Module FuseAttention(const ir::Module& m, Report* report = nullptr);

}  // namespace relayvm::rules
