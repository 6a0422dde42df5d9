#include "kernels/codegen/builder.h"

#include <llvm/IR/Module.h>

#include <cassert>

namespace relayvm::codegen {

using llvm::APInt;
using llvm::Value;

Value* Builder::MulAdd(Value* x, Value* y, Value* z) {
  if (quick_) return CreateFAdd(CreateFMul(x, y), z);
  return CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, z});
}

Value* Builder::BitsOf(Value* x, const APInt& mask) {
  llvm::Type* type = getIntNTy(mask.getBitWidth());
  return CreateAnd(CreateBitCast(x, type), llvm::ConstantInt::get(type, mask));
}

Value* Builder::Abs(Value* x) {
  if (!TakesPlain(x)) return CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  const APInt magnitude = APInt::getSignedMaxValue(x->getType()->getPrimitiveSizeInBits());
  return CreateBitCast(BitsOf(x, magnitude), x->getType());
}

Value* Builder::CopySign(Value* x, Value* sign) {
  if (!TakesPlain(x)) return CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  const unsigned bits = x->getType()->getPrimitiveSizeInBits();
  Value* joined =
      CreateOr(BitsOf(x, APInt::getSignedMaxValue(bits)), BitsOf(sign, APInt::getSignMask(bits)));
  return CreateBitCast(joined, x->getType());
}

Value* Builder::IntMin(Value* x, Value* y, bool is_signed) {
  if (TakesPlain(x))
    return CreateSelect(is_signed ? CreateICmpSLT(x, y) : CreateICmpULT(x, y), x, y);
  return CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
}

Value* Builder::IntMax(Value* x, Value* y, bool is_signed) {
  if (TakesPlain(x))
    return CreateSelect(is_signed ? CreateICmpSGT(x, y) : CreateICmpUGT(x, y), x, y);
  return CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
}

Value* Builder::Zero(llvm::Type* type) {
  if (!quick_ || !type->isVectorTy()) return llvm::Constant::getNullValue(type);
  Value*& zero = zeros_[type];
  if (zero != nullptr) return zero;
  constexpr const char* kName = "zeros";
  constexpr unsigned kBytes = 64;
  assert(type->getPrimitiveSizeInBits() <= 8 * kBytes && "a vector of more than one register");
  llvm::Module& module = *GetInsertBlock()->getModule();
  llvm::GlobalVariable* zeros = module.getGlobalVariable(kName, /*AllowInternal=*/true);
  if (zeros == nullptr) {
    llvm::Type* bytes = llvm::ArrayType::get(getInt8Ty(), kBytes);
    zeros = new llvm::GlobalVariable(module, bytes, /*isConstant=*/true,
                                     llvm::GlobalValue::PrivateLinkage,
                                     llvm::Constant::getNullValue(bytes), kName);
    zeros->setAlignment(llvm::Align(kBytes));
  }
  llvm::BasicBlock& entry = GetInsertBlock()->getParent()->getEntryBlock();
  zero =
      llvm::IRBuilder<>(&entry, entry.begin()).CreateAlignedLoad(type, zeros, llvm::Align(kBytes));
  return zero;
}

}  // namespace relayvm::codegen
