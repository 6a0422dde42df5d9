// Direct convolutions of small images: lines of the input are copied to planes with their padding,
// so that vectors run from line to line. Tested through depthwise_conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES: c.d.has_planes. Units are those of direct convolutions.
void EmitPlanes(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
