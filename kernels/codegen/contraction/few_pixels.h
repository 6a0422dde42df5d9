// Convolutions, channels first, of a few pixels in all, as of short sequences: pixels would leave
// most lanes of a tile's vectors empty. Lanes are output channels instead, of weights in blocks of
// those, or run along k, of others. Tested through kernels/codegen/contraction/conv_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// Whether there are so few. An i1. REQUIRES: c.d.few_pixels > 0.
llvm::Value* TakesFewPixels(ContractionContext& c);
// Packs the pixels of a group, before the calls below.
void EmitFewPixels(ContractionContext& c, llvm::Value* group);
// The sums of a tile of `rows` rows from `a` on, as CallTile leaves them.
void EmitFewPixelSums(ContractionContext& c, llvm::Value* a, llvm::Value* rows, llvm::Value* sums);

}  // namespace relayvm::codegen
