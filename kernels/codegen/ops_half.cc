// float16 and bfloat16 to float and back, by the machine's instructions or by integer arithmetic.
#include <algorithm>

#include "kernels/codegen/instructions.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

Value* Ops::HalfToFloat(Value* bits) {
  return machine().half ? HalfToFloatByInstruction(bits) : HalfToFloatByIntegers(bits);
}

Value* Ops::FloatToHalf(Value* x) {
  return machine().half ? machine().instructions->FloatToHalf(b_, x) : FloatToHalfByIntegers(x);
}

Value* Ops::HalfToFloatByInstruction(Value* bits) {
  auto extend = [&](Value* v) {
    return b_.CreateFPExt(b_.CreateBitCast(v, Like(b_.getHalfTy(), v)), Like(b_.getFloatTy(), v));
  };
  if (!bits->getType()->isVectorTy()) return extend(bits);
  return InUnits(b_, bits, std::max(machine().vector_bytes / 4, 8U), extend);
}

Value* Ops::HalfToFloatByIntegers(Value* bits) {
  llvm::Type* i32 = Like(b_.getInt32Ty(), bits);
  llvm::Type* f32 = Like(b_.getFloatTy(), bits);
  Value* wide = b_.CreateZExt(bits, i32);
  Value* sign = b_.CreateShl(b_.CreateAnd(wide, 0x8000), 16);
  Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, 0x7fff), 13);
  // The exponent is rebiased by a multiplication, which also normalises denormals.
  Value* scaled =
      b_.CreateFMul(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0x1p112));
  Value* is_special =
      b_.CreateICmpUGE(b_.CreateAnd(wide, 0x7fff), llvm::ConstantInt::get(i32, 0x7c00));
  Value* special = b_.CreateOr(magnitude, llvm::ConstantInt::get(i32, 0x7f800000));
  Value* result = b_.CreateSelect(is_special, special, b_.CreateBitCast(scaled, i32));
  return b_.CreateBitCast(b_.CreateOr(result, sign), f32);
}

Value* Ops::FloatToHalfByIntegers(Value* x) {
  llvm::Type* i32 = Like(b_.getInt32Ty(), x);
  llvm::Type* f32 = x->getType();
  auto constant = [&](uint32_t v) { return llvm::ConstantInt::get(i32, v); };
  Value* raw = b_.CreateBitCast(x, i32);
  Value* sign = b_.CreateAnd(b_.CreateLShr(raw, 16), constant(0x8000));
  Value* bits = b_.CreateAnd(raw, constant(0x7fffffff));
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 13), constant(1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, constant(0xfff)), odd);
  Value* normal = b_.CreateLShr(b_.CreateSub(rounded, constant(0x38000000)), 13);
  // Adding 0.5 rounds at 2^-24, the unit of denormals.
  Value* shifted = b_.CreateFAdd(b_.CreateBitCast(bits, f32), llvm::ConstantFP::get(f32, 0.5));
  Value* denormal = b_.CreateSub(b_.CreateBitCast(shifted, i32), constant(0x3f000000));
  Value* result = b_.CreateSelect(b_.CreateICmpULT(bits, constant(0x38800000)), denormal, normal);
  result = b_.CreateSelect(b_.CreateICmpUGE(bits, constant(0x47800000)), constant(0x7c00), result);
  result = b_.CreateSelect(b_.CreateICmpUGT(bits, constant(0x7f800000)), constant(0x7e00), result);
  return b_.CreateTrunc(b_.CreateOr(result, sign), Like(b_.getInt16Ty(), x));
}

Value* Ops::FloatToBFloat16(Value* x) {
  llvm::Type* i32 = Like(b_.getInt32Ty(), x);
  Value* bits = b_.CreateBitCast(x, i32);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), llvm::ConstantInt::get(i32, 1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, llvm::ConstantInt::get(i32, 0x7fff)), odd);
  Value* quiet = b_.CreateOr(bits, llvm::ConstantInt::get(i32, 0x400000));
  Value* result = b_.CreateSelect(b_.CreateFCmpUNO(x, x), quiet, rounded);
  return b_.CreateTrunc(b_.CreateLShr(result, 16), Like(b_.getInt16Ty(), x));
}

// Rounds toward zero and marks inexactness in the last bit, so that rounding again to a narrower
// format rounds as once.
Value* Ops::DoubleToFloatOdd(Value* x) {
  llvm::Type* i32 = Like(b_.getInt32Ty(), x);
  llvm::Type* f32 = Like(b_.getFloatTy(), x);
  Value* f = b_.CreateFPTrunc(x, f32);
  Value* back = b_.CreateFPExt(f, x->getType());
  Value* bits = b_.CreateBitCast(f, i32);
  Value* grew = b_.CreateFCmpOGT(b_.Abs(back), b_.Abs(x));
  Value* down = b_.CreateSub(bits, b_.CreateZExt(grew, i32));
  Value* odd = b_.CreateOr(down, llvm::ConstantInt::get(i32, 1));
  Value* inexact = b_.CreateFCmpONE(back, x);
  return b_.CreateBitCast(b_.CreateSelect(inexact, odd, bits), f32);
}

}  // namespace relayvm::codegen
