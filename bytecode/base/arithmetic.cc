#include "bytecode/base/arithmetic.h"

#include <limits>

namespace relayvm {
namespace {

int64_t Saturate(double x, double low, double high_exclusive, int64_t min, int64_t max) {
  if (std::isnan(x)) return 0;
  if (x < low) return min;
  if (x >= high_exclusive) return max;
  return static_cast<int64_t>(x);
}

}  // namespace

int64_t FloatToInteger(double x, DType to) {
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
  switch (to) {
    case DType::kBool:
      return x != 0;
    case DType::kInt64:
      return Saturate(x, -0x1p63, 0x1p63, kMin64, kMax64);
    case DType::kUInt32:
      return WrapInteger(Saturate(x, -0x1p63, 0x1p63, kMin64, kMax64), to);
    case DType::kUInt64:
      if (!(x >= 0x1p63)) return Saturate(x, -0x1p63, 0x1p63, kMin64, kMax64);
      if (x >= 0x1p64) return -1;
      return static_cast<int64_t>(static_cast<uint64_t>(x));
    default:
      return WrapInteger(Saturate(std::trunc(x), -0x1p31, 0x1p31, INT32_MIN, INT32_MAX), to);
  }
}

int64_t IntegerPower(int64_t base, int64_t exponent, bool is_signed) {
  if (is_signed && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return (exponent & 1) != 0 ? -1 : 1;
    return 0;
  }
  uint64_t result = 1;
  auto power = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= power;
    power *= power;
  }
  return static_cast<int64_t>(result);
}

}  // namespace relayvm
