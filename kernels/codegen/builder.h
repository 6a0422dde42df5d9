// What writes LLVM IR for a machine. Each function has one of its own.
#pragma once

#include <llvm/ADT/DenseMap.h>
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

  // --- What LLVM's quick selection of instructions has nothing for: quick code is of what it has.
  // x * y + z, fused or not.
  llvm::Value* MulAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z);
  llvm::Value* Abs(llvm::Value* x);  // of floats
  llvm::Value* CopySign(llvm::Value* x, llvm::Value* sign);
  llvm::Value* IntMin(llvm::Value* x, llvm::Value* y, bool is_signed);
  llvm::Value* IntMax(llvm::Value* x, llvm::Value* y, bool is_signed);
  // Zeros of the type. Of vectors that selection has no constants: quick code loads them, once.
  llvm::Value* Zero(llvm::Type* type);

 private:
  bool TakesPlain(const llvm::Value* x) const { return quick_ && !x->getType()->isVectorTy(); }
  // The bits of x that `mask`, of the type of its bits, leaves.
  llvm::Value* BitsOf(llvm::Value* x, const llvm::APInt& mask);

  const Machine machine_;
  const bool quick_;
  llvm::DenseMap<llvm::Type*, llvm::Value*> zeros_;  // of vectors, in quick code
};

}  // namespace relayvm::codegen
