// Depthwise convolutions of small images of known size: a vector holds as many lines of the output
// as fit, and is made of the input's by permutations that are known when the kernel is compiled.
// Tested through kernels/codegen/contraction/depthwise_conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES: c.d.is_small. Units are those of direct convolutions.
void EmitSmall(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
