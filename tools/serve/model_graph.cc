#include "tools/serve/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/instruction.h"
#include "bytecode/memory_report.h"
#include "bytecode/opcode.h"
#include "bytecode/program.h"
#include "tools/serve/protocol/json_writer.h"

namespace relayvm::serve {
namespace {

constexpr size_t kMaxSources = 64;  // of one tensor, or node

// The nodes that something comes from, ordered.
using Sources = std::vector<uint32_t>;

void Unite(const Sources& more, Sources* into) {
  for (const uint32_t node : more) {
    const auto at = std::ranges::lower_bound(*into, node);
    if (at != into->end() && *at == node) continue;
    if (into->size() >= kMaxSources) return;
    into->insert(at, node);
  }
}

// What object registers and arena slots hold; those that hold nothing of a node are left out.
struct Flow {
  std::map<uint32_t, Sources> registers, slots;
  bool is_reached = true;

  void Meet(const Flow& other) {
    if (!other.is_reached) return;
    if (!is_reached) {
      *this = other;
      return;
    }
    for (const auto& [key, sources] : other.registers) Unite(sources, &registers[key]);
    for (const auto& [key, sources] : other.slots) Unite(sources, &slots[key]);
  }
  size_t size() const { return registers.size() + slots.size(); }
};

std::string_view KindOfKernel(const KernelInfo& kernel) {
  if (kernel.region) return "region";
  return kernel.builtin ? "builtin" : "kernel";
}

class FunctionGraph {
 public:
  // `nodes_left` and `steps_left`: of all functions.
  FunctionGraph(const Executable& executable, uint32_t function, size_t* nodes_left,
                size_t* steps_left)
      : executable_(executable),
        program_(executable.program()),
        function_(function),
        info_(program_.functions[function]),
        nodes_left_(*nodes_left),
        steps_left_(*steps_left) {}

  // False where it is not whole.
  bool Append(const std::vector<std::string>& inputs, const std::string& memory,
              std::string* json) {
    json->append("{\"name\":");
    AppendJsonText(info_.name, json);
    json->append(",\"memory\":");
    AppendJsonText(memory, json);
    json->append(",\"nodes\":[");
    json_ = json;
    const bool is_whole = Walk(inputs);
    json->append("]}");
    return is_whole;
  }

 private:
  bool Walk(const std::vector<std::string>& inputs) {
    for (uint32_t i = 0; i < info_.num_object_args; ++i) {
      const std::string name = i < inputs.size() ? inputs[i] : fmt::format("argument {}", i);
      if (!AddNode("input", name, 0, {}, {})) return false;
      flow_.registers[i] = {num_nodes_ - 1};
    }
    const auto code = program_.code.subspan(info_.code_offset, info_.code_size);
    Instruction instruction;
    for (size_t pc = 0; pc < code.size(); pc += instruction.size()) {
      if (!DecodeInstruction(code, pc, &instruction).ok()) return false;
      // Jumps lead forward, but for loops of scalars, which make no tensors.
      if (const auto met = waiting_.find(pc); met != waiting_.end()) {
        if (!Spend(met->second.size())) return false;
        flow_.Meet(met->second);
        waiting_.erase(met);
      }
      if (!Spend(1 + instruction.size())) return false;
      if (!Step(instruction, static_cast<uint32_t>(pc))) return false;
      if (EndsControl(instruction.opcode)) flow_ = {.is_reached = false};
    }
    return true;
  }

  bool Spend(size_t steps) {
    if (steps > steps_left_) return false;
    steps_left_ -= steps;
    return true;
  }

  bool Step(const Instruction& instruction, uint32_t pc) {
    switch (instruction.opcode) {
      case Opcode::kKernel:
      case Opcode::kKernel1:
        return StepKernel(instruction, pc);
      case Opcode::kCallI:
      case Opcode::kCallR:
        return StepCall("call", FunctionName(instruction), instruction, pc);
      case Opcode::kTailCall:
        return StepCall("tail_call", FunctionName(instruction), instruction, pc);
      case Opcode::kClosureNew:
        return StepCall("closure", FunctionName(instruction), instruction, pc);
      case Opcode::kCallClosure:
      case Opcode::kTailClosure:
        return StepCall("call", "a closure", instruction, pc);
      case Opcode::kCallHost:
        return StepCall("host", HostName(instruction), instruction, pc);
      case Opcode::kTensorAppend:
        return StepCall("builtin", "append", instruction, pc);
      case Opcode::kReturnI:
      case Opcode::kReturnR:
        return StepCall("result", "", instruction, pc);
      case Opcode::kSwitchTag:
      case Opcode::kAdtTag:
        if (!StepCall("choice", "constructor", instruction, pc)) return false;
        break;
      case Opcode::kTensorItem:
        if (!StepCall("choice", "value", instruction, pc)) return false;
        break;
      case Opcode::kTensorAlloc:
      case Opcode::kTensorStatic:
      case Opcode::kTensorReuse:
        Define(instruction, {});
        break;
      default:
        Define(instruction, Read(instruction));
    }
    return Jump(instruction, pc);
  }

  bool Jump(const Instruction& instruction, uint32_t pc) {
    bool is_whole = true;
    ForEachTarget(instruction, [&](int32_t distance) {
      if (distance <= 0 || !is_whole) return;
      is_whole = Spend(flow_.size());
      const auto [at, is_new] =
          waiting_.try_emplace(pc + static_cast<size_t>(distance), Flow{.is_reached = false});
      at->second.Meet(flow_);
    });
    return is_whole;
  }

