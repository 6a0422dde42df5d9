// Decoding: where the operands of an instruction stand. Shared by the verifier and the
// disassembler; the interpreter reads operands by fixed positions instead, which the verifier has
// proved to exist. Tested by instruction_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytecode/base/status.h"
#include "bytecode/opcode.h"

namespace relayvm {

struct Instruction {
  Opcode opcode;
  const OpcodeInfo* info;
  std::span<const uint16_t> units;     // the whole instruction
  std::array<uint32_t, 6> operand_at;  // first unit of each operand, in `units`

  size_t size() const { return units.size(); }
  uint16_t Unit(int operand) const { return units[operand_at[operand]]; }
  // IMM16, IMM32, IMM64 and TARGET, sign-extended. REQUIRES: operand is one of these.
  int64_t Immediate(int operand) const;
  // Lists: the count, and the units that follow it.
  uint16_t Count(int operand) const { return Unit(operand); }
  std::span<const uint16_t> List(int operand) const;
  // Element `i` of a TARGETS operand: distance in units from the start of the instruction.
  int32_t TargetAt(int operand, int i) const;
};

// Units that a list operand's `count` entries take, without the count itself; 0 for other kinds.
constexpr uint32_t ListUnits(OperandKind kind, uint32_t count) {
  switch (kind) {
    case OperandKind::ILIST:
    case OperandKind::OLIST:
    case OperandKind::RLIST:
      return count;
    case OperandKind::TARGETS:
    case OperandKind::BUFS:
      return 2 * count;
    default:
      return 0;
  }
}
// Units of an operand's fixed part: the count only, for lists.
constexpr uint32_t FixedUnits(OperandKind kind) {
  switch (kind) {
    case OperandKind::IMM32:
    case OperandKind::TARGET:
      return 2;
    case OperandKind::IMM64:
      return 4;
    default:
      return 1;
  }
}

// The least version of the bytecode that has all opcodes of a program's code, up to the first unit
// that is no instruction. `code`: whole functions, one after the other.
uint32_t LeastBytecodeVersion(std::span<const uint16_t> code);

// True when control never goes on to the next instruction.
bool EndsControl(Opcode opcode);

// Calls fn(distance) for each jump target, in units from the start of the instruction.
template <typename Fn>
void ForEachTarget(const Instruction& instruction, Fn fn) {
  for (int i = 0; i < instruction.info->num_operands; ++i) {
    OperandKind kind = instruction.info->operands[static_cast<size_t>(i)];
    if (kind == OperandKind::TARGET) fn(static_cast<int32_t>(instruction.Immediate(i)));
    if (kind != OperandKind::TARGETS) continue;
    for (int k = 0; k < instruction.Count(i); ++k) fn(instruction.TargetAt(i, k));
  }
}

// Decodes the instruction at `at`. Fails, with a message for humans that does not name the place,
// when the opcode is not one or the instruction does not end inside `code`. REQUIRES: at <
// code.size().
Status DecodeInstruction(std::span<const uint16_t> code, size_t at, Instruction* out);

}  // namespace relayvm
