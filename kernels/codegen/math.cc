// Each function computes all of its cases and selects; only arguments of sin, cos and tan beyond
// 2^20 take a branch. float32 has versions of its own for the functions that models spend time in;
// the others compute in double, and where a kernel has many of those they are functions that it
// calls. Here: exponentials, logarithms and what is made of them; math_trigonometry.cc and
// math_power.cc have the rest.
#include "kernels/codegen/math.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>
#include <string>

#include "kernels/codegen/math_coefficients.h"
#include "kernels/codegen/math_functions.h"

namespace relayvm::codegen {

using llvm::Value;
using te::UnaryOp;

// --- Exponential and logarithm ---

// As kLn2Hi64 and kLn2Lo64, for float.
constexpr double kLn2Hi32 = 0x1.62e4p-1, kLn2Lo32 = 0x1.7f7d1cp-20;

Math::ExpParts Math::SplitExp(Pair x, double low, double high) {
  Value* clamped = high == kInfinity ? x.hi : If(Greater(x.hi, C(high)), C(high), x.hi);
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
  return {n, MulAdd(Mul(r, r), q, r)};
}

Value* Math::ExpOf(Pair x, int shift) {
  // Beyond these the result is infinity or 0 whatever comes after. NaN passes. At the lower one
  // both factors below are 0: products that underflow cost some processors a hundred cycles, and
  // masks make many.
  const ExpParts parts = is64_ ? SplitExp(x, -1418, 711) : SplitExp(x, -176, 90);
  Value* e = Add(C(1), parts.rest);
  Value* n = parts.power;
  // 2^n in two factors, so that neither overflows and a denormal result is rounded once.
  if (shift != 0) n = b_.CreateAdd(n, I(shift));
  Value* half = b_.CreateAShr(n, I(1));
  return Mul(Mul(e, PowerOfTwo(half)), PowerOfTwo(b_.CreateSub(n, half)));
}

Value* Math::SoftmaxExp(Value* x) {
  const double low = te::LeastSoftmaxExp(is64_ ? DType::kFloat64 : DType::kFloat32);
  const ExpParts parts = SplitExp({x, nullptr}, low, kInfinity);
  Value* power = PowerOfTwo(parts.power);
  // Without an FMA power * rest would underflow.
  Value* e =
      b_.machine().fma ? MulAdd(power, parts.rest, power) : Mul(power, Add(C(1), parts.rest));
  return If(Less(x, C(low)), C(0), e);
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

// 1 / (1 + e^-x). With e^-x = 2^n + 2^n*rest the sum is (1 + 2^n*rest) + 2^n: before 2^n is large
// against 1 both steps round to the bits of 1 at most, and after that what the first one loses is
// small against 2^n. Each step is monotonic, and so is the result. All is scaled so that nothing
// overflows.
Value* Math::Sigmoid(Value* x) {
  const int scale = is64_ ? -54 : -24;
  const ExpParts e =
      is64_ ? SplitExp({Neg(x), nullptr}, -80, 746) : SplitExp({Neg(x), nullptr}, -40, 104);
  Value* power = PowerOfTwo(b_.CreateAdd(e.power, I(scale)));
  Value* one = C(std::ldexp(1.0, scale));
  return Div(one, Add(MulAdd(power, e.rest, one), power));
}

// With |x| = n*ln(2)/2 + r, h = 2^n/2 and t = tanh(r):
//
//   tanh|x| = 1 - (1 - t) / ((h + 1/2) + t*(h - 1/2))
//
// From atanh(1/2) on, where the quotient is at most 1/2. Its numerator falls and its denominator
// rises with t, each rounded once, so the result is monotonic between the steps of n; a run over
// all floats shows that it is at the steps. Before, n is 0 and the result t.
Value* Math::Tanh(Value* x) {
  const double one_from = is64_ ? 20 : 10;  // tanh is 1 to the last bit
  Value* a = Abs(x);
  Value* clamped = If(Greater(a, C(one_from)), C(one_from), a);
  Value* is_large = Greater(a, C(0.55));
  // n is rounded in the low bits, with the bias of h's exponent.
  Value* biased = C(Rounder() + (is64_ ? 1022 : 126));
  Value* shifted = MulAdd(clamped, C(2 * M_LOG2E), biased);
  Value* h = FromBits(b_.CreateShl(Bits(shifted), I(mantissa_)));
  Value* n = If(is_large, Sub(shifted, biased), C(0));
  // With an FMA one constant does: its error is small against r where tanh is not flat.
  Value* r =
      MulAdd(n, C(b_.machine().fma ? -0.5 * M_LN2 : -0.5 * (is64_ ? kLn2Hi64 : kLn2Hi32)), clamped);
  if (!b_.machine().fma) r = MulAdd(n, C(-0.5 * (is64_ ? kLn2Lo64 : kLn2Lo32)), r);
  Value* z = Mul(r, r);
  Value* t = MulAdd(Mul(r, z), is64_ ? Poly(z, kTanh64) : Poly(z, kTanh32), r);
  Value* quotient = Div(Sub(C(1), t), MulAdd(t, Sub(h, C(0.5)), Add(h, C(0.5))));
  return CopySign(If(is_large, Sub(C(1), quotient), t), x);
}

Value* Math::Erf(Value* x) {
  Value* a = Abs(x);
  if (!is64_) {
    Value* z = Mul(a, a);
    Value* small = MulAdd(a, Poly(z, kErf32), a);
    // 1 - 2^log with log = log2(erfc) = n + r: (1 - 2^n) - 2^n*(2^r - 1), where only the last step
    // rounds. Past 4 erf is 1 to the last bit.
    Value* clamped = If(Greater(a, C(4)), C(4), a);
    Value* log = Poly(Sub(clamped, C(0.875)), kErfc32);
    Value* biased = C(Rounder() + 127);  // n is rounded in the low bits, with 2^n's bias
    Value* shifted = Add(log, biased);
    Value* power = FromBits(b_.CreateShl(Bits(shifted), I(mantissa_)));
    Value* r = Sub(log, Sub(shifted, biased));
    Value* large = MulAdd(Neg(power), Mul(r, Poly(r, kExp2Of32)), Sub(C(1), power));
    return CopySign(If(Less(a, C(0.875)), small, large), x);
  }
  Value* z = Mul(x, x);
  Value* small = MulAdd(x, Poly(z, kErf64), x);
  // Likewise; past 6 erf is 1 to the last bit.
  Value* clamped = If(Greater(a, C(6)), C(6), a);
  Value* log_erfc = Poly(Mul(Sub(clamped, C(3.5)), C(0.4)), kErfc64);
  Value* large = CopySign(Sub(C(1), Exp(log_erfc)), x);
  Value* result = If(Less(a, C(1)), small, large);
  return If(b_.CreateFCmpUNO(x, x), x, result);
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

// --- Dispatch ---

namespace {

llvm::Type* DoubleLike(Builder& b, llvm::Type* type) {
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
    case UnaryOp::kSoftmaxExp:
      return math.SoftmaxExp(x);
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
  return op == UnaryOp::kExp || op == UnaryOp::kSoftmaxExp || op == UnaryOp::kLog ||
         op == UnaryOp::kSigmoid || op == UnaryOp::kTanh || op == UnaryOp::kErf;
}

using Args = llvm::ArrayRef<Value*>;
using EmitFn = llvm::function_ref<Value*(Builder& b, Args args)>;

// Whether one more function is computed in double where `b` is in a kernel, which counts them.
bool IsInline(Builder& b) {
  constexpr llvm::StringLiteral kCount = "relayvm.math";
  constexpr int kMostInline = 8;
  llvm::Function* kernel = b.GetInsertBlock()->getParent();
  int count = 0;
  const llvm::Attribute before = kernel->getFnAttribute(kCount);
  if (before.isValid()) before.getValueAsString().getAsInteger(10, count);
  if (count == kMostInline) return false;
  kernel->addFnAttr(kCount, std::to_string(count + 1));
  return true;
}

// What `emit` gives, for arguments of one type. The first ones stand in the kernel; others are
// calls of a function of the module, so that a long chain of them is compiled in the time of one.
Value* EmitOrCall(Builder& b, const std::string& name, Args args, EmitFn emit) {
  const bool folds = llvm::any_of(args, [](Value* x) { return llvm::isa<llvm::Constant>(x); });
  if (folds || IsInline(b)) return emit(b, args);
  llvm::Type* type = args[0]->getType();
  llvm::Function* kernel = b.GetInsertBlock()->getParent();
  llvm::Module* module = kernel->getParent();
  llvm::LLVMContext& context = module->getContext();
  std::string full = "math." + name;
  llvm::raw_string_ostream(full) << "." << *type;
  llvm::Function* function = module->getFunction(full);
  if (function == nullptr) {
    auto* signature = llvm::FunctionType::get(
        type, llvm::SmallVector<llvm::Type*, 2>(args.size(), type), /*isVarArg=*/false);
    function = llvm::Function::Create(signature, llvm::GlobalValue::InternalLinkage, full, *module);
    function->addFnAttrs(llvm::AttrBuilder(context, kernel->getAttributes().getFnAttrs()));
    for (auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind,
                           llvm::Attribute::WillReturn, llvm::Attribute::Speculatable}) {
      function->addFnAttr(attribute);
    }
    function->setDoesNotAccessMemory();
    function->setCallingConv(llvm::CallingConv::Fast);
    Builder inside(b.machine(), llvm::BasicBlock::Create(context, "entry", function));
    llvm::SmallVector<Value*, 2> params;
    for (llvm::Argument& p : function->args()) params.push_back(&p);
    inside.CreateRet(emit(inside, params));
  }
  llvm::CallInst* call = b.CreateCall(function, args);
  call->setCallingConv(llvm::CallingConv::Fast);
  return call;
}

}  // namespace

Value* EmitMath(Builder& b, UnaryOp op, Value* x) {
  llvm::Type* type = x->getType();
  if (HasFloatVersion(op) && !type->getScalarType()->isDoubleTy())
    return EmitIn(Math(b, type), op, x);
  const auto emit = [&](Builder& at, Args args) {
    llvm::Type* f64 = DoubleLike(at, type);
    if (type == f64) return EmitIn(Math(at, f64), op, args[0]);
    return at.CreateFPTrunc(EmitIn(Math(at, f64), op, at.CreateFPExt(args[0], f64)), type);
  };
  return EmitOrCall(b, "unary" + std::to_string(static_cast<int>(op)), {x}, emit);
}

namespace {

// A function of two arguments, computed in double: `fn` takes Math and them.
template <typename F>
Value* EmitInDouble(Builder& b, const std::string& name, Value* x, Value* y, F fn) {
  llvm::Type* type = x->getType();
  return EmitOrCall(b, name, {x, y}, [&](Builder& at, Args args) -> Value* {
    llvm::Type* f64 = DoubleLike(at, type);
    if (type == f64) return fn(Math(at, f64), args[0], args[1]);
    Value* result = fn(Math(at, f64), at.CreateFPExt(args[0], f64), at.CreateFPExt(args[1], f64));
    return at.CreateFPTrunc(result, type);
  });
}

}  // namespace

Value* EmitPower(Builder& b, Value* x, Value* y) {
  const bool single = !x->getType()->getScalarType()->isDoubleTy();
  return EmitInDouble(b, "power", x, y, [&](Math math, Value* base, Value* exponent) {
    return math.Power(base, exponent, single);
  });
}

Value* EmitAtan2(Builder& b, Value* y, Value* x) {
  return EmitInDouble(b, "atan2", y, x,
                      [](Math math, Value* n, Value* d) { return math.Atan2(n, d); });
}

Value* EmitFmod(Builder& b, Value* x, Value* y) {
  return EmitInDouble(b, "fmod", x, y,
                      [](Math math, Value* n, Value* d) { return math.Fmod(n, d); });
}

}  // namespace relayvm::codegen