  bool StepKernel(const Instruction& instruction, uint32_t pc) {
    const bool is_one = instruction.opcode == Opcode::kKernel1;
    const KernelInfo& kernel = program_.kernels[instruction.Unit(0)];
    const auto buffers = instruction.List(is_one ? 2 : 5);
    Sources from;
    std::vector<std::string_view> constants;
    for (size_t i = 0; 2 * i + 1 < buffers.size(); ++i) {
      const auto kind = static_cast<BufferKind>(buffers[2 * i] & 0xFF);
      const uint16_t index = buffers[2 * i + 1];
      if (kind == BufferKind::kConstant) {
        constants.push_back(program_.constants[index].name);
      } else if (i >= kernel.buffers.size() || !kernel.buffers[i].written) {
        Unite(Held(kind, index), &from);
      }
    }
    if (!AddNode(KindOfKernel(kernel), kernel.name, pc, constants, from)) return false;
    for (size_t i = 0; 2 * i + 1 < buffers.size() && i < kernel.buffers.size(); ++i) {
      if (!kernel.buffers[i].written) continue;
      const auto kind = static_cast<BufferKind>(buffers[2 * i] & 0xFF);
      auto& place = kind == BufferKind::kSlot ? flow_.slots : flow_.registers;
      if (kind != BufferKind::kConstant) place[buffers[2 * i + 1]] = {num_nodes_ - 1};
    }
    return true;
  }

  // A node that reads all object operands; what it gives comes from it.
  bool StepCall(std::string_view kind, std::string_view name, const Instruction& instruction,
                uint32_t pc) {
    if (!AddNode(kind, name, pc, {}, Read(instruction))) return false;
    Define(instruction, {num_nodes_ - 1});
    return true;
  }

  Sources Held(BufferKind kind, uint16_t index) const {
    const auto& place = kind == BufferKind::kSlot ? flow_.slots : flow_.registers;
    const auto found = place.find(index);
    return found == place.end() ? Sources() : found->second;
  }

  Sources Read(const Instruction& instruction) const {
    Sources from;
    const auto add = [&](uint16_t unit) {
      Unite(Held(BufferKind::kRegister, unit & kRegisterMask), &from);
    };
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      const OperandKind kind = instruction.info->operands[static_cast<size_t>(i)];
      if (kind == OperandKind::RIN) add(instruction.Unit(i));
      if (kind != OperandKind::RLIST) continue;
      for (const uint16_t unit : instruction.List(i)) add(unit);
    }
    return from;
  }

  void Define(const Instruction& instruction, Sources from) {
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      if (instruction.info->operands[static_cast<size_t>(i)] != OperandKind::ROUT) continue;
      if (from.empty()) {
        flow_.registers.erase(instruction.Unit(i));
      } else {
        flow_.registers[instruction.Unit(i)] = from;
      }
    }
  }

  std::string_view FunctionName(const Instruction& instruction) const {
    return program_.functions[Operand(instruction, OperandKind::FUNC)].name;
  }
  std::string_view HostName(const Instruction& instruction) const {
    return program_.host_functions[Operand(instruction, OperandKind::HOST)].name;
  }
  static uint16_t Operand(const Instruction& instruction, OperandKind kind) {
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      if (instruction.info->operands[static_cast<size_t>(i)] == kind) return instruction.Unit(i);
    }
    return 0;
  }

  bool AddNode(std::string_view kind, std::string_view name, uint32_t pc,
               const std::vector<std::string_view>& constants, const Sources& from) {
    if (nodes_left_ == 0) return false;
    --nodes_left_;
    if (num_nodes_++ > 0) json_->push_back(',');
    fmt::format_to(std::back_inserter(*json_), "{{\"kind\":\"{}\",\"name\":", kind);
    AppendJsonText(name, json_);
    const StatusPlace place = executable_.PlaceOf(function_, pc);
    if (!place.file.empty() && kind != "input") {
      json_->append(",\"place\":");
      AppendJsonText(place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line),
                     json_);
    }
    if (!constants.empty()) {
      json_->append(",\"constants\":[");
      for (size_t i = 0; i < std::min(constants.size(), kMaxSources); ++i) {
        if (i > 0) json_->push_back(',');
        AppendJsonText(constants[i], json_);
      }
      json_->push_back(']');
    }
    fmt::format_to(std::back_inserter(*json_), ",\"from\":[{}]}}", fmt::join(from, ","));
    return true;
  }

  const Executable& executable_;
  const Program& program_;
  const uint32_t function_;
  const FunctionInfo& info_;
  size_t &nodes_left_, &steps_left_;
  std::string* json_ = nullptr;
  uint32_t num_nodes_ = 0;
  Flow flow_;
  std::map<size_t, Flow> waiting_;  // by the place that they jump to
};

}  // namespace

std::string ModelGraphJson(const Executable& executable, const GraphLimits& limits) {
  const Program& program = executable.program();
  const std::vector<MemoryReport> memory = ReportMemory(program);
  size_t nodes_left = limits.max_nodes, steps_left = limits.max_steps;
  std::string json = "{\"functions\":[";
  bool is_whole = true;
  for (uint32_t i = 0; i < program.functions.size() && is_whole; ++i) {
    if (i > 0) json.push_back(',');
    std::vector<std::string> inputs;
    for (const ExportInfo& e : program.exports) {
      if (e.function == i) inputs = e.param_names;
    }
    is_whole = FunctionGraph(executable, i, &nodes_left, &steps_left)
                   .Append(inputs, memory[i].total_bytes, &json);
  }
  json += is_whole ? "],\"truncated\":false}" : "],\"truncated\":true}";
  return json;
}

}  // namespace relayvm::serve
