// What makes two kernel specs the same kernel: their structure, with names left out and symbols
// numbered by first occurrence. Immediates that a kernel can take as scalars stand apart, so that
// specs that differ in them alone have one structure. Thread-safe. Tested by
// kernel_compiler_test.cc.
#pragma once

#include <string>
#include <vector>

#include "kernels/codegen/immediates.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::codegen {

struct SpecKey {
  std::string text;          // equal for specs that differ in `immediates` alone
  std::vector<Dim> symbols;  // in the order of their numbers
  std::vector<Immediate> immediates;
};

SpecKey KeyOf(const KernelSpec& spec);

}  // namespace relayvm::codegen
