// LowerRegions: calls of regions (functions with the attribute Compiler, of PartitionGraph or of
// the program) become calls of a kernel that a provider runs, with the region's JSON and its
// constants (ir/region.h). What composites and other functions are left is inlined.
//
// Guards that type inference made for what is inside stand before the call. A region that is used
// otherwise than by a call stays a function of the program. Before: typed. After: typed but for
// what was inlined. Tested by regions_test.cc.
#pragma once

#include <functional>
#include <string>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/regions/annotate_target.h"

namespace relayvm::regions {

Result<ir::Module> LowerRegions(const ir::Module& m, const std::vector<EnginePattern>& engines);

// Whether a module calls regions.
bool HasRegions(const ir::Module& m);

// The JSON of each region of the module, before LowerRegions or after it, by name.
Result<std::vector<std::pair<std::string, std::string>>> RegionJsons(
    const ir::Module& m, const std::vector<EnginePattern>& engines);

}  // namespace relayvm::regions
