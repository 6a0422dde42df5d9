// Depthwise convolutions of small images whose output has the lines of the input: an image is one
// line, so that vectors run from line to line and none is filled in part but the last. Tested
// through kernels/codegen/contraction/depthwise_conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES, of all: c.d.may_be_flat.
// Whether images are so small that this is best, an i1.
llvm::Value* TakesFlat(ContractionContext& c);
// REQUIRES: that is so. Units are those of direct convolutions.
void EmitFlat(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
