#include "compiler/lowering/mir.h"

#include "bytecode/instruction.h"

namespace relayvm::lower {
namespace {

// Registers are stored as int64 operands; hands the callback a uint32_t and writes it back.
template <typename Fn>
void WithReg(MOperand& operand, const Fn& fn) {
  auto reg = static_cast<uint32_t>(operand.value);
  fn(reg);
  operand.value = reg;
}

}  // namespace

std::vector<MSlot::Part> SlotRoots(const MFunction& f) {
  std::vector<MSlot::Part> roots;
  for (uint32_t s = 0; s < f.slots.size(); ++s) {
    MSlot::Part at{s, 0};
    while (const auto& part = f.slots[at.whole].part) at = {part->whole, at.offset + part->offset};
    roots.push_back(at);
  }
  return roots;
}

void ForEachUse(MInst& inst, const std::function<void(Bank, uint32_t&, bool*)>& fn) {
  if (inst.is_label) return;
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    MOperand& operand = inst.operands[k];
    switch (info.operands[k]) {
      case OperandKind::IIN:
        WithReg(operand, [&](uint32_t& r) { fn(Bank::kScalar, r, nullptr); });
        break;
      case OperandKind::RIN:
        WithReg(operand, [&](uint32_t& r) { fn(Bank::kObject, r, &operand.take); });
        break;
      case OperandKind::ILIST:
        for (uint32_t& r : operand.regs) fn(Bank::kScalar, r, nullptr);
        break;
      case OperandKind::RLIST:
        for (size_t i = 0; i < operand.regs.size(); ++i) {
          bool take = operand.takes[i];
          fn(Bank::kObject, operand.regs[i], &take);
          operand.takes[i] = take;
        }
        break;
      case OperandKind::BUFS:
        for (MBuffer& b : operand.buffers) {
          if (b.kind == BufferKind::kRegister) fn(Bank::kObject, b.index, &b.take);
        }
        break;
      default:
        break;
    }
  }
}

void ForEachDef(MInst& inst, const std::function<void(Bank, uint32_t&)>& fn) {
  if (inst.is_label) return;
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    OperandKind kind = info.operands[k];
    if (kind == OperandKind::OLIST) {
      for (uint32_t& r : inst.operands[k].regs) fn(Bank::kScalar, r);
    }
    if (kind != OperandKind::IOUT && kind != OperandKind::ROUT) continue;
    Bank bank = kind == OperandKind::IOUT ? Bank::kScalar : Bank::kObject;
    WithReg(inst.operands[k], [&](uint32_t& r) { fn(bank, r); });
  }
}

void ForEachSlot(MInst& inst, const std::function<void(uint32_t&)>& fn) {
  if (inst.is_label) return;
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    MOperand& operand = inst.operands[k];
    if (info.operands[k] == OperandKind::SLOT) WithReg(operand, fn);
    if (info.operands[k] != OperandKind::BUFS) continue;
    for (MBuffer& b : operand.buffers) {
      if (b.kind == BufferKind::kSlot) fn(b.index);
    }
  }
}

void ForEachTarget(const MInst& inst, const std::function<void(Label)>& fn) {
  if (inst.is_label) return;
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    if (info.operands[k] == OperandKind::TARGET) fn(static_cast<Label>(inst.operands[k].value));
    if (info.operands[k] == OperandKind::TARGETS) {
      for (Label l : inst.operands[k].regs) fn(l);
    }
  }
}

bool EndsBlock(const MInst& inst) { return !inst.is_label && EndsControl(inst.op); }

bool IsPure(const MInst& inst) {
  switch (inst.op) {
    case Opcode::kMoveR:
    case Opcode::kConstR:
    case Opcode::kTensorDim:
    case Opcode::kTensorItem:
    case Opcode::kTensorBox:
    case Opcode::kTensorView:
    case Opcode::kTensorCopy:
    case Opcode::kAdtNew:
    case Opcode::kAdtGet:
    case Opcode::kAdtTag:
    case Opcode::kClosureNew:
    case Opcode::kRefGet:
    case Opcode::kSlotItem:
      return true;
    default:
      return KindOf(inst.op) == RowKind::kScalar;
  }
}

}  // namespace relayvm::lower
