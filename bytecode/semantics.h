// What instructions on scalars do, said once, over a machine: the interpreter's numbers, formulas
// and numbers that constants decide (symbolic_ops.h), LLVM's values (compiler/aot/llvm_ops.h).
//
// Semantics<M> has a function for each row SCALAR, FALLIBLE and BRANCH of opcodes.def, named as the
// row. It takes what the row's operands are, but for the result's register and the target, and
// gives the result, or whether to jump. A machine M has two types and operations on them:
//
//   Int    a scalar: 64 bits, canonical for its dtype (kernel_abi.h)
//   Bool   whether something holds
//
//   Int  Number(int64_t)                        Int  Truth(Bool), 0 or 1
//   Int  Binary(IntOp, Int, Int)                Int  Select(Bool, Int, Int)
//   Int  Power(Int, Int, bool is_signed)        Bool Not(Bool), Both(Bool, Bool), Either(Bool, Bool)
//   Int  Wrap(Int, DType)                       Bool Compare(Comparison, Int, Int, Sign)
//   Int  Float(FloatOp, FloatWidth, Int, Int)   Bool CompareFloats(Comparison, FloatWidth, Int, Int)
//   Int  Function(ScalarFunction, FloatWidth, Int), Function2(..., Int, Int)
//   Int  Convert(Int, DType from, DType to)
//   pair<Int, Bool> Overflowing(IntOp, Int, Int), of kAdd, kSub and kMul: the result, and whether
//                                               int64 has no such number
//   Int  FloorDivide(Int, Int, Divisor), FloorRemainder: only where it knows these as a whole
//
// and, to run instructions, registers and an end:
//
//   Int  Scalar(uint16_t reg)                   void SetScalar(uint16_t reg, Int)
//   void Require(Bool, fails)                   `fails()` gives the ScalarFailure where it does not hold
//   void Fail(fails)
//   void Branch(Bool, int32_t distance)         only for RunScalar
//
// What instructions on objects do (rows OP) differs by what an object is. A machine of these has
// functions named as the rows, which take what the row's operands are, and give a Status or nothing
// (ObjectRowOf): registers and indices as uint16_t, those that are read with their take bit,
// immediates as int64_t, lists as their units, and Targets.
//
// Tested by compiler/aot/machines_test.cc: all machines against each other.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/base/status.h"
#include "bytecode/instruction.h"
#include "bytecode/opcode.h"

// Of functions that the interpreter's loop is made of: whatever its size.
#define RELAYVM_INLINE [[gnu::always_inline]] inline

namespace relayvm {

// On 64 bits, wrapping. The machine need not divide by 0, nor kDivS and kRemS by -1, nor shift by
// more than 63.
enum class IntOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDivS,  // toward zero
  kRemS,  // the sign of the dividend
  kDivU,
  kRemU,
  kMinS,
  kMaxS,
  kMinU,
  kMaxU,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShrS,
  kShrU,
};
enum class FloatOp : uint8_t { kAdd, kSub, kMul, kDiv };
enum class FloatWidth : uint8_t { k32, k64 };
enum class Sign : uint8_t { kSigned, kUnsigned };
// Whether the instruction has failed where a divisor is 0, or the quotient is beyond int64.
enum class Divisor : uint8_t { kAny, kChecked };

// An ILIST: a count, then registers.
struct RegisterList {
  const uint16_t* units;
  std::span<const uint16_t> registers() const { return {units + 1, *units}; }
};

using OperandUnits = std::span<const uint16_t>;
// Distances from the start of the instruction.
struct Targets {
  const Instruction& instruction;
  int operand;
  int count() const { return instruction.Count(operand); }
  int32_t operator[](int k) const { return instruction.TargetAt(operand, k); }
};

template <typename Int>
struct ScalarFailure {
  FailureKind kind;
  uint16_t message;        // index into Program::messages
  std::vector<Int> shown;  // numbers
};

template <typename M>
struct Semantics {
  using Int = typename M::Int;
  using Bool = typename M::Bool;
  using In = const Int&;

  // --- Moves and constants ---
  RELAYVM_INLINE static Int kMoveI(M&, In a) { return a; }
  RELAYVM_INLINE static Int kConstI16(M& m, int64_t value) { return m.Number(value); }
  RELAYVM_INLINE static Int kConstI64(M& m, int64_t value) { return m.Number(value); }

