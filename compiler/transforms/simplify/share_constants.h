// Constants of equal bytes become one, in all functions: what exporters write twice, and what a
// program calls constant wherever it is read, stands in the file once, packed or not, and is packed
// once.
//
// Compared are constants of one dtype and shape, first by a few bytes of each; small ones are left
// to lowering, which looks at all of them. Works with and without types. Tested by
// share_constants_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module ShareConstants(const Module& m);

}  // namespace relayvm::ir
