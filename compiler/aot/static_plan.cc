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
  switch (fn) {
    case ScalarFunction::kNegate:
    case ScalarFunction::kAbs:
    case ScalarFunction::kSqrt:
    case ScalarFunction::kFloor:
    case ScalarFunction::kCeil:
    case ScalarFunction::kTrunc:
    case ScalarFunction::kRoundEven:
    case ScalarFunction::kIsNan:
    case ScalarFunction::kIsInf:
    case ScalarFunction::kIsFinite:
    case ScalarFunction::kMin:
    case ScalarFunction::kMax:
      return true;
    default:
      return false;
  }
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

  Status PlanFunction(uint32_t function, int depth) {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<PlacedInstruction> code,
                             DecodeFunction(program_, function));
    // Only a backward jump makes a loop: what lies between it and its target.
    std::vector<uint32_t> targets;
    std::vector<std::pair<uint32_t, uint32_t>> loops;
    for (const auto& [pc, i] : code) {
      ForEachTarget(i, [&](int32_t distance) {
        const auto target = static_cast<uint32_t>(static_cast<int64_t>(pc) + distance);
        targets.push_back(target);
        if (distance <= 0) loops.emplace_back(target, pc);
      });
      if (i.opcode == Opcode::kTailCall && i.Unit(0) == function) loops.emplace_back(0, pc);
    }
    std::ranges::sort(targets);
    StaticFrame frame;
    frame.bytes = RoundUp(program_.functions[function].arena_bytes);
    uint64_t scratch = 0, calls = 0;
    std::map<uint32_t, uint32_t> shared_calls;  // pc -> callee
    std::map<uint16_t, Dim> constants;          // by register
    for (const auto& [pc, i] : code) {
      if (std::ranges::binary_search(targets, pc)) constants.clear();
      const bool in_loop = std::ranges::any_of(
          loops, [at = pc](const auto& l) { return l.first <= at && at <= l.second; });
      const auto place = [&, at = pc](std::optional<uint64_t> bytes) {
        if (!bytes)
          return Obstacle(function,
                          fmt::format("{} makes a tensor of open size", i.info->mnemonic));
        if (in_loop)
          return Obstacle(function, fmt::format("{} stands in a loop", i.info->mnemonic));
        frame.offsets[at] = frame.bytes;
        frame.bytes += RoundUp(std::max<uint64_t>(*bytes, 1));
      };
      const auto dims = [&](int operand) -> std::optional<std::vector<int64_t>> {
        std::vector<int64_t> values;
        for (uint16_t reg : i.List(operand)) {
          const auto known = constants.find(reg);
          if (known == constants.end()) return std::nullopt;
          values.push_back(known->second.value());
        }
        return values;
      };
      switch (i.opcode) {
        case Opcode::kTensorStatic: {
          const TensorTypeInfo& type = program_.tensor_types[i.Unit(1)];
          place(TensorBytes(type.dtype, type.dims));
          break;
        }
        case Opcode::kTensorAlloc: {
          const auto known = dims(2);
          place(known ? TensorBytes(static_cast<DType>(i.Unit(1)), *known) : std::nullopt);
          break;
        }
        case Opcode::kTensorReuse: {
          const auto known = dims(3);
          place(known ? TensorBytes(static_cast<DType>(i.Unit(2)), *known) : std::nullopt);
          break;
        }
        case Opcode::kTensorBox:
          place(DTypeBytes(static_cast<DType>(i.Unit(2))));
          break;
        case Opcode::kAdtNew:
          place(uint64_t{sizeof(void*)} * i.Count(2));
          break;
        case Opcode::kKernel: {
          const auto bytes = constants.find(i.Unit(3));
          if (bytes == constants.end())
            Obstacle(function, "a kernel's scratch is of open size");
          else
            scratch = std::max(scratch,
                               static_cast<uint64_t>(std::max<int64_t>(bytes->second.value(), 0)));
          [[fallthrough]];
        }
        case Opcode::kKernel1:
          if (program_.kernels[i.Unit(0)].builtin)
            Obstacle(function,
                     fmt::format("kernel {} is of the runtime", program_.kernels[i.Unit(0)].name));
          break;
        case Opcode::kCallI:
        case Opcode::kCallR:
        case Opcode::kTailCall: {
          const uint32_t callee = i.Unit(i.opcode == Opcode::kTailCall ? 0 : 1);
          if (i.opcode == Opcode::kTailCall && callee == function) break;
          RELAYVM_RETURN_IF_ERROR(Visit(callee, depth + 1));
          if (!plan_.possible()) break;
          if (program_.functions[callee].returns_scalar) {
            shared_calls[pc] = callee;
            calls = std::max(calls, plan_.frames[callee].bytes);
          } else {
            place(plan_.frames[callee].bytes);
          }
          break;
        }
        case Opcode::kCallF32:
        case Opcode::kCallF64:
        case Opcode::kCall2F32:
        case Opcode::kCall2F64:
        case Opcode::kConvert:
        case Opcode::kPowI:
        case Opcode::kPowU:
          if (!IsInline(i)) Obstacle(function, fmt::format("it computes {}", i.info->mnemonic));
          break;
        default:
          if (KindOf(i.opcode) == RowKind::kOther && !ObjectRowOf<StaticEmitter>(i.opcode))
            Obstacle(function, fmt::format("it has {}", i.info->mnemonic));
          break;
      }
      if (!plan_.possible()) return OkStatus();
      ConstantMachine machine(constants);
      if (!RunScalar(machine, i) && i.info->operands[0] == OperandKind::IOUT)
        constants.erase(i.Unit(0));
    }
    frame.scratch_offset = frame.bytes;
    frame.bytes += RoundUp(scratch);
    for (const auto& [pc, callee] : shared_calls) frame.offsets[pc] = frame.bytes;
    frame.bytes += calls;
    plan_.frames[function] = std::move(frame);
    return OkStatus();
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
