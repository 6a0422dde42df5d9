// How much of LLVM's work each kernel of a program is worth: most of a run is spent in few of them,
// and most of the compilation on the others. Tested by effort_test.cc.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "kernels/codegen/kernel_function.h"

namespace relayvm::codegen {

// What is decided on.
struct KernelWeight {
  double cycles = 0;  // of a run, about: finite, above 0; extents that are not known are nominal
  double runs = 1;    // see KernelSpec::runs
  double lost = 0;    // of its time, at most, where LLVM does not reduce the strength of its loops
  // Of the program's time, where it is quick, whatever the extents are that are not known.
  double quick_lost = std::numeric_limits<double>::infinity();
};
// Those of a program. `may_be_quick`: see QuickenLoops (codegen/quick.h).
std::vector<KernelWeight> WeightsOf(std::span<const KernelPlan> plans, std::span<const double> runs,
                                    const Machine& machine, bool may_be_quick);

// KernelOptions::opt_level of each kernel, no higher than `highest`:
//
//   3  those whose time counts
//   2  all others, as long as all that they lose is no more than kLeanLoss of the program's time
//   0  of these, loops whose time is nothing beside the program's, to kQuickLoss: they are quick
std::vector<int> LevelsOf(std::span<const KernelWeight> weights, int highest);

inline constexpr double kLeanLoss = 0.005, kQuickLoss = 0.005;

}  // namespace relayvm::codegen
