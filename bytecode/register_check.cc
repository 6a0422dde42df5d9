#include "bytecode/register_check.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "bytecode/instruction.h"

namespace relayvm {
namespace {

// Which registers surely hold a value: scalars, then objects.
using Full = std::vector<bool>;

// Forward data flow over basic blocks; where paths meet, a register is full when it is on all of
// them.
class RegisterChecker {
 public:
  RegisterChecker(const Program& program, const FunctionInfo& function)
      : function_(function),
        code_(program.code.subspan(function.code_offset, function.code_size)) {}

  Status Run() {
    FindBlocks();
    Full at_entry(size_t{function_.num_scalar_registers} + function_.num_object_registers);
    for (size_t i = 0; i < function_.num_scalar_args; ++i) at_entry[i] = true;
    for (size_t i = 0; i < function_.num_object_args; ++i)
      at_entry[function_.num_scalar_registers + i] = true;
    Flow(at_entry, 0);
    while (!pending_.empty()) {
      size_t block = *pending_.begin();
      pending_.erase(pending_.begin());
      Walk(block, /*report=*/false);
    }
    for (const auto& [block, full] : blocks_) {
      if (!full.empty()) Walk(block, /*report=*/true);
      if (!error_.ok()) return std::move(error_);
    }
    return {};
  }

 private:
  void FindBlocks() {
    blocks_[0];
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size()) {
      if (!DecodeInstruction(code_, at, &instruction).ok()) return;  // excluded by the verifier
      ForEachTarget(instruction, [&](int32_t distance) { blocks_[Target(at, distance)]; });
    }
  }

  static size_t Target(size_t at, int32_t distance) {
    return at + static_cast<size_t>(static_cast<int64_t>(distance));
  }

  // Control comes to `block` with these registers.
  void Flow(const Full& full, size_t block) {
    Full& entry = blocks_[block];
    if (entry.empty()) {
      entry = full;
      entry.push_back(true);  // never empty once reached
      pending_.insert(block);
      return;
    }
    bool changed = false;
    for (size_t i = 0; i < full.size(); ++i) {
      if (entry[i] && !full[i]) {
        entry[i] = false;
        changed = true;
      }
    }
    if (changed) pending_.insert(block);
  }

  void Walk(size_t block, bool report) {
    full_ = blocks_[block];
    report_ = report;
    Instruction instruction;
    for (at_ = block; at_ < code_.size(); at_ += instruction.size()) {
      if (at_ != block && blocks_.count(at_) > 0) return FlowUnlessReporting(at_);
      if (!DecodeInstruction(code_, at_, &instruction).ok()) return;
      Step(instruction);
      ForEachTarget(instruction,
                    [&](int32_t distance) { FlowUnlessReporting(Target(at_, distance)); });
      if (EndsControl(instruction.opcode)) return;
    }
  }

  void FlowUnlessReporting(size_t block) {
    if (!report_) Flow(full_, block);
  }

  // --- One instruction ---

  void ReadScalar(const Instruction& instruction, uint16_t reg) {
    if (!full_[reg]) Report(instruction, 'i', reg, "may be unset");
  }
  void ReadObject(const Instruction& instruction, uint16_t unit) {
    uint16_t reg = unit & kRegisterMask;
    size_t index = size_t{function_.num_scalar_registers} + reg;
    if (!full_[index]) Report(instruction, 'r', reg, "may be empty");
    if ((unit & kTakeBit) != 0) full_[index] = false;
  }
  void Report(const Instruction& instruction, char bank, uint16_t reg, const char* what) {
    if (!report_ || !error_.ok()) return;
    error_ = Status(StatusCode::kInternal,
                    fmt::format("{}: register {}{} {} ({}+{:#x})", instruction.info->mnemonic, bank,
                                reg, what, function_.name, at_));
  }

  void Step(const Instruction& instruction) {
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      switch (instruction.info->operands[static_cast<size_t>(i)]) {
        case OperandKind::IIN:
          ReadScalar(instruction, instruction.Unit(i));
          break;
        case OperandKind::RIN:
          ReadObject(instruction, instruction.Unit(i));
          break;
        case OperandKind::ILIST:
          for (uint16_t reg : instruction.List(i)) ReadScalar(instruction, reg);
          break;
        case OperandKind::RLIST:
          for (uint16_t unit : instruction.List(i)) ReadObject(instruction, unit);
          break;
        case OperandKind::BUFS: {
          std::span<const uint16_t> units = instruction.List(i);
          for (size_t k = 0; k < units.size(); k += 2) {
            if (static_cast<BufferKind>(units[k] & ~kTakeBit) != BufferKind::kRegister) continue;
            ReadObject(instruction, static_cast<uint16_t>(units[k + 1] | (units[k] & kTakeBit)));
          }
          break;
        }
        default:
          break;
      }
    }
    if (instruction.opcode == Opcode::kDrop) {
      full_[size_t{function_.num_scalar_registers} + (instruction.Unit(0) & kRegisterMask)] = false;
    }
    OperandKind first = instruction.info->operands[0];
    if (first == OperandKind::IOUT) full_[instruction.Unit(0)] = true;
    if (first == OperandKind::OLIST) {
      for (uint16_t reg : instruction.List(0)) full_[reg] = true;
    }
    if (first == OperandKind::ROUT)
      full_[size_t{function_.num_scalar_registers} + instruction.Unit(0)] = true;
  }

  const FunctionInfo& function_;
  std::span<const uint16_t> code_;
  std::map<size_t, Full>
      blocks_;  // by first unit: what is full there; no entries while it is not known to be reached
  std::set<size_t> pending_;
  Full full_;
  size_t at_ = 0;
  bool report_ = false;
  Status error_;
};

}  // namespace

Status CheckRegisterUse(const Program& program) {
  for (const FunctionInfo& function : program.functions) {
    RELAYVM_RETURN_IF_ERROR(RegisterChecker(program, function).Run());
  }
  return {};
}

}  // namespace relayvm
