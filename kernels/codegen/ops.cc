// Types, memory, operators and conversions. How float16 and bfloat16 convert is in ops_half.cc.
#include "kernels/codegen/ops.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "kernels/codegen/instructions.h"
#include "kernels/codegen/math.h"

namespace relayvm::codegen {

using llvm::Value;
using te::BinaryOp;
using te::UnaryOp;

// --- Types ---

llvm::Type* Ops::MemoryType(DType t) {
  switch (t) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return b_.getInt16Ty();
    case DType::kFloat32:
      return b_.getFloatTy();
    case DType::kFloat64:
      return b_.getDoubleTy();
    default:
      return b_.getIntNTy(static_cast<unsigned>(DTypeBytes(t)) * 8);
  }
}

llvm::Type* Ops::ValueType(DType t) {
  if (t == DType::kFloat64) return b_.getDoubleTy();
  if (IsFloat(t)) return b_.getFloatTy();
  return b_.getIntNTy(static_cast<unsigned>(DTypeBits(t)));
}

llvm::Type* Ops::Like(llvm::Type* scalar, Value* like) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType())) {
    return llvm::FixedVectorType::get(scalar, vector->getNumElements());
  }
  return scalar;
}

Value* Ops::IntLike(Value* like, uint64_t v) {
  unsigned bits = like->getType()->getScalarSizeInBits();
  llvm::APInt value(64, v);
  return llvm::ConstantInt::get(like->getType(), value.trunc(bits));
}

Value* Ops::Constant(te::Scalar v, DType t) {
  if (IsFloat(t)) return llvm::ConstantFP::get(ValueType(t), v.f);
  return llvm::ConstantInt::get(
      ValueType(t),
      llvm::APInt(64, static_cast<uint64_t>(v.i)).trunc(static_cast<unsigned>(DTypeBits(t))));
}

// --- Memory ---

Value* Ops::FromMemory(Value* v, DType t) {
  switch (t) {
    case DType::kBool:
      return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    case DType::kFloat16:
      return HalfToFloat(v);
    case DType::kBFloat16: {
      Value* wide = b_.CreateShl(b_.CreateZExt(v, Like(b_.getInt32Ty(), v)), 16);
      return b_.CreateBitCast(wide, Like(b_.getFloatTy(), v));
    }
    default:
      return v;
  }
}

Value* Ops::ToMemory(Value* v, DType t) {
  switch (t) {
    case DType::kBool:
      return b_.CreateZExt(v, Like(b_.getInt8Ty(), v));
    case DType::kFloat16:
      return FloatToHalf(v);
    case DType::kBFloat16:
      return FloatToBFloat16(v);
    default:
      return v;
  }
}

Value* Ops::Round(Value* x, DType t) {
  if (t != DType::kFloat16 && t != DType::kBFloat16) return x;
  return FromMemory(ToMemory(x, t), t);
}

// --- Unary ---

