#include "kernels/te/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "bytecode/base/arithmetic.h"

namespace relayvm::te {

// --- float16 and bfloat16 ---

namespace {

// Rounds to float such that a second rounding to a narrower format is the same as rounding once:
// toward zero, with the last bit set when that was inexact (round to odd).
float ToFloatOdd(double value) {
  float f = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(f) == value) return f;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if (std::abs(static_cast<double>(f)) > std::abs(value)) --bits;  // magnitude down by one unit
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

float HalfToFloat(uint16_t h) {
  uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  uint32_t exponent = (h >> 10) & 31;
  uint32_t mantissa = h & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t DoubleToHalf(double value) {
  float f = ToFloatOdd(value);
  uint32_t bits = std::bit_cast<uint32_t>(f);
  uint32_t sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (bits >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  if (bits < 0x38800000) {  // denormal: the addition rounds at 2^-24, since 0.5 has that unit in
                            // the last place
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t rounded = bits + 0xfff + ((bits >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t DoubleToBFloat16(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(ToFloatOdd(value));
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double RoundToDType(double value, DType t) {
  switch (t) {
    case DType::kFloat16:
      return HalfToFloat(DoubleToHalf(value));
    case DType::kBFloat16:
      return BFloat16ToFloat(DoubleToBFloat16(value));
    case DType::kFloat32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

// --- Types ---

bool IsComparison(BinaryOp op) { return op >= BinaryOp::kEqual; }

DType ResultDType(UnaryOp op, DType t) { return op >= UnaryOp::kIsNan ? DType::kBool : t; }
DType ResultDType(BinaryOp op, DType t) { return IsComparison(op) ? DType::kBool : t; }

// --- Unary ---

namespace {

double FloatUnary(UnaryOp op, double x) {
  switch (op) {
    case UnaryOp::kNegative:
      return -x;
    case UnaryOp::kAbs:
      return std::fabs(x);
    case UnaryOp::kSign:
      return SignOf(x);
    case UnaryOp::kNot:
      return x == 0;
    case UnaryOp::kExp:
    case UnaryOp::kSoftmaxExp:
      return std::exp(x);
    case UnaryOp::kLog:
      return std::log(x);
    case UnaryOp::kLog2:
      return std::log2(x);
    case UnaryOp::kLog10:
      return std::log10(x);
    case UnaryOp::kSqrt:
      return std::sqrt(x);
    case UnaryOp::kRsqrt:
      return 1 / std::sqrt(x);
    case UnaryOp::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryOp::kTanh:
      return std::tanh(x);
    case UnaryOp::kErf:
      return std::erf(x);
    case UnaryOp::kSin:
      return std::sin(x);
    case UnaryOp::kCos:
      return std::cos(x);
    case UnaryOp::kTan:
      return std::tan(x);
    case UnaryOp::kAsin:
      return std::asin(x);
    case UnaryOp::kAcos:
      return std::acos(x);
    case UnaryOp::kAtan:
      return std::atan(x);
    case UnaryOp::kSinh:
      return std::sinh(x);
    case UnaryOp::kCosh:
      return std::cosh(x);
    case UnaryOp::kAsinh:
      return std::asinh(x);
    case UnaryOp::kAcosh:
      return std::acosh(x);
    case UnaryOp::kAtanh:
      return std::atanh(x);
    case UnaryOp::kFloor:
      return std::floor(x);
    case UnaryOp::kCeil:
      return std::ceil(x);
    case UnaryOp::kTrunc:
      return std::trunc(x);
    case UnaryOp::kRound:
      return std::round(x);
    case UnaryOp::kRoundEven:
      return std::nearbyint(x);
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
    case UnaryOp::kIsFinite:
      break;
  }
  return 0;
}

uint64_t Unsigned(int64_t v) { return static_cast<uint64_t>(v); }

// Integers as doubles and back: what functions that are defined on floats do with integer operands.
double IntToDouble(int64_t v, DType t) {
  return t == DType::kUInt64 ? static_cast<double>(Unsigned(v)) : static_cast<double>(v);
}

}  // namespace

Scalar ApplyUnary(UnaryOp op, DType t, Scalar x) {
  if (op >= UnaryOp::kIsNan) {
    if (!IsFloat(t)) return IntScalar(op == UnaryOp::kIsFinite);
    if (op == UnaryOp::kIsNan) return IntScalar(std::isnan(x.f));
    if (op == UnaryOp::kIsInf) return IntScalar(std::isinf(x.f));
    return IntScalar(std::isfinite(x.f));
  }
  if (op == UnaryOp::kSoftmaxExp && IsFloat(t) && x.f < LeastSoftmaxExp(t)) return FloatScalar(0);
  if (IsFloat(t)) return FloatScalar(RoundToDType(FloatUnary(op, x.f), t));
  switch (op) {
    case UnaryOp::kNegative:
      return IntScalar(WrapInteger(static_cast<int64_t>(0 - Unsigned(x.i)), t));
    case UnaryOp::kAbs:
      if (!IsSignedInt(t) || x.i >= 0) return x;
      return IntScalar(WrapInteger(static_cast<int64_t>(0 - Unsigned(x.i)), t));
    case UnaryOp::kSign:
      return IntScalar(IsSignedInt(t) && x.i < 0 ? -1 : x.i != 0);
    case UnaryOp::kNot:
      return IntScalar(t == DType::kBool ? x.i == 0 : WrapInteger(~x.i, t));
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRound:
    case UnaryOp::kRoundEven:
      return x;
    default:
      return ApplyCast(DType::kFloat64, t, FloatScalar(FloatUnary(op, IntToDouble(x.i, t))));
  }
}

// --- Binary ---

namespace {

double FloatBinary(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSubtract:
      return a - b;
    case BinaryOp::kMultiply:
      return a * b;
    case BinaryOp::kDivide:
      return a / b;
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kFloorMod:
      return FloorRemainder(a, b);
    case BinaryOp::kMin:
      return a < b ? a : b;
    case BinaryOp::kMax:
      return a > b ? a : b;
    case BinaryOp::kPower:
      return std::pow(a, b);
    case BinaryOp::kAtan2:
      return std::atan2(a, b);
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
    case BinaryOp::kXor:
      return (a != 0) != (b != 0);
    default:
      return 0;
  }
}

template <typename T>
bool Compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kNotEqual:
      return a != b;
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kLessEqual:
      return a <= b;
    case BinaryOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

int64_t SignedDivide(BinaryOp op, int64_t a, int64_t b) {
  if (b == 0) return 0;
  bool is_mod = op == BinaryOp::kMod || op == BinaryOp::kFloorMod;
  if (b == -1) return is_mod ? 0 : static_cast<int64_t>(0 - Unsigned(a));
  int64_t quotient = a / b;
  int64_t rest = a % b;
  bool adjust = (op == BinaryOp::kFloorDivide || op == BinaryOp::kFloorMod) && rest != 0 &&
                (rest < 0) != (b < 0);
  if (is_mod) return adjust ? rest + b : rest;
  return adjust ? quotient - 1 : quotient;
}

int64_t UnsignedDivide(BinaryOp op, uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  bool is_mod = op == BinaryOp::kMod || op == BinaryOp::kFloorMod;
  return static_cast<int64_t>(is_mod ? a % b : a / b);
}

// A shift by the width or more (or by a negative amount) shifts everything out.
int64_t Shift(BinaryOp op, DType t, int64_t a, int64_t b) {
  uint64_t bits = static_cast<uint64_t>(DTypeBytes(t)) * 8;
  bool too_far = Unsigned(b) >= bits;
  if (op == BinaryOp::kShiftLeft) return too_far ? 0 : static_cast<int64_t>(Unsigned(a) << b);
  if (IsSignedInt(t)) return a >> (too_far ? 63 : b);
  return too_far ? 0 : static_cast<int64_t>(Unsigned(a) >> b);
}

int64_t IntBinary(BinaryOp op, DType t, int64_t a, int64_t b) {
  bool is_signed = IsSignedInt(t);
  switch (op) {
    case BinaryOp::kAdd:
      return static_cast<int64_t>(Unsigned(a) + Unsigned(b));
    case BinaryOp::kSubtract:
      return static_cast<int64_t>(Unsigned(a) - Unsigned(b));
    case BinaryOp::kMultiply:
      return static_cast<int64_t>(Unsigned(a) * Unsigned(b));
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return is_signed ? SignedDivide(op, a, b) : UnsignedDivide(op, Unsigned(a), Unsigned(b));
    case BinaryOp::kMin:
      if (is_signed) return a < b ? a : b;
      return Unsigned(a) < Unsigned(b) ? a : b;
    case BinaryOp::kMax:
      if (is_signed) return a > b ? a : b;
      return Unsigned(a) > Unsigned(b) ? a : b;
    case BinaryOp::kPower:
      return IntegerPower(a, b, is_signed);
    case BinaryOp::kAtan2:
      return ApplyCast(DType::kFloat64, t,
                       FloatScalar(std::atan2(IntToDouble(a, t), IntToDouble(b, t))))
          .i;
    case BinaryOp::kAnd:
      return a & b;
    case BinaryOp::kOr:
      return a | b;
    case BinaryOp::kXor:
      return a ^ b;
    default:
      return Shift(op, t, a, b);
  }
}

}  // namespace

Scalar ApplyBinary(BinaryOp op, DType t, Scalar a, Scalar b) {
  if (IsComparison(op)) {
    if (IsFloat(t)) return IntScalar(Compare(op, a.f, b.f));
    if (IsSignedInt(t)) return IntScalar(Compare(op, a.i, b.i));
    return IntScalar(Compare(op, Unsigned(a.i), Unsigned(b.i)));
  }
  if (op == BinaryOp::kFloorDivide && IsFloat(t)) {
    return FloatScalar(RoundToDType(std::floor(RoundToDType(a.f / b.f, t)), t));
  }
  if (IsFloat(t)) return FloatScalar(RoundToDType(FloatBinary(op, a.f, b.f), t));
  return IntScalar(WrapInteger(IntBinary(op, t, a.i, b.i), t));
}

// --- Conversions ---

namespace {

double IntToFloat(int64_t x, DType from, DType to) {
  if (to == DType::kFloat64) return IntToDouble(x, from);
  // One rounding: integers of up to 53 bits are exact as doubles; wider ones only fit if rounded to
  // odd first.
  uint64_t magnitude = from == DType::kUInt64 || x >= 0 ? Unsigned(x) : 0 - Unsigned(x);
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~uint64_t{2047}) | ((magnitude & 2047) != 0 ? 2048 : 0);
  double value = static_cast<double>(magnitude);
  return RoundToDType(from != DType::kUInt64 && x < 0 ? -value : value, to);
}

}  // namespace

Scalar ApplyCast(DType from, DType to, Scalar x) {
  if (IsFloat(from)) {
    if (IsFloat(to)) return FloatScalar(RoundToDType(x.f, to));
    return IntScalar(FloatToInteger(x.f, to));
  }
  if (IsFloat(to)) return FloatScalar(IntToFloat(x.i, from, to));
  return IntScalar(WrapInteger(x.i, to));
}

Scalar ApplyReinterpret(DType from, DType to, Scalar x) {
  uint64_t memory = 0;
  WriteElement(from, x, &memory);
  return ReadElement(to, &memory);
}

Scalar ReduceIdentity(ReduceKind kind, DType t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAny:
      return IsFloat(t) ? FloatScalar(0) : IntScalar(0);
    case ReduceKind::kProd:
      return IsFloat(t) ? FloatScalar(1) : IntScalar(1);
    case ReduceKind::kAll:
      return IsFloat(t) ? FloatScalar(1) : IntScalar(1);
    default:
      break;
  }
  bool lowest = kind == ReduceKind::kMax || kind == ReduceKind::kArgMax;
  if (IsFloat(t)) return FloatScalar(lowest ? -kInfinity : kInfinity);
  if (t == DType::kBool) return IntScalar(lowest ? 0 : 1);
  int bits = DTypeBits(t);
  if (!IsSignedInt(t))
    return IntScalar(lowest ? 0 : static_cast<int64_t>(~uint64_t{0} >> (64 - bits)));
  int64_t highest = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return IntScalar(lowest ? -highest - 1 : highest);
}

// --- Memory ---

namespace {
template <typename T>
T ReadAs(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
void WriteAs(void* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}
}  // namespace

Scalar ReadElement(DType t, const void* p) {
  switch (t) {
    case DType::kBool:
      return IntScalar(ReadAs<uint8_t>(p) != 0);
    case DType::kInt8:
      return IntScalar(ReadAs<int8_t>(p));
    case DType::kInt16:
      return IntScalar(ReadAs<int16_t>(p));
    case DType::kInt32:
      return IntScalar(ReadAs<int32_t>(p));
    case DType::kUInt8:
      return IntScalar(ReadAs<uint8_t>(p));
    case DType::kUInt16:
      return IntScalar(ReadAs<uint16_t>(p));
    case DType::kUInt32:
      return IntScalar(ReadAs<uint32_t>(p));
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kString:
      return IntScalar(ReadAs<int64_t>(p));
    case DType::kFloat16:
      return FloatScalar(HalfToFloat(ReadAs<uint16_t>(p)));
    case DType::kBFloat16:
      return FloatScalar(BFloat16ToFloat(ReadAs<uint16_t>(p)));
    case DType::kFloat32:
      return FloatScalar(ReadAs<float>(p));
    case DType::kFloat64:
      return FloatScalar(ReadAs<double>(p));
  }
  return IntScalar(0);
}

void WriteElement(DType t, Scalar value, void* p) {
  switch (t) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return WriteAs(p, static_cast<uint8_t>(value.i));
    case DType::kInt16:
    case DType::kUInt16:
      return WriteAs(p, static_cast<uint16_t>(value.i));
    case DType::kInt32:
    case DType::kUInt32:
      return WriteAs(p, static_cast<uint32_t>(value.i));
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kString:
      return WriteAs(p, value.i);
    case DType::kFloat16:
      return WriteAs(p, DoubleToHalf(value.f));
    case DType::kBFloat16:
      return WriteAs(p, DoubleToBFloat16(value.f));
    case DType::kFloat32:
      return WriteAs(p, static_cast<float>(value.f));
    case DType::kFloat64:
      return WriteAs(p, value.f);
  }
}

}  // namespace relayvm::te
