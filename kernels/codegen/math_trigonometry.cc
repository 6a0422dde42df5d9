// Sine, cosine and tangent with their reduction of the argument, and the inverse functions.
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueSymbolTable.h>

#include <cmath>
#include <span>
#include <string>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/math_coefficients.h"
#include "kernels/codegen/math_functions.h"

namespace relayvm::codegen {

using llvm::Value;
using te::UnaryOp;

// --- Sine, cosine, tangent ---

namespace {

// 2/pi to 1344 bits after the point, most significant word first; enough for any double.
constexpr uint64_t kTwoOverPi[] = {0,
                                   0xa2f9836e4e441529,
                                   0xfc2757d1f534ddc0,
                                   0xdb6295993c439041,
                                   0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0,
                                   0x06492eea09d1921c,
                                   0xfe1deb1cb129a73e,
                                   0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41,
                                   0x3991d639835339f4,
                                   0x9c845f8bbdf9283b,
                                   0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f,
                                   0x6d367ecf27cb09b7,
                                   0x4f463f669e5fea2d,
                                   0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea,
                                   0x6bfb5fb11f8d5d08,
                                   0x56033046fc7b6bab,
                                   0xf0cfbc209af4361d,
                                   0xa9e391615ee61b08};

// Payne and Hanek: of x * 2/pi only the bits around the point matter, which are the product of the
// 53-bit mantissa with a window of 2/pi. Scalar, in a function of its own: {remainder, quadrant} of
// |x|.
llvm::Function* LargeReduction(Builder& outer) {
  llvm::LLVMContext& context = outer.getContext();
  llvm::Type* f64 = llvm::Type::getDoubleTy(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  return GetOrDefineHelper(
      outer, "trig_reduce_large", {f64, pointer, pointer},
      [&](Builder& b, llvm::Function* function) {
        llvm::Module* module = function->getParent();
        llvm::Constant* table_data =
            llvm::ConstantDataArray::get(context, llvm::ArrayRef<uint64_t>(kTwoOverPi));
        auto* table =
            new llvm::GlobalVariable(*module, table_data->getType(), true,
                                     llvm::GlobalValue::PrivateLinkage, table_data, "two_over_pi");
        Value* x = function->getArg(0);
        Value* bits = b.CreateBitCast(x, i64);
        Value* biased = b.CreateAnd(b.CreateLShr(bits, 52), b.getInt64(2047));
        Value* mantissa = b.CreateOr(b.CreateAnd(bits, b.getInt64((uint64_t{1} << 52) - 1)),
                                     b.getInt64(uint64_t{1} << 52));
        // x = mantissa * 2^e. Bits of 2/pi above position e - 2 make multiples of 4 and drop out.
        Value* e = b.CreateSub(biased, b.getInt64(1075));
        // The window starts at bit `start` of the table, whose first word is 64 zero bits of the
        // integer part.
        Value* start = b.CreateAdd(e, b.getInt64(64 - 2));
        start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, start, b.getInt64(0));
        start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, b.getInt64(64 * 17));
        Value* word = b.CreateLShr(start, 6);
        Value* shift = b.CreateAnd(start, b.getInt64(63));
        llvm::Type* wide = b.getIntNTy(256);
        Value* window = llvm::ConstantInt::get(wide, 0);
        for (uint64_t i = 0; i < 4; ++i) {
          auto load = [&](uint64_t j) {
            Value* address = b.CreateInBoundsGEP(i64, table, b.CreateAdd(word, b.getInt64(j)));
            return b.CreateLoad(i64, address);
          };
          Value* high = b.CreateShl(load(i), shift);
          // The next word's top bits; a shift by 64 in two steps.
          Value* low =
              b.CreateLShr(b.CreateLShr(load(i + 1), 1), b.CreateSub(b.getInt64(63), shift));
          Value* joined = b.CreateZExt(b.CreateOr(high, low), wide);
          window = b.CreateOr(window, b.CreateShl(joined, 64 * (3 - i)));
        }
        // The product modulo 2^256 has the integer part modulo 4 in its top two bits.
        Value* product = b.CreateMul(window, b.CreateZExt(mantissa, wide));
        Value* quadrant = b.CreateTrunc(b.CreateLShr(product, 254), i64);
        Value* fraction = b.CreateShl(product, 2);
        // Nearest: a fraction of a half or more belongs to the next quadrant, with a negative
        // remainder.
        quadrant = b.CreateAdd(
            quadrant,
            b.CreateZExt(b.CreateICmpSLT(fraction, llvm::ConstantInt::get(wide, 0)), i64));
        Value* top = b.CreateTrunc(b.CreateAShr(fraction, 192), i64);
        Value* next = b.CreateTrunc(b.CreateLShr(fraction, 128), i64);
        Value* hi = b.CreateFMul(b.CreateSIToFP(top, f64), llvm::ConstantFP::get(f64, 0x1p-64));
        Value* lo = b.CreateFMul(b.CreateUIToFP(next, f64), llvm::ConstantFP::get(f64, 0x1p-128));
        Value* turns = b.CreateFAdd(hi, lo);
        b.CreateStore(b.CreateFMul(turns, llvm::ConstantFP::get(f64, M_PI_2)), function->getArg(1));
        b.CreateStore(quadrant, function->getArg(2));
      });
}

// The same for each of the numbers in memory that is large and finite, whose results take the place
// of what is there: (x, remainders, quadrants, how many). One function for all uses, which are many
// in a kernel of many sines and hardly ever run.
llvm::Function* LargeReductions(Builder& outer, double large) {
  llvm::LLVMContext& context = outer.getContext();
  llvm::Type* f64 = llvm::Type::getDoubleTy(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Function* reduce = LargeReduction(outer);
  return GetOrDefineHelper(
      outer, "trig_reduce_each", {pointer, pointer, pointer, i64},
      [&](Builder& b, llvm::Function* function) {
        For(b, b.getInt64(0), function->getArg(3), 1, "lane", [&](Value* lane) {
          Value* x = b.CreateLoad(f64, b.CreateInBoundsGEP(f64, function->getArg(0), lane));
          Value* magnitude = b.Abs(x);
          Value* is_large =
              b.CreateAnd(b.CreateFCmpOGE(magnitude, llvm::ConstantFP::get(f64, large)),
                          b.CreateFCmpOLT(magnitude, llvm::ConstantFP::get(f64, kInfinity)));
          auto* slow = llvm::BasicBlock::Create(context, "large", function);
          auto* after = llvm::BasicBlock::Create(context, "next", function);
          b.CreateCondBr(is_large, slow, after);
          b.SetInsertPoint(slow);
          Value* r = b.CreateInBoundsGEP(f64, function->getArg(1), lane);
          Value* quadrant = b.CreateInBoundsGEP(i64, function->getArg(2), lane);
          b.CreateCall(reduce, {magnitude, r, quadrant});
          // |x| is reduced; sine takes its sign from the caller's use of r, so both follow the sign
          // of x here.
          Value* new_r = b.CreateLoad(f64, r);
          Value* new_q = b.CreateLoad(i64, quadrant);
          Value* negative = b.CreateFCmpOLT(x, llvm::ConstantFP::get(f64, 0));
          b.CreateStore(b.CreateSelect(negative, b.CreateFNeg(new_r), new_r), r);
          b.CreateStore(b.CreateSelect(negative, b.CreateNeg(new_q), new_q), quadrant);
          b.CreateBr(after);
          b.SetInsertPoint(after);
        });
      });
}

}  // namespace

void Math::ReduceLarge(Value* x, Value*& r, Value*& quadrant) {
  constexpr double kLarge = 0x1p20;
  Value* large = b_.CreateAnd(b_.CreateFCmpOGE(Abs(x), C(kLarge)), Less(Abs(x), C(kInfinity)));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  Value* any = vector != nullptr ? b_.CreateOrReduce(large) : large;
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  const unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  // All uses of a function share the memory.
  const auto memory = [&](const std::string& name, llvm::Type* type) -> Value* {
    const std::string full = name + std::to_string(lanes);
    if (Value* known = function->getValueSymbolTable()->lookup(full)) return known;
    return at_entry.CreateAlloca(type, nullptr, full);
  };
  Value* x_memory = memory("trig.x", x->getType());
  Value* r_memory = memory("trig.r", r->getType());
  Value* q_memory = memory("trig.q", quadrant->getType());
  llvm::Function* reduce = LargeReductions(b_, kLarge);
  auto* slow = llvm::BasicBlock::Create(b_.getContext(), "trig.large", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "trig", function);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(any, slow, after);
  b_.SetInsertPoint(slow);
  b_.CreateStore(x, x_memory);
  b_.CreateStore(r, r_memory);
  b_.CreateStore(quadrant, q_memory);
  b_.CreateCall(reduce, {x_memory, r_memory, q_memory, b_.getInt64(lanes)});
  Value* slow_r = b_.CreateLoad(r->getType(), r_memory);
  Value* slow_q = b_.CreateLoad(quadrant->getType(), q_memory);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto join = [&](Value* fast, Value* slow_value) {
    llvm::PHINode* phi = b_.CreatePHI(fast->getType(), 2);
    phi->addIncoming(fast, before);
    phi->addIncoming(slow_value, slow);
    return phi;
  };
  r = join(r, slow_r);
  quadrant = join(quadrant, slow_q);
}

// Cody and Waite with pi/2 in three parts of 33 bits: n < 2^20 multiplies the first two exactly.
Math::Reduced Math::ReduceTrig(Value* x) {
  constexpr double kPart1 = 0x1.921fb544p+0, kPart2 = 0x1.0b4611a6p-34,
                   kPart3 = 0x1.3198a2e037073p-69;
  // Large arguments go another way; what they give here must only not be a trap.
  Value* shifted = MulAdd(x, C(M_2_PI), C(Rounder()));
  Value* quadrant = b_.CreateSub(Bits(shifted), Bits(C(Rounder())));
  Value* n = Sub(shifted, C(Rounder()));
  Value* first = Sub(x, Mul(n, C(kPart1)));
  Pair second = TwoSum(first, Neg(Mul(n, C(kPart2))));
  Value* rest = Sub(second.lo, Mul(n, C(kPart3)));
  Pair sum = FastTwoSum(second.hi, rest);
  Value* r = sum.hi;
  Value* tail = sum.lo;
  ReduceLarge(x, r, quadrant);
  Value* is_large = b_.CreateFCmpOGE(Abs(x), C(0x1p20));
  return {r, If(is_large, C(0), tail), quadrant};
}

Value* Math::SinCosTan(UnaryOp op, Value* x) {
  Reduced a = ReduceTrig(x);
  Value* z = Mul(a.r, a.r);
  // sin(r + tail) = sin(r) + tail*cos(r), cos(r + tail) = cos(r) - tail*sin(r), to first order.
  Value* sine =
      Add(a.r, MulAdd(Mul(a.r, z), Poly(z, kSin64), Mul(a.tail, MulAdd(z, C(-0.5), C(1)))));
  Value* half = Mul(z, C(0.5));
  Value* w = Sub(C(1), half);
  Value* correction = Sub(Sub(C(1), w), half);
  Value* cosine = Add(w, Add(correction, Sub(Mul(Mul(z, z), Poly(z, kCos64)), Mul(a.r, a.tail))));
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(a.quadrant, I(1)), I(0));
  Value* result = nullptr;
  if (op == UnaryOp::kTan) {
    result = If(odd, Neg(Div(cosine, sine)), Div(sine, cosine));
  } else {
    Value* quadrant = op == UnaryOp::kCos ? b_.CreateAdd(a.quadrant, I(1)) : a.quadrant;
    Value* use_cosine = op == UnaryOp::kCos ? b_.CreateNot(odd) : odd;
    result = If(use_cosine, cosine, sine);
    Value* negative = b_.CreateICmpNE(b_.CreateAnd(quadrant, I(2)), I(0));
    result = If(negative, Neg(result), result);
  }
  if (op != UnaryOp::kCos) result = If(Equal(x, C(0)), x, result);
  return If(Less(Abs(x), C(kInfinity)), result, NaN());
}