Value* Ops::FloatUnary(UnaryOp op, Value* x) {
  llvm::Type* type = x->getType();
  auto constant = [&](double v) { return llvm::ConstantFP::get(type, v); };
  auto intrinsic = [&](llvm::Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, x); };
  switch (op) {
    case UnaryOp::kNegative:
      return b_.CreateFNeg(x);
    case UnaryOp::kAbs:
      return b_.Abs(x);
    case UnaryOp::kSign: {
      Value* negative = b_.CreateSelect(b_.CreateFCmpOLT(x, constant(0)), constant(-1), x);
      return b_.CreateSelect(b_.CreateFCmpOGT(x, constant(0)), constant(1), negative);
    }
    case UnaryOp::kNot:
      return b_.CreateUIToFP(b_.CreateFCmpOEQ(x, constant(0)), type);
    case UnaryOp::kSqrt:
      return intrinsic(llvm::Intrinsic::sqrt);
    case UnaryOp::kRsqrt:
      return b_.CreateFDiv(constant(1), intrinsic(llvm::Intrinsic::sqrt));
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRoundEven: {
      // SSE4.1 and up have an instruction for these.
      if (op == UnaryOp::kFloor) return intrinsic(llvm::Intrinsic::floor);
      if (op == UnaryOp::kCeil) return intrinsic(llvm::Intrinsic::ceil);
      if (op == UnaryOp::kTrunc) return intrinsic(llvm::Intrinsic::trunc);
      return intrinsic(llvm::Intrinsic::rint);
    }
    case UnaryOp::kRound: {
      // Half away from zero: the fraction of |x| is exact, so comparing it with 1/2 is too.
      Value* magnitude = b_.Abs(x);
      Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, magnitude);
      Value* up = b_.CreateFCmpOGE(b_.CreateFSub(magnitude, whole), constant(0.5));
      Value* rounded = b_.CreateSelect(up, b_.CreateFAdd(whole, constant(1)), whole);
      return b_.CopySign(rounded, x);
    }
    case UnaryOp::kIsNan:
      return b_.CreateFCmpUNO(x, x);
    case UnaryOp::kIsInf:
      return b_.CreateFCmpOEQ(b_.Abs(x), llvm::ConstantFP::getInfinity(type));
    case UnaryOp::kIsFinite:
      return b_.CreateFCmpONE(b_.Abs(x), llvm::ConstantFP::getInfinity(type));
    default:
      return EmitMath(b_, op, x);
  }
}

Value* Ops::IntUnary(UnaryOp op, DType t, Value* x) {
  Value* zero = llvm::Constant::getNullValue(x->getType());
  bool is_bool = t == DType::kBool;
  switch (op) {
    case UnaryOp::kNegative:
      return is_bool ? x : b_.CreateNeg(x);
    case UnaryOp::kAbs:
      if (!IsSignedInt(t)) return x;
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse());
    case UnaryOp::kSign: {
      Value* positive = b_.CreateZExtOrTrunc(b_.CreateICmpNE(x, zero), x->getType());
      if (!IsSignedInt(t)) return positive;
      unsigned bits = x->getType()->getScalarSizeInBits();
      return b_.CreateOr(b_.CreateAShr(x, bits - 1), positive);
    }
    case UnaryOp::kNot:
      return b_.CreateNot(x);
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRound:
    case UnaryOp::kRoundEven:
      return x;
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
      return llvm::Constant::getNullValue(Like(b_.getInt1Ty(), x));
    case UnaryOp::kIsFinite:
      return llvm::Constant::getAllOnesValue(Like(b_.getInt1Ty(), x));
    default:
      return Cast(DType::kFloat64, t, FloatUnary(op, Cast(t, DType::kFloat64, x)));
  }
}

Value* Ops::Unary(UnaryOp op, DType t, Value* x) {
  if (!IsFloat(t)) return IntUnary(op, t, x);
  Value* result = FloatUnary(op, x);
  return op >= UnaryOp::kIsNan || op == UnaryOp::kNegative || op == UnaryOp::kAbs
             ? result
             : Round(result, t);
}

// --- Binary ---

Value* Ops::Compare(BinaryOp op, DType t, Value* x, Value* y) {
  using Predicate = llvm::CmpInst::Predicate;
  int row = static_cast<int>(op) - static_cast<int>(BinaryOp::kEqual);
  constexpr Predicate kFloat[] = {Predicate::FCMP_OEQ, Predicate::FCMP_UNE, Predicate::FCMP_OLT,
                                  Predicate::FCMP_OLE, Predicate::FCMP_OGT, Predicate::FCMP_OGE};
  constexpr Predicate kSigned[] = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,  Predicate::ICMP_SLT,
                                   Predicate::ICMP_SLE, Predicate::ICMP_SGT, Predicate::ICMP_SGE};
  constexpr Predicate kUnsigned[] = {Predicate::ICMP_EQ,  Predicate::ICMP_NE,  Predicate::ICMP_ULT,
                                     Predicate::ICMP_ULE, Predicate::ICMP_UGT, Predicate::ICMP_UGE};
  if (IsFloat(t)) return b_.CreateFCmp(kFloat[row], x, y);
  return b_.CreateICmp(IsSignedInt(t) ? kSigned[row] : kUnsigned[row], x, y);
}

