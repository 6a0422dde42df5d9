// The compiler's own algebra: the rules of simplify.relay, which the library holds as text. Tested
// by simplify_test.cc.
#pragma once

#include <memory>

#include "compiler/rules/rules.h"

namespace relayvm::rules {

extern const char* const kSimplifyText;

// Read when it is first asked for. Thread-safe.
const RuleSet& SimplifyRules();

}  // namespace relayvm::rules
