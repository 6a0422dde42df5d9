// Fuses an integer comparison with the branch that alone uses it.
// Tested by lower_test.cc.
#pragma once

#include "compiler/lowering/mir.h"

namespace relayvm::lower {

void FuseCompareAndBranch(MFunction& function);

}  // namespace relayvm::lower
