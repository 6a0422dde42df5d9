// What is made of sizes and numbers alone (ranges, filled tensors, vectors of sizes) is made where
// it is read: each elementwise operator, gather or reduction that reads it gets a copy of its own,
// through views too, so that FuseOps takes it into the reader's kernel and no tensor is filled for
// it. Before: typed, kFinalTypes. After: the same; originals that nobody reads are left to
// EliminateDeadCode. Tested by rematerialise_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module Rematerialise(const Module& m);

// A vector of sizes, or a call whose elements are each made of scalars and their position.
bool IsMade(const Module& m, const Binding& b);

}  // namespace relayvm::ir
