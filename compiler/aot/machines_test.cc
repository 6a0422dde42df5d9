// Random programs on scalars do the same on all machines of bytecode/semantics.h: the interpreter,
// the graph builder, formulas and native code. Instructions are made from opcodes.def, so that a
// new row of scalars is tried everywhere, or fails here.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <algorithm>
#include <limits>
#include <random>
#include <ranges>
#include <set>

#include "bytecode/code_builder.h"
#include "bytecode/scalar_ops.h"
#include "bytecode/semantics.h"
#include "bytecode/symbolic_ops.h"
#include "compiler/aot/aot.h"
#include "compiler/aot/heap_emitter.h"
#include "compiler/graph/build_graph.h"
#include "vm/aot/native_program.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr uint16_t kInputs = 4, kRegisters = 8;
constexpr int kLength = 40;
using Numbers = std::vector<int64_t>;

// --- Programs ---

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {
    while (body_.size() < kLength) AddInstruction();
  }

  Numbers Inputs() {
    Numbers numbers;
    for (uint16_t i = 0; i < kInputs; ++i) numbers.push_back(Number());
    return numbers;
  }

  // Of four tensors; gives all registers as a tuple. With `inputs` these stand in the code.
  Program Make(const Numbers* inputs) const {
    CodeBuilder b;
    for (uint16_t i = 0; i < kInputs; ++i) {
      if (inputs == nullptr)
        b.Op(Opcode::kTensorItem).I(i).R(i, true).Type(DType::kInt64).Imm32(0);
      else
        b.Op(Opcode::kConstI64).I(i).Imm64((*inputs)[i]);
    }
    std::vector<CodeBuilder::Label> labels;
    for (size_t i = 0; i <= body_.size(); ++i) labels.push_back(b.NewLabel());
    for (size_t i = 0; i < body_.size(); ++i) {
      b.Bind(labels[i]);
      Append(b, body_[i], std::span(labels).subspan(i + 1));
    }
    b.Bind(labels.back());
    std::vector<uint16_t> fields;
    for (uint16_t i = 0; i < kRegisters; ++i) {
      b.Op(Opcode::kTensorBox).R(i).I(i).Type(DType::kInt64);
      fields.push_back(i | kTakeBit);
    }
    b.Op(Opcode::kAdtNew).R(0).Unit(0).RList(fields);
    b.Op(Opcode::kReturnR).R(0, true);
    auto code = b.Finish();
    REQUIRE_MESSAGE(code.ok(), code.status().message());
    return MakeProgram(*std::move(code));
  }

 private:
  struct Drawn {
    Opcode opcode;
    std::vector<int64_t> operands;
    std::vector<uint16_t> list;
  };

  static Program MakeProgram(std::vector<uint16_t> units) {
    Program program;
    program.bytecode_version = kBytecodeVersion;
    program.messages = {"plain", "{0} and {1}"};
    FunctionInfo& f = program.functions.emplace_back();
    f.name = "main";
    f.num_object_args = kInputs;
    f.num_scalar_registers = f.num_object_registers = kRegisters;
    f.code_size = static_cast<uint32_t>(units.size());
    ValueType number, all;
    number.dtype = DType::kInt64;
    all.kind = ValueType::Kind::kTuple;
    all.args.assign(kRegisters, number);
    ExportInfo& main = program.exports.emplace_back();
    main.name = "main";
    main.params.assign(kInputs, number);
    for (int i = 0; i < kInputs; ++i) main.param_names.push_back(fmt::format("x{}", i));
    main.result = all;
    auto code = std::make_shared<std::vector<uint16_t>>(std::move(units));
    program.code = *code;
    program.owners.push_back(code);
    return program;
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  int64_t Number() {
    constexpr int64_t kNumbers[] = {0,
                                    1,
                                    -1,
                                    2,
                                    63,
                                    64,
                                    -7,
                                    1 << 20,
                                    INT32_MAX,
                                    INT32_MIN,
                                    INT64_MAX,
                                    INT64_MIN,
                                    0x3f800000,
                                    0x7f800000,
                                    0x80000000,
                                    0x4049'0fdb,
                                    0x3ff0'0000'0000'0000,
                                    0x4009'21fb'5444'2d18};
    if (Below(4) == 0) return static_cast<int64_t>(random_());
    if (Below(2) == 0) return static_cast<int64_t>(Below(20)) - 10;
    return kNumbers[Below(std::size(kNumbers))];
  }

  void AddInstruction() {
    Opcode opcode;
    do {
      opcode = static_cast<Opcode>(Below(kNumOpcodes));
    } while (KindOf(opcode) == RowKind::kOther ||
             (KindOf(opcode) == RowKind::kFallible && Below(6) != 0) ||
             (EndsControl(opcode) && Below(6) != 0));
    Drawn drawn{opcode, {}, {}};
    const OpcodeInfo& info = GetOpcodeInfo(opcode);
    for (int i = 0; i < info.num_operands; ++i)
      drawn.operands.push_back(Operand(opcode, info.operands[static_cast<size_t>(i)], drawn));
    body_.push_back(drawn);
    if (info.mnemonic.ends_with("f32") || opcode == Opcode::kConvert)
      DropNan(ScalarFunction::kIsNan, Opcode::kCallF32, drawn.operands[0]);
    if (info.mnemonic.ends_with("f64") || opcode == Opcode::kConvert)
      DropNan(ScalarFunction::kIsNan, Opcode::kCallF64, drawn.operands[0]);
  }

  // Which NaN an operation gives is the processor's and the C compiler's choice: the register
  // becomes 0 or 1.
  void DropNan(ScalarFunction is_nan, Opcode opcode, int64_t reg) {
    const auto flag = (reg + 1) % kRegisters;
    body_.push_back({opcode, {flag, static_cast<int64_t>(is_nan), reg}, {}});
    body_.push_back({Opcode::kSelectI, {reg, flag, flag, reg}, {}});
  }

  int64_t Operand(Opcode opcode, OperandKind kind, Drawn& drawn) {
    const bool binary = opcode == Opcode::kCall2F32 || opcode == Opcode::kCall2F64;
    switch (kind) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
        return Below(kRegisters);
      case OperandKind::IMM16:
        return static_cast<int16_t>(Number());
      case OperandKind::IMM64:
        return Number();
      case OperandKind::MESSAGE:
        return Below(2);
      case OperandKind::CMP:
        return Below(kNumComparisons);
      case OperandKind::FN:
        return binary ? kFirstBinaryScalarFunction +
                            Below(kNumScalarFunctions - kFirstBinaryScalarFunction)
                      : Below(kFirstBinaryScalarFunction);
      case OperandKind::DTYPE: {
        constexpr DType kInts[] = {DType::kBool,   DType::kInt8,    DType::kInt16,  DType::kInt32,
                                   DType::kInt64,  DType::kUInt8,   DType::kUInt16, DType::kUInt32,
                                   DType::kUInt64, DType::kFloat32, DType::kFloat64};
        return static_cast<int64_t>(kInts[Below(opcode == Opcode::kWrap ? 9 : 11)]);
      }
      case OperandKind::ILIST:
        for (uint32_t n = Below(3); n > 0; --n)
          drawn.list.push_back(static_cast<uint16_t>(Below(kRegisters)));
        return 0;
      case OperandKind::TARGET:  // how many instructions are passed
        return Below(4);
      default:
        FAIL("a machine of scalars has no operand of kind " << OperandKindName(kind));
        return 0;
    }
  }

  // `labels`: of what comes next, then.
  static void Append(CodeBuilder& b, const Drawn& drawn,
                     std::span<const CodeBuilder::Label> labels) {
    const OpcodeInfo& info = GetOpcodeInfo(drawn.opcode);
    CodeBuilder::Instruction op = b.Op(drawn.opcode);
    for (int i = 0; i < info.num_operands; ++i) {
      const int64_t operand = drawn.operands[static_cast<size_t>(i)];
      switch (info.operands[static_cast<size_t>(i)]) {
        case OperandKind::IOUT:
        case OperandKind::IIN:
          op.I(static_cast<uint32_t>(operand));
          break;
        case OperandKind::IMM16:
          op.Imm16(operand);
          break;
        case OperandKind::IMM64:
          op.Imm64(operand);
          break;
        case OperandKind::ILIST:
          op.IList(drawn.list);
          break;
        case OperandKind::TARGET:
          op.To(labels[std::min(static_cast<size_t>(operand), labels.size() - 1)]);
          break;
        default:
          op.Unit(static_cast<uint32_t>(operand));
          break;
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<Drawn> body_;
};

// --- Machines ---

// What a run gives: the registers, or a message.
struct Outcome {
  std::string registers;
  std::string error;
};
std::string TextOf(const Numbers& registers) {
  return fmt::format("{}", fmt::join(registers, " "));
}

Outcome OutcomeOf(const Result<Value>& result) {
  if (!result.ok()) return {{}, result.status().message()};
  Numbers registers;
  for (size_t i = 0; i < result->num_fields(); ++i)
    registers.push_back(static_cast<int64_t>(result->field(i).element(0)));
  return {TextOf(registers), ""};
}

std::vector<Value> Values(const Numbers& numbers) {
  std::vector<Value> values;
  for (const int64_t n : numbers) values.push_back(Value::Int64(n));
  return values;
}

Outcome Interpret(Program program, const Numbers& inputs) {
  static const auto runtime = *Runtime::Create({.num_threads = 1});
  auto executable = Executable::FromProgram(std::move(program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto invocation = Invocation::Create(runtime, *executable);
  REQUIRE(invocation.ok());
  return OutcomeOf((*invocation)->Run("main", Values(inputs)));
}

std::shared_ptr<vm::NativeProgram> CompileNative(const Program& program) {
  aot::AotOptions options;
  options.descriptor = aot::kDescriptorSymbol;
  const auto object = aot::CompileAhead(program, options);
  REQUIRE_MESSAGE(object.ok(), object.status().message());
  std::shared_ptr<llvm::orc::LLJIT> jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  jit->getMainJITDylib().addGenerator(
      llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  const llvm::StringRef bytes(object->object.data(), object->object.size());
  llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes)));
  const auto address = llvm::cantFail(jit->lookup(aot::kDescriptorSymbol));
  auto native = vm::NativeProgram::Make(address.toPtr<RelayvmAotProgram*>(), jit);
  REQUIRE_MESSAGE(native.ok(), native.status().message());
  return *native;
}

// The registers as the graph's weights.
Outcome BuildGraph(const Program& program) {
  const auto graph = graph::BuildGraph(program);
  if (!graph.ok()) return {{}, graph.status().message()};
  Numbers registers;
  for (const graph::EntryRef& head : graph->graph.heads) {
    const HostTensor& weight = graph->params.at(graph->graph.nodes[head.node].name);
    int64_t value = 0;
    std::memcpy(&value, weight.data.data(), sizeof(value));
    registers.push_back(value);
  }
  return {TextOf(registers), ""};
}

// Numbers, and formulas over the inputs beside them.
struct PlainMachine : ScalarOps {
  std::vector<uint64_t> registers;
  bool failed = false;
  int32_t distance = 0;  // of a jump that is taken

  uint64_t Scalar(uint16_t reg) const { return registers[reg]; }
  void SetScalar(uint16_t reg, uint64_t value) { registers[reg] = value; }
  template <typename Fn>
  void Require(bool ok, const Fn&) {
    failed |= !ok;
  }
  template <typename Fn>
  void Fail(const Fn&) {
    failed = true;
  }
  void Branch(bool condition, int32_t by) { distance = condition ? by : 0; }
};
struct FormulaMachine : SymbolicOps {
  std::vector<Int> registers;
  Int Scalar(uint16_t reg) const { return registers[reg]; }
  void SetScalar(uint16_t reg, const Int& value) { registers[reg] = value; }
};

struct Walk {
  Outcome outcome;
  std::set<Opcode> met;
  int known = 0;  // results with a formula
};

Walk RunPlainly(const Program& program, const Numbers& inputs) {
  PlainMachine plain;
  FormulaMachine formulas;
  plain.registers.resize(kRegisters);
  for (uint16_t i = 0; i < kRegisters; ++i) formulas.registers.push_back(SymbolicOps::Number(0));
  for (uint16_t i = 0; i < kInputs; ++i) {
    plain.registers[i] = static_cast<uint64_t>(inputs[i]);
    formulas.registers[i] = Dim::Symbol(i, fmt::format("x{}", i), /*nonnegative=*/false);
  }
  Walk walk;
  Instruction instruction;
  for (size_t at = 0; at < program.code.size();) {
    REQUIRE(DecodeInstruction(program.code, at, &instruction).ok());
    if (instruction.opcode == Opcode::kTensorBox) break;
    plain.distance = 0;
    at += instruction.size();
    if (instruction.opcode == Opcode::kTensorItem) continue;
    CAPTURE(instruction.info->mnemonic);
    REQUIRE(RunScalar(plain, instruction));
    REQUIRE(RunScalar(formulas, instruction));
    walk.met.insert(instruction.opcode);
    if (plain.failed) {
      walk.outcome.error = "failed";
      return walk;
    }
    if (plain.distance != 0) at += static_cast<size_t>(plain.distance) - instruction.size();
    if (instruction.info->operands[0] != OperandKind::IOUT) continue;
    const std::optional<Dim>& formula = formulas.registers[instruction.Unit(0)];
    if (!formula) continue;
    ++walk.known;
    CAPTURE(formula->ToString());
    const auto value = formula->Evaluate([&](uint32_t id) { return std::optional(inputs[id]); });
    if (value) CHECK(static_cast<uint64_t>(*value) == plain.registers[instruction.Unit(0)]);
  }
  walk.outcome.registers = TextOf({plain.registers.begin(), plain.registers.end()});
  return walk;
}

TEST_CASE("random programs on scalars do the same on all machines, with every opcode of scalars") {
  std::set<Opcode> met;
  int failed = 0, without_heap = 0, known = 0;
  constexpr uint32_t kPrograms = 120;
  const auto is_missing = [&](int i) {
    const auto opcode = static_cast<Opcode>(i);
    return KindOf(opcode) != RowKind::kOther && !met.contains(opcode);
  };
  const auto opcodes = std::views::iota(0, kNumOpcodes);
  for (uint32_t seed = 0;
       seed < kPrograms || (seed < 3 * kPrograms && std::ranges::any_of(opcodes, is_missing));
       ++seed) {
    CAPTURE(seed);
    Generator generator(seed);
    const Program program = generator.Make(nullptr);
    const auto native = CompileNative(program);
    without_heap += native->has_heap() ? 0 : 1;
    for (int run = 0; run < 4; ++run) {
      const Numbers inputs = generator.Inputs();
      CAPTURE(TextOf(inputs));
      const Walk walk = RunPlainly(program, inputs);
      met.insert(walk.met.begin(), walk.met.end());
      known += walk.known;
      const Outcome expected = Interpret(program, inputs);
      CHECK(expected.registers == walk.outcome.registers);
      CHECK(expected.error.empty() == walk.outcome.error.empty());
      failed += expected.error.empty() ? 0 : 1;
      const Outcome compiled = OutcomeOf(native->Run(0, Values(inputs), {}, nullptr));
      CHECK(compiled.registers == expected.registers);
      if (native->has_heap()) CHECK(compiled.error == expected.error);
      const Outcome built = BuildGraph(generator.Make(&inputs));
      CHECK(built.registers == expected.registers);
      CHECK((built.error.find("fails in every run") != std::string::npos) ==
            !expected.error.empty());
    }
  }
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    CAPTURE(GetOpcodeInfo(opcode).mnemonic);
    CHECK(met.contains(opcode) == (KindOf(opcode) != RowKind::kOther));
  }
  CAPTURE(failed);
  CHECK(failed > 40);
  CHECK(failed < 400);
  CHECK(without_heap > 3);
  CHECK(known > 500);
}

TEST_CASE("native code has every instruction on objects, but calls of the host and devices") {
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (KindOf(opcode) != RowKind::kOther) continue;
    CAPTURE(GetOpcodeInfo(opcode).mnemonic);
    const bool is_refused = opcode == Opcode::kCallHost || opcode == Opcode::kTensorCopy;
    CHECK((ObjectRowOf<aot::HeapEmitter>(opcode) != nullptr) == !is_refused);
  }
}

}  // namespace
}  // namespace relayvm
