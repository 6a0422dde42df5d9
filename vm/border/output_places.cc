#include "vm/border/output_places.h"

#include <algorithm>
#include <functional>

#include "bytecode/instruction.h"

namespace relayvm::vm {
namespace {

// Below, a copy is cheaper than to find out whether it is needed.
constexpr int64_t kLeastBytes = 16 << 10;
// Parts of a result that are looked for at once: what a file says must not make loading slow.
constexpr size_t kMostWanted = 64;

bool HasTargets(const Instruction& instruction) {
  bool has = false;
  ForEachTarget(instruction, [&](int32_t) { has = true; });
  return has;
}

bool WritesObject(const Instruction& instruction) {
  return instruction.info->num_operands > 0 && instruction.info->operands[0] == OperandKind::ROUT;
}

// Calls fn(operand) for each register of an object that the instruction reads.
template <typename Fn>
void ForEachObjectRead(const Instruction& instruction, Fn fn) {
  for (int i = 0; i < instruction.info->num_operands; ++i) {
    const OperandKind kind = instruction.info->operands[static_cast<size_t>(i)];
    if (kind == OperandKind::RIN) fn(instruction.Unit(i));
    if (kind != OperandKind::RLIST && kind != OperandKind::BUFS) continue;
    const std::span<const uint16_t> list = instruction.List(i);
    if (kind == OperandKind::RLIST) std::ranges::for_each(list, fn);
    if (kind == OperandKind::RLIST) continue;
    for (size_t b = 0; b + 1 < list.size(); b += 2) {
      if (static_cast<BufferKind>(list[b] & 0xFF) == BufferKind::kRegister)
        fn(static_cast<uint16_t>(list[b + 1] | (list[b] & kTakeBit)));
    }
  }
}

// Whether nothing after the instruction that makes `reg` reads what it is, but to return it once.
bool IsOnlyReturned(std::span<const Instruction> after, uint16_t reg) {
  std::vector<uint16_t> held = {reg};  // registers that hold it; the last one is to be returned
  for (const Instruction& instruction : after) {
    size_t reads = 0, others = 0;
    ForEachObjectRead(instruction, [&](uint16_t operand) {
      const auto read = static_cast<uint16_t>(operand & kRegisterMask);
      const bool is_last = read == held.back();
      reads += is_last ? 1 : 0;
      others += !is_last && std::ranges::count(held, read) > 0 ? 1 : 0;
    });
    const Opcode opcode = instruction.opcode;
    const bool looks = opcode == Opcode::kDrop || opcode == Opcode::kTensorDim;
    if (!looks && (others > 0 || reads > 1 || (reads == 1 && opcode != Opcode::kAdtNew)))
      return false;
    if (!WritesObject(instruction)) continue;
    const uint16_t written = instruction.Unit(0);
    if (written == held.back() && reads == 0) return false;
    std::erase(held, written);
    if (reads == 1) held.push_back(written);
  }
  return true;
}

// Goes back from the return of a block, in which nothing jumps.
class MakerSearch {
 public:
  MakerSearch(const ExportInfo& info, std::vector<OutputMaker>* made) : info_(info), made_(made) {}

  void Run(std::span<const Instruction> block, uint16_t returned) {
    wanted_.clear();
    Want(returned, info_.result, 0);
    for (size_t i = block.size(); i-- > 0;) {
      const Instruction& instruction = block[i];
      if (!WritesObject(instruction)) continue;
      const auto found = Find(instruction.Unit(0));
      if (found == wanted_.end()) continue;
      const Part part = *found;
      wanted_.erase(found);
      Follow(instruction, part, block.subspan(i + 1));
    }
  }

 private:
  struct Part {
    uint16_t reg;
    const ValueType* type;
    size_t first;  // of its tensors
  };

  std::vector<Part>::iterator Find(uint16_t reg) {
    return std::ranges::find(wanted_, reg, &Part::reg);
  }
  // A register that is two parts makes the later one; the other is copied.
  void Want(uint16_t operand, const ValueType& type, size_t first) {
    const auto reg = static_cast<uint16_t>(operand & ~kTakeBit);
    if (wanted_.size() < kMostWanted && Find(reg) == wanted_.end())
      wanted_.push_back({reg, &type, first});
  }

  void Follow(const Instruction& instruction, const Part& part,
              std::span<const Instruction> after) {
    const bool is_tensor = part.type->kind == ValueType::Kind::kTensor;
    switch (instruction.opcode) {
      case Opcode::kMoveR:
        return Want(instruction.Unit(1), *part.type, part.first);
      case Opcode::kTensorView:
        if (is_tensor) Want(instruction.Unit(1), *part.type, part.first);
        return;
      case Opcode::kAdtNew: {
        const std::span<const uint16_t> fields = instruction.List(2);
        if (part.type->kind != ValueType::Kind::kTuple || fields.size() != part.type->args.size())
          return;
        size_t first = part.first;
        for (size_t i = 0; i < fields.size(); ++i) {
          Want(fields[i], part.type->args[i], first);
          first += CountOutputs(part.type->args[i]);
        }
        return;
      }
      case Opcode::kTensorCopy:
        if (!is_tensor || instruction.Immediate(2) != 0 || !IsOnlyReturned(after, part.reg)) return;
        [[fallthrough]];
      case Opcode::kTensorAlloc:
      case Opcode::kTensorStatic:
      case Opcode::kTensorReuse:
        if (is_tensor) made_->push_back({instruction.units.data(), info_.function, part.first});
        return;
      default:
        return;
    }
  }

