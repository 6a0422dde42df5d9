// Inside of Dim: its node, and the arithmetic on constants that its sources share.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/base/dim.h"

namespace relayvm {

struct Dim::Node {
  Kind kind;
  uint32_t symbol_id = 0;
  bool nonnegative = true;
  std::string name;
  std::vector<Dim> operands;
  // Kept because expressions share their parts: walking them as trees would take exponential time.
  size_t hash = 0;
  bool contains_any = false;
  bool verbatim = false;  // of kAdd, kMul: not taken apart, since that would not fit 64 bits
  uint32_t size = 1;      // nodes as a tree, at most UINT32_MAX
  std::optional<int64_t> low, high;
};

namespace dim_internal {

// REQUIRES: b != 0, and the quotient fits.
inline int64_t FloorDivInt(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

inline uint64_t MagnitudeOf(int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : uint64_t(x); }

// The greatest common divisor. REQUIRES: a > 0.
inline int64_t GcdInt(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::gcd(MagnitudeOf(a), MagnitudeOf(b)));
}

// REQUIRES: b != 0. The result has the sign of b.
inline int64_t FloorModInt(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// The bound from below (sign = 1) or from above (sign = -1) of an expression whose node holds none
// yet, from those of its operands (dim_bounds.cc).
std::optional<int64_t> Bound(const Dim& d, int sign);

}  // namespace dim_internal
}  // namespace relayvm
