// Removes bindings whose value nothing needs and functions that the entry does not reach.
//
// A value is needed when a result, an effect (ref_write, a call of the host, a call of a closure or
// of a function with effects, a guard) or the size of a needed tensor depends on it. Calls of
// functions without effects are removed when unused. Needs types. Tested by dead_code_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module EliminateDeadCode(const Module& m);

}  // namespace relayvm::ir
