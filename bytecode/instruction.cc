#include "bytecode/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace relayvm {

int64_t Instruction::Immediate(int operand) const {
  uint32_t at = operand_at[operand];
  uint32_t count = FixedUnits(info->operands[operand]);
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i) value |= static_cast<uint64_t>(units[at + i]) << (16 * i);
  int unused_bits = 64 - 16 * static_cast<int>(count);
  return static_cast<int64_t>(value << unused_bits) >> unused_bits;
}

std::span<const uint16_t> Instruction::List(int operand) const {
  uint32_t at = operand_at[operand];
  return units.subspan(at + 1, ListUnits(info->operands[operand], units[at]));
}

int32_t Instruction::TargetAt(int operand, int i) const {
  uint32_t at = operand_at[operand] + 1 + 2 * static_cast<uint32_t>(i);
  return static_cast<int32_t>(units[at] | (static_cast<uint32_t>(units[at + 1]) << 16));
}

uint32_t LeastBytecodeVersion(std::span<const uint16_t> code) {
  uint32_t version = 1;
  Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.size()) {
    if (!DecodeInstruction(code, at, &instruction).ok()) break;
    version = std::max(version, VersionOf(instruction.opcode));
  }
  return version;
}

bool EndsControl(Opcode opcode) {
  switch (opcode) {
    case Opcode::kJump:
    case Opcode::kTailCall:
    case Opcode::kTailClosure:
    case Opcode::kReturnI:
    case Opcode::kReturnR:
    case Opcode::kTrap:
      return true;
    default:
      return false;
  }
}

Status DecodeInstruction(std::span<const uint16_t> code, size_t at, Instruction* out) {
  assert(at < code.size());
  std::span<const uint16_t> rest = code.subspan(at);
  if (rest[0] >= kNumOpcodes) {
    return Status(StatusCode::kInvalidInput, fmt::format("unknown opcode {:#x}", rest[0]));
  }
  out->opcode = static_cast<Opcode>(rest[0]);
  out->info = &GetOpcodeInfo(out->opcode);
  size_t size = 1;
  for (int i = 0; i < out->info->num_operands; ++i) {
    OperandKind kind = out->info->operands[i];
    out->operand_at[i] = static_cast<uint32_t>(size);
    if (size < rest.size()) size += ListUnits(kind, rest[size]);
    size += FixedUnits(kind);
    if (size > rest.size()) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: operand {} ({}) runs past the end of the function",
                                out->info->mnemonic, i, OperandKindName(kind)));
    }
  }
  out->units = rest.first(size);
  return {};
}

}  // namespace relayvm
