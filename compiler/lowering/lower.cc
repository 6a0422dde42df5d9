#include "compiler/lowering/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "bytecode/code_builder.h"
#include "bytecode/register_check.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/one_of.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/lowering/allocate.h"
#include "compiler/lowering/function_lowering.h"
#include "compiler/lowering/group_kernels.h"
#include "compiler/lowering/liveness.h"
#include "compiler/lowering/module_lowering.h"
#include "compiler/lowering/peephole.h"
#include "compiler/lowering/share_memory.h"
#include "compiler/lowering/value_type.h"

namespace relayvm::lower {
namespace {

std::vector<uint16_t> Units(const std::vector<uint32_t>& regs) {
  return {regs.begin(), regs.end()};
}

// What an instruction asks for and its encoding has no room for; "" for most. Such a program is not
// wrong, only too large. Slots are fewer once memory `is_planned`.
std::string BeyondEncoding(const MInst& inst, bool is_planned) {
  if (inst.is_label) return "";
  constexpr uint32_t kMost = std::numeric_limits<uint16_t>::max();
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    const MOperand& operand = inst.operands[k];
    const size_t length = std::max(operand.regs.size(), operand.buffers.size());
    if (length > kMost) return fmt::format("{} values at once, the limit is {}", length, kMost);
    for (const MBuffer& b : operand.buffers) {
      if (b.index > kMost && (is_planned || b.kind == BufferKind::kConstant))
        return fmt::format("number {} of a constant or slot, the limit is {}", b.index, kMost);
    }
    switch (info.operands[k]) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
      case OperandKind::ROUT:
      case OperandKind::RIN:
      case OperandKind::IMM16:
      case OperandKind::IMM32:
      case OperandKind::IMM64:
      case OperandKind::TARGET:
        break;  // registers are allocated below their limit
      default:
        if (operand.value > kMost && (is_planned || info.operands[k] != OperandKind::SLOT)) {
          return fmt::format(
              "number {} of a field, function, constant, kernel or message, the limit is {}",
              operand.value, kMost);
        }
    }
  }
  return "";
}

// One instruction with allocated registers, through the opcode table.
void Encode(const MInst& inst, const std::vector<CodeBuilder::Label>& labels,
            CodeBuilder& builder) {
  const OpcodeInfo& info = GetOpcodeInfo(inst.op);
  CodeBuilder::Instruction out = builder.Op(inst.op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    const MOperand& operand = inst.operands[k];
    auto reg = static_cast<uint32_t>(operand.value);
    switch (info.operands[k]) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
        out.I(reg);
        break;
      case OperandKind::ROUT:
        out.R(reg);
        break;
      case OperandKind::RIN:
        out.R(reg, operand.take);
        break;
      case OperandKind::IMM16:
        out.Imm16(operand.value);
        break;
      case OperandKind::IMM32:
        out.Imm32(operand.value);
        break;
      case OperandKind::IMM64:
        out.Imm64(operand.value);
        break;
      case OperandKind::TARGET:
        out.To(labels[reg]);
        break;
      case OperandKind::ILIST:
      case OperandKind::OLIST:
        out.IList(Units(operand.regs));
        break;
      case OperandKind::RLIST: {
        std::vector<uint16_t> units = Units(operand.regs);
        for (size_t i = 0; i < units.size(); ++i) {
          if (operand.takes[i]) units[i] |= kTakeBit;
        }
        out.RList(units);
        break;
      }
      case OperandKind::TARGETS: {
        std::vector<CodeBuilder::Label> targets;
        for (uint32_t l : operand.regs) targets.push_back(labels[l]);
        out.Targets(targets);
        break;
      }
      case OperandKind::BUFS: {
        std::vector<BufferOperand> buffers;
        for (const MBuffer& b : operand.buffers) {
          buffers.push_back({b.kind, static_cast<uint16_t>(b.index), b.take});
        }
        out.Bufs(buffers);
        break;
      }
      default:
        out.Unit(reg);
        break;
    }
  }
}

// Of the lowered function, but for its code.
FunctionInfo InfoOf(const FunctionTask& task, const MFunction& f, bool returns_scalar,
                    RegisterCounts registers, ArenaPlan arena) {
  FunctionInfo info;
  info.name = task.name;
  info.num_scalar_args = static_cast<uint16_t>(f.num_scalar_args);
  info.num_object_args = static_cast<uint16_t>(f.num_object_args);
  info.num_scalar_registers = registers.scalars;
  info.num_object_registers = registers.objects;
  info.returns_scalar = returns_scalar;
  info.arena_bytes = arena.bytes;
  info.slots = std::move(arena.slots);
  if (task.kind == FunctionTask::Kind::kAdapter) {
    info.name += " (boxed)";  // as call stacks and listings show it
    const ir::Span& span = task.function->span;
    if (span.line != 0) info.locations.push_back({0, span.file, span.line, span.column});
  }
  if (task.kind == FunctionTask::Kind::kClosureCode) {
    auto captured = task.function->attrs.find("Closure");
    if (captured != task.function->attrs.end())
      info.num_captured = static_cast<uint16_t>(std::get<Dim>(captured->second.value).value());
  }
  return info;
}

