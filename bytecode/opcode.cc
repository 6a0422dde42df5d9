#include "bytecode/opcode.h"

#include <fmt/format.h>

#include <cassert>

#include "bytecode/base/message.h"

namespace relayvm {
namespace {

// Deduces the number of operands from the row; the rest of the array is filler.
template <typename... Kinds>
constexpr OpcodeInfo Row(std::string_view mnemonic, std::string_view synopsis, Kinds... kinds) {
  static_assert(sizeof...(kinds) <= std::tuple_size_v<decltype(OpcodeInfo::operands)>);
  return {mnemonic, synopsis, {kinds...}, static_cast<uint8_t>(sizeof...(kinds))};
}

constexpr std::array<OpcodeInfo, kNumOpcodes> MakeTable() {
  using enum OperandKind;
  return {
#define OP(name, mnemonic, synopsis, ...) Row(mnemonic, synopsis, __VA_ARGS__),
#include "bytecode/opcodes.def"
#undef OP
  };
}
constexpr std::array<OpcodeInfo, kNumOpcodes> kTable = MakeTable();

static_assert(kNumOpcodes <= 256, "an opcode is one byte");

// What SINCE says: 0 for a row.
constexpr uint32_t kRowsAndVersions[] = {
#define OP(...) 0,
#define SINCE(version) version,
#include "bytecode/opcodes.def"
#undef OP
};

constexpr std::array<uint32_t, kNumOpcodes> MakeVersions() {
  std::array<uint32_t, kNumOpcodes> versions{};
  uint32_t version = 1;
  size_t opcode = 0;
  for (const uint32_t row : kRowsAndVersions) {
    if (row != 0) version = row;
    if (row == 0) versions[opcode++] = version;
  }
  return versions;
}
constexpr std::array<uint32_t, kNumOpcodes> kVersions = MakeVersions();

}  // namespace

const OpcodeInfo& GetOpcodeInfo(Opcode opcode) {
  assert(static_cast<int>(opcode) < kNumOpcodes);
  return kTable[static_cast<size_t>(opcode)];
}

uint32_t VersionOf(Opcode opcode) {
  assert(static_cast<int>(opcode) < kNumOpcodes);
  return kVersions[static_cast<size_t>(opcode)];
}

RowKind KindOf(Opcode opcode) {
  constexpr RowKind kKinds[] = {
#define OP(...) RowKind::kOther,
#define SCALAR(...) RowKind::kScalar,
#define FALLIBLE(...) RowKind::kFallible,
#define BRANCH(...) RowKind::kBranch,
#include "bytecode/opcodes.def"
#undef OP
  };
  return kKinds[static_cast<size_t>(opcode)];
}

namespace {

std::string DimText(Opcode opcode, int64_t a, int64_t b) {
  const char* sign = opcode == Opcode::kDimMul   ? "x"
                     : opcode == Opcode::kDimSub ? "-"
                     : opcode == Opcode::kDimAdd || opcode == Opcode::kDimAddImm
                         ? "+"
                         : (opcode == Opcode::kDimFloorDiv ? "floordiv" : "floormod");
  const bool zero = (opcode == Opcode::kDimFloorDiv || opcode == Opcode::kDimFloorMod) && b == 0;
  return fmt::format("{} {} {} {}", a, sign, b,
                     zero ? "divides by 0" : "is beyond the largest size");
}

}  // namespace

std::string FailureText(FailureKind kind, Opcode opcode, const std::string& message,
                        std::span<const int64_t> numbers) {
  const bool known = !numbers.empty();
  switch (kind) {
    case FailureKind::kTrap:
      return message;
    case FailureKind::kGuard:
      return known ? fmt::format("{} ({} and {})", message, numbers[0], numbers[1]) : message;
    case FailureKind::kCheck:
      return known ? FillMessage(message, numbers) : message;
    case FailureKind::kDim:
      return message + ": " +
             (known ? DimText(opcode, numbers[0], numbers[1]) : "beyond the largest size");
    case FailureKind::kRange:
      return message + ": index out of range" +
             (known ? OutOfRangeText(numbers[0], numbers[1], numbers[2]) : "");
  }
  return message;
}

std::string_view OperandKindName(OperandKind kind) {
  using enum OperandKind;
  switch (kind) {
    case IOUT:
      return "IOUT";
    case IIN:
      return "IIN";
    case ROUT:
      return "ROUT";
    case RIN:
      return "RIN";
    case IMM16:
      return "IMM16";
    case IMM32:
      return "IMM32";
    case IMM64:
      return "IMM64";
    case DTYPE:
      return "DTYPE";
    case FUNC:
      return "FUNC";
    case CONST:
      return "CONST";
    case KERNEL:
      return "KERNEL";
    case TYPE:
      return "TYPE";
    case MESSAGE:
      return "MESSAGE";
    case HOST:
      return "HOST";
    case SLOT:
      return "SLOT";
    case TAG:
      return "TAG";
    case FIELD:
      return "FIELD";
    case CMP:
      return "CMP";
    case FN:
      return "FN";
    case RULE:
      return "RULE";
    case TARGET:
      return "TARGET";
    case ILIST:
      return "ILIST";
    case OLIST:
      return "OLIST";
    case RLIST:
      return "RLIST";
    case TARGETS:
      return "TARGETS";
    case BUFS:
      return "BUFS";
  }
  return "?";
}

std::string_view ComparisonName(Comparison cmp) {
  constexpr std::array<std::string_view, kNumComparisons> kNames = {"eq", "ne", "lt",
                                                                    "le", "gt", "ge"};
  return kNames[static_cast<size_t>(cmp)];
}

std::string_view ScalarFunctionName(ScalarFunction fn) {
  constexpr std::array<std::string_view, kNumScalarFunctions> kNames = {
      "negate", "abs",     "sign",  "exp",        "log",       "log2",      "log10",    "sqrt",
      "rsqrt",  "sigmoid", "tanh",  "erf",        "sin",       "cos",       "tan",      "asin",
      "acos",   "atan",    "sinh",  "cosh",       "asinh",     "acosh",     "atanh",    "floor",
      "ceil",   "trunc",   "round", "round_even", "isnan",     "isinf",     "isfinite", "min",
      "max",    "power",   "mod",   "floor_mod",  "floor_div", "trunc_div", "atan2"};
  static_assert(kNames.back() == "atan2");
  return kNames[static_cast<size_t>(fn)];
}

}  // namespace relayvm
