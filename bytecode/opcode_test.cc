#include "bytecode/opcode.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace relayvm {
namespace {

TEST_CASE("opcodes: rows are in the enum's order and complete") {
  CHECK(GetOpcodeInfo(Opcode::kMoveI).mnemonic == "mov.i");
  CHECK(GetOpcodeInfo(Opcode::kKernel1).mnemonic == "kernel.1");
  CHECK(GetOpcodeInfo(Opcode::kKernel).num_operands == 6);
  CHECK(GetOpcodeInfo(Opcode::kBranchCmpI).operands[3] == OperandKind::TARGET);
}

TEST_CASE("opcodes: mnemonics are unique words that the assembler can read") {
  std::set<std::string_view> seen;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const OpcodeInfo& info = GetOpcodeInfo(static_cast<Opcode>(i));
    CAPTURE(info.mnemonic);
    CHECK(seen.insert(info.mnemonic).second);
    CHECK(info.mnemonic.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.") ==
          std::string_view::npos);
    CHECK(info.mnemonic[0] >= 'a');
    CHECK(!info.synopsis.empty());
    CHECK(info.num_operands >= 1);
  }
}

TEST_CASE("opcodes: versions never fall, the last one is the bytecode's") {
  uint32_t version = 1;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const uint32_t of_row = VersionOf(static_cast<Opcode>(i));
    CAPTURE(GetOpcodeInfo(static_cast<Opcode>(i)).mnemonic);
    CHECK(of_row >= version);
    CHECK(of_row <= version + 1);
    version = of_row;
  }
  CHECK(version == kBytecodeVersion);
  CHECK(VersionOf(Opcode::kKernel1) == 1);
  CHECK(VersionOf(Opcode::kPowI) == 2);
  CHECK(VersionOf(Opcode::kDimTensor) == 2);
  CHECK(VersionOf(Opcode::kTensorAppend) == 3);
  CHECK(VersionOf(Opcode::kKernels) == 4);
  CHECK(VersionOf(Opcode::kCallHost) == 5);
}

TEST_CASE("opcodes: results come first, and at most one") {
  for (int i = 0; i < kNumOpcodes; ++i) {
    const OpcodeInfo& info = GetOpcodeInfo(static_cast<Opcode>(i));
    CAPTURE(info.mnemonic);
    for (int k = 1; k < info.num_operands; ++k) {
      CHECK(info.operands[static_cast<size_t>(k)] != OperandKind::IOUT);
      CHECK(info.operands[static_cast<size_t>(k)] != OperandKind::ROUT);
    }
  }
}

TEST_CASE("opcodes: names of comparisons, functions and kinds are unique") {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumComparisons; ++i)
    CHECK(names.insert(ComparisonName(static_cast<Comparison>(i))).second);
  CHECK(ComparisonName(Comparison::kGe) == "ge");
  names.clear();
  for (int i = 0; i < kNumScalarFunctions; ++i) {
    CHECK(names.insert(ScalarFunctionName(static_cast<ScalarFunction>(i))).second);
  }
  CHECK(ScalarFunctionName(ScalarFunction::kRoundEven) == "round_even");
  CHECK(ScalarFunctionName(ScalarFunction::kMin) == "min");
  CHECK(ScalarFunctionName(ScalarFunction::kIsFinite) == "isfinite");
  CHECK(OperandKindName(OperandKind::BUFS) == "BUFS");
  CHECK(OperandKindName(OperandKind::TARGET) == "TARGET");
}

}  // namespace
}  // namespace relayvm
