// Liveness on MIR: marks the last use of every object register, and drops objects where no use
// follows. A tuple that is only unpacked in a block that it does not outlive is unpacked at its
// first read.
//
// After: along every path each object register that is defined is taken exactly once (by a use or a
// drop), unreachable code and pure instructions whose result nobody uses are gone. REQUIRES:
// forward jumps only. Tested by liveness_test.cc.
#pragma once

#include "compiler/lowering/mir.h"

namespace relayvm::lower {

void MarkLastUses(MFunction& function);

}  // namespace relayvm::lower
