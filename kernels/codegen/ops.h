// What the operators of tensor expressions mean as LLVM IR, on scalars and on vectors alike.
//
// Values have the register form of their dtype: iN for integers, i1 for bool, float for float16,
// bfloat16 and float32 (the first two rounded to their dtype after each operation), double. In
// memory float16 and bfloat16 are i16: LLVM's own half type becomes calls of a library on machines
// that do not convert it. The semantics are those of kernels/te/scalar.h. No operator becomes a
// call outside the module. Tested by ops_test.cc and half_test.cc through kernel_compiler.h.
#pragma once

#include "bytecode/base/dtype.h"
#include "kernels/codegen/builder.h"
#include "kernels/te/scalar.h"
#include "kernels/te/te.h"

namespace relayvm::codegen {

class Ops {
 public:
  explicit Ops(Builder& builder) : b_(builder) {}

  const Machine& machine() const { return b_.machine(); }
  llvm::Type* ValueType(DType t);
  llvm::Type* MemoryType(DType t);
  llvm::Value* Constant(te::Scalar v, DType t);
  llvm::Value* FromMemory(llvm::Value* v, DType t);
  llvm::Value* ToMemory(llvm::Value* v, DType t);

  // t is the dtype of the operands.
  llvm::Value* Unary(te::UnaryOp op, DType t, llvm::Value* x);
  llvm::Value* Binary(te::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* Cast(DType from, DType to, llvm::Value* x);
  // Of float32 that is no NaN and within the limits of an integer of at most 16 bits.
  llvm::Value* CastLimited(DType to, llvm::Value* x);
  llvm::Value* Reinterpret(DType from, DType to, llvm::Value* x);
  // x rounded to float16 or bfloat16; itself for other dtypes.
  llvm::Value* Round(llvm::Value* x, DType t);

 private:
  llvm::Value* FloatUnary(te::UnaryOp op, llvm::Value* x);
  llvm::Value* IntUnary(te::UnaryOp op, DType t, llvm::Value* x);
  llvm::Value* FloatBinary(te::BinaryOp op, llvm::Value* x, llvm::Value* y);
  llvm::Value* IntBinary(te::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* BoolBinary(te::BinaryOp op, llvm::Value* x, llvm::Value* y);
  llvm::Value* Compare(te::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* Divide(te::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* IntPower(DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* Shift(te::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* FloatsToInt32(llvm::Value* x, bool rounds);
  llvm::Value* FloatToSigned(unsigned bits, llvm::Value* x);
  llvm::Value* FloatToInt(DType to, llvm::Value* x);
  llvm::Value* IntToFloat(DType from, DType to, llvm::Value* x);
  // float16 by its bits, as i16.
  llvm::Value* HalfToFloat(llvm::Value* bits);
  llvm::Value* FloatToHalf(llvm::Value* x);
  llvm::Value* HalfToFloatByInstruction(llvm::Value* bits);
  llvm::Value* HalfToFloatByIntegers(llvm::Value* bits);
  llvm::Value* FloatToHalfByIntegers(llvm::Value* x);
  llvm::Value* FloatToBFloat16(llvm::Value* x);
  llvm::Value* DoubleToFloatOdd(llvm::Value* x);
  // `scalar` with the vector shape of `like`.
  llvm::Type* Like(llvm::Type* scalar, llvm::Value* like);
  llvm::Value* IntLike(llvm::Value* like, uint64_t v);  // of the integer type of `like`

  Builder& b_;
};

}  // namespace relayvm::codegen
