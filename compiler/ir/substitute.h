// Replaces variables by atoms. Tested by ir_test.cc.
#pragma once

#include <unordered_map>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

using Substitution = std::unordered_map<const Var*, Atom>;

// The block with each use of a variable replaced, in nested blocks too. What doesn't change is
// shared. Bindings are kept, so the result replaces `b` (a copy beside it would bind its variables
// twice).
const Block* Substitute(const Module& m, const Block& b, const Substitution& by);
const Expr* Substitute(const Module& m, const Expr& e, const Substitution& by);

}  // namespace relayvm::ir
