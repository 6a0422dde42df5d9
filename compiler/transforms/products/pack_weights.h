// Lays constant weights out as the kernels read them: nn.dense with a constant weight becomes
// nn.contrib_dense_pack, whose weight is a row of panels as wide as the register tile, and the
// kernel of a convolution gets a layout in blocks of output channels (OIHW8o), or, unless `exact`,
// is transformed for nn.contrib_conv2d_winograd where that is faster (winograd_weights.h: by a
// recipe, when the program is loaded, where files would grow by more than a tenth). A convolution
// with windows of one pixel, channels last, is such a product too. All other packing happens here,
// once, so that neither loading nor running pays for it. What a weight of a product is packed as is
// a row of kernels/op/weight_forms.h; forms in blocks make nn.contrib_dense_blocks of dense layers.
// Where machines go by it, weights of bytes have the order of their steps beside them
// (kernels/op/step_order.h): nn.contrib_dense_ordered, nn.contrib_conv2d_ordered.
//
// Before: typed, constants folded. After: new variables have no types; Retype follows. Tested
// by pack_weights_test.cc, pack_kernels_test.cc.
#pragma once

#include "compiler/ir/ir.h"
#include "compiler/transforms/pass_option.h"
#include "kernels/codegen/machine.h"
#include "kernels/op/weight_forms.h"

namespace relayvm::ir {

// --weights, --precision: what constant weights of products are packed as; null where nobody asks.
const OptionOf<const WeightForm*>& WeightsOption();
const OptionOf<const WeightForm*>& PrecisionOption();
// The form that one of them asks for; null: weights stay as they are given.
const WeightForm* AskedWeightForm(const PassOptionValues& options);
// kInvalidArgument where both ask, or a level that packs nothing.
Status CheckWeightOptions(const PassOptionValues& options, int opt_level);
// --exact: no faster way to compute that loses more than summing in another order.
const OptionOf<bool>& ExactOption();

// `asked`: the form of weights of float32 that an option asks for; null: what
// holds their numbers.
Module PackWeights(const Module& m, const Machine& machine, const WeightForm* asked = nullptr,
                   bool exact = false);

}  // namespace relayvm::ir
