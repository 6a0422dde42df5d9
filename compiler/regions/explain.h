// --explain: where each operator of a program runs, and why not elsewhere.
//
// Tested by explain_test.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/regions/annotate_target.h"

namespace relayvm::regions {

// A line for each operator of the program: its name, its place in the source, and the region with
// the node that it is part of; or what keeps it native, and in a line below it what would change
// that: no pattern starts with it, or the nearest one's condition with what was expected and found
// (rules/miss.h); a region without heavy work, or that something parts from one (cut_regions.h);
// a composite of no engine; what was measured to be slower. Last, the count of each. Of a module
// after PruneRegions or ChooseRegions. Before: typed.
std::string ExplainRegions(const ir::Module& m, const std::vector<EnginePattern>& engines);

}  // namespace relayvm::regions
