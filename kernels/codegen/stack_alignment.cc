#include "kernels/codegen/stack_alignment.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdint>

namespace relayvm::codegen {
namespace {

// The registers that a value takes: 0 where it is no vector of fixed length.
int64_t Registers(const llvm::Type& type, int64_t register_bits) {
  if (!llvm::isa<llvm::FixedVectorType>(type)) return 0;
  const auto bits = static_cast<int64_t>(type.getPrimitiveSizeInBits().getFixedValue());
  return std::max<int64_t>(1, (bits + register_bits - 1) / register_bits);
}

// The most registers that vectors take at one place of a block, as it is written. What other blocks
// make counts all along, what they use to the end.
int64_t VectorPressure(const llvm::BasicBlock& block, int64_t register_bits) {
  llvm::SmallPtrSet<const llvm::Value*, 32> live;
  int64_t taken = 0;
  const auto take = [&](const llvm::Value* v) {
    const int64_t registers = Registers(*v->getType(), register_bits);
    if (registers > 0 && !llvm::isa<llvm::Constant>(v) && live.insert(v).second) taken += registers;
  };
  for (const llvm::Instruction& i : block) {
    if (i.isUsedOutsideOfBlock(&block)) take(&i);
    if (llvm::isa<llvm::PHINode>(i)) continue;
    for (const llvm::Value* operand : i.operands()) {
      const auto* maker = llvm::dyn_cast<llvm::Instruction>(operand);
      if (maker == nullptr || maker->getParent() != &block) take(operand);
    }
  }
  int64_t most = taken;
  for (const llvm::Instruction& i : llvm::reverse(block)) {
    if (live.erase(&i)) taken -= Registers(*i.getType(), register_bits);
    if (llvm::isa<llvm::PHINode>(i)) continue;
    for (const llvm::Value* operand : i.operands()) take(operand);
    most = std::max(most, taken);
  }
  return most;
}

}  // namespace

bool AlignStackOfVectors(llvm::Function& function, const Machine& machine) {
  if (machine.vector_bytes <= 16) return false;
  // The translation interleaves what stands apart here, and keeps constants in registers: in real
  // kernels that is up to half of them.
  const int64_t free_registers = machine.vector_registers == 32 ? 20 : 8;
  const int64_t register_bits = 8 * int64_t{machine.vector_bytes};
  const bool may_spill = std::any_of(function.begin(), function.end(), [&](const auto& block) {
    return VectorPressure(block, register_bits) > free_registers;
  });
  if (may_spill) function.addFnAttr("stackrealign");
  return may_spill;
}

}  // namespace relayvm::codegen
