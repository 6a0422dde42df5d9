#include "compiler/aot/static_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "bytecode/semantics.h"
#include "bytecode/symbolic_ops.h"
#include "compiler/aot/static_emitter.h"

namespace relayvm::aot {
namespace {

std::optional<uint64_t> TensorBytes(DType dtype, const std::vector<int64_t>& dims) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  int64_t bytes = DTypeBytes(dtype);
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes) || bytes > kLimit) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

// Scalar functions that are native instructions; the others are the runtime's.
bool IsInlineFunction(ScalarFunction fn) {
  using enum ScalarFunction;
  constexpr ScalarFunction kNative[] = {kNegate,    kAbs,   kSqrt,  kFloor,    kCeil, kTrunc,
                                        kRoundEven, kIsNan, kIsInf, kIsFinite, kMin,  kMax};
  return std::ranges::find(kNative, fn) != std::end(kNative);
}

// Whether an instruction of scalars is native instructions; else the runtime computes it.
bool IsInline(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kCallF32:
    case Opcode::kCallF64:
    case Opcode::kCall2F32:
    case Opcode::kCall2F64:
      return IsInlineFunction(static_cast<ScalarFunction>(i.Unit(1)));
    case Opcode::kConvert: {
      const auto from = static_cast<DType>(i.Unit(2)), to = static_cast<DType>(i.Unit(3));
      const auto is_half = [](DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; };
      return !is_half(from) && !is_half(to) && (!IsFloat(from) || IsFloat(to));
    }
    case Opcode::kPowI:
    case Opcode::kPowU:
      return false;
    default:
      return true;
  }
}

// Scalars that constants decide.
struct ConstantMachine : SymbolicOps {
  std::map<uint16_t, Dim>& constants;

  explicit ConstantMachine(std::map<uint16_t, Dim>& known) : constants(known) {}
  Int Scalar(uint16_t reg) const {
    const auto known = constants.find(reg);
    return known == constants.end() ? std::nullopt : Int(known->second);
  }
  void SetScalar(uint16_t reg, const Int& value) {
    constants.erase(reg);
    if (value) constants.emplace(reg, *value);
  }
};

class Planner {
 public:
  explicit Planner(const Program& program) : program_(program) {
    plan_.frames.resize(program.functions.size());
    states_.resize(program.functions.size(), State::kNew);
  }

  Result<StaticPlan> Run() {
    for (const ExportInfo& e : program_.exports) {
      for (const ValueType& type : e.params) CheckBorder(e, type);
      CheckBorder(e, e.result);
      if (plan_.possible()) RELAYVM_RETURN_IF_ERROR(Visit(e.function, 0));
    }
    for (State state : states_) plan_.is_reached.push_back(state == State::kDone);
    return std::move(plan_);
  }

 private:
  enum class State : uint8_t { kNew, kActive, kDone };

  void CheckBorder(const ExportInfo& e, const ValueType& type) {
    if (IsStatic(type) || !plan_.possible()) return;
    plan_.obstacle = fmt::format("{}: it takes or gives what is no tensor of static shape", e.name);
  }

  void Obstacle(uint32_t function, const std::string& what) {
    if (plan_.possible())
      plan_.obstacle = fmt::format("{}: {}", program_.functions[function].name, what);
  }

  Status Visit(uint32_t function, int depth) {
    constexpr int kMostCalls = 200;
    if (states_[function] == State::kDone || !plan_.possible()) return OkStatus();
    if (states_[function] == State::kActive || depth > kMostCalls) {
      Obstacle(function, "it is recursive");
      return OkStatus();
    }
    states_[function] = State::kActive;
    RELAYVM_RETURN_IF_ERROR(PlanFunction(function, depth));
    states_[function] = State::kDone;
    return OkStatus();
  }

  // A function's frame in the making.
  struct Open {
    uint32_t function;
    int depth;                                         // of calls
    std::vector<uint32_t> targets;                     // of jumps, in order
    std::vector<std::pair<uint32_t, uint32_t>> loops;  // the pcs of their first and last
    StaticFrame frame;
    uint64_t scratch = 0, calls = 0;     // the most bytes
    std::vector<uint32_t> shared_calls;  // the pcs of those that share a place
    std::map<uint16_t, Dim> constants;   // by register
  };

