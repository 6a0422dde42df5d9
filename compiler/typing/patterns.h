// Exhaustiveness of match expressions. Tested by patterns_test.cc.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::typing {

// A value that no clause matches, as a pattern in Relay's syntax ("Cons(_, Nil)"); nullopt when the
// clauses are exhaustive. REQUIRES: the patterns type-check.
std::optional<std::string> UnmatchedCase(const ir::Module& module, const ir::MatchExpr& match);

}  // namespace relayvm::typing
