// Each function computes all of its cases and selects; only arguments of sin, cos and tan beyond
// 2^20 take a branch. float32 has versions of its own for the functions that models spend time in;
// the others compute in double.
#include "kernels/codegen/math.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cmath>
#include <limits>
#include <span>

#include "kernels/codegen/contraction_ir.h"
#include "kernels/codegen/math_coefficients.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;
using te::UnaryOp;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Functions over one type: float or double, scalar or vector.
class Math {
 public:
  Math(llvm::IRBuilderBase& b, llvm::Type* type)
      : b_(b),
        type_(type),
        is64_(type->getScalarType()->isDoubleTy()),
        bits_(is64_ ? 64 : 32),
        mantissa_(is64_ ? 52 : 23) {
    int_ = llvm::Type::getIntNTy(b.getContext(), static_cast<unsigned>(bits_));
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      int_ = llvm::FixedVectorType::get(int_, vector->getNumElements());
    }
    traits_ = TargetTraits::Of(*b.GetInsertBlock()->getParent());
  }

  // The value of a double-precision number as two: hi + lo, |lo| at most half a unit of hi.
  struct Pair {
    Value *hi, *lo;
  };

  Value* Exp(Value* x, int shift = 0) { return ExpOf({x, nullptr}, shift); }
  Value* Log(Value* x);
  Value* Log2(Value* x);
  Value* Log10(Value* x);
  Value* Log1p(Value* x);
  Value* Sigmoid(Value* x);
  Value* Tanh(Value* x);
  Value* Erf(Value* x);
  Value* SinCosTan(UnaryOp op, Value* x);  // double
  Value* Asin(Value* x);
  Value* Acos(Value* x);
  Value* Atan(Value* x);
  Value* Atan2(Value* y, Value* x);
  Value* Sinh(Value* x);
  Value* Cosh(Value* x);
  Value* Asinh(Value* x);
  Value* Acosh(Value* x);
  Value* Atanh(Value* x);
  // `single`: enough for a result that is rounded to float.
  Value* Power(Value* x, Value* y, bool single);
  Value* Fmod(Value* x, Value* y);

 private:
  // --- Arithmetic ---
  Value* C(double v) { return llvm::ConstantFP::get(type_, v); }
  Value* I(int64_t v) { return llvm::ConstantInt::get(int_, static_cast<uint64_t>(v), true); }
  Value* Add(Value* x, Value* y) { return b_.CreateFAdd(x, y); }
  Value* Sub(Value* x, Value* y) { return b_.CreateFSub(x, y); }
  Value* Mul(Value* x, Value* y) { return b_.CreateFMul(x, y); }
  Value* Div(Value* x, Value* y) { return b_.CreateFDiv(x, y); }
  // x * y + z, fused or not: only where either will do.
  Value* MulAdd(Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {x, y, z});
  }
  Value* Neg(Value* x) { return b_.CreateFNeg(x); }
  Value* Clamp(Value* x, double last);  // to [-last, last]; NaN stays
  Value* Abs(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* Sqrt(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  Value* CopySign(Value* x, Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  }
  Value* If(Value* condition, Value* x, Value* y) { return b_.CreateSelect(condition, x, y); }
  Value* Less(Value* x, Value* y) { return b_.CreateFCmpOLT(x, y); }
  Value* Greater(Value* x, Value* y) { return b_.CreateFCmpOGT(x, y); }
  Value* Equal(Value* x, Value* y) { return b_.CreateFCmpOEQ(x, y); }
  Value* Bits(Value* x) { return b_.CreateBitCast(x, int_); }
  Value* FromBits(Value* x) { return b_.CreateBitCast(x, type_); }
  Value* NaN() { return llvm::ConstantFP::getNaN(type_); }

  template <size_t N>
  Value* Poly(Value* x, const std::array<double, N>& c) {
    Value* sum = C(c[N - 1]);
    for (size_t i = N - 1; i-- > 0;) sum = MulAdd(sum, x, C(c[i]));
    return sum;
  }

  // Adding this rounds |x| < 2^22 (2^51) to an integer, and leaves the integer in the low bits.
  double Rounder() const { return is64_ ? 0x1.8p52 : 0x1.8p23; }
  // 2^n for n in the range of normal numbers.
  Value* PowerOfTwo(Value* n) {
    return FromBits(b_.CreateShl(b_.CreateAdd(n, I(is64_ ? 1023 : 127)), I(mantissa_)));
  }

  // x * y exactly, as a sum. Without an FMA: Veltkamp and Dekker.
  Pair TwoProduct(Value* x, Value* y) {
    Value* product = Mul(x, y);
    if (traits_.fma) {
      return {product, b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, Neg(product)})};
    }
    auto split = [&](Value* v) {
      Value* scaled = Mul(v, C(is64_ ? 0x1p27 + 1 : 0x1p12 + 1));
      Value* hi = Sub(scaled, Sub(scaled, v));
      return Pair{hi, Sub(v, hi)};
    };
    Pair a = split(x);
    Pair c = split(y);
    Value* error = Sub(Mul(a.hi, c.hi), product);
    error = Add(Add(error, Mul(a.hi, c.lo)), Mul(a.lo, c.hi));
    return {product, Add(error, Mul(a.lo, c.lo))};
  }
  Pair FastTwoSum(Value* large, Value* small) {
    Value* sum = Add(large, small);
    return {sum, Sub(small, Sub(sum, large))};
  }
  Pair TwoSum(Value* x, Value* y) {
    Value* sum = Add(x, y);
    Value* back = Sub(sum, x);
    return {sum, Add(Sub(x, Sub(sum, back)), Sub(y, back))};
  }
  Pair MulPair(Pair x, Pair y) {
    Pair p = TwoProduct(x.hi, y.hi);
    return FastTwoSum(p.hi, Add(p.lo, Add(Mul(x.hi, y.lo), Mul(x.lo, y.hi))));
  }
  Pair AddPair(Pair x, Pair y) {
    Pair s = TwoSum(x.hi, y.hi);
    return FastTwoSum(s.hi, Add(s.lo, Add(x.lo, y.lo)));
  }

  // 2^shift * e^(x.hi + x.lo); lo may be null.
  Value* ExpOf(Pair x, int shift);
  // x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); x is positive and finite.
  struct Exponent {
    Value *k, *f;
  };
  Exponent Decompose(Value* x);
  Value* LogOfDecomposed(const Exponent& e, Value* k_scale_hi, Value* k_scale_lo);
  Value* LogSpecial(Value* x, Value* result);
  Pair LogPair(Value* x);

  struct Reduced {
    Value *r, *tail, *quadrant;
  };
  Reduced ReduceTrig(Value* x);
  void ReduceLarge(Value* x, Value*& r, Value*& quadrant);

  llvm::IRBuilderBase& b_;
  llvm::Type* type_;
  llvm::Type* int_;
  bool is64_;
  int bits_, mantissa_;
  TargetTraits traits_;
};

