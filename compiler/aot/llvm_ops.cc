#include "compiler/aot/llvm_ops.h"

#include <llvm/IR/Intrinsics.h>

namespace relayvm::aot {

using llvm::Value;

Value* LlvmOps::Binary(IntOp op, Value* a, Value* b) {
  switch (op) {
    case IntOp::kAdd:
      return b_.CreateAdd(a, b);
    case IntOp::kSub:
      return b_.CreateSub(a, b);
    case IntOp::kMul:
      return b_.CreateMul(a, b);
    case IntOp::kDivS:
      return b_.CreateSDiv(a, b);
    case IntOp::kRemS:
      return b_.CreateSRem(a, b);
    case IntOp::kDivU:
      return b_.CreateUDiv(a, b);
    case IntOp::kRemU:
      return b_.CreateURem(a, b);
    case IntOp::kMinS:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case IntOp::kMaxS:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case IntOp::kMinU:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
    case IntOp::kMaxU:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
    case IntOp::kAnd:
      return b_.CreateAnd(a, b);
    case IntOp::kOr:
      return b_.CreateOr(a, b);
    case IntOp::kXor:
      return b_.CreateXor(a, b);
    case IntOp::kShl:
      return b_.CreateShl(a, b);
    case IntOp::kShrS:
      return b_.CreateAShr(a, b);
    case IntOp::kShrU:
      return b_.CreateLShr(a, b);
  }
  return nullptr;
}

std::pair<Value*, Value*> LlvmOps::Overflowing(IntOp op, Value* a, Value* b) {
  const llvm::Intrinsic::ID id = op == IntOp::kAdd   ? llvm::Intrinsic::sadd_with_overflow
                                 : op == IntOp::kSub ? llvm::Intrinsic::ssub_with_overflow
                                                     : llvm::Intrinsic::smul_with_overflow;
  Value* both = b_.CreateBinaryIntrinsic(id, a, b);
  return {b_.CreateExtractValue(both, 0), b_.CreateExtractValue(both, 1)};
}

Value* LlvmOps::Wrap(Value* a, DType dtype) {
  if (dtype == DType::kBool) return Truth(b_.CreateIsNotNull(a));
  if (IsFloat(dtype) || DTypeBytes(dtype) == 8) return a;
  Value* narrow = b_.CreateTrunc(a, b_.getIntNTy(static_cast<unsigned>(8 * DTypeBytes(dtype))));
  return IsSignedInt(dtype) ? b_.CreateSExt(narrow, b_.getInt64Ty())
                            : b_.CreateZExt(narrow, b_.getInt64Ty());
}

Value* LlvmOps::Compare(Comparison cmp, Value* a, Value* b, Sign sign) {
  using P = llvm::CmpInst::Predicate;
  constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                           P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                             P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return b_.CreateICmp((sign == Sign::kSigned ? kSigned : kUnsigned)[static_cast<size_t>(cmp)], a,
                       b);
}

// --- Floating point ---

Value* LlvmOps::AsFloat(Value* bits, FloatWidth width) {
  if (width == FloatWidth::k64) return b_.CreateBitCast(bits, b_.getDoubleTy());
  return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getInt32Ty()), b_.getFloatTy());
}

Value* LlvmOps::Bits(Value* number) {
  if (number->getType()->isDoubleTy()) return b_.CreateBitCast(number, b_.getInt64Ty());
  return b_.CreateZExt(b_.CreateBitCast(number, b_.getInt32Ty()), b_.getInt64Ty());
}

Value* LlvmOps::Float(FloatOp op, FloatWidth width, Value* a, Value* b) {
  Value *x = AsFloat(a, width), *y = AsFloat(b, width);
  switch (op) {
    case FloatOp::kAdd:
      return Bits(b_.CreateFAdd(x, y));
    case FloatOp::kSub:
      return Bits(b_.CreateFSub(x, y));
    case FloatOp::kMul:
      return Bits(b_.CreateFMul(x, y));
    case FloatOp::kDiv:
      return Bits(b_.CreateFDiv(x, y));
  }
  return nullptr;
}

Value* LlvmOps::CompareFloats(Comparison cmp, FloatWidth width, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  constexpr P kFloats[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                           P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  return b_.CreateFCmp(kFloats[static_cast<size_t>(cmp)], AsFloat(a, width), AsFloat(b, width));
}

// Of float32 as of float64: rounding what is computed in double gives the same.
Value* LlvmOps::InlineFunction(ScalarFunction fn, FloatWidth width, Value* bits) {
  Value* x = AsFloat(bits, width);
  const auto intrinsic = [&](llvm::Intrinsic::ID id) {
    return Bits(b_.CreateUnaryIntrinsic(id, x));
  };
  switch (fn) {
    case ScalarFunction::kNegate:
      return Bits(b_.CreateFNeg(x));
    case ScalarFunction::kAbs:
      return intrinsic(llvm::Intrinsic::fabs);
    case ScalarFunction::kSqrt:
      return intrinsic(llvm::Intrinsic::sqrt);
    case ScalarFunction::kFloor:
      return intrinsic(llvm::Intrinsic::floor);
    case ScalarFunction::kCeil:
      return intrinsic(llvm::Intrinsic::ceil);
    case ScalarFunction::kTrunc:
      return intrinsic(llvm::Intrinsic::trunc);
    case ScalarFunction::kRoundEven:
      return intrinsic(llvm::Intrinsic::roundeven);
    case ScalarFunction::kIsNan:
      return Truth(b_.CreateFCmpUNO(x, x));
    case ScalarFunction::kIsInf: {
      Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      return Truth(b_.CreateFCmpOEQ(size, llvm::ConstantFP::getInfinity(x->getType())));
    }
    case ScalarFunction::kIsFinite: {
      Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      return Truth(b_.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(x->getType())));
    }
    default:
      return nullptr;
  }
}

Value* LlvmOps::InlineFunction2(ScalarFunction fn, FloatWidth width, Value* a, Value* b) {
  if (fn != ScalarFunction::kMin && fn != ScalarFunction::kMax) return nullptr;
  Value *x = AsFloat(a, width), *y = AsFloat(b, width);
  Value* first = fn == ScalarFunction::kMin ? b_.CreateFCmpOLT(x, y) : b_.CreateFCmpOGT(x, y);
  return Bits(b_.CreateSelect(first, x, y));
}

Value* LlvmOps::InlineConvert(Value* a, DType from, DType to) {
  llvm::Type* type = to == DType::kFloat32 ? b_.getFloatTy() : b_.getDoubleTy();
  if (!IsFloat(from)) {
    if (!IsFloat(to)) return Wrap(a, to);
    return Bits(from == DType::kUInt64 ? b_.CreateUIToFP(a, type) : b_.CreateSIToFP(a, type));
  }
  if (!IsFloat(to)) return nullptr;
  const FloatWidth width = from == DType::kFloat64 ? FloatWidth::k64 : FloatWidth::k32;
  return Bits(b_.CreateFPCast(AsFloat(a, width), type));
}

}  // namespace relayvm::aot
