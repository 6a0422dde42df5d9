// A slice with strides of a slice becomes one slice of its source: exporters take every second row,
// and of those every second column.
//
//   strided_slice(strided_slice(x, begin=[1], strides=[2], axes=[2]), strides=[2], axes=[3])
//     ->  strided_slice(x, begin=[1, 0], strides=[2, 2], axes=[2, 3])
//
// The first slice goes with EliminateDeadCode where nobody else reads it. A slice without strides
// may be a part of another's memory and stays as it is, as do slices whose numbers are not known.
//
// Before and after: typed. Tested by compose_slices_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module ComposeSlices(const Module& m);

}  // namespace relayvm::ir
