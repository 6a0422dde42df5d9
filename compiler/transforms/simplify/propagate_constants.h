// Interprocedural constants: a parameter that is the same constant at every call becomes that
// constant.
//
// Weights bound to main reach the functions that main calls, loops included (a loop that hands its
// own parameter on does not count as another value), so that they can be packed and folded.
// Parameters that became constants leave the signature. Runs before types are inferred. Functions
// used as values, and the entry, keep their signature. Tested by propagate_constants_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module PropagateConstants(const Module& m);

}  // namespace relayvm::ir
