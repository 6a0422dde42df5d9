// MergeCompilerRegions: neighbours of one engine become one region, where no value leaves it and
// comes back: the markers between them go.
//
// Each operator has a level: that of what it needs, one more where that is another engine's or
// nobody's. Operators of one engine and one level that feed one another are a region; whatever
// leaves a level never comes back to it, so regions need each other in no circle. What could as
// well be computed later is, where it meets its users there. Linear in the size of the program.
// Before: typed. After: typed. Tested by regions_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::regions {

ir::Module MergeCompilerRegions(const ir::Module& m);

}  // namespace relayvm::regions