  const ExportInfo& info_;
  std::vector<OutputMaker>* made_;
  std::vector<Part> wanted_;
};

// Nothing of the input lies in the memory, as far as its type shows; recursive ones are not walked.
bool IsApart(const ValueType& type, Object* input, const char* data, size_t bytes) {
  switch (type.kind) {
    case ValueType::Kind::kTensor: {
      const auto* tensor = static_cast<const Tensor*>(input);
      return !std::less<>()(data, tensor->data + tensor->bytes()) ||
             !std::less<>()(tensor->data, data + bytes);
    }
    case ValueType::Kind::kTuple: {
      const std::span<Object*> fields = FieldsOf(input);
      for (size_t i = 0; i < fields.size(); ++i) {
        if (!IsApart(type.args[i], fields[i], data, bytes)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

size_t CountOutputs(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return 1;
  if (type.kind != ValueType::Kind::kTuple) return 0;
  size_t count = 0;
  for (const ValueType& field : type.args) count += CountOutputs(field);
  return count;
}

[[gnu::cold]] std::vector<OutputMaker> FindOutputMakers(const ExportInfo& info,
                                                        std::span<const uint16_t> code) {
  std::vector<OutputMaker> made;
  MakerSearch search(info, &made);
  std::vector<Instruction> block;
  Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.size()) {
    if (!DecodeInstruction(code, at, &instruction).ok()) return {};
    if (instruction.opcode == Opcode::kReturnR) search.Run(block, instruction.Unit(0));
    if (EndsControl(instruction.opcode) || HasTargets(instruction)) {
      block.clear();
    } else {
      block.push_back(instruction);
    }
  }
  return made;
}

[[gnu::cold]] std::vector<uint8_t> FindInputDevices(const ExportInfo& info,
                                                    std::span<const uint16_t> code) {
  struct Input {
    uint8_t device = kNowhere;
    bool is_gone = false;  // its register holds something else
  };
  std::vector<Input> inputs(info.params.size());
  const auto input_in = [&](uint16_t operand) -> Input* {
    const auto reg = static_cast<size_t>(operand & kRegisterMask);
    return reg < inputs.size() && !inputs[reg].is_gone ? &inputs[reg] : nullptr;
  };
  Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.size()) {
    if (!DecodeInstruction(code, at, &instruction).ok())
      return std::vector<uint8_t>(inputs.size());  // all of them on the host
    const Opcode opcode = instruction.opcode;
    const int64_t to = opcode == Opcode::kTensorCopy ? instruction.Immediate(2) : 0;
    ForEachObjectRead(instruction, [&](uint16_t operand) {
      Input* const input = input_in(operand);
      if (input == nullptr) return;
      const bool reads = opcode != Opcode::kDrop && opcode != Opcode::kTensorDim;
      if (reads) {
        const bool same = input->device == kNowhere || input->device == to;
        input->device = same ? static_cast<uint8_t>(to) : uint8_t{0};
      }
    });
    ForEachObjectRead(instruction, [&](uint16_t operand) {
      if ((operand & kTakeBit) == 0) return;
      if (Input* const input = input_in(operand)) input->is_gone = true;
    });
    if (WritesObject(instruction)) {
      if (Input* const input = input_in(instruction.Unit(0))) input->is_gone = true;
    }
    if (HasTargets(instruction)) {
      for (Input& input : inputs) {
        if (!input.is_gone) input.device = 0;
      }
    }
    if (HasTargets(instruction) || EndsControl(opcode)) break;
  }
  std::vector<uint8_t> devices(inputs.size());
  std::ranges::transform(inputs, devices.begin(), &Input::device);
  return devices;
}

OutputPlaces::OutputPlaces(const LinkedProgram& linked, const ExportInfo& function,
                           std::span<const OutputBuffer> outputs, std::span<Object* const> inputs) {
  for (const OutputMaker& maker : linked.output_makers) {
    if (maker.function != function.function || maker.output >= outputs.size()) continue;
    const OutputBuffer& buffer = outputs[maker.output];
    if (buffer.device != nullptr) places_.push_back({maker.pc, nullptr, -1, buffer.device});
    if (buffer.data == nullptr || reinterpret_cast<uintptr_t>(buffer.data) % kDataAlignment != 0)
      continue;
    auto* const data = static_cast<char*>(buffer.data);
    const int64_t bytes = CheckedTensorBytes(buffer.dtype, buffer.dims);
    if (bytes < kLeastBytes) continue;
    bool apart = true;
    for (size_t i = 0; i < inputs.size() && apart; ++i)
      apart = IsApart(function.params[i], inputs[i], data, static_cast<size_t>(bytes));
    if (apart) places_.push_back({maker.pc, data, bytes, nullptr});
  }
}

char* OutputPlaces::Find(const uint16_t* pc, int64_t bytes) const {
  for (const Place& place : places_) {
    if (place.pc == pc) return place.bytes == bytes ? place.data : nullptr;
  }
  return nullptr;
}

}  // namespace relayvm::vm
