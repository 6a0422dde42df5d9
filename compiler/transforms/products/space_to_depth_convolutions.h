// A convolution of data whose blocks of positions were moved to the channels (nn.space_to_depth, or
// the join of strided slices that detectors begin with) becomes a convolution of the data itself:
// nothing is copied, and there are as many products.
//
//   conv(join(x[.., 0::s, 0::s], x[.., 1::s, 0::s], ...), w, strides d, padding p)
//     = conv(x, w', strides s * d, padding s * p)      w'[o, c, s * k + r] = w[o, (r, c), k]
//
// Extents that are not known to be multiples of the block, dilated and grouped convolutions, and
// blocked layouts stay as they are, and so do those that the machine computes so much better over
// the blocks (Winograd's transforms are for strides of 1) that a copy pays.
//
// Before: typed. After: new variables have no types; Retype follows. Tested by
// space_to_depth_convolutions_test.cc and compiler/end_to_end/copies_test.cc.
#pragma once

#include "compiler/ir/ir.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::ir {

Module SpaceToDepthConvolutions(const Module& m, const codegen::ContractionTarget& target);

}  // namespace relayvm::ir
