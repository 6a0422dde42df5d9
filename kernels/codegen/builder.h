// What writes LLVM IR for a machine. Each function has one of its own.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kernels/codegen/machine.h"

namespace relayvm::codegen {

class Builder final : public llvm::IRBuilder<> {
 public:
  // `quick`: for code that LLVM translates as it is written (KernelOptions::quick).
  Builder(const Machine& machine, llvm::BasicBlock* at, bool quick = false)
      : llvm::IRBuilder<>(at), machine_(machine), quick_(quick) {}
  const Machine& machine() const { return machine_; }
  bool is_quick() const { return quick_; }

 private:
  const Machine machine_;
  const bool quick_;
};

}  // namespace relayvm::codegen
