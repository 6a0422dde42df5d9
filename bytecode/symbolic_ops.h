// SymbolicOps: a machine of semantics.h whose scalars are formulas, or not known. Of constants it
// computes everything as ScalarOps does; of others what formulas have. Nothing that it is asked to
// require is required: who runs instructions on it says what that means. Pure functions. Tested by
// compiler/aot/machines_test.cc, against numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "bytecode/base/dim.h"
#include "bytecode/scalar_ops.h"
#include "bytecode/semantics.h"

namespace relayvm {

// What wraps at 64 bits: no formula, or one as if it never did (for reports to people).
enum class Wrapping : uint8_t { kUnknown, kTakenAsExact };

class SymbolicOps {
 public:
  using Int = std::optional<Dim>;    // nothing: not known
  using Bool = std::optional<bool>;  // the same

  explicit SymbolicOps(Wrapping wrapping = Wrapping::kUnknown) : wrapping_(wrapping) {}

  static Int Number(int64_t value) { return Dim(value); }
  static Int Truth(Bool value) { return value ? Number(*value ? 1 : 0) : std::nullopt; }
  static Int Select(Bool condition, const Int& a, const Int& b) {
    if (condition) return *condition ? a : b;
    return a && b && *a == *b ? a : std::nullopt;
  }
  static Bool Not(Bool a) { return a ? Bool(!*a) : a; }
  static Bool Both(Bool a, Bool b) {
    if (a && b) return *a && *b;
    return (a && !*a) || (b && !*b) ? Bool(false) : std::nullopt;
  }
  static Bool Either(Bool a, Bool b) { return Not(Both(Not(a), Not(b))); }

  Int Binary(IntOp op, const Int& a, const Int& b) const {
    if (!a || !b) return std::nullopt;
    if (a->is_const() && b->is_const()) return Made(ScalarOps::Binary(op, Value(a), Value(b)));
    if (op == IntOp::kMinS) return Dim::Min(*a, *b);
    if (op == IntOp::kMaxS) return Dim::Max(*a, *b);
    return wrapping_ == Wrapping::kTakenAsExact ? Exact(op, *a, *b) : std::nullopt;
  }
  static std::pair<Int, Bool> Overflowing(IntOp op, const Int& a, const Int& b) {
    if (!a || !b) return {};
    if (!a->is_const() || !b->is_const()) return {Exact(op, *a, *b), std::nullopt};
    const auto [result, overflows] = ScalarOps::Overflowing(op, Value(a), Value(b));
    return {Number(static_cast<int64_t>(result)), overflows};
  }
  static Int FloorDivide(const Int& a, const Int& b, Divisor divisor) {
    if (ScalarOps ops; IsConst(a) && IsConst(b))
      return Made(Numbers::kFloorDivI(ops, Value(a), Value(b)));
    return MayDivide(a, b, divisor) ? Int(Dim::FloorDiv(*a, *b)) : std::nullopt;
  }
  static Int FloorRemainder(const Int& a, const Int& b, Divisor divisor) {
    if (ScalarOps ops; IsConst(a) && IsConst(b))
      return Made(Numbers::kFloorModI(ops, Value(a), Value(b)));
    return MayDivide(a, b, divisor) ? Int(Dim::FloorMod(*a, *b)) : std::nullopt;
  }
  static Int Power(const Int& a, const Int& b, bool is_signed) {
    if (!IsConst(a) || !IsConst(b)) return std::nullopt;
    return Made(ScalarOps::Power(Value(a), Value(b), is_signed));
  }
  static Int Wrap(const Int& a, DType dtype) {
    return IsConst(a) ? Made(ScalarOps::Wrap(Value(a), dtype)) : std::nullopt;
  }
  static Bool Compare(Comparison cmp, const Int& a, const Int& b, Sign sign) {
    if (!IsConst(a) || !IsConst(b)) return std::nullopt;
    return ScalarOps::Compare(cmp, Value(a), Value(b), sign);
  }
  static Int Float(FloatOp op, FloatWidth width, const Int& a, const Int& b) {
    if (!IsConst(a) || !IsConst(b)) return std::nullopt;
    return Made(ScalarOps::Float(op, width, Value(a), Value(b)));
  }
  static Bool CompareFloats(Comparison cmp, FloatWidth width, const Int& a, const Int& b) {
    if (!IsConst(a) || !IsConst(b)) return std::nullopt;
    return ScalarOps::CompareFloats(cmp, width, Value(a), Value(b));
  }
  static Int Function(ScalarFunction fn, FloatWidth width, const Int& a) {
    return IsConst(a) ? Made(ScalarOps::Function(fn, width, Value(a))) : std::nullopt;
  }
  static Int Function2(ScalarFunction fn, FloatWidth width, const Int& a, const Int& b) {
    if (!IsConst(a) || !IsConst(b)) return std::nullopt;
    return Made(ScalarOps::Function2(fn, width, Value(a), Value(b)));
  }
  static Int Convert(const Int& a, DType from, DType to) {
    return IsConst(a) ? Made(ScalarOps::Convert(Value(a), from, to)) : std::nullopt;
  }

  template <typename Fn>
  static void Require(Bool, const Fn&) {}
  template <typename Fn>
  static void Fail(const Fn&) {}
  static void Branch(Bool, int32_t) {}

 private:
  using Numbers = Semantics<ScalarOps>;

  static bool IsConst(const Int& a) { return a && a->is_const(); }
  static uint64_t Value(const Int& a) { return static_cast<uint64_t>(a->value()); }
  static Int Made(uint64_t value) { return Number(static_cast<int64_t>(value)); }
  static Int Exact(IntOp op, const Dim& a, const Dim& b) {
    if (op == IntOp::kAdd) return a + b;
    if (op == IntOp::kSub) return a - b;
    if (op == IntOp::kMul) return a * b;
    return std::nullopt;
  }
  // A divisor that is not known may be 0, but where the instruction has failed then.
  static bool MayDivide(const Int& a, const Int& b, Divisor divisor) {
    if (!a || !b || b->is_const(0) || b->is_const(-1)) return false;
    return b->is_const() || divisor == Divisor::kChecked;
  }

  Wrapping wrapping_;
};

}  // namespace relayvm
