// PartitionGraph: each region becomes a function of the module, TVM's
// @tvmgen_default_ENGINE_FUNCTION_NUMBER with the attributes Compiler and global_symbol, and a call
// of it. Markers go.
//
// Its parameters are tensors: what the region reads, each value once; constants are inside. It
// gives a tensor, or a tuple of those that are read outside. Regions that need each other (of
// markers by hand) are taken apart to their operators.
// PruneRegions: regions of an engine without heavy work (convolutions, products) are no regions any
// more: calling the engine costs more than it brings.
//
// Before: typed. After: new functions and calls have no types; Retype follows. Tested by
// regions_test.cc.
#pragma once

#include <functional>
#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::regions {

ir::Module PartitionGraph(const ir::Module& m);
// The attribute of functions that PruneRegions made plain: the engine.
inline constexpr const char* kPrunedAttr = "PrunedCompiler";
// And of those that ChooseRegions did: what was measured, for people.
inline constexpr const char* kMeasuredAttr = "PrunedMeasured";
// `is_pruned`: of an engine, whether its light regions go.
ir::Module PruneRegions(const ir::Module& m,
                        const std::function<bool(const std::string& engine)>& is_pruned);
// Whether a function, composites inside it too, has a convolution or a product.
bool HasHeavyWork(const ir::Function& f);

}  // namespace relayvm::regions