// Those of its checks stand before an instruction's own.
void AddLocations(const MInst& inst, uint32_t pc, std::vector<SourceLocation>& locations) {
  const bool moved = locations.empty() || locations.back().line != inst.span.line ||
                     locations.back().file != inst.span.file ||
                     locations.back().column != inst.span.column;
  for (const ir::Span& check : inst.checks) {
    const ir::Span& at = check.line == 0 ? inst.span : check;
    locations.push_back({pc, at.file, at.line, at.column});
  }
  if (inst.span.line != 0 && (moved || !inst.checks.empty()))
    locations.push_back({pc, inst.span.file, inst.span.line, inst.span.column});
}

Result<FunctionInfo> LowerFunction(ModuleLowering& module, const FunctionTask& task,
                                   std::vector<uint16_t>& code) {
  FunctionLowering lowering(module, task);
  RELAYVM_ASSIGN_OR_RETURN(MFunction f, lowering.Lower());
  // A constructor as a function has no place.
  const ir::Span place = task.function == nullptr ? ir::Span() : task.function->span;
  const auto check = [&](const MInst& inst, bool is_planned) {
    const std::string beyond = BeyondEncoding(inst, is_planned);
    if (beyond.empty()) return OkStatus();
    return module.module().sources->Error(
        StatusCode::kOutOfRange, inst.span.line == 0 ? place : inst.span,
        fmt::format("{}: too large for bytecode: {}", GetOpcodeInfo(inst.op).mnemonic, beyond));
  };
  // Before what takes long with long lists.
  for (const MInst& inst : f.code) RELAYVM_RETURN_IF_ERROR(check(inst, false));
  ir::PollStop();
  FuseCompareAndBranch(f);
  FuseArithmeticAndWrap(f);
  FuseResultAndMove(f);
  if (module.places()) {
    RELAYVM_RETURN_IF_ERROR(PlaceTensors(f, module));
  } else {
    RunKernelsTogether(f, module.kernel_infos());
  }
  MarkLastUses(f);
  if (!module.places()) ShareMemory(f);
  ArenaPlan arena = PlanArena(f);
  auto registers = AllocateRegisters(f);
  if (!registers.ok()) {
    const Status why = registers.status().WithContext("function @" + task.name);
    return module.module().sources->Error(why.code(), place, why.message());
  }
  DropIdleInstructions(f);
  FunctionInfo info = InfoOf(task, f, lowering.returns_scalar(), *registers, std::move(arena));

  CodeBuilder builder;
  std::vector<CodeBuilder::Label> labels;
  for (uint32_t i = 0; i < f.num_labels; ++i) labels.push_back(builder.NewLabel());
  for (const MInst& inst : f.code) {
    if (inst.is_label) {
      builder.Bind(labels[inst.label]);
      continue;
    }
    AddLocations(inst, static_cast<uint32_t>(builder.position()), info.locations);
    RELAYVM_RETURN_IF_ERROR(check(inst, true));
    Encode(inst, labels, builder);
  }
  auto units = builder.Finish();
  if (!units.ok()) return units.status().WithContext("function @" + task.name);
  info.code_offset = static_cast<uint32_t>(code.size());
  info.code_size = static_cast<uint32_t>(units->size());
  code.insert(code.end(), units->begin(), units->end());
  return info;
}

