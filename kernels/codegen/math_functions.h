// The elementary functions over one type, as math.h dispatches to them. Tested by math_test.cc.
#pragma once

#include <array>
#include <limits>

#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// ln(2) in two parts, of which the first has zeros at its end so that n * hi is exact.
inline constexpr double kLn2Hi64 = 0x1.62e42feep-1, kLn2Lo64 = 0x1.a39ef35793c76p-33;

// Functions over one type: float or double, scalar or vector.
class Math {
 public:
  Math(Builder& b, llvm::Type* type)
      : b_(b),
        type_(type),
        is64_(type->getScalarType()->isDoubleTy()),
        bits_(is64_ ? 64 : 32),
        mantissa_(is64_ ? 52 : 23) {
    int_ = llvm::Type::getIntNTy(b.getContext(), static_cast<unsigned>(bits_));
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      int_ = llvm::FixedVectorType::get(int_, vector->getNumElements());
    }
  }

  // The value of a double-precision number as two: hi + lo, |lo| at most half a unit of hi.
  struct Pair {
    llvm::Value *hi, *lo;
  };

  llvm::Value* Exp(llvm::Value* x, int shift = 0) { return ExpOf({x, nullptr}, shift); }
  llvm::Value* SoftmaxExp(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  llvm::Value* Log2(llvm::Value* x);
  llvm::Value* Log10(llvm::Value* x);
  llvm::Value* Log1p(llvm::Value* x);
  llvm::Value* Sigmoid(llvm::Value* x);
  llvm::Value* Tanh(llvm::Value* x);
  llvm::Value* Erf(llvm::Value* x);
  llvm::Value* SinCosTan(te::UnaryOp op, llvm::Value* x);  // double
  llvm::Value* Asin(llvm::Value* x);
  llvm::Value* Acos(llvm::Value* x);
  llvm::Value* Atan(llvm::Value* x);
  llvm::Value* Atan2(llvm::Value* y, llvm::Value* x);
  llvm::Value* Sinh(llvm::Value* x);
  llvm::Value* Cosh(llvm::Value* x);
  llvm::Value* Asinh(llvm::Value* x);
  llvm::Value* Acosh(llvm::Value* x);
  llvm::Value* Atanh(llvm::Value* x);
  // `single`: enough for a result that is rounded to float.
  llvm::Value* Power(llvm::Value* x, llvm::Value* y, bool single);
  llvm::Value* Fmod(llvm::Value* x, llvm::Value* y);

 private:
  // --- Arithmetic ---
  llvm::Value* C(double v) { return llvm::ConstantFP::get(type_, v); }
  llvm::Value* I(int64_t v) { return llvm::ConstantInt::get(int_, static_cast<uint64_t>(v), true); }
  llvm::Value* Add(llvm::Value* x, llvm::Value* y) { return b_.CreateFAdd(x, y); }
  llvm::Value* Sub(llvm::Value* x, llvm::Value* y) { return b_.CreateFSub(x, y); }
  llvm::Value* Mul(llvm::Value* x, llvm::Value* y) { return b_.CreateFMul(x, y); }
  llvm::Value* Div(llvm::Value* x, llvm::Value* y) { return b_.CreateFDiv(x, y); }
  // x * y + z, fused or not: only where either will do.
  llvm::Value* MulAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z) { return b_.MulAdd(x, y, z); }
  llvm::Value* Neg(llvm::Value* x) { return b_.CreateFNeg(x); }
  llvm::Value* Abs(llvm::Value* x) { return b_.Abs(x); }
  llvm::Value* Sqrt(llvm::Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  llvm::Value* CopySign(llvm::Value* x, llvm::Value* sign) { return b_.CopySign(x, sign); }
  llvm::Value* If(llvm::Value* condition, llvm::Value* x, llvm::Value* y) {
    return b_.CreateSelect(condition, x, y);
  }
  llvm::Value* Less(llvm::Value* x, llvm::Value* y) { return b_.CreateFCmpOLT(x, y); }
  llvm::Value* Greater(llvm::Value* x, llvm::Value* y) { return b_.CreateFCmpOGT(x, y); }
  llvm::Value* Equal(llvm::Value* x, llvm::Value* y) { return b_.CreateFCmpOEQ(x, y); }
  llvm::Value* Bits(llvm::Value* x) { return b_.CreateBitCast(x, int_); }
  llvm::Value* FromBits(llvm::Value* x) { return b_.CreateBitCast(x, type_); }
  llvm::Value* NaN() { return llvm::ConstantFP::getNaN(type_); }

  template <size_t N>
  llvm::Value* Poly(llvm::Value* x, const std::array<double, N>& c) {
    llvm::Value* sum = C(c[N - 1]);
    for (size_t i = N - 1; i-- > 0;) sum = MulAdd(sum, x, C(c[i]));
    return sum;
  }

  // Adding this rounds |x| < 2^22 (2^51) to an integer, and leaves the integer in the low bits.
  double Rounder() const { return is64_ ? 0x1.8p52 : 0x1.8p23; }
  // 2^n for n in the range of normal numbers.
  llvm::Value* PowerOfTwo(llvm::Value* n) {
    return FromBits(b_.CreateShl(b_.CreateAdd(n, I(is64_ ? 1023 : 127)), I(mantissa_)));
  }

  // x * y exactly, as a sum. Without an FMA: Veltkamp and Dekker.
  Pair TwoProduct(llvm::Value* x, llvm::Value* y) {
    llvm::Value* product = Mul(x, y);
    if (b_.machine().fma) {
      return {product, b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, Neg(product)})};
    }
    auto split = [&](llvm::Value* v) {
      llvm::Value* scaled = Mul(v, C(is64_ ? 0x1p27 + 1 : 0x1p12 + 1));
      llvm::Value* hi = Sub(scaled, Sub(scaled, v));
      return Pair{hi, Sub(v, hi)};
    };
    Pair a = split(x);
    Pair c = split(y);
    llvm::Value* error = Sub(Mul(a.hi, c.hi), product);
    error = Add(Add(error, Mul(a.hi, c.lo)), Mul(a.lo, c.hi));
    return {product, Add(error, Mul(a.lo, c.lo))};
  }
  Pair FastTwoSum(llvm::Value* large, llvm::Value* small) {
    llvm::Value* sum = Add(large, small);
    return {sum, Sub(small, Sub(sum, large))};
  }
  Pair TwoSum(llvm::Value* x, llvm::Value* y) {
    llvm::Value* sum = Add(x, y);
    llvm::Value* back = Sub(sum, x);
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

  // e^(x.hi + x.lo) = 2^power * (1 + rest), x.hi clamped to low..high; x.lo may be null. NaN
  // passes.
  struct ExpParts {
    llvm::Value *power, *rest;
  };
  ExpParts SplitExp(Pair x, double low, double high);
  // 2^shift * e^(x.hi + x.lo); lo may be null.
  llvm::Value* ExpOf(Pair x, int shift);
  // x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); x is positive and finite.
  struct Exponent {
    llvm::Value *k, *f;
  };
  Exponent Decompose(llvm::Value* x);
  llvm::Value* LogOfDecomposed(const Exponent& e, llvm::Value* k_scale_hi, llvm::Value* k_scale_lo);
  llvm::Value* LogSpecial(llvm::Value* x, llvm::Value* result);
  Pair LogPair(llvm::Value* x);

  struct Reduced {
    llvm::Value *r, *tail, *quadrant;
  };
  Reduced ReduceTrig(llvm::Value* x);
  void ReduceLarge(llvm::Value* x, llvm::Value*& r, llvm::Value*& quadrant);

  Builder& b_;
  llvm::Type* type_;
  llvm::Type* int_;
  bool is64_;
  int bits_, mantissa_;
};

}  // namespace relayvm::codegen
