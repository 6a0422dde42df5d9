// Replaces variables by atoms. Tested by ir_test.cc.
#pragma once

#include <unordered_map>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// What stands for a variable, by Var::id.
using AtomMap = std::unordered_map<uint32_t, Atom>;

// What `by` has for the atom; the atom itself when it has nothing.
Atom Image(const AtomMap& by, const Atom& a);
// The block with each use of a variable replaced, in nested blocks too. What doesn't change is
// shared. Bindings are kept, so the result replaces `b` (a copy beside it would bind its variables
// twice).
const Block* Substitute(const Module& m, const Block& b, const AtomMap& by);
const Expr* Substitute(const Module& m, const Expr& e, const AtomMap& by);

}  // namespace relayvm::ir
