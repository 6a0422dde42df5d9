// Evaluates operator calls whose operands are constants.
//
// The evaluator of tensor expressions gives the value (kernels/te/evaluate.h). Calls that would
// make large constants out of small ones (zeros, broadcast_to) stay. Before: typed. Tested by
// fold_constants_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module FoldConstants(const Module& m);

}  // namespace relayvm::ir
