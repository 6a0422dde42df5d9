// A program in the VM, compiled at several levels, against the reference interpreter: the same
// type, shapes and values, or the same failure.
#pragma once

#include <string>
#include <vector>

#include "tests/random/generator.h"

namespace relayvm::random_programs {

struct Level {
  int pipeline;  // -O of passes
  int kernels;   // of LLVM
};

// Empty, or what is wrong: "-O2, run 1: out3: values differ ...".
std::string Differences(const RandomProgram& program, const std::vector<Level>& levels);

}  // namespace relayvm::random_programs
