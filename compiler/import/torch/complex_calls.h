// Operators of complex tensors whose rows know plain ones alone: those that do the same to real and
// imaginary parts, products of two, formulas. Tested by complex_calls_test.cc.
#pragma once

#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

// Whether an argument of the call is complex, and the row takes it because of what stands here.
bool IsComplexCall(const Operator& op, const std::vector<Argument>& arguments);
// What the row gives; of complex arguments by their parts.
Results Converted(Call& call);

}  // namespace relayvm::import::torch
