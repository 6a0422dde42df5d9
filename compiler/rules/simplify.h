// The compiler's own algebra: the rules of simplify.relay, which the library holds as text. Tested by
// simplify_test.cc.
#pragma once

#include <memory>
#include <stop_token>

#include "compiler/rules/rules.h"

namespace relayvm::rules {

extern const char* const kSimplifyText;

// Read when it is first asked for. Thread-safe.
const RuleSet& SimplifyRules();
// ApplyRules of them.
Result<ir::Module> SimplifyExpr(const ir::Module& m, std::stop_token stop = {});

}  // namespace relayvm::rules
