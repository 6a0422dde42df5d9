#include "bytecode/assembler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "bytecode/base/shape_rule.h"
#include "bytecode/code_builder.h"
#include "bytecode/disassembler.h"
#include "bytecode/kernel_call.h"
#include "bytecode/test_programs.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace relayvm {
namespace {

using testing::SampleText;

Program AssembleOk(const std::string& text, const Program* data = nullptr) {
  Result<Program> program = Assemble(text, data);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Status status = VerifyProgram(*program);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return *std::move(program);
}

std::vector<uint8_t> Serialize(const Program& program) {
  Result<std::vector<uint8_t>> bytes = SerializeProgram(program);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

TEST_CASE("assembler: assemble(disassemble(p)) is p, bytes included") {
  Program program = AssembleOk(SampleText());
  std::string text = DisassembleProgram(program, {.data = true});
  Program again = AssembleOk(text);
  CHECK(Serialize(again) == Serialize(program));
  CHECK(DisassembleProgram(again, {.data = true}) == text);
}

TEST_CASE("assembler: elided data comes from a program") {
  Program program = AssembleOk(SampleText());
  std::string text = DisassembleProgram(program);
  CHECK(Serialize(AssembleOk(text, &program)) == Serialize(program));
  CHECK(Assemble(text).status().message() ==
        "the bytes of constant 0 are elided: expected a program to take them from (vmasm --data "
        "MODEL.vmx), or text that was written with --data");
}

TEST_CASE("disassembler: labels, take bits and comments") {
  Program program = AssembleOk(SampleText(R"(
  .at 0 3 5
L7:
  const.r r1, c0
  br.cmp.i lt, i0, i1, L7
  call.i i0, f1, [i1, i2], [r0!]
  kernel.1 k0, [i3], [r1!, c0, s1]
  adt.new r2, #1, []
  trap m1
)"));
  CHECK(DisassembleFunction(program, 0) == R"(
.function "main" scalars 0 objects 1 captured 0 registers 4 8 returns object arena 128 ; f0
  .slot 0 64                                            ; s0
  .slot 64 4                                            ; s1
L0:
  .at 0 3 5
  const.r r1, c0                                        ; c0: Tensor[(2), float32] "layers.0.weight"
  br.cmp.i lt, i0, i1, L0
  call.i i0, f1, [i1, i2], [r0!]                        ; count
  kernel.1 k0, [i3], [r1!, c0, s1]                      ; fused_add, c0: Tensor[(2), float32] "layers.0.weight"
  adt.new r2, #1, []
  trap m1                                               ; "no match"
.end
)");
}

TEST_CASE("disassembler: types for people") {
  Program program = AssembleOk(SampleText());
  CHECK(TypeToString(program, program.exports[0].params[0]) == "Tensor[(n*2 + 1, 3), float32]");
  CHECK(TypeToString(program, program.exports[0].result) ==
        "List[(Tensor[(?), int32], ref(fn), Unit)]");
  CHECK(TypeToString(program, program.adts[0].constructors[1].fields[1]) == "List[A]");
  CHECK(QuoteString("a\"\\\n\x01\xc3\xa9") == "\"a\\\"\\\\\\n\\x01\xc3\xa9\"");
}

TEST_CASE("assembler: mistakes name the line") {
  struct Case {
    std::string text, message;
  };
  const std::string kFunction =
      ".function \"f\" scalars 1 objects 1 captured 0 registers 1 1 returns object arena 0\n";
  const Case kCases[] = {
      {".nothing", "line 1: unknown directive '.nothing'"},
      {"\n; comment\n.message no", "line 3: expected '\"', found 'no'"},
      {".message \"a", "line 1: string without end"},
      {".message \"\\q\"", "line 1: unknown escape in a string"},
      {".message \"a\" b", "line 1: expected the end of the line, found 'b'"},
      {".type float33[]", "line 1: unknown dtype 'float33'"},
      {".type float32[1 2]", "line 1: expected ',', found '2]'"},
      {".type float32[99999999999999999999]",
       "line 1: expected a number in range, found '99999999999999999999]'"},
      {".hex 00", "line 1: .hex before any .image or .constant"},
      {".constant int8[1] \"\"\n.hex 0", "line 2: odd number of hexadecimal digits"},
      {".constant int8[1] \"\"\n.hex 0g", "line 2: '0g' is not hexadecimal"},
      {".constructor \"Nil\" ()", "line 1: .constructor before any .data"},
      {".kernel \"k\" scalars 1", "line 1: expected 'buffers', found ''"},
      {".kernel \"k\" scalars 1 buffers (int8[s0 *])", "line 1: expected a number, found '])'"},
      {".export \"e\" f0 () -> what", "line 1: unknown dtype 'what'"},
      {kFunction + "nop", "line 2: unknown instruction 'nop'"},
      {kFunction + "ret.r i0", "line 2: expected rN, found 'i0'"},
      {kFunction + "add.i i0, i0", "line 2: expected ',', found the end of the line"},
      {kFunction + "cmp.i i0, neq, i0, i0", "line 2: unknown name 'neq'"},
      {kFunction + "const.i16 i0, 40000",
       "line 2: code builder: const.i16: 40000 is beyond 16 bits (+0x0)"},
      {kFunction + "mov.r r0!, r0",
       "line 2: code builder: mov.r: operand 0 is ROUT, not RIN (+0x0)"},
      {kFunction + "Lx:", "line 2: 'Lx' is not a label"},
      {kFunction + "L1:\nL1:", "line 3: code builder: label 0 is bound twice (+0x0)"},
      {kFunction + "jump L1\n.end",
       "line 3: code builder: label 0 is jumped to and not bound (+0x3)"},
      {kFunction + "ret.r r0", "the last function has no .end"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.text);
    Result<Program> program = Assemble(c.text);
    if (program.ok()) {
      CHECK_MESSAGE(false, c.message);
      continue;
    }
    CHECK(program.status().code() == StatusCode::kInvalidInput);
    CHECK(program.status().message() == c.message);
  }
}

// --- Random code: every opcode, with any valid operands ---

class RandomCode {
 public:
  explicit RandomCode(const Program& program, uint32_t seed) : program_(program), random_(seed) {}

  // A body of "main" with a label in front of every instruction.
  std::vector<uint16_t> Body() {
    CodeBuilder b;
    for (int i = 0; i < kInstructions; ++i) labels_.push_back(b.NewLabel());
    for (int i = 0; i < kInstructions - 1; ++i) {
      left_ = kInstructions - 1 - i;
      b.Bind(labels_[static_cast<size_t>(i)]);
      Emit(&b);
    }
    b.Bind(labels_.back());
    b.Op(Opcode::kTrap).Unit(0);
    Result<std::vector<uint16_t>> code = b.Finish();
    REQUIRE_MESSAGE(code.ok(), code.status().message());
    return *std::move(code);
  }

 private:
  static constexpr int kInstructions = 60;

  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  const FunctionInfo& Main() const { return program_.functions[0]; }

  void Emit(CodeBuilder* b) {
    auto opcode = static_cast<Opcode>(Below(kNumOpcodes));
    if (opcode == Opcode::kReturnI) opcode = Opcode::kReturnR;  // main returns an object
    if (together_ > 0) {
      --together_;
      opcode = Below(2) == 0 ? Opcode::kKernel : Opcode::kKernel1;
    } else {
      taken_.assign(Main().num_object_registers, false);
    }
    if (opcode == Opcode::kKernels) {
      together_ = std::min(2 + static_cast<int>(Below(kMaxKernelsTogether - 1)), left_ - 1);
      if (together_ >= 2) {
        b->Op(opcode).Imm16(static_cast<int16_t>(together_));
        return;
      }
      together_ = 0;
      opcode = Opcode::kMoveI;
    }
    const OpcodeInfo& info = GetOpcodeInfo(opcode);
    CodeBuilder::Instruction instruction = b->Op(opcode);
    uint32_t function = FunctionFor(opcode), kernel = Below(program_.kernels.size());
    const uint32_t host = Below(program_.host_functions.size());
    const FunctionInfo& callee = program_.functions[function];
    for (int i = 0; i < info.num_operands; ++i) {
      switch (info.operands[static_cast<size_t>(i)]) {
        case OperandKind::IOUT:
        case OperandKind::IIN:
          instruction.I(Below(Main().num_scalar_registers));
          break;
        case OperandKind::ROUT:
          instruction.R(Below(Main().num_object_registers));
          break;
        case OperandKind::RIN: {
          uint16_t unit = Object();
          instruction.R(unit & kRegisterMask, (unit & kTakeBit) != 0);
          break;
        }
        case OperandKind::IMM16:
          // Of a copy, the device: the host.
          instruction.Imm16(opcode == Opcode::kTensorCopy ? 0 : static_cast<int16_t>(random_()));
          break;
        case OperandKind::IMM32:
          instruction.Imm32(Below(size_t{1} << 31));
          break;
        case OperandKind::IMM64:
          instruction.Imm64(static_cast<int64_t>((uint64_t{random_()} << 32) | random_()));
          break;
        case OperandKind::DTYPE:
          instruction.Type(TypeFor(opcode));
          break;
        case OperandKind::FUNC:
          instruction.Unit(function);
          break;
        case OperandKind::CONST:
          instruction.Unit(Below(program_.constants.size()));
          break;
        case OperandKind::KERNEL:
          instruction.Unit(kernel);
          break;
        case OperandKind::TYPE:
          instruction.Unit(Below(program_.tensor_types.size()));
          break;
        case OperandKind::MESSAGE:
          instruction.Unit(Below(program_.messages.size()));
          break;
        case OperandKind::HOST:
          instruction.Unit(host);
          break;
        case OperandKind::SLOT:
          instruction.Unit(Below(Main().slots.size()));
          break;
        case OperandKind::TAG:
        case OperandKind::FIELD:
          instruction.Unit(Below(65536));
          break;
        case OperandKind::CMP:
          instruction.Unit(Below(kNumComparisons));
          break;
        case OperandKind::FN: {
          bool binary = opcode == Opcode::kCall2F32 || opcode == Opcode::kCall2F64;
          instruction.Unit(binary ? kFirstBinaryScalarFunction +
                                        Below(kNumScalarFunctions - kFirstBinaryScalarFunction)
                                  : Below(kFirstBinaryScalarFunction));
          break;
        }
        case OperandKind::TARGET:
          instruction.To(labels_[Below(labels_.size())]);
          break;
        case OperandKind::RULE:
          instruction.Unit(Below(kNumShapeRules));
          break;
        case OperandKind::ILIST:
        case OperandKind::OLIST: {
          bool kernel_call = opcode == Opcode::kKernel || opcode == Opcode::kKernel1;
          bool call =
              opcode == Opcode::kCallI || opcode == Opcode::kCallR || opcode == Opcode::kTailCall;
          std::vector<uint16_t> list(kernel_call ? program_.kernels[kernel].num_scalars
                                     : call      ? callee.num_scalar_args
                                                 : Below(5));
          for (uint16_t& reg : list)
            reg = static_cast<uint16_t>(Below(Main().num_scalar_registers));
          instruction.IList(list);
          break;
        }
        case OperandKind::RLIST: {
          bool call =
              opcode == Opcode::kCallI || opcode == Opcode::kCallR || opcode == Opcode::kTailCall;
          bool fits = opcode == Opcode::kClosureNew || call;
          std::vector<uint16_t> list(opcode == Opcode::kCallHost
                                         ? program_.host_functions[host].params.size()
                                     : !fits ? Below(3)
                                     : call  ? callee.num_object_args
                                             : callee.num_captured);
          for (uint16_t& reg : list) reg = Object();
          instruction.RList(list);
          break;
        }
        case OperandKind::TARGETS: {
          std::vector<CodeBuilder::Label> list(Below(5));
          for (CodeBuilder::Label& label : list) label = labels_[Below(labels_.size())];
          instruction.Targets(list);
          break;
        }
        case OperandKind::BUFS: {
          std::vector<BufferOperand> list(program_.kernels[kernel].buffers.size());
          for (BufferOperand& buffer : list) buffer = Buffer();
          instruction.Bufs(list);
          break;
        }
      }
    }
  }

  // One that returns what the opcode needs.
  uint32_t FunctionFor(Opcode opcode) {
    if (opcode == Opcode::kCallI) return 1;
    if (opcode == Opcode::kClosureNew) return 3;
    return 2 * Below(2);
  }
  DType TypeFor(Opcode opcode) {
    auto dtype = static_cast<DType>(Below(kNumDTypes));
    bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
    if (opcode == Opcode::kWrap && IsFloat(dtype)) return DType::kInt16;
    if (opcode == Opcode::kConvert && half) return DType::kFloat32;
    if (opcode == Opcode::kSlotItem && DTypeBytes(dtype) > 4) return DType::kInt8;
    return dtype;
  }
  // A register that is not taken yet; one is always left.
  uint16_t Object() {
    uint32_t reg = Below(taken_.size());
    while (taken_[reg]) reg = (reg + 1) % static_cast<uint32_t>(taken_.size());
    const bool last = std::count(taken_.begin(), taken_.end(), false) == 1;
    const bool take = !last && Below(3) == 0;
    taken_[reg] = take;
    return static_cast<uint16_t>(reg | (take ? kTakeBit : 0));
  }
  BufferOperand Buffer() {
    switch (Below(3)) {
      case 0:
        return {BufferKind::kConstant, static_cast<uint16_t>(Below(program_.constants.size()))};
      case 1:
        return {BufferKind::kSlot, static_cast<uint16_t>(Below(Main().slots.size()))};
      default: {
        uint16_t unit = Object();
        return {BufferKind::kRegister, static_cast<uint16_t>(unit & kRegisterMask),
                (unit & kTakeBit) != 0};
      }
    }
  }

  const Program& program_;
  std::mt19937 random_;
  std::vector<CodeBuilder::Label> labels_;
  std::vector<bool> taken_;  // by this instruction, or by those that run together
  int together_ = 0;         // calls that are left of these
  int left_ = 0;             // instructions
};

TEST_CASE("assembler: random code verifies and goes through text unchanged") {
  int verified = 0;
  for (uint32_t seed = 1; verified < 60; ++seed) {
    CAPTURE(seed);
    REQUIRE(seed < 600);
    Program program = AssembleOk(SampleText());
    // The new body, then the other functions' code.
    std::vector<uint16_t> code = RandomCode(program, seed).Body();
    uint32_t old_size = program.functions[0].code_size;
    auto size = static_cast<uint32_t>(code.size());
    code.insert(code.end(), program.code.begin() + old_size, program.code.end());
    program.functions[0].code_size = size;
    program.functions[0].locations.clear();
    for (size_t i = 1; i < program.functions.size(); ++i)
      program.functions[i].code_offset += size - old_size;
    program.code = code;
    if (!CheckKernelCalls(program).ok()) continue;  // a buffer of another dtype, or the like
    ++verified;

    std::vector<uint8_t> bytes = Serialize(program);
    Program again = AssembleOk(DisassembleProgram(program, {.data = true}));
    CHECK(Serialize(again) == bytes);
  }
}

}  // namespace
}  // namespace relayvm
