// Denormal numbers among the constant weights of products and convolutions become 0. Training
// leaves them where weights decay, and each costs a processor a hundred cycles whenever it is read;
// beside the largest weight they are far less than what sums round off. A weight whose largest
// number is small itself stays as it is.
//
// Before and after: typed, constants folded. Tested by flush_weights_test.cc and
// compiler/api/compiler_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// The least that the largest number of a weight is.
inline constexpr float kLeastLargestWeight = 0x1p-60F;

Module FlushWeights(const Module& m);

}  // namespace relayvm::ir
