// Which taps of a convolution bring any pixel of an image inside, channels first: where an image is
// smaller than its windows, as in models that take one step of time after the other, most of them
// multiply padding. Tested through kernels/codegen/contraction/conv_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

struct TapBounds {
  llvm::Value* is_cut;                     // i1: some are left out
  std::vector<llvm::Value*> first, count;  // of each spatial axis, those that are not
  llvm::Value* taps;                       // the product of `count`
};

// All taps, unless c.d.cuts_taps.
TapBounds EmitTapBounds(ContractionContext& c);

// `count` rows of weights, `channels` of them, with the taps that are left one after the other:
// as tiles read them, at `to`, which it returns. REQUIRES: c.d.cuts_taps.
llvm::Value* EmitCutRows(ContractionContext& c, const TapBounds& bounds, llvm::Value* from,
                         llvm::Value* count, llvm::Value* channels, llvm::Value* to);

}  // namespace relayvm::codegen