  Status PlanFunction(uint32_t function, int depth) {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<PlacedInstruction> code,
                             DecodeFunction(program_, function));
    Open f{.function = function, .depth = depth};
    FindJumps(code, f);
    f.frame.bytes = RoundUp(program_.functions[function].arena_bytes);
    for (const PlacedInstruction& placed : code) {
      if (std::ranges::binary_search(f.targets, placed.pc)) f.constants.clear();
      RELAYVM_RETURN_IF_ERROR(PlanInstruction(placed, f));
      if (!plan_.possible()) return OkStatus();
      const Instruction& i = placed.instruction;
      ConstantMachine machine(f.constants);
      if (!RunScalar(machine, i) && i.info->operands[0] == OperandKind::IOUT)
        f.constants.erase(i.Unit(0));
    }
    f.frame.scratch_offset = f.frame.bytes;
    f.frame.bytes += RoundUp(f.scratch);
    for (const uint32_t pc : f.shared_calls) f.frame.offsets[pc] = f.frame.bytes;
    f.frame.bytes += f.calls;
    plan_.frames[function] = std::move(f.frame);
    return OkStatus();
  }

  // Only a backward jump makes a loop: what lies between it and its target.
  static void FindJumps(const std::vector<PlacedInstruction>& code, Open& f) {
    for (const auto& [pc, i] : code) {
      ForEachTarget(i, [&, from = pc](int32_t distance) {
        const auto target = static_cast<uint32_t>(static_cast<int64_t>(from) + distance);
        f.targets.push_back(target);
        if (distance <= 0) f.loops.emplace_back(target, from);
      });
      if (i.opcode == Opcode::kTailCall && i.Unit(0) == f.function) f.loops.emplace_back(0, pc);
    }
    std::ranges::sort(f.targets);
  }

  // A place for what the instruction makes, if it makes something.
  Status PlanInstruction(const PlacedInstruction& placed, Open& f) {
    const Instruction& i = placed.instruction;
    switch (i.opcode) {
      case Opcode::kTensorStatic: {
        const TensorTypeInfo& type = program_.tensor_types[i.Unit(1)];
        Place(placed, TensorBytes(type.dtype, type.dims), f);
        break;
      }
      case Opcode::kTensorAlloc:
        Place(placed, AllocatedBytes(i, 1, f), f);
        break;
      case Opcode::kTensorReuse:
        Place(placed, AllocatedBytes(i, 2, f), f);
        break;
      case Opcode::kTensorBox:
        Place(placed, DTypeBytes(static_cast<DType>(i.Unit(2))), f);
        break;
      case Opcode::kAdtNew:
        Place(placed, uint64_t{sizeof(void*)} * i.Count(2), f);
        break;
      case Opcode::kKernel:
        if (const auto bytes = f.constants.find(i.Unit(3)); bytes != f.constants.end()) {
          f.scratch = std::max(f.scratch,
                               static_cast<uint64_t>(std::max<int64_t>(bytes->second.value(), 0)));
        } else {
          Obstacle(f.function, "a kernel's scratch is of open size");
        }
        [[fallthrough]];
      case Opcode::kKernel1:
        if (const KernelInfo& kernel = program_.kernels[i.Unit(0)]; kernel.builtin)
          Obstacle(f.function, fmt::format("kernel {} is of the runtime", kernel.name));
        break;
      case Opcode::kCallI:
      case Opcode::kCallR:
        return PlanCall(placed, i.Unit(1), f);
      case Opcode::kTailCall:
        return i.Unit(0) == f.function ? OkStatus() : PlanCall(placed, i.Unit(0), f);
      default:
        if (!IsInline(i)) Obstacle(f.function, fmt::format("it computes {}", i.info->mnemonic));
        if (KindOf(i.opcode) == RowKind::kOther && !ObjectRowOf<StaticEmitter>(i.opcode))
          Obstacle(f.function, fmt::format("it has {}", i.info->mnemonic));
        break;
    }
    return OkStatus();
  }

  Status PlanCall(const PlacedInstruction& placed, uint32_t callee, Open& f) {
    RELAYVM_RETURN_IF_ERROR(Visit(callee, f.depth + 1));
    if (!plan_.possible()) return OkStatus();
    if (program_.functions[callee].returns_scalar) {
      f.shared_calls.push_back(placed.pc);
      f.calls = std::max(f.calls, plan_.frames[callee].bytes);
    } else {
      Place(placed, plan_.frames[callee].bytes, f);
    }
    return OkStatus();
  }

  void Place(const PlacedInstruction& placed, std::optional<uint64_t> bytes, Open& f) {
    const auto& [pc, i] = placed;
    const auto holds = [at = pc](const auto& l) { return l.first <= at && at <= l.second; };
    if (!bytes)
      return Obstacle(f.function, fmt::format("{} makes a tensor of open size", i.info->mnemonic));
    if (std::ranges::any_of(f.loops, holds))
      return Obstacle(f.function, fmt::format("{} stands in a loop", i.info->mnemonic));
    f.frame.offsets[pc] = f.frame.bytes;
    f.frame.bytes += RoundUp(std::max<uint64_t>(*bytes, 1));
  }

  // Of a tensor whose dtype is the operand, and its dims those that follow.
  static std::optional<uint64_t> AllocatedBytes(const Instruction& i, int operand, const Open& f) {
    std::vector<int64_t> dims;
    for (const uint16_t reg : i.List(operand + 1)) {
      const auto known = f.constants.find(reg);
      if (known == f.constants.end()) return std::nullopt;
      dims.push_back(known->second.value());
    }
    return TensorBytes(static_cast<DType>(i.Unit(operand)), dims);
  }

  const Program& program_;
  StaticPlan plan_;
  std::vector<State> states_;
};

}  // namespace

Result<std::vector<PlacedInstruction>> DecodeFunction(const Program& program, uint32_t function) {
  const FunctionInfo& f = program.functions[function];
  const std::span<const uint16_t> units = program.code.subspan(f.code_offset, f.code_size);
  std::vector<PlacedInstruction> code;
  for (size_t at = 0; at < units.size(); at += code.back().instruction.size()) {
    code.push_back({static_cast<uint32_t>(at), {}});
    RELAYVM_RETURN_IF_ERROR(DecodeInstruction(units, at, &code.back().instruction));
  }
  return code;
}

bool IsStatic(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return TensorBytes(type.dtype, type.dims).has_value();
  return type.kind == ValueType::Kind::kTuple && std::ranges::all_of(type.args, IsStatic);
}

uint64_t BytesOf(const ValueType& type) { return TensorBytes(type.dtype, type.dims).value_or(0); }

Result<StaticPlan> PlanStatically(const Program& program) { return Planner(program).Run(); }

}  // namespace relayvm::aot