Value* Ops::FloatBinary(BinaryOp op, Value* x, Value* y) {
  llvm::Type* type = x->getType();
  Value* zero = llvm::ConstantFP::get(type, 0);
  auto truth = [&](Value* v) { return b_.CreateFCmpUNE(v, zero); };
  switch (op) {
    case BinaryOp::kAdd:
      return b_.CreateFAdd(x, y);
    case BinaryOp::kSubtract:
      return b_.CreateFSub(x, y);
    case BinaryOp::kMultiply:
      return b_.CreateFMul(x, y);
    case BinaryOp::kDivide:
      return b_.CreateFDiv(x, y);
    case BinaryOp::kMod:
      return EmitFmod(b_, x, y);
    case BinaryOp::kFloorMod: {
      Value* rest = EmitFmod(b_, x, y);
      Value* differ = b_.CreateXor(b_.CreateFCmpOLT(rest, zero), b_.CreateFCmpOLT(y, zero));
      Value* adjust = b_.CreateAnd(b_.CreateFCmpONE(rest, zero), differ);
      return b_.CreateSelect(adjust, b_.CreateFAdd(rest, y), rest);
    }
    case BinaryOp::kMin:
      return b_.CreateSelect(b_.CreateFCmpOLT(x, y), x, y);
    case BinaryOp::kMax:
      return b_.CreateSelect(b_.CreateFCmpOGT(x, y), x, y);
    case BinaryOp::kPower:
      return EmitPower(b_, x, y);
    case BinaryOp::kAtan2:
      return EmitAtan2(b_, x, y);
    case BinaryOp::kAnd:
      return b_.CreateUIToFP(b_.CreateAnd(truth(x), truth(y)), type);
    case BinaryOp::kOr:
      return b_.CreateUIToFP(b_.CreateOr(truth(x), truth(y)), type);
    case BinaryOp::kXor:
      return b_.CreateUIToFP(b_.CreateXor(truth(x), truth(y)), type);
    default:
      return zero;
  }
}

// Integer division: by zero gives 0, and the one that overflows wraps.
Value* Ops::Divide(BinaryOp op, DType t, Value* x, Value* y) {
  bool is_mod = op == BinaryOp::kMod || op == BinaryOp::kFloorMod;
  bool is_floor = op == BinaryOp::kFloorDivide || op == BinaryOp::kFloorMod;
  bool is_signed = IsSignedInt(t);
  unsigned bits = x->getType()->getScalarSizeInBits();
  Value* zero = llvm::Constant::getNullValue(x->getType());
  Value* one = IntLike(x, 1);
  Value* by_zero = b_.CreateICmpEQ(y, zero);
  Value* by_minus_one =
      is_signed ? b_.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(y->getType())) : nullptr;
  Value* avoid = is_signed ? b_.CreateOr(by_zero, by_minus_one) : by_zero;
  Value* divisor = b_.CreateSelect(avoid, one, y);
  Value* quotient = nullptr;
  if (x->getType()->isVectorTy() && bits <= 32 && !llvm::isa<llvm::Constant>(y)) {
    // There is no vector division of integers. In double the quotient of 32-bit numbers, truncated,
    // is exact.
    llvm::Type* f64 = Like(b_.getDoubleTy(), x);
    Value* fx = is_signed ? b_.CreateSIToFP(x, f64) : b_.CreateUIToFP(x, f64);
    Value* fy = is_signed ? b_.CreateSIToFP(divisor, f64) : b_.CreateUIToFP(divisor, f64);
    Value* fq = b_.CreateFDiv(fx, fy);
    quotient = is_signed ? b_.CreateFPToSI(fq, x->getType()) : b_.CreateFPToUI(fq, x->getType());
  } else {
    quotient = is_signed ? b_.CreateSDiv(x, divisor) : b_.CreateUDiv(x, divisor);
  }
  Value* rest = b_.CreateSub(x, b_.CreateMul(quotient, divisor));
  if (is_floor && is_signed) {
    Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, divisor), zero);
    Value* adjust = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
    rest = b_.CreateSelect(adjust, b_.CreateAdd(rest, divisor), rest);
    quotient = b_.CreateSub(quotient, b_.CreateZExt(adjust, x->getType()));
  }
  Value* result = is_mod ? rest : quotient;
  if (is_signed) result = b_.CreateSelect(by_minus_one, is_mod ? zero : b_.CreateNeg(x), result);
  return b_.CreateSelect(by_zero, zero, result);
}

