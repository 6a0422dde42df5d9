// Emits the loops of a LoopPlan. Tested through loops_test.cc.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kernels/codegen/emitter.h"
#include "kernels/codegen/schedule.h"

namespace relayvm::codegen {

// Emits the code of units begin..end-1 (i64) at the builder's insertion point.
// REQUIRES: the emitter uses plan.graph and has symbols, inputs and plan.outputs bound. `scratch`
// as in the kernel ABI.
void EmitLoops(LoopPlan& plan, Emitter& emitter, Builder& builder, llvm::Value* begin,
               llvm::Value* end, llvm::Value* scratch);

}  // namespace relayvm::codegen
