// Copies code with fresh variables.
// Tested by inline_test.cc.
#pragma once

#include <unordered_map>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// What stands for a variable in the copy.
using AtomMap = std::unordered_map<uint32_t, Atom>;

// The block with every variable bound in it replaced by a fresh one (added to `map`) and every
// variable in `map` by its image. Types become annotations to infer from: symbolic dims are
// unknown; with `keep_types` false, types that mention type parameters are dropped.
const Block* CopyBlock(const Module& m, const Block& block, AtomMap& map, bool keep_types);

}  // namespace relayvm::ir
