// A chain of elementwise operators from one tensor of bytes to another is a table of 256 bytes:
//
//   cast(clip(right_shift(fixed_point_multiply(multiply(cast(%x), take(%sigmoid, %x)) ...
//
// becomes one take, which fuses like any elementwise operator. The other operands are numbers, and
// the chain is long enough, or reads a table itself. Every bit is the chain's, computed by its own
// operators from all bytes: a constant after FoldConstants.
//
// Before: typed, constants folded. After: typed; what is not used any more goes with
// EliminateDeadCode. Tested by tabulate_bytes_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module TabulateBytes(const Module& m);

}  // namespace relayvm::ir
