// nn.conv1d, 2d and 3d_transpose, and qnn.conv2d_transpose, become plain convolutions, which have
// fast kernels.
//
// An output at position u = y + padding reads the taps k with u - k * dilation a multiple of the
// stride s: those of its phase, u mod s. With stride 1 there is one phase, a convolution with the
// kernel flipped. Else all phases are output channels of one convolution over the data, of
// ceil(k / s) taps, and their elements are taken in turn:
//
//   y[o, s * h + r - padding] = conv(x, w')[(o, r), h]       w'[(o, r), i, t] = w[i, o, r + s * (T - 1 - t)]
//
// Where k is no multiple of s, phases with one tap less are a convolution of their own. What is not
// known when compiling (extents and channels of the kernel), blocked layouts, and results in
// another layout than the data's stay as they are.
//
// Before: typed. After: new variables have no types; Retype follows. Tested by
// compiler/end_to_end/transposed_convolutions_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module TransposedConvolutions(const Module& m);

}  // namespace relayvm::ir
