// Copies code with fresh variables.
// Tested by compiler/transforms/simplify/inline_test.cc.
#pragma once

#include "compiler/ir/rewrite.h"

namespace relayvm::ir {

// The block with every variable bound in it replaced by a fresh one (added to `map`) and every
// variable in `map` by its image. Types become annotations to infer from: symbolic dims are
// unknown, and guards but the kept ones are left to the inference that follows. `type_args`: what
// stands for the block's type parameters, by TypeVar::id. Numbers that the block computes with keep
// their dims: their symbols are the copy's own, added to `symbols`.
const Block* CopyBlock(const Module& m, const Block& block, AtomMap& map,
                       const std::map<uint32_t, Type>& type_args, SymbolTable& symbols);

}  // namespace relayvm::ir