// By squaring; a negative exponent gives the truncated reciprocal.
Value* Ops::IntPower(DType t, Value* x, Value* y) {
  llvm::Type* type = x->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* one = IntLike(x, 1);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b_.getContext(), "power", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "power.end", function);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* result = b_.CreatePHI(type, 2);
  llvm::PHINode* power = b_.CreatePHI(type, 2);
  llvm::PHINode* exponent = b_.CreatePHI(type, 2);
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(exponent, one), zero);
  Value* next_result = b_.CreateSelect(odd, b_.CreateMul(result, power), result);
  Value* next_power = b_.CreateMul(power, power);
  Value* next_exponent = b_.CreateLShr(exponent, 1);
  result->addIncoming(one, before);
  power->addIncoming(x, before);
  exponent->addIncoming(y, before);
  result->addIncoming(next_result, loop);
  power->addIncoming(next_power, loop);
  exponent->addIncoming(next_exponent, loop);
  Value* more = b_.CreateICmpNE(next_exponent, zero);
  if (type->isVectorTy()) more = b_.CreateOrReduce(more);
  b_.CreateCondBr(more, loop, after);
  b_.SetInsertPoint(after);
  if (!IsSignedInt(t)) return next_result;
  Value* minus_one = llvm::Constant::getAllOnesValue(type);
  Value* sign = b_.CreateSelect(b_.CreateICmpNE(b_.CreateAnd(y, one), zero), minus_one, one);
  Value* reciprocal = b_.CreateSelect(b_.CreateICmpEQ(x, minus_one), sign, zero);
  reciprocal = b_.CreateSelect(b_.CreateICmpEQ(x, one), one, reciprocal);
  return b_.CreateSelect(b_.CreateICmpSLT(y, zero), reciprocal, next_result);
}

Value* Ops::Shift(BinaryOp op, DType t, Value* x, Value* y) {
  uint64_t bits = x->getType()->getScalarSizeInBits();
  Value* too_far = b_.CreateICmpUGE(y, IntLike(y, bits));
  Value* zero = llvm::Constant::getNullValue(x->getType());
  if (op == BinaryOp::kShiftRight && IsSignedInt(t)) {
    return b_.CreateAShr(x, b_.CreateSelect(too_far, IntLike(y, bits - 1), y));
  }
  Value* amount = b_.CreateSelect(too_far, zero, y);
  Value* shifted = op == BinaryOp::kShiftLeft ? b_.CreateShl(x, amount) : b_.CreateLShr(x, amount);
  return b_.CreateSelect(too_far, zero, shifted);
}

Value* Ops::IntBinary(BinaryOp op, DType t, Value* x, Value* y) {
  bool is_signed = IsSignedInt(t);
  switch (op) {
    case BinaryOp::kAdd:
      return b_.CreateAdd(x, y);
    case BinaryOp::kSubtract:
      return b_.CreateSub(x, y);
    case BinaryOp::kMultiply:
      return b_.CreateMul(x, y);
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return Divide(op, t, x, y);
    case BinaryOp::kMin:
      return b_.IntMin(x, y, is_signed);
    case BinaryOp::kMax:
      return b_.IntMax(x, y, is_signed);
    case BinaryOp::kPower:
      return IntPower(t, x, y);
    case BinaryOp::kAtan2:
      return Cast(DType::kFloat64, t,
                  EmitAtan2(b_, Cast(t, DType::kFloat64, x), Cast(t, DType::kFloat64, y)));
    case BinaryOp::kAnd:
      return b_.CreateAnd(x, y);
    case BinaryOp::kOr:
      return b_.CreateOr(x, y);
    case BinaryOp::kXor:
      return b_.CreateXor(x, y);
    default:
      return Shift(op, t, x, y);
  }
}