// --- Exponential and logarithm ---

// ln(2) in two parts, of which the first has zeros at its end so that n * hi is exact.
constexpr double kLn2Hi64 = 0x1.62e42feep-1, kLn2Lo64 = 0x1.a39ef35793c76p-33;
constexpr double kLn2Hi32 = 0x1.62e4p-1, kLn2Lo32 = 0x1.7f7d1cp-20;

Value* Math::ExpOf(Pair x, int shift) {
  // Beyond these the result is infinity or 0 whatever comes after. NaN passes.
  double high = is64_ ? 711 : 90;
  double low = is64_ ? -747 : -105;
  Value* clamped = If(Greater(x.hi, C(high)), C(high), x.hi);
  clamped = If(Less(clamped, C(low)), C(low), clamped);
  Value* shifted = MulAdd(clamped, C(M_LOG2E), C(Rounder()));
  Value* n = b_.CreateSub(Bits(shifted), Bits(C(Rounder())));
  Value* nf = Sub(shifted, C(Rounder()));
  Value* r = MulAdd(nf, C(is64_ ? -kLn2Hi64 : -kLn2Hi32), clamped);
  r = MulAdd(nf, C(is64_ ? -kLn2Lo64 : -kLn2Lo32), r);
  if (x.lo != nullptr) {
    // Where hi was clamped lo says nothing (it may be NaN at infinities).
    r = Add(r, If(Equal(clamped, x.hi), x.lo, C(0)));
  }
  Value* q = is64_ ? Poly(r, kExp64) : Poly(r, kExp32);
  Value* e = Add(C(1), MulAdd(Mul(r, r), q, r));
  // 2^n in two factors, so that neither overflows and a denormal result is rounded once.
  if (shift != 0) n = b_.CreateAdd(n, I(shift));
  Value* half = b_.CreateAShr(n, I(1));
  return Mul(Mul(e, PowerOfTwo(half)), PowerOfTwo(b_.CreateSub(n, half)));
}

