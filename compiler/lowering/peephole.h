// Rewrites of neighbouring instructions, on MIR. Tested by peephole_test.cc.
#pragma once

#include "compiler/lowering/mir.h"

namespace relayvm::lower {

// An integer comparison becomes part of the branch that alone uses it.
void FuseCompareAndBranch(MFunction& function);
// Arithmetic that is wrapped to int32 at once becomes one instruction.
void FuseArithmeticAndWrap(MFunction& function);
// A result that is moved at once, and read by nothing else, is made where it goes.
void FuseResultAndMove(MFunction& function);
// After registers are allocated: moves of a register to itself, and jumps to what comes next, go.
void DropIdleInstructions(MFunction& function);

}  // namespace relayvm::lower
