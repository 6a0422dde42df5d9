// Rewrites of neighbouring instructions, on MIR as lowering makes it. Tested by peephole_test.cc.
#pragma once

#include "compiler/lowering/mir.h"

namespace relayvm::lower {

// An integer comparison becomes part of the branch that alone uses it.
void FuseCompareAndBranch(MFunction& function);
// Arithmetic that is wrapped to int32 at once becomes one instruction.
void FuseArithmeticAndWrap(MFunction& function);

}  // namespace relayvm::lower
