// Operators in another layout than the program wrote: where the user names one (as TVM's pass of
// that name), and where it pays.
//
//   relayc --layout nn.conv2d=NHWC:default --layout nn.conv2d_transpose=NHWC:HWIO
//
// Which operators move is solved over all of them at once (choose_layouts.h). An operator that
// moves takes and gives data of its layout, its kernel too: operators that know no order of dims
// (add, relu) are as they were, those with an axis get another one (concatenate, mean, also the
// widths of pad), pools another layout. Where orders meet stands a layout_transform; those of
// constants are folded, and two that undo each other never come about, nor transposes that the
// program wrote around what moved. Loops, branches and calls carry what moved in its order.
//
// Before: typed. After: new variables have no types; Retype follows, then EliminateDeadCode removes
// the transforms that nobody reads. Tested by compiler/end_to_end/layouts_test.cc.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"
#include "compiler/transforms/layouts/choose_layouts.h"
#include "compiler/transforms/pass_option.h"

namespace relayvm::ir {

// --layout: "nn.conv2d=NHWC:default"; the kernel's part may be left out. Wrong where no such
// operator has layouts, or a layout cannot be read.
const OptionOf<LayoutChoices>& LayoutOption();

// `target`: what operators that nobody names choose for; without it they stay as written.
// kInvalidArgument where a named layout fits none of the operator's calls; where it fits some, the
// others stay.
Result<Module> ConvertLayout(const Module& m, const LayoutChoices& named,
                             const codegen::ContractionTarget* target);

// The same once more where there are convolutions of bytes (integer_products.h), which the first
// time were quantised ones of one layout. Nothing is wrong with what is named.
Module ConvertByteLayouts(const Module& m, const LayoutChoices& named,
                          const codegen::ContractionTarget& target);

// What is left of it: layout_transforms of the module, and the bytes that those of static shapes
// write.
struct LayoutTransforms {
  size_t count = 0, open = 0;  // `open`: of dynamic shapes
  uint64_t bytes = 0;
};
LayoutTransforms CountLayoutTransforms(const Module& m);

}  // namespace relayvm::ir
