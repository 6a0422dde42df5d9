// scatter_nd whose constant indices name every element of a slice, one after the other, as exports
// of x[..., a:b, :] = y do, names the slices in their place: fewer indices, more elements for each.
//
//   scatter_nd(x: (4, 8, 3), [[0, 0, .. ], [2, 2, 2 ..], [0, 1, 2 ..]], y)
//     ->  scatter_nd(x, [[0, ..], [2, ..]], reshape(y, (.., 3)))
//
// Elements are still written or combined in the order of the indices. Before: typed. After: new
// variables have no types; Retype follows. Tested by widen_scatters_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module WidenScatters(const Module& m);

}  // namespace relayvm::ir
