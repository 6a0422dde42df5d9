// A cost model of tiled products: the cycles that one thread takes. Its inputs:
//
//   the plan    rows and vectors of a register tile, rows of a packed block, panels of b
//   the sizes   batch, rows, columns, depth: numbers, given for the symbols
//   the machine multiply-adds of a whole vector, and loads, in a cycle; the latency of a sum; the
//               bytes of the second cache, and those that it and memory give in a cycle; AMX's cycles
//               for a product, a load and a store of a tile register
//
// It counts the multiply-adds that tiles make, with rows and columns that only fill up, and for
// each step of k what is slowest of these, the loads, and the sums that wait for each other; what a
// tile's call costs; what packing costs; the bytes that come from memory. It knows neither the
// epilogue nor what feeds the product. Tested by kernels/codegen/schedule_space_test.cc.
#pragma once

#include <optional>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm::codegen {

// nullopt: no product of matrices (depthwise convolutions, attention, Winograd's transforms), or
// sizes that are unknown or negative.
std::optional<KernelEstimate> EstimateContraction(const ContractionPlan& plan,
                                                  const SymbolValue& values);

}  // namespace relayvm::codegen
