// What a plan is, for people.
#pragma once

#include <string>

#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::codegen {

// The form, what of it --schedule can set, the rest of the blocks, and what the cost model expects,
// with open extents at 128:
//
//   tile=6x16,block=132 of 256 deep, 8 panels; 2.4e+06 cycles, 97 % of the best
//   channels first, tile=12x32,block=64; 1e+05 cycles with 128 for what is open, 80 % of the best
//   attention, 2x8 of 64 queries; direct, channels first; Winograd 4x4, 6x16
//   planes, channels first, tile=4x24; 5.6e+04 cycles, 69 % of the best
//
// A tile that --schedule sets is one of packed panels.
//
// Tested by tools/tools_test.cc.
std::string DescribePlan(const ContractionPlan& plan);

}  // namespace relayvm::codegen