Math::Exponent Math::Decompose(Value* x) {
  Value* tiny = Less(x, C(is64_ ? 0x1p-1022 : 0x1p-126));
  x = If(tiny, Mul(x, C(is64_ ? 0x1p54 : 0x1p25)), x);
  Value* bias = If(tiny, I(is64_ ? -54 : -25), I(0));
  int64_t sqrt_half = is64_ ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value* bits = Bits(x);
  Value* k = b_.CreateAShr(b_.CreateSub(bits, I(sqrt_half)), I(mantissa_));
  Value* m = FromBits(b_.CreateSub(bits, b_.CreateShl(k, I(mantissa_))));
  return {b_.CreateSIToFP(b_.CreateAdd(k, bias), type_), Sub(m, C(1))};
}

// log(1 + f) + k * (hi + lo), after FreeBSD's e_log.c: s = f/(2 + f), log(1 + f) = f - (f^2/2 -
// s*(f^2/2 + R(s^2))).
Value* Math::LogOfDecomposed(const Exponent& e, Value* hi, Value* lo) {
  Value* s = Div(e.f, Add(C(2), e.f));
  Value* z = Mul(s, s);
  Value* r = Mul(z, is64_ ? Poly(z, kLog64) : Poly(z, kLog32));
  Value* half_square = Mul(C(0.5), Mul(e.f, e.f));
  Value* small = MulAdd(e.k, lo, Mul(s, Add(half_square, r)));
  return MulAdd(e.k, hi, Sub(e.f, Sub(half_square, small)));
}

Value* Math::LogSpecial(Value* x, Value* result) {
  result = If(b_.CreateFCmpUNO(x, x), x, result);
  result = If(Equal(x, C(kInfinity)), x, result);
  result = If(Equal(x, C(0)), C(-kInfinity), result);
  return If(Less(x, C(0)), NaN(), result);
}

Value* Math::Log(Value* x) {
  Exponent e = Decompose(x);
  return LogSpecial(
      x, LogOfDecomposed(e, C(is64_ ? kLn2Hi64 : kLn2Hi32), C(is64_ ? kLn2Lo64 : kLn2Lo32)));
}

Value* Math::Log2(Value* x) {
  Exponent e = Decompose(x);
  Value* log = LogOfDecomposed({C(0), e.f}, C(0), C(0));
  return LogSpecial(x, MulAdd(log, C(M_LOG2E), e.k));
}

Value* Math::Log10(Value* x) {
  Exponent e = Decompose(x);
  Value* log = LogOfDecomposed({C(0), e.f}, C(0), C(0));
  constexpr double kLog10Of2Hi = 0x1.34413509f78p-2, kLog10Of2Lo = 0x1.fef311f12b358p-46;
  Value* small = MulAdd(log, C(0.43429448190325182765), Mul(e.k, C(kLog10Of2Lo)));
  return LogSpecial(x, MulAdd(e.k, C(kLog10Of2Hi), small));
}

