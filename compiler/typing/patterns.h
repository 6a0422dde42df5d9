// Exhaustiveness of match expressions. Tested by patterns_test.cc.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::typing {

// A value that no clause matches, as a pattern in Relay's syntax ("Cons(_, Nil)"); nullopt when the
// clauses are exhaustive; an error when that would take too long to find out. REQUIRES: the
// patterns type-check.
Result<std::optional<std::string>> UnmatchedCase(const ir::Module& module,
                                                 const ir::MatchExpr& match);

}  // namespace relayvm::typing
