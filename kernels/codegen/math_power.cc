// Powers, by a logarithm of 65 bits, and the exact remainder.
#include <llvm/IR/Function.h>

#include <cmath>

#include "kernels/codegen/math_coefficients.h"
#include "kernels/codegen/math_functions.h"

namespace relayvm::codegen {

using llvm::Value;

// --- Power ---

// log(x) for positive finite x to some 65 bits: log(1 + f) = 2s + s^3 (2/3 + s^2 P(s^2)) with s =
// f/(2 + f), where all but P is done in pairs.
Math::Pair Math::LogPair(Value* x) {
  Exponent e = Decompose(x);
  Pair denominator = TwoSum(C(2), e.f);
  Value* s = Div(e.f, denominator.hi);
  Pair back = TwoProduct(s, denominator.hi);
  Value* rest = Sub(Sub(Sub(e.f, back.hi), back.lo), Mul(s, denominator.lo));
  Pair sp = FastTwoSum(s, Div(rest, denominator.hi));
  Pair z = MulPair(sp, sp);
  Pair third = {C(2.0 / 3), C(0x1.5555555555555p-55)};  // 2/3 and what is left of it
  Pair inner = FastTwoSum(third.hi, Add(third.lo, Mul(z.hi, Poly(z.hi, kLogTail64))));
  Pair cubic = MulPair(MulPair(sp, z), inner);
  Pair twice = {Add(sp.hi, sp.hi), Add(sp.lo, sp.lo)};
  Pair log1p = AddPair(twice, cubic);
  Pair scaled = TwoSum(Mul(e.k, C(kLn2Hi64)), Mul(e.k, C(kLn2Lo64)));
  return AddPair(scaled, log1p);
}

Value* Math::Power(Value* x, Value* y, bool single) {
  Value* base = Abs(x);
  Value* ordinary = b_.CreateAnd(Greater(base, C(0)), Less(base, C(kInfinity)));
  Value* safe = If(ordinary, base, C(2));
  Pair log{nullptr, C(0)};
  if (single) {
    log.hi = LogOfDecomposed(Decompose(safe), C(kLn2Hi64), C(kLn2Lo64));
  } else {
    log = LogPair(safe);
  }
  log.hi =
      If(ordinary, log.hi, If(Equal(base, C(0)), C(-kInfinity), base));  // infinity and NaN stay
  Value* result = nullptr;
  if (single) {
    result = Exp(Mul(y, log.hi));
  } else {
    log.lo = If(ordinary, log.lo, C(0));
    Pair product = TwoProduct(y, log.hi);
    Value* lo = Add(product.lo, Mul(y, log.lo));
    lo = If(Less(Abs(product.hi), C(800)), lo, C(0));
    result = ExpOf({product.hi, lo}, 0);
  }
  // Exponents that are integers, odd ones.
  auto floor = [&](Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, v); };
  Value* is_integer = Equal(floor(y), y);
  Value* half = Mul(y, C(0.5));
  Value* is_odd = b_.CreateAnd(b_.CreateAnd(is_integer, b_.CreateFCmpONE(floor(half), half)),
                               Less(Abs(y), C(0x1p53)));
  Value* negative = b_.CreateICmpSLT(Bits(x), I(0));
  result = If(b_.CreateAnd(negative, is_odd), Neg(result), result);
  Value* no_root =
      b_.CreateAnd(b_.CreateAnd(Less(x, C(0)), Less(base, C(kInfinity))), b_.CreateNot(is_integer));
  result = If(no_root, NaN(), result);
  Value* one = b_.CreateOr(Equal(y, C(0)), Equal(x, C(1)));
  one = b_.CreateOr(one, b_.CreateAnd(Equal(base, C(1)), Equal(Abs(y), C(kInfinity))));
  return If(one, C(1), result);
}

// --- Remainder ---

// Each turn takes off q * y with q the truncated quotient: the product is exact as a pair, and so
// is the difference. The quotient may round up by one unit, which shows as a negative difference
// and is put right.
Value* Math::Fmod(Value* x, Value* y) {
  Value* a = Abs(x);
  Value* d = Abs(y);
  Value* valid =
      b_.CreateAnd(b_.CreateAnd(Less(a, C(kInfinity)), Greater(d, C(0))), b_.CreateFCmpORD(x, y));
  Value* first = If(b_.CreateAnd(valid, Less(d, C(kInfinity))), a, C(0));
  Value* by = If(Equal(d, C(0)), C(1), d);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b_.getContext(), "fmod", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "fmod.end", function);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* r = b_.CreatePHI(type_, 2);
  r->addIncoming(first, before);
  // The divisor is scaled so that the quotient fits 50 bits; halving an exponent at a time would
  // take a thousand turns.
  Value* exponent_mask = I(is64_ ? 0x7ff0000000000000 : 0x7f800000);
  Value* r_exponent = b_.CreateAnd(Bits(r), exponent_mask);
  Value* d_exponent = b_.CreateAnd(Bits(by), exponent_mask);
  int64_t reach = is64_ ? 48 : 20;
  Value* distance = b_.CreateLShr(b_.CreateSub(r_exponent, d_exponent), I(mantissa_));
  Value* apart = b_.CreateICmpSGT(b_.CreateSub(r_exponent, d_exponent), I(0));
  Value* excess = b_.CreateSub(distance, I(reach));
  excess = If(b_.CreateAnd(apart, b_.CreateICmpSGT(excess, I(0))), excess, I(0));
  // 2^excess in two factors: it may exceed the range of exponents.
  Value* half = b_.CreateLShr(excess, I(1));
  Value* scaled = Mul(Mul(by, PowerOfTwo(half)), PowerOfTwo(b_.CreateSub(excess, half)));
  // Near the largest number the product, or what its exact form splits, would overflow: there both
  // are taken down, by a power of two that loses no bit of either.
  Value* large = Greater(r, C(is64_ ? 0x1p960 : 0x1p96f));
  Value* down = If(large, C(is64_ ? 0x1p-64 : 0x1p-32), C(1));
  Value* up = If(large, C(is64_ ? 0x1p64 : 0x1p32), C(1));
  Value* from = Mul(r, down);
  Value* unit = Mul(scaled, down);
  Value* q = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, Div(from, unit));
  Pair product = TwoProduct(q, unit);
  Value* next = Sub(Sub(from, product.hi), product.lo);
  next = Mul(If(Less(next, C(0)), Add(next, unit), next), up);
  next = If(b_.CreateFCmpOGE(r, by), next, r);
  r->addIncoming(next, loop);
  Value* more = b_.CreateFCmpOGE(next, by);
  if (type_->isVectorTy()) more = b_.CreateOrReduce(more);
  b_.CreateCondBr(more, loop, after);
  b_.SetInsertPoint(after);
  Value* result = If(Equal(d, C(kInfinity)), a, next);
  return If(valid, CopySign(result, x), NaN());
}

}  // namespace relayvm::codegen
