// The compiler's own rule files, which the library holds as text. Tested by simplify_test.cc and
// fuse_attention_test.cc.
#pragma once

#include "compiler/rules/rules.h"

namespace relayvm::rules {

extern const char* const kSimplifyText;
extern const char* const kAttentionText;

// Each is read when it is first asked for. Thread-safe.

const RuleSet& SimplifyRules();      // simplify.relay: its algebra
const RuleSet& AttentionPatterns();  // attention.relay: what FuseAttention looks for

}  // namespace relayvm::rules
