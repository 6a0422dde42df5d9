// How much of LLVM's work each kernel of a program is worth: most of a run is spent in few of them,
// and most of the compilation on the others. Tested by effort_test.cc.
#pragma once

#include <span>
#include <vector>

#include "kernels/codegen/kernel_function.h"

namespace relayvm::codegen {

// What is decided on.
struct KernelWeight {
  double cycles = 0;  // of a run, about: finite, above 0; extents that are not known are nominal
  double runs = 1;    // see KernelSpec::runs
  double lost = 0;    // of its time, at most, where LLVM does not reduce the strength of its loops
};
KernelWeight WeightOf(const KernelPlan& plan, double runs, const Machine& machine);

// KernelOptions::opt_level of each kernel, no higher than `highest`:
//
//   3  those whose time counts
//   2  all others, as long as all that they lose is no more than kLeanLoss of the program's time
std::vector<int> LevelsOf(std::span<const KernelWeight> weights, int highest);

// The quick way, 0, pays for none: the smallest that are a thousandth of the time made models 4 %
// slower.
inline constexpr double kLeanLoss = 0.005;

}  // namespace relayvm::codegen
