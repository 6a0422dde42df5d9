// Scalar semantics of the instruction set: what fn.*, fn2.*, wrap, convert and integer division
// compute. Pure functions of canonical 64-bit scalars (bytecode/kernel_abi.h). Thread-safe. Tested
// by scalar_ops_test.cc.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "bytecode/base/arithmetic.h"
#include "bytecode/base/dtype.h"
#include "bytecode/opcode.h"

namespace relayvm::vm {

inline float AsF32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double AsF64(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t FromF32(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t FromF64(double value) { return std::bit_cast<uint64_t>(value); }

// Division by zero gives 0; the one overflow, INT64_MIN / -1, wraps.
inline int64_t DivideTruncate(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return a / b;
}
inline int64_t RemainderTruncate(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
inline int64_t DivideFloor(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return DivideTruncate(a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t RemainderFloor(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Of sizes; false when there is no such size.
inline bool DivideDims(int64_t a, int64_t b, int64_t* quotient) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *quotient = DivideFloor(a, b);
  return true;
}
inline bool RemainderOfDims(int64_t a, int64_t b, int64_t* remainder) {
  if (b == 0) return false;
  *remainder = RemainderFloor(a, b);
  return true;
}

// To an integer dtype or bool (which tests for nonzero); a float dtype leaves the value as it is.
inline uint64_t WrapScalar(uint64_t value, DType dtype) {
  return static_cast<uint64_t>(WrapInteger(static_cast<int64_t>(value), dtype));
}
// Relay's cast. REQUIRES: neither is float16 or bfloat16 (those give 0).
uint64_t ConvertScalar(uint64_t value, DType from, DType to);

// Without branches, which would be hard to predict: the outcome selects a bit of the comparison's
// mask. Bits: greater, less, equal, unordered. REQUIRES: comparison < kNumComparisons.
template <typename T>
bool CompareScalars(uint16_t comparison, T a, T b) {
  constexpr uint8_t kMasks[kNumComparisons] = {0b0100, 0b1011, 0b0010,
                                               0b0110, 0b0001, 0b0101};  // eq ne lt le gt ge
  unsigned outcome = static_cast<unsigned>(a < b) + 2 * static_cast<unsigned>(a == b);
  if constexpr (!std::is_integral_v<T>)
    outcome |= 3 * static_cast<unsigned>(std::isunordered(a, b));
  return (kMasks[comparison] >> outcome & 1) != 0;
}

// Of one argument and of two; a function of the other arity gives 0. kIsNan, kIsInf, kIsFinite give
// the integers 0 and 1.
uint64_t CallF32(uint16_t function, uint64_t x);
uint64_t CallF64(uint16_t function, uint64_t x);
uint64_t Call2F32(uint16_t function, uint64_t x, uint64_t y);
uint64_t Call2F64(uint16_t function, uint64_t x, uint64_t y);

}  // namespace relayvm::vm
