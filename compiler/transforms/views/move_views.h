// A view of a join, where it leaves the dims up to the joined axis as they are, becomes one of
// each part, which costs nothing: the join then stands before what reads it, and fusion computes
// both in one pass over memory. Where the parts can be made in the join's own place
// (SubviewOffsets) there is no such pass, and nothing changes, unless another join has to copy the
// reshaped one.
//
//   reshape(concatenate((a, b), axis), shape)  ->  concatenate((reshape(a, ..), reshape(b, ..)), axis)
//
// Before: typed. After: new variables have no types; Retype follows. Tested by move_views_test.cc
// and compiler/end_to_end/copies_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module MoveViews(const Module& m);

}  // namespace relayvm::ir
