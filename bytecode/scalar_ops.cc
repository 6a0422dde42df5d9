#include "bytecode/scalar_ops.h"

#include <cmath>

namespace relayvm {
namespace {

// As the evaluator of tensor expressions does, functions are computed in double and rounded once.
double ComputeUnary(ScalarFunction function, double x) {
  switch (function) {
    case ScalarFunction::kNegate:
      return -x;
    case ScalarFunction::kAbs:
      return std::fabs(x);
    case ScalarFunction::kSign:
      return SignOf(x);
    case ScalarFunction::kExp:
      return std::exp(x);
    case ScalarFunction::kLog:
      return std::log(x);
    case ScalarFunction::kLog2:
      return std::log2(x);
    case ScalarFunction::kLog10:
      return std::log10(x);
    case ScalarFunction::kSqrt:
      return std::sqrt(x);
    case ScalarFunction::kRsqrt:
      return 1 / std::sqrt(x);
    case ScalarFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case ScalarFunction::kTanh:
      return std::tanh(x);
    case ScalarFunction::kErf:
      return std::erf(x);
    case ScalarFunction::kSin:
      return std::sin(x);
    case ScalarFunction::kCos:
      return std::cos(x);
    case ScalarFunction::kTan:
      return std::tan(x);
    case ScalarFunction::kAsin:
      return std::asin(x);
    case ScalarFunction::kAcos:
      return std::acos(x);
    case ScalarFunction::kAtan:
      return std::atan(x);
    case ScalarFunction::kSinh:
      return std::sinh(x);
    case ScalarFunction::kCosh:
      return std::cosh(x);
    case ScalarFunction::kAsinh:
      return std::asinh(x);
    case ScalarFunction::kAcosh:
      return std::acosh(x);
    case ScalarFunction::kAtanh:
      return std::atanh(x);
    case ScalarFunction::kFloor:
      return std::floor(x);
    case ScalarFunction::kCeil:
      return std::ceil(x);
    case ScalarFunction::kTrunc:
      return std::trunc(x);
    case ScalarFunction::kRound:
      return std::round(x);
    case ScalarFunction::kRoundEven:
      return std::nearbyint(x);  // the rounding mode is never changed
    default:
      return 0;
  }
}

template <typename T>
T ComputeBinary(ScalarFunction function, T x, T y) {
  switch (function) {
    case ScalarFunction::kMin:
      return x < y ? x : y;
    case ScalarFunction::kMax:
      return x > y ? x : y;
    case ScalarFunction::kPower:
      return static_cast<T>(std::pow(double{x}, double{y}));
    case ScalarFunction::kMod:
      return std::fmod(x, y);
    case ScalarFunction::kFloorMod:
      return static_cast<T>(FloorRemainder(x, y));
    case ScalarFunction::kFloorDiv:
      return std::floor(x / y);
    case ScalarFunction::kTruncDiv:
      return std::trunc(x / y);
    case ScalarFunction::kAtan2:
      return static_cast<T>(std::atan2(double{x}, double{y}));
    default:
      return 0;
  }
}

// The functions whose result is a truth value.
template <typename T>
bool Classify(ScalarFunction function, T x, uint64_t* result) {
  switch (function) {
    case ScalarFunction::kIsNan:
      *result = std::isnan(x);
      return true;
    case ScalarFunction::kIsInf:
      *result = std::isinf(x);
      return true;
    case ScalarFunction::kIsFinite:
      *result = std::isfinite(x);
      return true;
    default:
      return false;
  }
}

bool IsHalf(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

}  // namespace

uint64_t ConvertScalar(uint64_t value, DType from, DType to) {
  if (IsHalf(from) || IsHalf(to)) return 0;
  if (!IsFloat(from)) {
    if (!IsFloat(to)) return ScalarOps::Wrap(value, to);
    bool is_unsigned =
        from == DType::kUInt64;  // the narrower ones are zero-extended, hence not negative
    auto signed_value = static_cast<int64_t>(value);
    if (to == DType::kFloat32) {
      return FromF32(is_unsigned ? static_cast<float>(value) : static_cast<float>(signed_value));
    }
    return FromF64(is_unsigned ? static_cast<double>(value) : static_cast<double>(signed_value));
  }
  double x = from == DType::kFloat32 ? static_cast<double>(AsF32(value)) : AsF64(value);
  if (to == DType::kFloat32) return FromF32(static_cast<float>(x));
  if (to == DType::kFloat64) return FromF64(x);
  return static_cast<uint64_t>(FloatToInteger(x, to));
}

uint64_t CallF32(ScalarFunction f, uint64_t x) {
  uint64_t result;
  if (Classify(f, AsF32(x), &result)) return result;
  return FromF32(static_cast<float>(ComputeUnary(f, AsF32(x))));
}

uint64_t CallF64(ScalarFunction f, uint64_t x) {
  uint64_t result;
  if (Classify(f, AsF64(x), &result)) return result;
  return FromF64(ComputeUnary(f, AsF64(x)));
}

uint64_t Call2F32(ScalarFunction f, uint64_t x, uint64_t y) {
  return FromF32(ComputeBinary(f, AsF32(x), AsF32(y)));
}

uint64_t Call2F64(ScalarFunction f, uint64_t x, uint64_t y) {
  return FromF64(ComputeBinary(f, AsF64(x), AsF64(y)));
}

}  // namespace relayvm
