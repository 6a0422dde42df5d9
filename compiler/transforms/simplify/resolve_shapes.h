// Turns shape computations into dimension expressions.
//
// Before: typed; Module::contents tells which small integer tensors are known as dims. After
// ResolveShapes: such tensors are ShapeValues (or constants). After DropShapeOperands: operands
// that only a type relation reads (the shape of dyn.reshape) are cut off, so that dead-code
// elimination removes what computed them; types cannot be inferred again. Tested by
// resolve_shapes_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module ResolveShapes(const Module& m);
Module DropShapeOperands(const Module& m);

}  // namespace relayvm::ir
