// Evaluates operator calls whose operands are constants.
//
// The evaluator of tensor expressions gives the value (kernels/te/evaluate.h), or, of heavy
// operators, a kernel that is compiled for it (kernels/codegen/compiled_evaluator.h). Calls that
// would make large constants out of small ones (zeros, broadcast_to) stay, as do those that take
// long: what they compute is the same each time, so that the same program comes out. Before: typed.
// Tested by fold_constants_test.cc.
#pragma once

#include <memory>
#include <stop_token>

#include "compiler/ir/ir.h"
#include "kernels/codegen/machine.h"

namespace relayvm {
class ObjectCache;  // kernels/codegen/object_cache.h
}

namespace relayvm::ir {

// What this process cannot run of `machine` is not folded by kernels. Once a stop is
// asked for, nothing more is folded. Kernels that were compiled before come from `cache`, unless
// it is null.
Module FoldConstants(const Module& m, const Machine& machine = Machine::Native(),
                     const std::stop_token& stop = {},
                     std::shared_ptr<ObjectCache> cache = nullptr);

}  // namespace relayvm::ir
