// Lays constant weights out as the kernels read them: nn.dense with a constant weight becomes
// nn.contrib_dense_pack, whose weight is a row of panels as wide as the register tile, and the
// kernel of a convolution gets a layout in blocks of output channels (OIHW8o), or, unless `exact`, is
// transformed for nn.contrib_conv2d_winograd where that is faster (winograd_weights.h: by a recipe, when the
// program is loaded, where files would grow by more than a tenth). A convolution with windows of one
// pixel, channels last, is such a product too. All other packing happens here, once,
// so that neither loading nor running pays for it. Weights of nn.contrib_dense_pack that
// are to be bfloat16 are rounded to nearest even, in pairs; those of dense layers that are to be integers
// become the arguments of nn.contrib_dense_blocks, in blocks of 32 along K with a scale each.
//
// Before: typed, constants folded. After: new variables have no types; Retype follows. Tested
// by pack_weights_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "compiler/pass.h"

namespace relayvm::ir {

// `cpu`: as KernelOptions::cpu.
Module PackWeights(const Module& m, const std::string& cpu,
                   WeightFormat format = WeightFormat::kAsGiven, bool exact = false);

}  // namespace relayvm::ir
