// Depthwise convolutions, channels last: blocks of pixels, some lines by some pixels a line, share
// what they load; vectors run along the channels. Tested through
// kernels/codegen/contraction/depthwise_conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES: c.d.block_pixels > 0. Units are those of direct convolutions.
void EmitChannelBlocks(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