// Bool as the integers 0 and 1, with any result but 0 taken as true.
Value* Ops::BoolBinary(BinaryOp op, Value* x, Value* y) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kOr:
    case BinaryOp::kMax:
      return b_.CreateOr(x, y);
    case BinaryOp::kSubtract:
    case BinaryOp::kXor:
      return b_.CreateXor(x, y);
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kAnd:
    case BinaryOp::kMin:
      return b_.CreateAnd(x, y);
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return llvm::Constant::getNullValue(x->getType());
    case BinaryOp::kPower:
      return b_.CreateOr(x, b_.CreateNot(y));
    case BinaryOp::kShiftLeft:
      return x;
    case BinaryOp::kShiftRight:
      return b_.CreateAnd(x, b_.CreateNot(y));
    default:
      return Cast(DType::kUInt8, DType::kBool,
                  IntBinary(op, DType::kUInt8, Cast(DType::kBool, DType::kUInt8, x),
                            Cast(DType::kBool, DType::kUInt8, y)));
  }
}

Value* Ops::Binary(BinaryOp op, DType t, Value* x, Value* y) {
  if (te::IsComparison(op)) return Compare(op, t, x, y);
  if (t == DType::kBool) return BoolBinary(op, x, y);
  if (!IsFloat(t)) return IntBinary(op, t, x, y);
  if (op == BinaryOp::kFloorDivide) {
    Value* quotient = Round(b_.CreateFDiv(x, y), t);
    return Round(b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, quotient), t);
  }
  Value* result = FloatBinary(op, x, y);
  return op == BinaryOp::kMin || op == BinaryOp::kMax ? result : Round(result, t);
}

// --- Conversions ---

// A vector of float32 as int32 by the machine's own conversion, -2^31 for what does not fit: LLVM
// has no vector form with limits. Truncates, or rounds as the machine is set to (to nearest even),
// which is what rounds float32 too. Null for other values.
Value* Ops::FloatsToInt32(Value* x, bool rounds) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr || !type->getElementType()->isFloatTy()) return nullptr;
  return machine().instructions->FloatsToInt32(b_, x, rounds);
}

Value* Ops::CastLimited(DType to, Value* x) {
  // The conversion rounds what was to be rounded before.
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(x);
  const bool rounds = call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::rint;
  Value* whole = FloatsToInt32(rounds ? call->getArgOperand(0) : x, rounds);
  if (whole == nullptr) whole = b_.CreateFPToSI(x, Like(b_.getInt32Ty(), x));
  return b_.CreateTrunc(whole, Like(ValueType(to), x));
}

// fptosi.sat: with limits, and 0 for NaN. LLVM takes a vector of it apart, with branches for each
// lane, and its loop vectoriser does not take it at all.
Value* Ops::FloatToSigned(unsigned bits, Value* x) {
  llvm::Type* type = Like(b_.getIntNTy(bits), x);
  const double limit = bits == 64 ? 0x1p63 : 0x1p31;
  Value* above = b_.CreateFCmpOGE(x, llvm::ConstantFP::get(x->getType(), limit));
  Value* below = b_.CreateFCmpOLT(x, llvm::ConstantFP::get(x->getType(), -limit));
  Value* fits = b_.CreateNot(b_.CreateOr(b_.CreateOr(above, below), b_.CreateFCmpUNO(x, x)));
  Value* whole =
      b_.CreateFPToSI(b_.CreateSelect(fits, x, llvm::Constant::getNullValue(x->getType())), type);
  whole = b_.CreateSelect(above, llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits)),
                          whole);
  return b_.CreateSelect(below, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)),
                         whole);
}

