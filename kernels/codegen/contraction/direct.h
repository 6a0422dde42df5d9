// Convolutions with few channels a group (depthwise above all), where packing pixels for a product
// of matrices costs more than it saves: loops over the taps, vectors along the width of the output
// (channels first) or along the channels (channels last). Tested through depthwise_conv_test.cc and
// conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES: c.d.form == kDirect. Units are those of contraction/plan.h.
void EmitDirectConvolution(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
