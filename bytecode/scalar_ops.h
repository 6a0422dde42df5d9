// ScalarOps: the machine of bytecode/semantics.h whose scalars are numbers, and what fn.*, fn2.*
// and convert compute. Pure functions of canonical 64-bit scalars (bytecode/kernel_abi.h).
// Thread-safe. Tested by scalar_ops_test.cc.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "bytecode/base/arithmetic.h"
#include "bytecode/base/dtype.h"
#include "bytecode/opcode.h"
#include "bytecode/semantics.h"

namespace relayvm {

inline float AsF32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double AsF64(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t FromF32(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t FromF64(double value) { return std::bit_cast<uint64_t>(value); }

// Relay's cast. REQUIRES: neither is float16 or bfloat16 (those give 0).
uint64_t ConvertScalar(uint64_t value, DType from, DType to);

// Without branches, which would be hard to predict: the outcome selects a bit of the comparison's
// mask. Bits: greater, less, equal, unordered. REQUIRES: a valid one.
template <typename T>
RELAYVM_INLINE bool CompareScalars(Comparison comparison, T a, T b) {
  constexpr uint64_t kMasks = 0x0501'0602'0b04;  // ge gt le lt ne eq, a byte each
  unsigned outcome = static_cast<unsigned>(a < b) + 2 * static_cast<unsigned>(a == b);
  if constexpr (!std::is_integral_v<T>)
    outcome |= 3 * static_cast<unsigned>(std::isunordered(a, b));
  return (kMasks >> (8 * static_cast<unsigned>(comparison) + outcome) & 1) != 0;
}

// Of one argument and of two; a function of the other arity gives 0. kIsNan, kIsInf, kIsFinite give
// the integers 0 and 1.
uint64_t CallF32(ScalarFunction function, uint64_t x);
uint64_t CallF64(ScalarFunction function, uint64_t x);
uint64_t Call2F32(ScalarFunction function, uint64_t x, uint64_t y);
uint64_t Call2F64(ScalarFunction function, uint64_t x, uint64_t y);

struct ScalarOps {
  using Int = uint64_t;
  using Bool = bool;

  RELAYVM_INLINE static Int Number(int64_t value) { return static_cast<Int>(value); }
  RELAYVM_INLINE static Int Truth(bool value) { return value ? 1 : 0; }
  RELAYVM_INLINE static Int Select(bool condition, Int a, Int b) { return condition ? a : b; }
  RELAYVM_INLINE static bool Not(bool a) { return !a; }
  RELAYVM_INLINE static bool Both(bool a, bool b) { return a & b; }
  RELAYVM_INLINE static bool Either(bool a, bool b) { return a | b; }

  RELAYVM_INLINE static Int Binary(IntOp op, Int a, Int b) {
    const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    switch (op) {
      case IntOp::kAdd:
        return a + b;
      case IntOp::kSub:
        return a - b;
      case IntOp::kMul:
        return a * b;
      case IntOp::kDivS:
        return static_cast<Int>(x / y);
      case IntOp::kRemS:
        return static_cast<Int>(x % y);
      case IntOp::kDivU:
        return a / b;
      case IntOp::kRemU:
        return a % b;
      case IntOp::kMinS:
        return x < y ? a : b;
      case IntOp::kMaxS:
        return x > y ? a : b;
      case IntOp::kMinU:
        return a < b ? a : b;
      case IntOp::kMaxU:
        return a > b ? a : b;
      case IntOp::kAnd:
        return a & b;
      case IntOp::kOr:
        return a | b;
      case IntOp::kXor:
        return a ^ b;
      case IntOp::kShl:
        return a << b;
      case IntOp::kShrS:
        return static_cast<Int>(x >> b);
      case IntOp::kShrU:
        return a >> b;
    }
    return 0;
  }
  RELAYVM_INLINE static std::pair<Int, bool> Overflowing(IntOp op, Int a, Int b) {
    const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    int64_t result = 0;
    const bool overflows = op == IntOp::kAdd   ? __builtin_add_overflow(x, y, &result)
                           : op == IntOp::kSub ? __builtin_sub_overflow(x, y, &result)
                                               : __builtin_mul_overflow(x, y, &result);
    return {static_cast<Int>(result), overflows};
  }
  RELAYVM_INLINE static Int Power(Int a, Int b, bool is_signed) {
    return static_cast<Int>(
        IntegerPower(static_cast<int64_t>(a), static_cast<int64_t>(b), is_signed));
  }
  RELAYVM_INLINE static Int Wrap(Int a, DType dtype) {
    return static_cast<Int>(WrapInteger(static_cast<int64_t>(a), dtype));
  }
  RELAYVM_INLINE static bool Compare(Comparison cmp, Int a, Int b, Sign sign) {
    if (__builtin_constant_p(cmp) && cmp == Comparison::kEq) return a == b;
    if (__builtin_constant_p(cmp) && cmp == Comparison::kNe) return a != b;
    return sign == Sign::kSigned
               ? CompareScalars(cmp, static_cast<int64_t>(a), static_cast<int64_t>(b))
               : CompareScalars(cmp, a, b);
  }

  RELAYVM_INLINE static Int Float(FloatOp op, FloatWidth width, Int a, Int b) {
    return width == FloatWidth::k32 ? FromF32(Computed(op, AsF32(a), AsF32(b)))
                                    : FromF64(Computed(op, AsF64(a), AsF64(b)));
  }
  RELAYVM_INLINE static bool CompareFloats(Comparison cmp, FloatWidth width, Int a, Int b) {
    return width == FloatWidth::k32 ? CompareScalars(cmp, AsF32(a), AsF32(b))
                                    : CompareScalars(cmp, AsF64(a), AsF64(b));
  }
  RELAYVM_INLINE static Int Function(ScalarFunction fn, FloatWidth width, Int a) {
    return width == FloatWidth::k32 ? CallF32(fn, a) : CallF64(fn, a);
  }
  RELAYVM_INLINE static Int Function2(ScalarFunction fn, FloatWidth width, Int a, Int b) {
    return width == FloatWidth::k32 ? Call2F32(fn, a, b) : Call2F64(fn, a, b);
  }
  RELAYVM_INLINE static Int Convert(Int a, DType from, DType to) {
    return ConvertScalar(a, from, to);
  }

 private:
  template <typename T>
  RELAYVM_INLINE static T Computed(FloatOp op, T a, T b) {
    switch (op) {
      case FloatOp::kAdd:
        return a + b;
      case FloatOp::kSub:
        return a - b;
      case FloatOp::kMul:
        return a * b;
      case FloatOp::kDiv:
        return a / b;
    }
    return 0;
  }
};

}  // namespace relayvm
