// Convolutions, channels first: lines of the input are copied to planes with their padding, the
// pixels of a stride apart, and tiles of output channels by pixels read every tap from there, where
// panels (pixels.cc) would be a copy for each tap. Tested through plane_tiles_test.cc.
#pragma once

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

// REQUIRES: c.d.has_plane_tiles.
void EmitPlaneTiles(ContractionContext& c, llvm::Value* begin, llvm::Value* end);

}  // namespace relayvm::codegen
