// Opcodes and operand kinds, generated from opcodes.def. See there for the encoding.
// Tested by opcode_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace relayvm {

enum class Opcode : uint8_t {
#define OP(name, ...) name,
#include "bytecode/opcodes.def"
#undef OP
};
inline constexpr int kNumOpcodes = 0
#define OP(...) +1  // NOLINT(bugprone-macro-parentheses): a term of the sum
#include "bytecode/opcodes.def"
#undef OP
    ;

// Of the opcode table. Rows are only added at the end, after a SINCE that raises it; any other
// change of meaning raises kFormatMajor (file_format.h). A file states the least version that has
// all of its opcodes (LeastBytecodeVersion), so that older runtimes run what they know.
inline constexpr uint32_t kBytecodeVersion = [] {
  uint32_t last = 1;
#define OP(...)
#define SINCE(version) last = version;
#include "bytecode/opcodes.def"
#undef OP
  return last;
}();

enum class OperandKind : uint8_t {
  IOUT,
  IIN,
  ROUT,
  RIN,
  IMM16,
  IMM32,
  IMM64,
  DTYPE,
  FUNC,
  CONST,
  KERNEL,
  TYPE,
  MESSAGE,
  HOST,
  SLOT,
  TAG,
  FIELD,
  CMP,
  FN,
  RULE,
  TARGET,
  ILIST,
  OLIST,
  RLIST,
  TARGETS,
  BUFS,
};

struct OpcodeInfo {
  std::string_view mnemonic;
  std::string_view synopsis;
  std::array<OperandKind, 6> operands;
  uint8_t num_operands;
};
// REQUIRES: opcode < kNumOpcodes.
const OpcodeInfo& GetOpcodeInfo(Opcode opcode);
// The version of the bytecode that brought it. REQUIRES: opcode < kNumOpcodes.
uint32_t VersionOf(Opcode opcode);
// Which macro of opcodes.def the row stands in: OP, SCALAR, FALLIBLE, BRANCH.
enum class RowKind : uint8_t { kOther, kScalar, kFallible, kBranch };
RowKind KindOf(Opcode opcode);
// As written in opcodes.def: "IOUT".
std::string_view OperandKindName(OperandKind kind);

// The largest immediate of kKernels.
inline constexpr int kMaxKernelsTogether = 8;

// The take bit of RIN operands, and of buffers of kind kRegister.
inline constexpr uint16_t kTakeBit = 0x8000;
inline constexpr uint16_t kRegisterMask = 0x7FFF;

enum class Comparison : uint16_t { kEq, kNe, kLt, kLe, kGt, kGe };
inline constexpr int kNumComparisons = 6;
// "eq". REQUIRES: valid.
std::string_view ComparisonName(Comparison cmp);

// Scalar functions of fn.f32, fn.f64 (one argument) and fn2.f32, fn2.f64 (two). kRound is half away
// from zero. kIsNan, kIsInf, kIsFinite give 0 or 1; kMin and kMax are a < b ? a : b and a > b ? a :
// b.
enum class ScalarFunction : uint16_t {
  kNegate,
  kAbs,
  kSign,
  kExp,
  kLog,
  kLog2,
  kLog10,
  kSqrt,
  kRsqrt,
  kSigmoid,
  kTanh,
  kErf,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kRoundEven,
  kIsNan,
  kIsInf,
  kIsFinite,
  kMin,
  kMax,
  kPower,
  kMod /* fmod */,
  kFloorMod,
  kFloorDiv,
  kTruncDiv,
  kAtan2,
};
inline constexpr int kFirstBinaryScalarFunction = static_cast<int>(ScalarFunction::kMin);
inline constexpr int kNumScalarFunctions = static_cast<int>(ScalarFunction::kAtan2) + 1;
// "round_even". REQUIRES: valid.
std::string_view ScalarFunctionName(ScalarFunction fn);

// What an instruction on scalars fails for: trap, guard, a check (dim.check), a size, an index.
enum class FailureKind : uint32_t { kTrap, kGuard, kCheck, kDim, kRange };
// "dyn.tile: 3 x 4 is beyond the largest size": `message` is the program's, `numbers` are what
// semantics.h shows, or none where they are not known.
std::string FailureText(FailureKind kind, Opcode opcode, const std::string& message,
                        std::span<const int64_t> numbers);

// A buffer operand of a kernel: unit 0 is the kind (low byte) with kTakeBit, unit 1 the index.
enum class BufferKind : uint8_t {
  kRegister = 0,  // the memory of the tensor in an object register
  kConstant = 1,  // a constant of the program
  kSlot = 2,      // a slot of the frame's arena
};
inline constexpr int kNumBufferKinds = 3;

}  // namespace relayvm