  // --- Integer arithmetic ---
#define RELAYVM_BINARY(name, op) \
  RELAYVM_INLINE static Int name(M& m, In a, In b) { return m.Binary(IntOp::op, a, b); }
  RELAYVM_BINARY(kAddI, kAdd)
  RELAYVM_BINARY(kSubI, kSub)
  RELAYVM_BINARY(kMulI, kMul)
  RELAYVM_BINARY(kMinI, kMinS)
  RELAYVM_BINARY(kMaxI, kMaxS)
  RELAYVM_BINARY(kMinU, kMinU)
  RELAYVM_BINARY(kMaxU, kMaxU)
  RELAYVM_BINARY(kAndI, kAnd)
  RELAYVM_BINARY(kOrI, kOr)
  RELAYVM_BINARY(kXorI, kXor)
#undef RELAYVM_BINARY
  RELAYVM_INLINE static Int kAddImm(M& m, In a, int64_t b) { return kAddI(m, a, m.Number(b)); }
  // By 0 all give 0.
  RELAYVM_INLINE static Int kDivI(M& m, In a, In b) {
    return Divide(m, b, kSubI(m, m.Number(0), a),
                  [&](In by) { return m.Binary(IntOp::kDivS, a, by); });
  }
  RELAYVM_INLINE static Int kModI(M& m, In a, In b) {
    return Divide(m, b, m.Number(0), [&](In by) { return m.Binary(IntOp::kRemS, a, by); });
  }
  RELAYVM_INLINE static Int kFloorDivI(M& m, In a, In b) {
    return FloorDivide(m, a, b, Divisor::kAny);
  }
  RELAYVM_INLINE static Int kFloorModI(M& m, In a, In b) {
    return FloorRemainder(m, a, b, Divisor::kAny);
  }
  RELAYVM_INLINE static Int kDivU(M& m, In a, In b) { return DivideU(m, IntOp::kDivU, a, b); }
  RELAYVM_INLINE static Int kModU(M& m, In a, In b) { return DivideU(m, IntOp::kRemU, a, b); }
  RELAYVM_INLINE static Int kPowI(M& m, In a, In b) { return m.Power(a, b, true); }
  RELAYVM_INLINE static Int kPowU(M& m, In a, In b) { return m.Power(a, b, false); }
  // A count above 63 shifts everything out.
  RELAYVM_INLINE static Int kShlI(M& m, In a, In b) { return Shift(m, IntOp::kShl, a, b); }
  RELAYVM_INLINE static Int kShrU(M& m, In a, In b) { return Shift(m, IntOp::kShrU, a, b); }
  RELAYVM_INLINE static Int kShrI(M& m, In a, In b) {
    return m.Binary(IntOp::kShrS, a, m.Binary(IntOp::kMinU, b, m.Number(63)));
  }
  RELAYVM_INLINE static Int kWrap(M& m, In a, DType dtype) { return m.Wrap(a, dtype); }
  RELAYVM_INLINE static Int kAddI32(M& m, In a, In b) { return Wrap32(m, kAddI(m, a, b)); }
  RELAYVM_INLINE static Int kAddImmI32(M& m, In a, int64_t b) {
    return Wrap32(m, kAddImm(m, a, b));
  }
  RELAYVM_INLINE static Int kSubI32(M& m, In a, In b) { return Wrap32(m, kSubI(m, a, b)); }
  RELAYVM_INLINE static Int kMulI32(M& m, In a, In b) { return Wrap32(m, kMulI(m, a, b)); }
  RELAYVM_INLINE static Int kCompareI(M& m, Comparison cmp, In a, In b) {
    return m.Truth(m.Compare(cmp, a, b, Sign::kSigned));
  }
  RELAYVM_INLINE static Int kCompareU(M& m, Comparison cmp, In a, In b) {
    return m.Truth(m.Compare(cmp, a, b, Sign::kUnsigned));
  }
  RELAYVM_INLINE static Int kSelectI(M& m, In condition, In a, In b) {
    return m.Select(IsTrue(m, condition), a, b);
  }

