// Fuzzing of the verifier's proof of kernel calls (bytecode/kernel_call.h): programs of
// allocations, views, sizes and calls of builtins, made so that much is proved of some and little
// of others. They run with what is proved checked as well; a check of that which fails is a hole in
// the proof.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

// Input: the generator's choices, a byte each; where they end, numbers that depend on all of them.
std::vector<std::string> CallSeeds();
// kInternal where a call that is proved fails its check, or where the program does not assemble.
Status RunCalls(const std::string& input);
// The program, as text.
std::string ProgramOfCalls(const std::string& input);

}  // namespace relayvm::fuzz