// Text files keep their numbers. A node of a model is a file of its own, without lines; so is what
// has no place, where a check of it needs one.
void AddSources(const ir::SourceMap& sources, Program& program) {
  for (uint32_t f = 0; f < sources.num_files(); ++f) {
    program.source_files.push_back(sources.name(f));
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> nodes;
  for (FunctionInfo& function : program.functions) {
    for (SourceLocation& at : function.locations) {
      if (at.file >= sources.num_files()) {  // of a module that was made without a source
        auto [unknown, fresh] = nodes.try_emplace({at.file, 0}, program.source_files.size());
        if (fresh) program.source_files.push_back("?");
        at = {at.pc, unknown->second, 0, 0};
        continue;
      }
      if (!sources.IsModel(at.file)) continue;
      auto [node, fresh] = nodes.try_emplace({at.file, at.line}, program.source_files.size());
      if (fresh) program.source_files.push_back(sources.Place({at.file, at.line}));
      at = {at.pc, node->second, 0, 0};
    }
  }
}

bool HoldsStrings(const ValueType& type) {
  return (type.kind == ValueType::Kind::kTensor && type.dtype == DType::kString) ||
         std::ranges::any_of(type.args, [](const ValueType& arg) { return HoldsStrings(arg); });
}
bool HoldsStrings(const Program& p) {
  using std::ranges::any_of;
  const auto is = [](const auto& t) { return t.dtype == DType::kString; };
  const auto in_type = [](const ValueType& t) { return HoldsStrings(t); };
  return any_of(p.constants, is) || any_of(p.tensor_types, is) ||
         any_of(p.kernels, [&](const KernelInfo& k) { return any_of(k.buffers, is); }) ||
         any_of(p.exports,
                [&](const ExportInfo& e) {
                  return HoldsStrings(e.result) || any_of(e.params, in_type);
                }) ||
         any_of(p.adts, [&](const AdtInfo& adt) {
           return any_of(adt.constructors,
                         [&](const ConstructorInfo& c) { return any_of(c.fields, in_type); });
         });
}

}  // namespace

// The entry and what it reaches. Returns the entry's index.
static Result<uint32_t> LowerFunctions(ModuleLowering& lowering, Program& program,
                                       std::vector<uint16_t>& code) {
  const ir::Module& module = lowering.module();
  if (!module.functions.contains(module.entry)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("there is no function @{} to be the entry", module.entry));
  }
  const uint32_t entry_index = lowering.AdapterIndex(module.entry);
  // Lowering a function may ask for others: the list grows while it is walked.
  for (size_t i = 0; i < lowering.tasks().size(); ++i) {
    FunctionTask task = lowering.tasks()[i];
    RELAYVM_ASSIGN_OR_RETURN(FunctionInfo info, LowerFunction(lowering, task, code));
    program.functions.push_back(std::move(info));
  }
  return entry_index;
}

static Result<LoweredProgram> Lower(const ir::Module& module, const KernelOptions& options,
                                    const LowerOptions& lower) {
  LoweredProgram result;
  Program& program = result.program;
  ModuleLowering lowering(module, options, lower);
  auto code = std::make_shared<std::vector<uint16_t>>();
  RELAYVM_ASSIGN_OR_RETURN(uint32_t entry_index, LowerFunctions(lowering, program, *code));
  if (const ir::Function& entry = *module.functions.at(module.entry); ir::HasOneOfResults(entry)) {
    RELAYVM_ASSIGN_OR_RETURN(entry_index, AddResultOpener(entry, entry_index, program, code.get()));
  }
  program.code = *code;
  program.owners.push_back(code);
  RELAYVM_ASSIGN_OR_RETURN(KernelImage image, lowering.kernels().Finish());
  result.llvm_ir = std::move(image.llvm_ir);
  result.assembly = std::move(image.assembly);
  result.kernel_times = image.times;
  lowering.Finish(program, std::move(image));
  AddSources(*module.sources, program);
  RELAYVM_RETURN_IF_ERROR(AddExport(module, *module.functions.at(module.entry), entry_index,
                                    lowering.hosts(), program, lower.scalars_in_memory));
  if (HoldsStrings(program)) program.strings = module.strings->Texts();
#ifndef NDEBUG
  // What the verifier leaves to the interpreter: no register is read before it is written or after
  // it was taken.
  RELAYVM_RETURN_IF_ERROR(CheckRegisterUse(program));
#endif
  return result;
}

Result<LoweredProgram> LowerModule(const ir::Module& module, const KernelOptions& options,
                                   const LowerOptions& lower) {
  return ir::WithLargeStack([&] { return Lower(module, options, lower); });
}

Result<std::vector<KernelSpec>> KernelsOf(const ir::Module& module, const KernelOptions& options) {
  std::vector<KernelSpec> kernels;
  KernelOptions asking = options;
  asking.schedule_for = [&](const KernelSpec& spec) {
    kernels.push_back(spec);
    return TileSchedule();
  };
  RELAYVM_RETURN_IF_ERROR(ir::WithLargeStack([&]() -> Status {
    Program program;
    std::vector<uint16_t> code;
    ModuleLowering lowering(module, asking);
    return LowerFunctions(lowering, program, code).status();
  }));
  return kernels;
}

}  // namespace relayvm::lower