  // --- Floating point ---
#define RELAYVM_FLOATS(bits)                                                    \
  RELAYVM_INLINE static Int kAddF##bits(M& m, In a, In b) {                     \
    return m.Float(FloatOp::kAdd, FloatWidth::k##bits, a, b);                   \
  }                                                                             \
  RELAYVM_INLINE static Int kSubF##bits(M& m, In a, In b) {                     \
    return m.Float(FloatOp::kSub, FloatWidth::k##bits, a, b);                   \
  }                                                                             \
  RELAYVM_INLINE static Int kMulF##bits(M& m, In a, In b) {                     \
    return m.Float(FloatOp::kMul, FloatWidth::k##bits, a, b);                   \
  }                                                                             \
  RELAYVM_INLINE static Int kDivF##bits(M& m, In a, In b) {                     \
    return m.Float(FloatOp::kDiv, FloatWidth::k##bits, a, b);                   \
  }                                                                             \
  RELAYVM_INLINE static Int kCompareF##bits(M& m, Comparison c, In a, In b) {   \
    return m.Truth(m.CompareFloats(c, FloatWidth::k##bits, a, b));              \
  }                                                                             \
  RELAYVM_INLINE static Int kCallF##bits(M& m, ScalarFunction fn, In a) {       \
    return m.Function(fn, FloatWidth::k##bits, a);                              \
  }                                                                             \
  RELAYVM_INLINE static Int kCall2F##bits(M& m, ScalarFunction f, In a, In b) { \
    return m.Function2(f, FloatWidth::k##bits, a, b);                           \
  }
  RELAYVM_FLOATS(32)
  RELAYVM_FLOATS(64)
#undef RELAYVM_FLOATS
  RELAYVM_INLINE static Int kConvert(M& m, In a, DType from, DType to) {
    return m.Convert(a, from, to);
  }

  // --- Control ---
  RELAYVM_INLINE static Bool kBranchIf(M& m, In a) { return IsTrue(m, a); }
  RELAYVM_INLINE static Bool kBranchIfNot(M& m, In a) { return m.Not(IsTrue(m, a)); }
  RELAYVM_INLINE static Bool kBranchCmpI(M& m, Comparison cmp, In a, In b) {
    return m.Compare(cmp, a, b, Sign::kSigned);
  }
  RELAYVM_INLINE static void kGuard(M& m, In a, In b, In c, uint16_t text) {
    m.Require(IsTrue(m, a), [&] { return ScalarFailure<Int>{FailureKind::kGuard, text, {b, c}}; });
  }
  RELAYVM_INLINE static void kRangeCheck(M& m, In index, In least, In end, uint16_t text) {
    const Bool above = m.Compare(Comparison::kGe, index, least, Sign::kSigned);
    m.Require(m.Both(above, m.Compare(Comparison::kLt, index, end, Sign::kSigned)),
              [&] { return ScalarFailure<Int>{FailureKind::kRange, text, {index, least, end}}; });
  }
  RELAYVM_INLINE static void kTrap(M& m, uint16_t text) {
    m.Fail([&] { return ScalarFailure<Int>{FailureKind::kTrap, text, {}}; });
  }

  // --- Sizes: exact or an error ---
  RELAYVM_INLINE static Int kDimAdd(M& m, In a, In b, uint16_t text) {
    return Exact(m, IntOp::kAdd, a, b, text);
  }
  RELAYVM_INLINE static Int kDimAddImm(M& m, In a, int64_t b, uint16_t text) {
    return Exact(m, IntOp::kAdd, a, m.Number(b), text);
  }
  RELAYVM_INLINE static Int kDimSub(M& m, In a, In b, uint16_t text) {
    return Exact(m, IntOp::kSub, a, b, text);
  }
  RELAYVM_INLINE static Int kDimMul(M& m, In a, In b, uint16_t text) {
    return Exact(m, IntOp::kMul, a, b, text);
  }
  RELAYVM_INLINE static Int kDimFloorDiv(M& m, In a, In b, uint16_t text) {
    const Bool wraps = m.Both(Equal(m, a, INT64_MIN), Equal(m, b, -1));
    RequireSize(m, m.Not(m.Either(Equal(m, b, 0), wraps)), a, b, text);
    return FloorDivide(m, a, b, Divisor::kChecked);
  }
  RELAYVM_INLINE static Int kDimFloorMod(M& m, In a, In b, uint16_t text) {
    RequireSize(m, m.Not(Equal(m, b, 0)), a, b, text);
    return FloorRemainder(m, a, b, Divisor::kChecked);
  }
  RELAYVM_INLINE static void kDimCheck(M& m, Comparison cmp, In a, In b, uint16_t text,
                                       RegisterList shown) {
    RequireShown(m, m.Compare(cmp, a, b, Sign::kSigned), text, shown);
  }
  RELAYVM_INLINE static void kDimBroadcast(M& m, In a, In b, uint16_t text, RegisterList shown) {
    const Bool one = m.Either(Equal(m, a, 1), Equal(m, b, 1));
    RequireShown(m, m.Either(m.Compare(Comparison::kEq, a, b, Sign::kSigned), one), text, shown);
  }

 private:
  RELAYVM_INLINE static Bool Equal(M& m, In a, int64_t b) {
    return m.Compare(Comparison::kEq, a, m.Number(b), Sign::kSigned);
  }
  RELAYVM_INLINE static Bool IsTrue(M& m, In a) {
    return m.Compare(Comparison::kNe, a, m.Number(0), Sign::kSigned);
  }
  RELAYVM_INLINE static Int Wrap32(M& m, In a) { return m.Wrap(a, DType::kInt32); }
  // divide(b), and what it is by 0 and by -1, where INT64_MIN has no quotient.
  template <typename Fn>
  RELAYVM_INLINE static Int Divide(M& m, In b, In by_minus_one, Fn divide) {
    const Bool zero = Equal(m, b, 0), special = m.Either(zero, Equal(m, b, -1));
    const Int result = divide(m.Select(special, m.Number(1), b));
    return m.Select(special, m.Select(zero, m.Number(0), by_minus_one), result);
  }
  RELAYVM_INLINE static Int DivideU(M& m, IntOp op, In a, In b) {
    const Bool zero = Equal(m, b, 0);
    return m.Select(zero, m.Number(0), m.Binary(op, a, m.Select(zero, m.Number(1), b)));
  }
  // The remainder toward zero is not 0, and has another sign than the divisor.
  RELAYVM_INLINE static Bool IsAbove(M& m, In remainder, In b) {
    const Int signs = m.Binary(IntOp::kXor, remainder, b);
    return m.Both(IsTrue(m, remainder),
                  m.Compare(Comparison::kLt, signs, m.Number(0), Sign::kSigned));
  }
  RELAYVM_INLINE static Int FloorDivide(M& m, In a, In b, Divisor divisor) {
    if constexpr (requires { m.FloorDivide(a, b, divisor); }) {
      return m.FloorDivide(a, b, divisor);
    } else {
      return Divide(m, b, kSubI(m, m.Number(0), a), [&](In by) {
        const Bool above = IsAbove(m, m.Binary(IntOp::kRemS, a, by), by);
        return kSubI(m, m.Binary(IntOp::kDivS, a, by), m.Truth(above));
      });
    }
  }
  RELAYVM_INLINE static Int FloorRemainder(M& m, In a, In b, Divisor divisor) {
    if constexpr (requires { m.FloorRemainder(a, b, divisor); }) {
      return m.FloorRemainder(a, b, divisor);
    } else {
      return Divide(m, b, m.Number(0), [&](In by) {
        const Int remainder = m.Binary(IntOp::kRemS, a, by);
        return m.Select(IsAbove(m, remainder, by), kAddI(m, remainder, by), remainder);
      });
    }
  }
  RELAYVM_INLINE static Int Shift(M& m, IntOp op, In a, In count) {
    const Bool out = m.Compare(Comparison::kGt, count, m.Number(63), Sign::kUnsigned);
    return m.Select(out, m.Number(0), m.Binary(op, a, m.Binary(IntOp::kAnd, count, m.Number(63))));
  }
  RELAYVM_INLINE static void RequireSize(M& m, const Bool& ok, In a, In b, uint16_t text) {
    m.Require(ok, [&] { return ScalarFailure<Int>{FailureKind::kDim, text, {a, b}}; });
  }
  RELAYVM_INLINE static void RequireShown(M& m, const Bool& ok, uint16_t text, RegisterList shown) {
    m.Require(ok, [&] {
      ScalarFailure<Int> failure{FailureKind::kCheck, text, {}};
      for (const uint16_t reg : shown.registers()) failure.shown.push_back(m.Scalar(reg));
      return failure;
    });
  }
  RELAYVM_INLINE static Int Exact(M& m, IntOp op, In a, In b, uint16_t text) {
    const auto [result, overflows] = m.Overflowing(op, a, b);
    RequireSize(m, m.Not(overflows), a, b, text);
    return result;
  }
};

// --- Instructions of these rows, as they stand in code ---

namespace semantics {

template <Opcode kOp>
struct Row;
#define RELAYVM_KINDS(...)               \
  static constexpr auto kKinds = [] {    \
    using enum OperandKind;              \
    return std::to_array({__VA_ARGS__}); \
  }();
#define OP(name, mnemonic, synopsis, ...)                                                  \
  template <>                                                                              \
  struct Row<Opcode::name> {                                                               \
    RELAYVM_KINDS(__VA_ARGS__)                                                             \
    template <typename M, typename... Operands>                                            \
    static auto Call(M& m, const Operands&... operands) -> decltype(m.name(operands...)) { \
      return m.name(operands...);                                                          \
    }                                                                                      \
  };
#define SCALAR(name, mnemonic, synopsis, ...)                            \
  template <>                                                            \
  struct Row<Opcode::name> {                                             \
    RELAYVM_KINDS(__VA_ARGS__)                                           \
    template <typename M, typename... Operands>                          \
    RELAYVM_INLINE static auto Call(M& m, const Operands&... operands) { \
      return Semantics<M>::name(m, operands...);                         \
    }                                                                    \
  };
#define FALLIBLE(...) SCALAR(__VA_ARGS__)
#define BRANCH(...) SCALAR(__VA_ARGS__)
#include "bytecode/opcodes.def"
#undef OP
#undef RELAYVM_KINDS

// Where operand `k` begins, in units: only the last one may be a list.
template <Opcode kOp>
constexpr uint32_t UnitOf(size_t k) {
  uint32_t at = 1;
  for (size_t i = 0; i < k; ++i) at += FixedUnits(Row<kOp>::kKinds[i]);
  return at;
}
template <Opcode kOp>
constexpr bool kHasResult = Row<kOp>::kKinds.front() == OperandKind::IOUT;
template <Opcode kOp>
constexpr bool kHasTarget = Row<kOp>::kKinds.back() == OperandKind::TARGET;
// Units of the instruction; of one with a list at its end, the one at `units`.
template <Opcode kOp>
constexpr uint32_t Units(const uint16_t* units = nullptr) {
  constexpr uint32_t kFixed = UnitOf<kOp>(Row<kOp>::kKinds.size());
  return kFixed + (Row<kOp>::kKinds.back() == OperandKind::ILIST ? units[kFixed - 1] : 0);
}

template <typename T>
RELAYVM_INLINE T Load(const uint16_t* units) {
  T value;
  std::memcpy(&value, units, sizeof(value));  // little-endian, low unit first
  return value;
}

template <OperandKind kKind, typename M>
RELAYVM_INLINE auto Operand(M& m, const uint16_t* units) {
  if constexpr (kKind == OperandKind::IIN) return m.Scalar(*units);
  if constexpr (kKind == OperandKind::IMM16) return int64_t{static_cast<int16_t>(*units)};
  if constexpr (kKind == OperandKind::IMM32) return int64_t{Load<int32_t>(units)};
  if constexpr (kKind == OperandKind::IMM64) return Load<int64_t>(units);
  if constexpr (kKind == OperandKind::DTYPE) return static_cast<DType>(*units);
  if constexpr (kKind == OperandKind::CMP) return static_cast<Comparison>(*units);
  if constexpr (kKind == OperandKind::FN) return static_cast<ScalarFunction>(*units);
  if constexpr (kKind == OperandKind::MESSAGE) return *units;
  if constexpr (kKind == OperandKind::ILIST) return RegisterList{units};
}

template <Opcode kOp, typename M, size_t... k>
RELAYVM_INLINE auto Call(M& m, const uint16_t* units, std::index_sequence<k...>) {
  constexpr size_t kFirst = kHasResult<kOp> ? 1 : 0;
  return Row<kOp>::Call(
      m, Operand<Row<kOp>::kKinds[kFirst + k]>(m, units + UnitOf<kOp>(kFirst + k))...);
}

// What Semantics gives for the instruction at `units`.
template <Opcode kOp, typename M>
RELAYVM_INLINE auto Evaluate(M& m, const uint16_t* units) {
  constexpr size_t kOthers = (kHasResult<kOp> ? 1 : 0) + (kHasTarget<kOp> ? 1 : 0);
  return Call<kOp>(m, units, std::make_index_sequence<Row<kOp>::kKinds.size() - kOthers>());
}

template <Opcode kOp, typename M>
RELAYVM_INLINE void Step(M& m, const uint16_t* units) {
  if constexpr (kHasResult<kOp>) {
    m.SetScalar(units[1], Evaluate<kOp>(m, units));
  } else if constexpr (kHasTarget<kOp>) {
    const auto jumps = Evaluate<kOp>(m, units);
    m.Branch(jumps, Load<int32_t>(units + UnitOf<kOp>(Row<kOp>::kKinds.size() - 1)));
  } else {
    Evaluate<kOp>(m, units);
  }
}

// --- Rows OP, by a machine's functions of their names ---

template <OperandKind kKind>
auto OperandOf(const Instruction& in, int k) {
  using enum OperandKind;
  constexpr bool kImmediate = kKind == IMM16 || kKind == IMM32 || kKind == IMM64;
  constexpr bool kList = kKind != TARGETS && ListUnits(kKind, 1) > 0;
  if constexpr (kImmediate) return in.Immediate(k);
  if constexpr (kKind == TARGET) return static_cast<int32_t>(in.Immediate(k));
  if constexpr (kKind == TARGETS) return Targets{in, k};
  if constexpr (kKind == DTYPE) return static_cast<DType>(in.Unit(k));
  if constexpr (kKind == RULE) return static_cast<ShapeRule>(in.Unit(k));
  if constexpr (kList) return in.List(k);
  if constexpr (!kImmediate && !kList && kKind != TARGET && kKind != TARGETS && kKind != DTYPE &&
                kKind != RULE)
    return in.Unit(k);
}

template <typename M>
using ObjectRow = Status (*)(M&, const Instruction&);

// Null where the machine has no function of the row's name, for its operands.
template <Opcode kOp, typename M, size_t... k>
constexpr ObjectRow<M> RowOf(std::index_sequence<k...>) {
  if constexpr (requires(M& m, const Instruction& in) {
                  Row<kOp>::Call(m, OperandOf<Row<kOp>::kKinds[k]>(in, int{k})...);
                }) {
    return [](M& m, const Instruction& in) -> Status {
      const auto call = [&] {
        return Row<kOp>::Call(m, OperandOf<Row<kOp>::kKinds[k]>(in, int{k})...);
      };
      if constexpr (!std::is_void_v<decltype(call())>) return call();
      if constexpr (std::is_void_v<decltype(call())>) return call(), OkStatus();
    };
  }
  return nullptr;
}

}  // namespace semantics

// How the machine runs an instruction that is a row OP; null: it has no function for it.
template <typename M>
semantics::ObjectRow<M> ObjectRowOf(Opcode opcode) {
  static constexpr semantics::ObjectRow<M> kRows[] = {
#define SCALAR(...) nullptr,
#define FALLIBLE(...) nullptr,
#define BRANCH(...) nullptr,
#define OP(name, ...)                \
  semantics::RowOf<Opcode::name, M>( \
      std::make_index_sequence<semantics::Row<Opcode::name>::kKinds.size()>()),
#include "bytecode/opcodes.def"
#undef OP
  };
  return kRows[static_cast<size_t>(opcode)];
}

// Runs a row FALLIBLE; false where the instruction is no such row.
template <typename M>
bool RunFallible(M& m, Opcode opcode, const uint16_t* units) {
  switch (opcode) {
#define OP(...)
#define SCALAR(...)
#define BRANCH(...)
#define FALLIBLE(name, ...)                  \
  case Opcode::name:                         \
    semantics::Step<Opcode::name>(m, units); \
    return true;
#include "bytecode/opcodes.def"
#undef OP
    default:
      return false;
  }
}

// Runs a row SCALAR, FALLIBLE or BRANCH; false where the instruction is another.
template <typename M>
bool RunScalar(M& m, const Instruction& instruction) {
  const uint16_t* units = instruction.units.data();
  switch (instruction.opcode) {
#define OP(...)
#define SCALAR(name, ...)                    \
  case Opcode::name:                         \
    semantics::Step<Opcode::name>(m, units); \
    return true;
#define BRANCH(...) SCALAR(__VA_ARGS__)
#define FALLIBLE(...) SCALAR(__VA_ARGS__)
#include "bytecode/opcodes.def"
#undef OP
    default:
      return false;
  }
}

}  // namespace relayvm
