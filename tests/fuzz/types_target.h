// Fuzzing of the type checker and the passes: generated programs (tests/random), as they are and
// damaged.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

// Input: how often the program is damaged (mod 4), the optimisation level, a number that decides on
// the damage, and the generator's choices.
std::vector<std::string> GeneratedSeeds();
// An undamaged program has types, and passes keep them: kInternal where not.
Status CheckGenerated(const std::string& input);

}  // namespace relayvm::fuzz