Value* Math::Log1p(Value* x) {
  Value* u = Add(C(1), x);
  Value* lost = Div(Sub(x, Sub(u, C(1))), u);
  lost = If(Less(u, C(kInfinity)), lost, C(0));
  lost = If(Greater(u, C(0)), lost, C(0));
  return Add(Log(u), lost);
}

// --- Sigmoid, tanh, erf ---

Value* Math::Sigmoid(Value* x) {
  Value* e = Exp(Neg(Abs(x)));
  Value* r = Div(C(1), Add(C(1), e));
  return If(Less(x, C(0)), Mul(e, r), r);
}

Value* Math::Clamp(Value* x, double last) {
  x = If(Greater(x, C(last)), C(last), x);
  return If(Less(x, C(-last)), C(-last), x);
}

Value* Math::Tanh(Value* x) {
  if (!is64_) {
    Value* clamped = Clamp(x, 9.02);
    Value* square = Mul(clamped, clamped);
    return Clamp(Div(Mul(clamped, Poly(square, kTanhP32)), Poly(square, kTanhQ32)), 1);
  }
  Value* a = Abs(x);
  Value* z = Mul(x, x);
  Value* small = MulAdd(Mul(x, z), Poly(z, kTanh64), x);
  Value* large = Sub(C(1), Div(C(2), Add(Exp(Add(a, a)), C(1))));
  return If(Less(a, C(0.625)), small, CopySign(large, x));
}

Value* Math::Erf(Value* x) {
  if (!is64_) {
    Value* clamped = Clamp(x, 3.95);
    Value* square = Mul(clamped, clamped);
    return Clamp(Div(Mul(clamped, Poly(square, kErfP32)), Poly(square, kErfQ32)), 1);
  }
  Value* a = Abs(x);
  Value* z = Mul(x, x);
  Value* small = MulAdd(x, Poly(z, kErf64), x);
  // 1 - erfc, erfc by its logarithm; past 6 erf is 1 to the last bit.
  Value* clamped = If(Greater(a, C(6)), C(6), a);
  Value* log_erfc = Poly(Mul(Sub(clamped, C(3.5)), C(0.4)), kErfc64);
  Value* large = CopySign(Sub(C(1), Exp(log_erfc)), x);
  Value* result = If(Less(a, C(1)), small, large);
  return If(b_.CreateFCmpUNO(x, x), x, result);
}

