#include "bytecode/code_builder.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace relayvm {
namespace {

using Units = std::vector<uint16_t>;

uint16_t Op(Opcode opcode) { return static_cast<uint16_t>(opcode); }

Units Build(const std::function<void(CodeBuilder&)>& emit) {
  CodeBuilder b;
  emit(b);
  Result<Units> code = b.Finish();
  REQUIRE_MESSAGE(code.ok(), code.status().message());
  return *code;
}

std::string ErrorOf(const std::function<void(CodeBuilder&)>& emit) {
  CodeBuilder b;
  emit(b);
  Result<Units> code = b.Finish();
  CHECK(!code.ok());
  return code.ok() ? "" : code.status().message();
}

TEST_CASE("code builder: one unit an operand, immediates low unit first") {
  CHECK(Build([](CodeBuilder& b) { b.Op(Opcode::kAddI).I(0).I(1).I(2); }) ==
        Units{Op(Opcode::kAddI), 0, 1, 2});
  CHECK(Build([](CodeBuilder& b) { b.Op(Opcode::kMoveR).R(3).R(4, true); }) ==
        Units{Op(Opcode::kMoveR), 3, 0x8004});
  CHECK(Build([](CodeBuilder& b) { b.Op(Opcode::kConstI16).I(1).Imm16(-2); }) ==
        Units{Op(Opcode::kConstI16), 1, 0xfffe});
  CHECK(Build([](CodeBuilder& b) { b.Op(Opcode::kConstI64).I(1).Imm64(0x0004000300020001); }) ==
        Units{Op(Opcode::kConstI64), 1, 1, 2, 3, 4});
  CHECK(Build([](CodeBuilder& b) {
          b.Op(Opcode::kTensorItem).I(0).R(1).Type(DType::kInt64).Imm32(0x20001);
        }) == Units{Op(Opcode::kTensorItem), 0, 1, 4, 1, 2});
}

TEST_CASE("code builder: lists carry their count") {
  Units ints = {1, 2}, objects = {3, uint16_t(4 | kTakeBit)};
  CHECK(Build([&](CodeBuilder& b) {
          b.Op(Opcode::kCallI).I(0).Unit(7).IList(ints).RList(objects);
        }) == Units{Op(Opcode::kCallI), 0, 7, 2, 1, 2, 2, 3, 0x8004});
  BufferOperand buffers[] = {
      {BufferKind::kRegister, 5, true}, {BufferKind::kConstant, 6}, {BufferKind::kSlot, 7}};
  CHECK(Build([&](CodeBuilder& b) { b.Op(Opcode::kKernel1).Unit(9).IList({}).Bufs(buffers); }) ==
        Units{Op(Opcode::kKernel1), 9, 0, 3, 0x8000, 5, 1, 6, 2, 7});
}

TEST_CASE("code builder: targets are distances from the start of the instruction, both ways") {
  Units code = Build([](CodeBuilder& b) {
    CodeBuilder::Label loop = b.NewLabel(), done = b.NewLabel();
    b.Bind(loop);
    b.Op(Opcode::kBranchIf).I(0).To(done);  // units 0..3
    b.Op(Opcode::kJump).To(loop);           // units 4..6
    CodeBuilder::Label labels[] = {done, loop};
    b.Op(Opcode::kSwitch).I(1).Targets(labels);  // units 7..13
    b.Bind(done);
    b.Op(Opcode::kReturnI).I(0);  // unit 14
  });
  CHECK(code == Units{Op(Opcode::kBranchIf), 0, 14, 0,                  //
                      Op(Opcode::kJump), 0xfffc, 0xffff,                //
                      Op(Opcode::kSwitch), 1, 2, 7, 0, 0xfff9, 0xffff,  //
                      Op(Opcode::kReturnI), 0});
}

TEST_CASE("code builder: position, and a builder that starts again after Finish") {
  CodeBuilder b;
  CHECK(b.position() == 0);
  b.Op(Opcode::kReturnI).I(0);
  CHECK(b.position() == 2);
  CHECK(b.Finish()->size() == 2);
  CHECK(b.position() == 0);
  b.Op(Opcode::kReturnR).R(0);
  CHECK(*b.Finish() == Units{Op(Opcode::kReturnR), 0});
}

TEST_CASE("code builder: mistakes come back from Finish") {
  struct Case {
    std::function<void(CodeBuilder&)> emit;
    std::string message;
  };
  Units many(65536, 0);
  BufferOperand taken_slot[] = {{BufferKind::kSlot, 0, true}};
  const Case kCases[] = {
      {[](CodeBuilder& b) { b.Op(Opcode::kAddI).I(0).R(1); },
       "add.i: operand 1 is IIN, not RIN (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kMoveR).R(0, true).R(1); },
       "mov.r: operand 0 is ROUT, not RIN (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kMoveI).I(0).Unit(1); },
       "mov.i: operand 1 is IIN, not DTYPE (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kMoveI).I(0); },
       "mov.i: has 1 operands, expects 2 (+0x0)"},
      {[](CodeBuilder& b) {
         b.Op(Opcode::kReturnI).I(0);
         b.Op(Opcode::kReturnI).I(0).I(1);
       },
       "ret.i: expects only 1 operands (+0x2)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kReturnI).I(32768); },
       "ret.i: register i32768 is beyond 15 bits (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kReturnR).R(32768); },
       "ret.r: register r32768 is beyond 15 bits (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kConstI16).I(0).Imm16(32768); },
       "const.i16: 32768 is beyond 16 bits (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kTensorItem).I(0).R(0).Unit(0).Imm32(int64_t{1} << 31); },
       "tensor.item: 2147483648 is beyond 32 bits (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kConstR).R(0).Unit(65536); },
       "const.r: index 65536 is beyond 16 bits (+0x0)"},
      {[&](CodeBuilder& b) { b.Op(Opcode::kAdtNew).R(0).Unit(0).RList(many); },
       "adt.new: list of 65536 entries, at most 65535 are possible (+0x0)"},
      {[&](CodeBuilder& b) { b.Op(Opcode::kKernel1).Unit(0).IList({}).Bufs(taken_slot); },
       "kernel.1: only a buffer in a register can be taken (+0x0)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kJump).To(b.NewLabel()); },
       "label 0 is jumped to and not bound (+0x3)"},
      {[](CodeBuilder& b) { b.Op(Opcode::kJump).To(5); },
       "jump: label 5 was not made by this builder (+0x0)"},
      {[](CodeBuilder& b) {
         CodeBuilder::Label l = b.NewLabel();
         b.Bind(l);
         b.Bind(l);
       },
       "label 0 is bound twice (+0x0)"},
  };
  for (const Case& c : kCases) CHECK(ErrorOf(c.emit) == "code builder: " + c.message);
}

}  // namespace
}  // namespace relayvm
