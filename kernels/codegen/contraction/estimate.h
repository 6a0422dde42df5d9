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
// epilogue nor what feeds the product. Of direct convolutions it knows what was measured: loads of
// a vector of pixels or of channels, and the ends of lines. Whoever schedules kernels and whoever
// chooses layouts asks this. Tested by estimate_test.cc and kernels/codegen/schedule_space_test.cc.
#pragma once

#include <optional>
#include <span>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/schedule_space.h"
#include "kernels/op/problem.h"

namespace relayvm::codegen {

// nullopt: attention, Winograd's transforms, or sizes that are unknown or negative.
std::optional<KernelEstimate> EstimateContraction(const ContractionPlan& plan,
                                                  const SymbolValue& values);

// What an extent that is not known counts as; batches count as 1.
inline constexpr int64_t kNominalExtent = 56;
double NominalBytes(DType dtype, std::span<const Dim> shape);

// Of a convolution alone, in the layouts of the problem, with a constant kernel that is packed or
// transformed as the machine has it best.
std::optional<KernelEstimate> EstimateConv(const ConvProblem& conv,
                                           const ContractionTarget& target);

// The cycles of bringing so many bytes into another order of dims, by a kernel of its own: what
// comes before writes them, and what follows reads them.
double CyclesOfTransform(const Machine& machine, double bytes);

}  // namespace relayvm::codegen
