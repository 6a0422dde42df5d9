// Register allocation and arena planning on MIR, both by intervals over the linear order of
// instructions. Tested by allocate_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/lowering/mir.h"

namespace relayvm::lower {

struct RegisterCounts {
  uint16_t scalars = 0, objects = 0;
};
// Replaces virtual registers by machine registers, reusing each after its last use; arguments keep
// their places (i0.., r0..). An error when a bank needs more than 32,767. REQUIRES: MarkLastUses
// was run.
Result<RegisterCounts> AllocateRegisters(MFunction& function);

struct ArenaPlan {
  std::vector<ArenaSlot> slots;
  uint64_t bytes = 0;
};
// Gives every virtual slot an offset so that slots that live at the same time do not overlap:
// largest first, lowest offset that fits (the greedy-by-size strategy of Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020). A slot that a kernel may
// overwrite, and that dies there, shares its place with the result, unless one is a subview of a
// slot or has subviews: those share their whole's place as long as any of them is in use. Slots
// that are never used get no memory; slot numbers in the code are replaced by positions in the
// plan.
ArenaPlan PlanArena(MFunction& function);

}  // namespace relayvm::lower
