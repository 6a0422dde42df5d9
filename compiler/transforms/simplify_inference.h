// Operators that mean less when a network only infers: batch_norm becomes a multiplication and an
// addition for each channel (which folds to constants), dropout the identity.
//
// Before: typed. After: new variables have no types; InferTypes follows. Only where the other
// results of batch_norm and dropout are unused. Tested by simplify_inference_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module SimplifyInference(const Module& m);

}  // namespace relayvm::ir
