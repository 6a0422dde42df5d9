#include "bytecode/code_builder.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

namespace relayvm {

using enum OperandKind;

CodeBuilder::Label CodeBuilder::NewLabel() {
  labels_.push_back(-1);
  return static_cast<Label>(labels_.size() - 1);
}

void CodeBuilder::Bind(Label label) {
  EndInstruction();
  if (label >= labels_.size())
    return Fail(fmt::format("label {} was not made by this builder", label));
  if (labels_[label] >= 0) return Fail(fmt::format("label {} is bound twice", label));
  labels_[label] = static_cast<int64_t>(code_.size());
}

CodeBuilder::Instruction CodeBuilder::Op(Opcode opcode) {
  EndInstruction();
  start_ = code_.size();
  next_operand_ = 0;
  code_.push_back(static_cast<uint16_t>(opcode));
  return Instruction(this);
}

void CodeBuilder::Fail(const std::string& what) {
  if (!error_.ok()) return;
  if (next_operand_ < 0) {
    error_ =
        Status(StatusCode::kInternal, fmt::format("code builder: {} (+{:#x})", what, code_.size()));
    return;
  }
  const OpcodeInfo& info = GetOpcodeInfo(static_cast<Opcode>(code_[start_]));
  error_ = Status(StatusCode::kInternal,
                  fmt::format("code builder: {}: {} (+{:#x})", info.mnemonic, what, start_));
}

void CodeBuilder::EndInstruction() {
  if (next_operand_ < 0) return;
  const OpcodeInfo& info = GetOpcodeInfo(static_cast<Opcode>(code_[start_]));
  if (next_operand_ < info.num_operands) {
    Fail(fmt::format("has {} operands, expects {}", next_operand_, info.num_operands));
  }
  next_operand_ = -1;
}

bool CodeBuilder::Next(OperandKind kind, OperandKind alternative) {
  if (!error_.ok()) return false;
  if (next_operand_ < 0) {
    Fail("operand without an instruction");
    return false;
  }
  const OpcodeInfo& info = GetOpcodeInfo(static_cast<Opcode>(code_[start_]));
  if (next_operand_ >= info.num_operands) {
    Fail(fmt::format("expects only {} operands", info.num_operands));
    return false;
  }
  OperandKind expected = info.operands[next_operand_];
  if (expected != kind && expected != alternative) {
    Fail(fmt::format("operand {} is {}, not {}", next_operand_, OperandKindName(expected),
                     OperandKindName(kind)));
    return false;
  }
  ++next_operand_;
  return true;
}

bool CodeBuilder::CheckCount(size_t count) {
  if (count <= std::numeric_limits<uint16_t>::max()) return true;
  Fail(fmt::format("list of {} entries, at most 65535 are possible", count));
  return false;
}

void CodeBuilder::AppendUnits(uint64_t value, int units) {
  for (int i = 0; i < units; ++i) code_.push_back(static_cast<uint16_t>(value >> (16 * i)));
}

void CodeBuilder::AppendTarget(Label label) {
  if (label >= labels_.size())
    return Fail(fmt::format("label {} was not made by this builder", label));
  fixups_.push_back({code_.size(), start_, label});
  AppendUnits(0, 2);
}

CodeBuilder::Instruction& CodeBuilder::Instruction::I(uint32_t reg) {
  if (!builder_->Next(IIN, IOUT)) return *this;
  if (reg > kRegisterMask) builder_->Fail(fmt::format("register i{} is beyond 15 bits", reg));
  builder_->AppendUnits(reg, 1);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::R(uint32_t reg, bool take) {
  if (!(take ? builder_->Next(RIN) : builder_->Next(RIN, ROUT))) return *this;
  if (reg > kRegisterMask) builder_->Fail(fmt::format("register r{} is beyond 15 bits", reg));
  builder_->AppendUnits(reg | (take ? kTakeBit : 0), 1);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Imm16(int64_t value) {
  if (!builder_->Next(IMM16)) return *this;
  if (value != static_cast<int16_t>(value))
    builder_->Fail(fmt::format("{} is beyond 16 bits", value));
  builder_->AppendUnits(static_cast<uint64_t>(value), 1);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Imm32(int64_t value) {
  if (!builder_->Next(IMM32)) return *this;
  if (value != static_cast<int32_t>(value))
    builder_->Fail(fmt::format("{} is beyond 32 bits", value));
  builder_->AppendUnits(static_cast<uint64_t>(value), 2);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Imm64(int64_t value) {
  if (builder_->Next(IMM64)) builder_->AppendUnits(static_cast<uint64_t>(value), 4);
  return *this;
}

bool CodeBuilder::NextUnitKind() {
  const OpcodeInfo* info =
      next_operand_ < 0 ? nullptr : &GetOpcodeInfo(static_cast<Opcode>(code_[start_]));
  // Any of the kinds that are one plain unit; Next reports the rest.
  if (info != nullptr && next_operand_ < info->num_operands) {
    OperandKind expected = info->operands[next_operand_];
    if (expected >= DTYPE && expected <= RULE) return Next(expected);
  }
  return Next(DTYPE);
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Unit(uint32_t value) {
  if (!builder_->NextUnitKind()) return *this;
  if (value > std::numeric_limits<uint16_t>::max()) {
    builder_->Fail(fmt::format("index {} is beyond 16 bits", value));
  }
  builder_->AppendUnits(value, 1);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::To(Label label) {
  if (builder_->Next(TARGET)) builder_->AppendTarget(label);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::IList(std::span<const uint16_t> regs) {
  if (!builder_->Next(ILIST, OLIST) || !builder_->CheckCount(regs.size())) return *this;
  builder_->AppendUnits(regs.size(), 1);
  for (uint16_t reg : regs) {
    if (reg > kRegisterMask) builder_->Fail(fmt::format("register i{} is beyond 15 bits", reg));
    builder_->AppendUnits(reg, 1);
  }
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::RList(std::span<const uint16_t> regs) {
  if (!builder_->Next(RLIST) || !builder_->CheckCount(regs.size())) return *this;
  builder_->AppendUnits(regs.size(), 1);
  for (uint16_t reg : regs) builder_->AppendUnits(reg, 1);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Targets(std::span<const Label> labels) {
  if (!builder_->Next(TARGETS) || !builder_->CheckCount(labels.size())) return *this;
  builder_->AppendUnits(labels.size(), 1);
  for (Label label : labels) builder_->AppendTarget(label);
  return *this;
}

CodeBuilder::Instruction& CodeBuilder::Instruction::Bufs(std::span<const BufferOperand> buffers) {
  if (!builder_->Next(BUFS) || !builder_->CheckCount(buffers.size())) return *this;
  builder_->AppendUnits(buffers.size(), 1);
  for (const BufferOperand& buffer : buffers) {
    if (buffer.take && buffer.kind != BufferKind::kRegister) {
      builder_->Fail("only a buffer in a register can be taken");
    }
    builder_->AppendUnits(static_cast<uint16_t>(buffer.kind) | (buffer.take ? kTakeBit : 0), 1);
    builder_->AppendUnits(buffer.index, 1);
  }
  return *this;
}

Result<std::vector<uint16_t>> CodeBuilder::Finish() {
  EndInstruction();
  if (error_.ok() && code_.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    Fail(fmt::format("function of {} units, at most 2^31 - 1 are possible", code_.size()));
  }
  for (const Fixup& fixup : fixups_) {
    if (!error_.ok()) break;
    int64_t position = labels_[fixup.label];
    if (position < 0) {
      Fail(fmt::format("label {} is jumped to and not bound", fixup.label));
      break;
    }
    auto distance = static_cast<uint32_t>(position - static_cast<int64_t>(fixup.start));
    code_[fixup.at] = static_cast<uint16_t>(distance);
    code_[fixup.at + 1] = static_cast<uint16_t>(distance >> 16);
  }
  CodeBuilder finished;
  std::swap(finished, *this);
  if (!finished.error_.ok()) return finished.error_;
  return std::move(finished.code_);
}

}  // namespace relayvm
