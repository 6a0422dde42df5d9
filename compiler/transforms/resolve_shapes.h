// Turns shape computations into dimension expressions.
//
// Before: typed; Module::contents tells which small integer tensors are known as dims. After: such tensors are ShapeValues (or
// constants), and operands that only a type relation reads (the shape of dyn.reshape) are cut off, so that
// dead-code elimination removes what computed them. No kernel is left that computes a shape.
// Tested by resolve_shapes_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module ResolveShapes(const Module& m);

}  // namespace relayvm::ir
