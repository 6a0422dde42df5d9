// Damaged rule files (compiler/rules): read, and applied to programs that rules of the seeds match.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

std::vector<std::string> RuleSeeds();
// A rewritten program is verified: kInternal where it is not sound.
Status ApplyDamagedRules(const std::string& input);

}  // namespace relayvm::fuzz
