// What is known of the values of a Dim.
#include <algorithm>
#include <numeric>

#include "bytecode/base/dim.h"
#include "bytecode/base/dim_node.h"

namespace relayvm {

using dim_internal::FloorDivInt;
using dim_internal::MagnitudeOf;

namespace {

// The known bound of an expression from below (sign = 1) or from above (sign = -1).
std::optional<int64_t> KnownBound(const Dim& d, int sign) {
  return sign > 0 ? d.LowerBound() : d.UpperBound();
}

}  // namespace

std::optional<int64_t> dim_internal::Bound(const Dim& d, int sign) {
  switch (d.kind()) {
    case Dim::Kind::kConst:
      return d.value();
    case Dim::Kind::kAny:
      return std::nullopt;
    case Dim::Kind::kSymbol:
      if (sign > 0 && d.symbol_nonnegative()) return 0;
      return std::nullopt;
    case Dim::Kind::kAdd: {
      int64_t total = 0;
      for (const Dim& t : d.operands()) {
        auto b = KnownBound(t, sign);
        if (!b || __builtin_add_overflow(total, *b, &total)) return std::nullopt;
      }
      return total;
    }
    case Dim::Kind::kMul: {
      int64_t coefficient = 1;
      int64_t low = 1;
      int64_t high = 1;
      bool bounded = true;
      for (const Dim& f : d.operands()) {
        if (f.is_const()) {
          if (__builtin_mul_overflow(coefficient, f.value(), &coefficient)) return std::nullopt;
          continue;
        }
        auto lb = KnownBound(f, 1);
        if (!lb || *lb < 0 || __builtin_mul_overflow(low, *lb, &low)) return std::nullopt;
        auto ub = KnownBound(f, -1);
        bounded = bounded && ub && !__builtin_mul_overflow(high, *ub, &high);
      }
      bool want_low = (sign > 0) == (coefficient >= 0);
      int64_t result;
      if (!want_low && !bounded) return std::nullopt;
      if (__builtin_mul_overflow(want_low ? low : high, coefficient, &result)) return std::nullopt;
      return result;
    }
    case Dim::Kind::kFloorDiv: {
      const Dim& b = d.operands()[1];
      auto x = KnownBound(d.operands()[0], sign);
      if (b.is_const() && b.value() > 0 && x) return FloorDivInt(*x, b.value());
      auto low = KnownBound(d.operands()[0], 1);
      auto divisor = KnownBound(b, 1);
      if (sign > 0 && low && *low >= 0 && divisor && *divisor > 0) return 0;
      return std::nullopt;
    }
    case Dim::Kind::kFloorMod: {
      const Dim& b = d.operands()[1];
      if (b.is_const() && b.value() > 0) return sign > 0 ? 0 : b.value() - 1;
      auto divisor = KnownBound(b, 1);
      if (sign > 0 && divisor && *divisor > 0) return 0;
      return std::nullopt;
    }
    case Dim::Kind::kMin:
    case Dim::Kind::kMax: {
      // The best of what is known: min is bounded above by each operand, below only by all of them.
      bool any_suffices = (d.kind() == Dim::Kind::kMin) == (sign < 0);
      std::optional<int64_t> best;
      for (const Dim& x : d.operands()) {
        auto b = KnownBound(x, sign);
        if (!b) {
          if (any_suffices) continue;
          return std::nullopt;
        }
        if (!best) {
          best = b;
        } else {
          bool take_min = d.kind() == Dim::Kind::kMin;
          best = take_min ? std::min(*best, *b) : std::max(*best, *b);
        }
      }
      return best;
    }
    case Dim::Kind::kInt32:
      return sign > 0 ? INT32_MIN : INT32_MAX;
  }
  return std::nullopt;
}

std::optional<int64_t> Dim::LowerBound() const { return node_ ? node_->low : value_; }
std::optional<int64_t> Dim::UpperBound() const { return node_ ? node_->high : value_; }

bool Dim::ProvablyDifferent(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  Dim difference = a - b;
  auto low = difference.LowerBound();
  auto high = difference.UpperBound();
  if ((low && *low > 0) || (high && *high < 0)) return true;
  // 4n and 6m + 1: the difference is odd.
  if (difference.kind() != Kind::kAdd) return false;
  uint64_t common = 0;
  int64_t constant = 0;
  for (const Dim& term : difference.operands()) {
    if (term.is_const()) {
      constant = term.value();
      continue;
    }
    bool scaled = term.kind() == Kind::kMul && term.operands().back().is_const();
    common = std::gcd(common, scaled ? MagnitudeOf(term.operands().back().value()) : 1);
  }
  return common != 0 && MagnitudeOf(constant) % common != 0;
}

}  // namespace relayvm
