// A variable that only stands for another atom (%y = %x, or a field of a tuple that is made before
// it in the same function) is replaced by it. Many passes leave such variables, which would keep
// rules and fusion from the value. Tested by resolve_aliases_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// A variable that states a type of its own, which its value has not, stays. Without types, fields
// stay as well.
Module ResolveAliases(const Module& m);

}  // namespace relayvm::ir
