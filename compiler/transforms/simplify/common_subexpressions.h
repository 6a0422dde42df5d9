// Common subexpressions: an operator call, tuple or projection that was made before in an enclosing
// scope is not made again.
//
// Effects are left alone. Works with and without types. Tested by common_subexpressions_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module EliminateCommonSubexpressions(const Module& m);

}  // namespace relayvm::ir
