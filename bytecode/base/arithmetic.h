// What arithmetic on one element means where C++ leaves it open: the range of narrow integers,
// casts of floats that no integer holds, powers of integers, remainders of floats. Shared by the
// tensor expressions' evaluator (kernels/te) and the VM's scalar instructions; generated code does
// the same. Pure functions. Tested by arithmetic_test.cc.
#pragma once

#include <cmath>
#include <cstdint>

#include "bytecode/base/dtype.h"

namespace relayvm {

// The integer reduced to the range of integer dtype `t`; for bool, value != 0; a float dtype leaves
// it as it is.
inline int64_t WrapInteger(int64_t value, DType t) {
  switch (t) {
    case DType::kBool:
      return value != 0;
    case DType::kInt8:
      return static_cast<int8_t>(value);
    case DType::kInt16:
      return static_cast<int16_t>(value);
    case DType::kInt32:
      return static_cast<int32_t>(value);
    case DType::kUInt8:
      return static_cast<uint8_t>(value);
    case DType::kUInt16:
      return static_cast<uint16_t>(value);
    case DType::kUInt32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

// Relay's cast to an integer dtype or bool (x != 0): toward zero. Integers of up to 32 bits go
// through int32 (uint32: int64) and wrap; what is out of that range saturates; NaN gives 0.
int64_t FloatToInteger(double x, DType to);

// Wraps at 64 bits. A negative exponent gives the truncated reciprocal, 0 for base 0.
int64_t IntegerPower(int64_t base, int64_t exponent, bool is_signed);

// The remainder with the sign of b.
inline double FloorRemainder(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Of NaN and of either zero: the number itself.
template <typename T>
T SignOf(T x) {
  return x > 0 ? T{1} : (x < 0 ? T{-1} : x);
}

}  // namespace relayvm
