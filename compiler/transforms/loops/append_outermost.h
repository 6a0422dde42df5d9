// Tensors that grow in a loop are kept with the axis that grows first, where they are appended to
// in place (the instruction tensor.append):
//
//   def @step(%cache: Tensor[(12, ?, 64), float32], %row: Tensor[(12, 1, 64), float32]) {
//     let %longer = concatenate((%cache, %row), axis=1);   // copies the whole cache
//     ... @step(%longer, ...)
//
// becomes a loop over a (?, 12, 64), with transpositions where the cache is used as the program has
// it; these become part of the kernels that read it. Which names are the same tensor is asked of
// value_flow.h, so that caches may stand in tuples and go through branches, calls and literals. It
// is done where it saves copies: the tensor comes to the loop empty, or of a known length, or from
// a kernel that can make it in its order (a parameter of the entry function may be long, and the
// loop short: 4 times as slow for one turn over (12, 4000, 64)); and kernels that cannot read a
// transposed tensor (a sort), and what hands the tensor to a list, a reference or a closure in the
// loop, are at most as many as the appends.
//
// Before: typed. After: typed. Tested by append_outermost_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module AppendOutermost(const Module& m);

}  // namespace relayvm::ir