// --- Inverse trigonometric functions ---

constexpr double kPio2Lo = 0x1.1a62633145c07p-54;  // pi/2 - M_PI_2

Value* Math::Atan(Value* x) {
  // atan(a) = base + atan(t): t = a, (a - 1)/(a + 1) or -1/a.
  Value* a = Abs(x);
  Value* middle = Greater(a, C(0.41421356237309503));
  Value* high = Greater(a, C(2.414213562373095));
  Value* numerator = If(high, C(-1), If(middle, Sub(a, C(1)), a));
  Value* denominator = If(high, a, If(middle, Add(a, C(1)), C(1)));
  Value* base = If(high, C(M_PI_2), If(middle, C(M_PI_4), C(0)));
  Value* base_lo = If(high, C(kPio2Lo), If(middle, C(kPio2Lo / 2), C(0)));
  Value* t = Div(numerator, denominator);
  Value* z = Mul(t, t);
  Value* small = MulAdd(Mul(t, z), Poly(z, kAtan64), base_lo);
  Value* result = CopySign(Add(base, Add(t, small)), x);
  return If(b_.CreateFCmpUNO(x, x), x, result);
}

Value* Math::Atan2(Value* y, Value* x) {
  Value* ax = Abs(x);
  Value* ay = Abs(y);
  Value* steep = Greater(ay, ax);
  Value* low = If(steep, ax, ay);
  Value* high = If(steep, ay, ax);
  Value* ratio = Div(low, high);
  ratio = If(Equal(high, C(0)), C(0), ratio);
  ratio = If(Equal(low, C(kInfinity)), C(1), ratio);
  Value* angle = Atan(ratio);
  angle = If(steep, Add(Sub(C(M_PI_2), angle), C(kPio2Lo)), angle);
  Value* x_negative = b_.CreateICmpSLT(Bits(x), I(0));
  angle = If(x_negative, Add(Sub(C(M_PI), angle), C(2 * kPio2Lo)), angle);
  Value* result = CopySign(angle, y);
  return If(b_.CreateFCmpUNO(x, y), Add(x, y), result);
}

Value* Math::Asin(Value* x) {
  Value* a = Abs(x);
  Value* large = Greater(a, C(0.5));
  Value* z = If(large, Mul(Sub(C(1), a), C(0.5)), Mul(a, a));
  Value* s = If(large, Sqrt(z), a);
  Value* series = MulAdd(Mul(s, z), Poly(z, kAsin64), s);
  Value* far = Add(Sub(C(M_PI_2), Add(series, series)), C(kPio2Lo));
  return CopySign(If(large, far, series), x);
}

Value* Math::Acos(Value* x) {
  Value* a = Abs(x);
  Value* large = Greater(a, C(0.5));
  Value* z = If(large, Mul(Sub(C(1), a), C(0.5)), Mul(a, a));
  Value* s = If(large, Sqrt(z), x);
  Value* series = MulAdd(Mul(s, z), Poly(z, kAsin64), s);
  Value* twice = Add(series, series);
  Value* negative = Add(Sub(C(M_PI), twice), C(2 * kPio2Lo));
  Value* near = Sub(C(M_PI_2), Sub(series, C(kPio2Lo)));
  return If(large, If(Less(x, C(0)), negative, twice), near);
}

}  // namespace relayvm::codegen
