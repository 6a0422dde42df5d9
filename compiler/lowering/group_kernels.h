// Calls of kernels that do not depend on each other come to stand together, so that threads run
// them side by side: branches of a graph that are too small to be worth several threads each.
//
// A call moves up to an earlier one past what it does not depend on, with the sizes and allocations
// that it needs, and with every check between them: it may rely on any; `kernels` before them says
// that they may run in any order. Large kernels keep their places: they fill the threads by
// themselves, and their results are best read while they are in a cache.
//
// Before: MarkLastUses was not run. Tested by group_kernels_test.cc.
#pragma once

#include <vector>

#include "bytecode/program.h"
#include "compiler/lowering/mir.h"

namespace relayvm::lower {

// `kernels`: what the calls' indices mean.
void RunKernelsTogether(MFunction& function, const std::vector<KernelInfo>& kernels);

}  // namespace relayvm::lower
