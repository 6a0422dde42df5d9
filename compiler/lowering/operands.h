// What the lowering of kernels and that of builtins ask of operands and results.
#pragma once

#include <vector>

#include "compiler/lowering/function_lowering.h"
#include "kernels/te/te.h"

namespace relayvm::lower {

// A placeholder "in0", "in1", ... for each input. REQUIRES: tensors.
std::vector<te::Tensor> MakePlaceholders(const std::vector<Value>& inputs);
// True when the kernel may overwrite the tensor, were this its last use: the frame's own memory,
// which no other input (a view of it) reads too.
bool OwnsMemory(const Value& value, const std::vector<Value>& inputs);

}  // namespace relayvm::lower
