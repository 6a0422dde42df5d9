// Memory planning for tensors whose size is known only at run time: a tensor takes over the memory
// of an earlier one that is dead and has the same size as an expression.
//
// What remains for the allocator is one piece of memory for each size and each tensor of that size
// alive at the same time, as slots would be; tensors of static size have slots already
// (PlanArena). A tensor's memory waits for its successor only on paths that reach it and not across
// calls, so a deep recursion holds no more than it did. That nobody else holds the memory is known
// at run time alone, and tensor.reuse checks it.
//
// Before: MarkLastUses was run; MInst::bytes of allocations says their size. After: the same, with
// some tensor.alloc turned into tensor.reuse of a register that dies there. Tested by
// share_memory_test.cc.
#pragma once

#include "compiler/lowering/mir.h"

namespace relayvm::lower {

void ShareMemory(MFunction& function);

}  // namespace relayvm::lower
