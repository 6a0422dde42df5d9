// Random bytecode that the verifier accepts never crashes the interpreter: it runs, fails with a
// status, or is stopped.
#include <random>

#include "bytecode/base/shape_rule.h"
#include "bytecode/code_builder.h"
#include "bytecode/verifier.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

constexpr uint16_t kScalars = 8, kObjects = 8, kFunctions = 4;
constexpr int kLabels = 7;

ValueType Int64Pair() {
  ValueType element, pair;
  element.dtype = DType::kInt64;
  pair.kind = ValueType::Kind::kTuple;
  pair.args = {element, element};
  return pair;
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Program Make() {
    Program program;
    program.bytecode_version = kBytecodeVersion;
    program.messages = {"trapped"};
    KernelInfo& touch = program.kernels.emplace_back();
    touch.name = "touch";
    touch.builtin = true;
    touch.num_scalars = 1;
    // Reads int64[4], writes int64[min(max(s0, 0), 8)].
    using Kind = SizeStep::Kind;
    touch.buffers = {{.dtype = DType::kInt64, .shape = {{Kind::kConst, 4}, {Kind::kDim}}},
                     {.dtype = DType::kInt64,
                      .written = true,
                      .may_share = {0},
                      .shape = {{Kind::kScalar, 0},
                                {Kind::kConst, 0},
                                {Kind::kMax},
                                {Kind::kConst, 8},
                                {Kind::kMin},
                                {Kind::kDim}}}};
    program.host_functions = {{"swap", {Int64Pair()}, Int64Pair()}};
    program.tensor_types = {{DType::kFloat32, {3, 4}}, {DType::kInt8, {}}};
    alignas(64) static const int64_t kData[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    program.constants = {
        {DType::kInt64, {2, 4}, "", SharedBytes::Copy(std::as_bytes(std::span(kData)))}};
    auto code = std::make_shared<std::vector<uint16_t>>();
    // Functions 0 (main) and 1 take and return objects; 2 and 3 take scalars too, and 3 returns
    // one.
    for (uint16_t f = 0; f < kFunctions; ++f) {
      FunctionInfo info;
      info.name = fmt::format("f{}", f);
      info.num_scalar_args = ScalarArgs(f);
      info.num_object_args = ObjectArgs(f);
      info.num_captured = f == 1 ? 1 : 0;
      info.num_scalar_registers = kScalars;
      info.num_object_registers = kObjects;
      info.returns_scalar = f == 3;
      info.arena_bytes = f % 2 == 0 ? 128 : 0;
      if (f % 2 == 0) info.slots = {{0, 64}, {64, 64}};
      info.code_offset = static_cast<uint32_t>(code->size());
      std::vector<uint16_t> body = Function(f);
      info.code_size = static_cast<uint32_t>(body.size());
      code->insert(code->end(), body.begin(), body.end());
      program.functions.push_back(std::move(info));
    }
    ValueType any;
    any.kind = ValueType::Kind::kTensor;
    any.dtype = DType::kInt64;
    ExportInfo main;
    main.name = "main";
    main.function = 0;
    main.params = {any, any};
    main.param_names = {"a", "b"};
    main.result = any;
    program.exports.push_back(std::move(main));
    program.code = *code;
    program.owners.push_back(code);
    return program;
  }

 private:
  static uint16_t ScalarArgs(uint16_t f) { return f >= 2 ? 2 : 0; }
  static uint16_t ObjectArgs(uint16_t f) { return f == 3 ? 1 : 2; }
  uint32_t Below(uint32_t n) { return random_() % n; }

  std::vector<uint16_t> Function(uint16_t f) {
    CodeBuilder b;
    std::vector<CodeBuilder::Label> labels;
    for (int i = 0; i < kLabels; ++i) labels.push_back(b.NewLabel());
    // Few registers are empty, so that programs get far.
    for (uint16_t r = ObjectArgs(f); r < kObjects; ++r) {
      if (Below(16) != 0) b.Op(Opcode::kConstR).R(r).Unit(0);
    }
    const int length = 10 + static_cast<int>(Below(40));
    next_label_ = 0;
    for (int i = 0; i < length; ++i) {
      // The last label is the end.
      for (; next_label_ + 1 < kLabels && next_label_ * length / kLabels <= i; ++next_label_) {
        b.Bind(labels[static_cast<size_t>(next_label_)]);
      }
      left_ = length - i;
      Instruction(b, f, labels);
    }
    for (; next_label_ < kLabels; ++next_label_) {
      b.Bind(labels[static_cast<size_t>(next_label_)]);
    }
    if (f == 3) {
      b.Op(Opcode::kReturnI).I(Below(kScalars));
    } else {
      auto result = static_cast<uint16_t>(Below(kObjects));
      if (Below(4) != 0) b.Op(Opcode::kConstR).R(result).Unit(0);
      b.Op(Opcode::kReturnR).R(result, true);
    }
    Result<std::vector<uint16_t>> code = b.Finish();
    REQUIRE_MESSAGE(code.ok(), code.status().message());
    return *std::move(code);
  }

  // Most jumps go forward: programs end.
  CodeBuilder::Label Target(const std::vector<CodeBuilder::Label>& labels) {
    if (Below(16) == 0) return labels[Below(kLabels)];
    return labels[static_cast<size_t>(next_label_) +
                  Below(static_cast<uint32_t>(kLabels - next_label_))];
  }

  // Those that may call what calls them; seldom too.
  static bool MayRecurse(Opcode opcode, uint16_t f) {
    switch (opcode) {
      case Opcode::kCallR:
      case Opcode::kTailCall:
        return f >= 2;
      case Opcode::kCallI:
        return f == 3;
      case Opcode::kCallClosure:
      case Opcode::kTailClosure:
        return f >= 1;
      default:
        return false;
    }
  }

  // Those that fail on most objects or numbers; they come seldom, so that programs get far.
  static bool MayFail(Opcode opcode) {
    switch (opcode) {
      case Opcode::kAdtGet:
      case Opcode::kAdtTag:
      case Opcode::kSwitchTag:
      case Opcode::kRefGet:
      case Opcode::kRefSet:
      case Opcode::kCallClosure:
      case Opcode::kTailClosure:
      case Opcode::kTensorDim:
      case Opcode::kTensorItem:
      case Opcode::kTensorView:
      case Opcode::kTensorReuse:
      case Opcode::kTensorAppend:
      case Opcode::kTensorAlloc:
      case Opcode::kKernel:
      case Opcode::kKernel1:
      case Opcode::kKernels:
      case Opcode::kDimTensor:
      case Opcode::kDimShape:
      case Opcode::kCallHost:
        return true;
      default:
        return KindOf(opcode) == RowKind::kFallible;
    }
  }

  void Instruction(CodeBuilder& b, uint16_t f, const std::vector<CodeBuilder::Label>& labels) {
    // Registers taken by this instruction, or by those that run together: none is named again.
    if (together_ == 0) taken_ = 0;
    Opcode opcode;
    do {
      opcode = static_cast<Opcode>(Below(kNumOpcodes));
      if (together_ > 0) opcode = Below(2) == 0 ? Opcode::kKernel : Opcode::kKernel1;
    } while ((opcode == Opcode::kKernels && left_ <= kMaxKernelsTogether) ||
             opcode == Opcode::kReturnI || opcode == Opcode::kReturnR ||
             (opcode == Opcode::kTailClosure && f == 3) ||
             (opcode == Opcode::kSlotItem && f % 2 != 0) ||
             (MayFail(opcode) && together_ == 0 && Below(24) != 0) ||
             (MayRecurse(opcode, f) && Below(24) != 0));
    if (together_ > 0) --together_;
    if (opcode == Opcode::kKernels) {
      together_ = 2 + static_cast<int>(Below(kMaxKernelsTogether - 1));
      b.Op(opcode).Imm16(static_cast<int16_t>(together_));
      return;
    }
    // A later function, if there is one that returns the same.
    auto callee = static_cast<uint16_t>(f < 2 && Below(24) != 0 ? f + 1 + Below(2u - f) : Below(3));
    if (opcode == Opcode::kCallI || (opcode == Opcode::kTailCall && f == 3)) callee = 3;
    if (opcode == Opcode::kClosureNew) callee = 1;
    CodeBuilder::Instruction op = b.Op(opcode);
    const OpcodeInfo& info = GetOpcodeInfo(opcode);
    bool scalar_list_given = false;
    for (int i = 0; i < info.num_operands; ++i) {
      switch (info.operands[static_cast<size_t>(i)]) {
        case OperandKind::IOUT:
        case OperandKind::IIN:
          op.I(Below(kScalars));
          break;
        case OperandKind::ROUT:
          op.R(Below(kObjects));
          break;
        case OperandKind::RIN: {
          uint16_t operand = ObjectOperand();
          op.R(operand & kRegisterMask, (operand & kTakeBit) != 0);
          break;
        }
        case OperandKind::IMM16:
          // Of a copy, the device: the host.
          op.Imm16(opcode == Opcode::kTensorCopy ? 0 : static_cast<int16_t>(Below(20)) - 10);
          break;
        case OperandKind::IMM32:
          op.Imm32(Below(4));
          break;
        case OperandKind::IMM64:
          op.Imm64(static_cast<int64_t>(random_()) << Below(32));
          break;
        case OperandKind::DTYPE: {
          static constexpr DType kTypes[] = {DType::kInt64, DType::kInt8, DType::kUInt32,
                                             DType::kInt16};
          op.Type(kTypes[Below(4)]);
          break;
        }
        case OperandKind::FUNC:
          op.Unit(callee);
          break;
        case OperandKind::CONST:
        case OperandKind::HOST:
        case OperandKind::KERNEL:
        case OperandKind::MESSAGE:
          op.Unit(0);
          break;
        case OperandKind::TYPE:
        case OperandKind::SLOT:
          op.Unit(Below(2));
          break;
        case OperandKind::TAG:
        case OperandKind::FIELD:
          op.Unit(Below(3));
          break;
        case OperandKind::CMP:
          op.Cmp(static_cast<Comparison>(Below(kNumComparisons)));
          break;
        case OperandKind::FN: {
          bool binary = opcode == Opcode::kCall2F32 || opcode == Opcode::kCall2F64;
          op.Fn(static_cast<ScalarFunction>(
              binary ? kFirstBinaryScalarFunction +
                           static_cast<int>(Below(kNumScalarFunctions - kFirstBinaryScalarFunction))
                     : static_cast<int>(Below(kFirstBinaryScalarFunction))));
          break;
        }
        case OperandKind::TARGET:
          op.To(Target(labels));
          break;
        case OperandKind::TARGETS: {
          std::vector<CodeBuilder::Label> targets;
          for (uint32_t n = Below(4); n > 0; --n) targets.push_back(Target(labels));
          op.Targets(targets);
          break;
        }
        case OperandKind::RULE:
          op.Unit(Below(kNumShapeRules));
          break;
        case OperandKind::ILIST:
        case OperandKind::OLIST: {
          uint32_t n = Below(3);
          if (opcode == Opcode::kCallI || opcode == Opcode::kCallR || opcode == Opcode::kTailCall)
            n = ScalarArgs(callee);
          if (opcode == Opcode::kKernel || opcode == Opcode::kKernel1) n = 1;
          std::vector<uint16_t> list;
          for (; n > 0; --n) list.push_back(static_cast<uint16_t>(Below(kScalars)));
          op.IList(list);
          scalar_list_given = true;
          break;
        }
        case OperandKind::RLIST: {
          uint32_t n = Below(4);
          if (scalar_list_given) n = ObjectArgs(callee);
          if (opcode == Opcode::kClosureNew || opcode == Opcode::kCallHost) n = 1;
          std::vector<uint16_t> list;
          for (; n > 0; --n) list.push_back(ObjectOperand());
          op.RList(list);
          break;
        }
        case OperandKind::BUFS: {
          std::vector<BufferOperand> buffers;
          for (int n = 0; n < 2; ++n) {
            uint32_t kind = Below(f % 2 == 0 ? 3 : 2);
            if (kind == 0) {
              uint16_t operand = ObjectOperand();
              buffers.push_back({BufferKind::kRegister,
                                 static_cast<uint16_t>(operand & kRegisterMask),
                                 (operand & kTakeBit) != 0});
            } else if (kind == 1) {
              buffers.push_back({BufferKind::kConstant, 0, false});
            } else {
              buffers.push_back({BufferKind::kSlot, static_cast<uint16_t>(Below(2)), false});
            }
          }
          op.Bufs(buffers);
          break;
        }
      }
    }
  }

  uint16_t ObjectOperand() {
    for (;;) {
      auto reg = static_cast<uint16_t>(Below(kObjects));
      if ((taken_ >> reg & 1) != 0) continue;
      if (Below(16) == 0) {
        taken_ |= 1u << reg;
        return static_cast<uint16_t>(reg | kTakeBit);
      }
      return reg;
    }
  }

  std::mt19937 random_;
  uint32_t taken_ = 0;
  int together_ = 0;    // calls that are left of those that run together
  int left_ = 0;        // instructions
  int next_label_ = 0;  // the first that is not bound yet
};

TEST_CASE("random programs: run, fail or are stopped, but never crash; the same in slices") {
  Builtin touch = {"touch",
                   [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin,
                      uint32_t) -> int32_t {
                     const auto* in = static_cast<const int64_t*>(args->buffers[0]);
                     auto* out = static_cast<int64_t*>(args->buffers[1]);
                     const int64_t n = std::clamp<int64_t>(args->scalars[0], 0, 8);
                     for (int64_t i = 0; i < n; ++i) out[i] = in[i % 4];
                     return n == 7 && begin > 0 ? 1 : 0;
                   }};
  const HostFunction swap = {"swap", "fn ((int64, int64)) -> (int64, int64)",
                             [](HostCall& call) -> Result<Value> {
                               const Value& pair = call.args()[0];
                               return Value::Tuple({pair.field(1), pair.field(0)});
                             }};
  auto runtime = testing::TestRuntime();
  int ok = 0, failed = 0, rejected = 0;
  for (uint32_t seed = 0; seed < 3000 / testing::kSlowdown; ++seed) {
    CAPTURE(seed);
    LoadOptions load;
    load.kernels = {&touch, 1};
    load.host_functions = {&swap, 1};
    auto executable = Executable::FromProgram(Generator(seed).Make(), load);
    if (!executable.ok()) {
      ++rejected;  // a register named again after it was taken, or the like
      continue;
    }
    auto invocation = Invocation::Create(
        runtime, *executable,
        {.memory_limit = 4 << 20, .stack_limit = 1 << 20, .timeout = std::chrono::milliseconds(2)});
    REQUIRE(invocation.ok());
    Result<Value> result = (*invocation)->Run("main", testing::Int64Values({3, 4}));
    ++(result.ok() ? ok : failed);
    if (!result.ok()) CHECK(result.status().code() != StatusCode::kInternal);
    if (result.status().code() == StatusCode::kDeadlineExceeded) continue;
    // In slices it does the same.
    (*invocation)->set_timeout(std::chrono::seconds(5));
    REQUIRE((*invocation)->Start("main", testing::Int64Values({3, 4})).ok());
    while ((*invocation)->Poll(std::chrono::microseconds(1)) != RunState::kDone) {
    }
    Result<Value> again = (*invocation)->TakeResult();
    CHECK(again.status().code() == result.status().code());
    CHECK(again.status().message() == result.status().message());
    if (result.ok() && again.ok()) CHECK(again->kind() == result->kind());
  }
  CAPTURE(rejected);
  CHECK(rejected < 2000 / testing::kSlowdown);
  CHECK(ok > 1500 / testing::kSlowdown);
  CHECK(failed > 200 / testing::kSlowdown);
}

}  // namespace
}  // namespace relayvm
