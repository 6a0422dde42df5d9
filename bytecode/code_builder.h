// CodeBuilder: appends instructions, with typed operands and labels, to the code of one function.
//
//   CodeBuilder b;
//   CodeBuilder::Label done = b.NewLabel();
//   b.Op(Opcode::kBranchIf).I(0).To(done);
//   b.Op(Opcode::kAddI).I(1).I(1).I(2);
//   b.Bind(done);
//   b.Op(Opcode::kReturnI).I(1);
//   RELAYVM_ASSIGN_OR_RETURN(std::vector<uint16_t> code, b.Finish());
//
// Operands are given in the order of opcodes.def. Each is checked against the opcode's row; the
// first mistake (a wrong kind, a missing operand, a register beyond 15 bits, a list beyond 65535)
// is kept and comes back from Finish(), so that emitting code needs no error handling. Not
// thread-safe. Tested by code_builder_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "bytecode/opcode.h"

namespace relayvm {

// An entry of a BUFS operand. `take` is for registers only.
struct BufferOperand {
  BufferKind kind = BufferKind::kRegister;
  uint16_t index = 0;
  bool take = false;
};

class CodeBuilder {
 public:
  // Made by NewLabel(); valid for the builder that made it.
  using Label = uint32_t;

  // The instruction being appended; each call adds the next operand. Valid until the next Op() or
  // Finish().
  class Instruction {
   public:
    Instruction& I(uint32_t reg);                     // IOUT, IIN
    Instruction& R(uint32_t reg, bool take = false);  // ROUT, RIN; `take` is for RIN only
    Instruction& Imm16(int64_t value);
    Instruction& Imm32(int64_t value);
    Instruction& Imm64(int64_t value);
    // DTYPE, FUNC, CONST, KERNEL, TYPE, MESSAGE, SLOT, TAG, FIELD, CMP, FN, RULE.
    Instruction& Unit(uint32_t value);
    Instruction& Type(DType dtype) { return Unit(static_cast<uint32_t>(dtype)); }   // DTYPE
    Instruction& Cmp(Comparison cmp) { return Unit(static_cast<uint32_t>(cmp)); }   // CMP
    Instruction& Fn(ScalarFunction fn) { return Unit(static_cast<uint32_t>(fn)); }  // FN
    Instruction& To(Label label);                                                   // TARGET
    Instruction& IList(std::span<const uint16_t> regs);                             // ILIST, OLIST
    Instruction& RList(std::span<const uint16_t> regs);  // with take bits already in place
    Instruction& Targets(std::span<const Label> labels);
    Instruction& Bufs(std::span<const BufferOperand> buffers);

   private:
    friend class CodeBuilder;
    explicit Instruction(CodeBuilder* builder) : builder_(builder) {}
    CodeBuilder* builder_;
  };

  Label NewLabel();
  // The label stands for the next instruction. Each label is bound once.
  void Bind(Label label);
  // Units appended so far: where the next instruction will start.
  size_t position() const { return code_.size(); }

  Instruction Op(Opcode opcode);

  // The first mistake so far.
  const Status& status() const { return error_; }
  // The code, with all jumps resolved; the builder is empty afterwards. Fails with kInternal on the
  // first mistake made, or when a label that is jumped to is unbound.
  Result<std::vector<uint16_t>> Finish();

 private:
  struct Fixup {
    size_t at;     // the first of the target's two units
    size_t start;  // of its instruction
    Label label;
  };

  // Checks that `kind` may come next, and moves on. False after an error: nothing is appended.
  bool Next(OperandKind kind, OperandKind alternative);
  bool Next(OperandKind kind) { return Next(kind, kind); }
  bool NextUnitKind();
  void EndInstruction();
  void Fail(const std::string& what);
  bool CheckCount(size_t count);
  void AppendUnits(uint64_t value, int units);
  void AppendTarget(Label label);

  std::vector<uint16_t> code_;
  std::vector<int64_t> labels_;  // position, or -1 while unbound
  std::vector<Fixup> fixups_;
  size_t start_ = 0;       // of the current instruction
  int next_operand_ = -1;  // of the current instruction; -1 when there is none
  Status error_;
};

}  // namespace relayvm
