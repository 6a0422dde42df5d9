#include "bytecode/instruction.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bytecode/code_builder.h"

namespace relayvm {
namespace {

TEST_CASE("decode: operands of fixed and variable size") {
  CodeBuilder b;
  uint16_t regs[] = {3, 4};
  BufferOperand buffers[] = {{BufferKind::kSlot, 9}};
  b.Op(Opcode::kKernel).Unit(1).I(2).I(3).I(4).IList(regs).Bufs(buffers);
  b.Op(Opcode::kConstI64).I(5).Imm64(-6);
  CodeBuilder::Label top = b.NewLabel();
  CodeBuilder::Label tops[] = {top, top};
  b.Bind(top);
  b.Op(Opcode::kSwitch).I(0).Targets(tops);
  std::vector<uint16_t> code = *b.Finish();

  Instruction instruction;
  REQUIRE(DecodeInstruction(code, 0, &instruction).ok());
  CHECK(instruction.opcode == Opcode::kKernel);
  CHECK(instruction.size() == 11);
  CHECK(instruction.Unit(3) == 4);
  CHECK(instruction.Count(4) == 2);
  CHECK(instruction.List(4)[1] == 4);
  CHECK(instruction.List(5).size() == 2);
  CHECK(instruction.List(5)[1] == 9);

  REQUIRE(DecodeInstruction(code, 11, &instruction).ok());
  CHECK(instruction.size() == 6);
  CHECK(instruction.Immediate(1) == -6);

  REQUIRE(DecodeInstruction(code, 17, &instruction).ok());
  CHECK(instruction.TargetAt(1, 1) == 0);
  CHECK(17 + instruction.size() == code.size());
}

TEST_CASE("decode: every truncation of an instruction is an error") {
  CodeBuilder b;
  uint16_t regs[] = {1, 2, 3};
  b.Op(Opcode::kCallR).R(0).Unit(0).IList(regs).RList(regs);
  std::vector<uint16_t> code = *b.Finish();
  Instruction instruction;
  for (size_t size = 1; size < code.size(); ++size) {
    Status status = DecodeInstruction(std::span(code).first(size), 0, &instruction);
    CHECK(!status.ok());
    CHECK(status.message().find("runs past the end of the function") != std::string::npos);
  }
  CHECK(DecodeInstruction(code, 0, &instruction).ok());
}

TEST_CASE("decode: unknown opcodes") {
  Instruction instruction;
  std::vector<uint16_t> code = {kNumOpcodes, 0, 0};
  CHECK(!DecodeInstruction(code, 0, &instruction).ok());
  code[0] = 0x100;  // the high byte is zero
  CHECK(DecodeInstruction(code, 0, &instruction).message() == "unknown opcode 0x100");
}

}  // namespace
}  // namespace relayvm