Value* Ops::FloatToInt(DType to, Value* x) {
  llvm::Type* i32 = Like(b_.getInt32Ty(), x);
  llvm::Type* i64 = Like(b_.getInt64Ty(), x);
  switch (to) {
    case DType::kBool:
      return b_.CreateFCmpUNE(x, llvm::ConstantFP::get(x->getType(), 0));
    case DType::kInt64:
      return FloatToSigned(64, x);
    case DType::kUInt32:
      return b_.CreateTrunc(FloatToSigned(64, x), i32);
    case DType::kUInt64: {
      Value* large = b_.CreateFCmpOGE(x, llvm::ConstantFP::get(x->getType(), 0x1p63));
      // What is above the signed ones, less 2^63: its bits below the sign's.
      Value* half = b_.CreateFSub(x, llvm::ConstantFP::get(x->getType(), 0x1p63));
      Value* whole = FloatToSigned(64, b_.CreateSelect(large, half, x));
      Value* sign = llvm::ConstantInt::getSigned(i64, INT64_MIN);
      return b_.CreateSelect(large, b_.CreateOr(whole, sign), whole);
    }
    default: {
      Value* whole = FloatsToInt32(x, /*rounds=*/false);
      if (whole == nullptr) return b_.CreateTrunc(FloatToSigned(32, x), Like(ValueType(to), x));
      Value* large = b_.CreateFCmpOGE(x, llvm::ConstantFP::get(x->getType(), 0x1p31));
      whole = b_.CreateSelect(large, llvm::ConstantInt::get(i32, INT32_MAX), whole);
      // The low bits of -2^31 are 0, as NaN's are to be.
      if (DTypeBits(to) <= 16) return b_.CreateTrunc(whole, Like(ValueType(to), x));
      return b_.CreateSelect(b_.CreateFCmpUNO(x, x), llvm::Constant::getNullValue(i32), whole);
    }
  }
}

Value* Ops::IntToFloat(DType from, DType to, Value* x) {
  bool is_signed = IsSignedInt(from);
  llvm::Type* type = Like(ValueType(to), x);
  if (to == DType::kFloat64 || to == DType::kFloat32) {
    return is_signed ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
  }
  // float16, bfloat16: 24 bits are exact in float; 53 in double; beyond, the low bits only say
  // "inexact".
  if (DTypeBits(from) <= 16)
    return Round(is_signed ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type), to);
  llvm::Type* f64 = Like(b_.getDoubleTy(), x);
  if (DTypeBits(from) == 64) {
    Value* low = b_.CreateAnd(x, IntLike(x, 2047));
    Value* sticky =
        b_.CreateSelect(b_.CreateICmpNE(low, llvm::Constant::getNullValue(x->getType())),
                        IntLike(x, 2048), llvm::Constant::getNullValue(x->getType()));
    Value* large = is_signed ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse()) : x;
    Value* is_large = b_.CreateICmpUGE(large, IntLike(x, uint64_t{1} << 53));
    Value* odd = b_.CreateOr(b_.CreateAnd(x, IntLike(x, ~uint64_t{2047})), sticky);
    x = b_.CreateSelect(is_large, odd, x);
  }
  Value* wide = is_signed ? b_.CreateSIToFP(x, f64) : b_.CreateUIToFP(x, f64);
  return Round(DoubleToFloatOdd(wide), to);
}

Value* Ops::Cast(DType from, DType to, Value* x) {
  if (from == to) return x;
  llvm::Type* type = Like(ValueType(to), x);
  if (IsFloat(from) && IsFloat(to)) {
    if (to == DType::kFloat64) return b_.CreateFPExt(x, type);
    if (from != DType::kFloat64) return Round(x, to);
    return to == DType::kFloat32 ? b_.CreateFPTrunc(x, type) : Round(DoubleToFloatOdd(x), to);
  }
  if (IsFloat(from)) return FloatToInt(to, x);
  if (IsFloat(to)) return IntToFloat(from, to, x);
  if (to == DType::kBool) return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  return IsSignedInt(from) ? b_.CreateSExtOrTrunc(x, type) : b_.CreateZExtOrTrunc(x, type);
}

Value* Ops::Reinterpret(DType from, DType to, Value* x) {
  Value* memory = ToMemory(x, from);
  return FromMemory(b_.CreateBitCast(memory, Like(MemoryType(to), x)), to);
}

}  // namespace relayvm::codegen
