// What makes two kernel specs the same kernel: their structure, with names left out and symbols
// numbered by first occurrence. Thread-safe. Tested by kernel_compiler_test.cc.
#pragma once

#include <string>
#include <vector>

#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::codegen {

struct SpecKey {
  std::string text;          // equal for equal specs
  std::vector<Dim> symbols;  // in the order of their numbers
};

SpecKey KeyOf(const KernelSpec& spec);

}  // namespace relayvm::codegen
