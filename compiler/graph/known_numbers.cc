#include "compiler/graph/known_numbers.h"

#include <algorithm>
#include <functional>

#include "bytecode/base/arithmetic.h"

namespace relayvm::graph {

bool Compare(Comparison cmp, int64_t a, int64_t b) {
  switch (cmp) {
    case Comparison::kEq:
      return a == b;
    case Comparison::kNe:
      return a != b;
    case Comparison::kLt:
      return a < b;
    case Comparison::kLe:
      return a <= b;
    case Comparison::kGt:
      return a > b;
    case Comparison::kGe:
      return a >= b;
  }
  return false;
}

KnownNumber ComputeNumber(const Instruction& inst, std::span<const Scalar> registers) {
  KnownNumber known;
  bool& overflow = known.overflow;
  Scalar& result = known.value;
  const auto I = [&](uint16_t r) { return registers[r]; };
  auto with = [&](auto f) {
    const Scalar a = I(inst.Unit(1)), b = I(inst.Unit(2));
    if (a && b) result = f(*a, *b);
  };
  auto wrapping = [&](auto f) {
    with([&](int64_t a, int64_t b) {
      return static_cast<int64_t>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    });
  };
  switch (inst.opcode) {
    case Opcode::kMoveI:
      result = I(inst.Unit(1));
      break;
    case Opcode::kConstI16:
    case Opcode::kConstI64:
      result = inst.Immediate(1);
      break;
    case Opcode::kAddI:
      wrapping(std::plus<>());
      break;
    case Opcode::kSubI:
      wrapping(std::minus<>());
      break;
    case Opcode::kMulI:
      wrapping(std::multiplies<>());
      break;
    case Opcode::kMinI:
      with([](int64_t a, int64_t b) { return std::min(a, b); });
      break;
    case Opcode::kMaxI:
      with([](int64_t a, int64_t b) { return std::max(a, b); });
      break;
    case Opcode::kWrap:
      if (const Scalar a = I(inst.Unit(1)))
        result = WrapInteger(*a, static_cast<DType>(inst.Unit(2)));
      break;
    case Opcode::kDimAdd:
      with([&](int64_t a, int64_t b) {
        int64_t sum = 0;
        overflow = __builtin_add_overflow(a, b, &sum);
        return sum;
      });
      break;
    case Opcode::kDimAddImm:
      if (const Scalar a = I(inst.Unit(1))) {
        int64_t sum = 0;
        overflow = __builtin_add_overflow(*a, inst.Immediate(2), &sum);
        result = sum;
      }
      break;
    case Opcode::kDimSub:
      with([&](int64_t a, int64_t b) {
        int64_t difference = 0;
        overflow = __builtin_sub_overflow(a, b, &difference);
        return difference;
      });
      break;
    case Opcode::kDimMul:
      with([&](int64_t a, int64_t b) {
        int64_t product = 0;
        overflow = __builtin_mul_overflow(a, b, &product);
        return product;
      });
      break;
    case Opcode::kDimFloorDiv:
    case Opcode::kDimFloorMod:
      with([&](int64_t a, int64_t b) -> int64_t {
        overflow = b == 0 || (b == -1 && a == INT64_MIN);
        if (overflow) return 0;
        int64_t quotient = a / b;
        if (a % b != 0 && (a < 0) != (b < 0)) --quotient;
        return inst.opcode == Opcode::kDimFloorDiv ? quotient : a - quotient * b;
      });
      break;
    case Opcode::kCompareI: {
      const Scalar a = I(inst.Unit(2)), b = I(inst.Unit(3));
      if (a && b) result = Compare(static_cast<Comparison>(inst.Unit(1)), *a, *b);
      break;
    }
    case Opcode::kSelectI:
      if (const Scalar c = I(inst.Unit(1))) result = I(inst.Unit(*c != 0 ? 2 : 3));
      break;
    default:  // of data, or what no size is made by
      break;
  }
  return known;
}

}  // namespace relayvm::graph
