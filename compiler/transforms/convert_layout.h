// Operators in another layout: convolutions that the program wrote for NCHW compute in NHWC, say. As
// TVM's pass of that name:
//
//   relayc --layout nn.conv2d=NHWC:default --layout nn.conv2d_transpose=NHWC:HWIO
//
// An operator that is named takes and gives data of the layout that is asked for, its kernel too. What
// stands between follows: operators that know no order of dims (add, relu) take any, those with an
// axis get another one (concatenate, mean, also the widths of pad), pools another layout. All else gets the layout that the
// program wrote, by a layout_transform; so do results, branches and functions. Transforms of constants
// are folded; two that undo each other never come about.
//
// Before: typed. After: new variables have no types; Retype follows, then EliminateDeadCode removes the
// transforms that nobody reads. Tested by convert_layout_test.cc.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

struct LayoutChoice {
  std::string data;    // "NHWC"
  std::string kernel;  // "HWIO"; "default": what goes with `data`
};
using LayoutChoices = std::map<std::string, LayoutChoice>;  // by the operator's name

// "nn.conv2d=NHWC:default"; the kernel's part may be left out. kInvalidArgument where no such operator
// has layouts, or a layout cannot be read.
Status ParseLayoutChoice(const std::string& text, LayoutChoices* choices);

Module ConvertLayout(const Module& m, const LayoutChoices& choices);

// What is left of it: layout_transforms of the module, and the bytes that those of static shapes
// write.
struct LayoutTransforms {
  size_t count = 0, open = 0;  // `open`: of dynamic shapes
  uint64_t bytes = 0;
};
LayoutTransforms CountLayoutTransforms(const Module& m);

}  // namespace relayvm::ir
