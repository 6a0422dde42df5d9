// What writes LLVM IR for a machine. Each function has one of its own.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kernels/codegen/machine.h"

namespace relayvm::codegen {

class Builder final : public llvm::IRBuilder<> {
 public:
  Builder(const Machine& machine, llvm::BasicBlock* at)
      : llvm::IRBuilder<>(at), machine_(machine) {}
  const Machine& machine() const { return machine_; }

 private:
  const Machine machine_;
};

}  // namespace relayvm::codegen