// --- Sine, cosine, tangent ---

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
llvm::Function* LargeReduction(llvm::IRBuilderBase& outer) {
  llvm::Function* parent = outer.GetInsertBlock()->getParent();
  llvm::LLVMContext& context = outer.getContext();
  llvm::Type* f64 = llvm::Type::getDoubleTy(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  return GetOrDefineHelper(
      parent, "trig_reduce_large", {f64, pointer, pointer},
      [&](llvm::IRBuilderBase& b, llvm::Function* function) {
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

void Math::ReduceLarge(Value* x, Value*& r, Value*& quadrant) {
  constexpr double kLarge = 0x1p20;
  Value* large = b_.CreateAnd(b_.CreateFCmpOGE(Abs(x), C(kLarge)), Less(Abs(x), C(kInfinity)));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  Value* any = vector != nullptr ? b_.CreateOrReduce(large) : large;
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  Value* r_memory = at_entry.CreateAlloca(at_entry.getDoubleTy());
  Value* q_memory = at_entry.CreateAlloca(at_entry.getInt64Ty());
  llvm::Function* reduce = LargeReduction(b_);
  auto* slow = llvm::BasicBlock::Create(b_.getContext(), "trig.large", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "trig", function);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(any, slow, after);
  b_.SetInsertPoint(slow);
  Value* slow_r = r;
  Value* slow_q = quadrant;
  // |x| is reduced; sine takes its sign from the caller's use of r, so both follow the sign of x
  // here.
  unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  for (unsigned i = 0; i < lanes; ++i) {
    Value* element = vector != nullptr ? b_.CreateExtractElement(x, uint64_t{i}) : x;
    Value* on = vector != nullptr ? b_.CreateExtractElement(large, uint64_t{i}) : large;
    Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, element);
    b_.CreateCall(reduce, {magnitude, r_memory, q_memory});
    Value* new_r = b_.CreateLoad(b_.getDoubleTy(), r_memory);
    Value* new_q = b_.CreateLoad(b_.getInt64Ty(), q_memory);
    Value* negative = b_.CreateFCmpOLT(element, llvm::ConstantFP::get(b_.getDoubleTy(), 0));
    new_r = b_.CreateSelect(negative, b_.CreateFNeg(new_r), new_r);
    new_q = b_.CreateSelect(negative, b_.CreateNeg(new_q), new_q);
    if (vector == nullptr) {
      slow_r = new_r;
      slow_q = new_q;
      break;
    }
    Value* old_r = b_.CreateExtractElement(r, uint64_t{i});
    Value* old_q = b_.CreateExtractElement(quadrant, uint64_t{i});
    slow_r = b_.CreateInsertElement(slow_r, b_.CreateSelect(on, new_r, old_r), uint64_t{i});
    slow_q = b_.CreateInsertElement(slow_q, b_.CreateSelect(on, new_q, old_q), uint64_t{i});
  }
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto join = [&](Value* fast, Value* slow_value) {
    llvm::PHINode* phi = b_.CreatePHI(fast->getType(), 2);
    phi->addIncoming(fast, before);
    phi->addIncoming(slow_value, from);
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

// --- Hyperbolic functions ---

Value* Math::Sinh(Value* x) {
  Value* a = Abs(x);
  Value* z = Mul(x, x);
  Value* small = MulAdd(Mul(x, z), Poly(z, kSinh64), x);
  Value* half_exp = Exp(a, -1);
  Value* large = Sub(half_exp, Div(C(0.25), half_exp));
  return If(Less(a, C(1)), small, CopySign(large, x));
}

Value* Math::Cosh(Value* x) {
  Value* half_exp = Exp(Abs(x), -1);
  return Add(half_exp, Div(C(0.25), half_exp));
}

Value* Math::Asinh(Value* x) {
  Value* a = Abs(x);
  Value* z = Mul(a, a);
  Value* moderate = Log1p(Add(a, Div(z, Add(C(1), Sqrt(Add(C(1), z))))));
  Value* large = Add(Log(a), C(M_LN2));
  Value* result = If(Greater(a, C(0x1p28)), large, moderate);
  result = If(Less(a, C(0x1p-28)), a, result);
  return CopySign(result, x);
}

Value* Math::Acosh(Value* x) {
  Value* t = Sub(x, C(1));
  Value* moderate = Log1p(Add(t, Sqrt(MulAdd(t, t, Add(t, t)))));
  Value* large = Add(Log(x), C(M_LN2));
  Value* result = If(Greater(x, C(0x1p28)), large, moderate);
  return If(b_.CreateFCmpUGE(x, C(1)), result, NaN());
}

Value* Math::Atanh(Value* x) {
  Value* a = Abs(x);
  Value* twice = Add(a, a);
  Value* rest = Sub(C(1), a);
  Value* near = Add(twice, Div(Mul(twice, a), rest));
  Value* argument = If(Less(a, C(0.5)), near, Div(twice, rest));
  Value* result = Mul(C(0.5), Log1p(argument));
  result = If(Less(a, C(0x1p-28)), a, result);
  result = If(Equal(a, C(1)), C(kInfinity), result);
  return If(Greater(a, C(1)), NaN(), CopySign(result, x));
}

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
  Value* q = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, Div(r, scaled));
  Pair product = TwoProduct(q, scaled);
  Value* next = Sub(Sub(r, product.hi), product.lo);
  next = If(Less(next, C(0)), Add(next, scaled), next);
  next = If(b_.CreateFCmpOGE(r, by), next, r);
  r->addIncoming(next, loop);
  Value* more = b_.CreateFCmpOGE(next, by);
  if (type_->isVectorTy()) more = b_.CreateOrReduce(more);
  b_.CreateCondBr(more, loop, after);
  b_.SetInsertPoint(after);
  Value* result = If(Equal(d, C(kInfinity)), a, next);
  return If(valid, CopySign(result, x), NaN());
}

// --- Dispatch ---

llvm::Type* DoubleLike(llvm::IRBuilderBase& b, llvm::Type* type) {
  llvm::Type* f64 = b.getDoubleTy();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    return llvm::FixedVectorType::get(f64, vector->getNumElements());
  }
  return f64;
}

Value* EmitIn(Math math, UnaryOp op, Value* x) {
  switch (op) {
    case UnaryOp::kExp:
      return math.Exp(x);
    case UnaryOp::kLog:
      return math.Log(x);
    case UnaryOp::kLog2:
      return math.Log2(x);
    case UnaryOp::kLog10:
      return math.Log10(x);
    case UnaryOp::kSigmoid:
      return math.Sigmoid(x);
    case UnaryOp::kTanh:
      return math.Tanh(x);
    case UnaryOp::kErf:
      return math.Erf(x);
    case UnaryOp::kSin:
    case UnaryOp::kCos:
    case UnaryOp::kTan:
      return math.SinCosTan(op, x);
    case UnaryOp::kAsin:
      return math.Asin(x);
    case UnaryOp::kAcos:
      return math.Acos(x);
    case UnaryOp::kAtan:
      return math.Atan(x);
    case UnaryOp::kSinh:
      return math.Sinh(x);
    case UnaryOp::kCosh:
      return math.Cosh(x);
    case UnaryOp::kAsinh:
      return math.Asinh(x);
    case UnaryOp::kAcosh:
      return math.Acosh(x);
    case UnaryOp::kAtanh:
      return math.Atanh(x);
    default:
      return x;
  }
}

bool HasFloatVersion(UnaryOp op) {
  return op == UnaryOp::kExp || op == UnaryOp::kLog || op == UnaryOp::kSigmoid ||
         op == UnaryOp::kTanh || op == UnaryOp::kErf;
}

}  // namespace

Value* EmitMath(llvm::IRBuilderBase& b, UnaryOp op, Value* x) {
  llvm::Type* type = x->getType();
  if (type->getScalarType()->isDoubleTy() || HasFloatVersion(op))
    return EmitIn(Math(b, type), op, x);
  llvm::Type* f64 = DoubleLike(b, type);
  return b.CreateFPTrunc(EmitIn(Math(b, f64), op, b.CreateFPExt(x, f64)), type);
}

Value* EmitPower(llvm::IRBuilderBase& b, Value* x, Value* y) {
  llvm::Type* type = x->getType();
  llvm::Type* f64 = DoubleLike(b, type);
  if (type == f64) return Math(b, f64).Power(x, y, /*single=*/false);
  return b.CreateFPTrunc(
      Math(b, f64).Power(b.CreateFPExt(x, f64), b.CreateFPExt(y, f64), /*single=*/true), type);
}

Value* EmitAtan2(llvm::IRBuilderBase& b, Value* y, Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* f64 = DoubleLike(b, type);
  if (type == f64) return Math(b, f64).Atan2(y, x);
  return b.CreateFPTrunc(Math(b, f64).Atan2(b.CreateFPExt(y, f64), b.CreateFPExt(x, f64)), type);
}

Value* EmitFmod(llvm::IRBuilderBase& b, Value* x, Value* y) {
  llvm::Type* type = x->getType();
  llvm::Type* f64 = DoubleLike(b, type);
  if (type == f64) return Math(b, f64).Fmod(x, y);
  return b.CreateFPTrunc(Math(b, f64).Fmod(b.CreateFPExt(x, f64), b.CreateFPExt(y, f64)), type);
}

}  // namespace relayvm::codegen
