// LlvmOps: the machine of bytecode/semantics.h whose scalars are LLVM's values: i64 for Int, i1 for
// Bool. Each operation is a few instructions where the builder stands. In GuardLlvm
// (kernels/codegen/llvm_guard.h). Tested by machines_test.cc and tests/aot.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <utility>

#include "bytecode/semantics.h"

namespace relayvm::aot {

class LlvmOps {
 public:
  using Int = llvm::Value*;
  using Bool = llvm::Value*;

  explicit LlvmOps(llvm::IRBuilder<>& builder) : b_(builder) {}

  Int Number(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  Int Truth(Bool value) { return b_.CreateZExt(value, b_.getInt64Ty()); }
  Int Select(Bool condition, Int a, Int b) { return b_.CreateSelect(condition, a, b); }
  Bool Not(Bool a) { return b_.CreateNot(a); }
  Bool Both(Bool a, Bool b) { return b_.CreateAnd(a, b); }
  Bool Either(Bool a, Bool b) { return b_.CreateOr(a, b); }
  Int Binary(IntOp op, Int a, Int b);
  std::pair<Int, Bool> Overflowing(IntOp op, Int a, Int b);
  Int Wrap(Int a, DType dtype);
  Bool Compare(Comparison cmp, Int a, Int b, Sign sign);
  Int Float(FloatOp op, FloatWidth width, Int a, Int b);
  Bool CompareFloats(Comparison cmp, FloatWidth width, Int a, Int b);
  // Those that are a few instructions and exact; null for the others.
  Int InlineFunction(ScalarFunction fn, FloatWidth width, Int a);
  Int InlineFunction2(ScalarFunction fn, FloatWidth width, Int a, Int b);
  Int InlineConvert(Int a, DType from, DType to);

 private:
  llvm::Value* AsFloat(Int bits, FloatWidth width);
  Int Bits(llvm::Value* number);

  llvm::IRBuilder<>& b_;
};

}  // namespace relayvm::aot
