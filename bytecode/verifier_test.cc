#include "bytecode/verifier.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

#include "bytecode/base/shape_rule.h"
#include "bytecode/opcode.h"
#include "bytecode/test_programs.h"

namespace relayvm {
namespace {

using testing::SampleText;

Program Sample(const std::string& body = testing::kSampleBody) {
  Result<Program> program = Assemble(SampleText(body));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

TEST_CASE("verifier: the sample is accepted") {
  Status status = VerifyProgram(Sample());
  CHECK_MESSAGE(status.ok(), status.message());
  CHECK(VerifyProgram(Program()).ok());
}

// "main" has i0..i3, r0..r7, slots of 64 and 4 bytes and returns an object; f1 "count" takes 2
// scalars and 1 object and returns a scalar; f2 "apply" takes 3 objects; f3 "lambda" takes 3
// objects, 2 of them captured.
TEST_CASE("verifier: code that is refused") {
  struct Case {
    std::string body, message;
  };
  const Case kCases[] = {
      // Registers, of each kind of operand.
      {"add.i i4, i0, i0", "add.i: register i4 out of range 4 (main+0x0)"},
      {"ret.r r8", "ret.r: register r8 out of range 8 (main+0x0)"},
      {"const.r r9, c0", "const.r: register r9 out of range 8 (main+0x0)"},
      {"mov.i i0, i1\nguard i0, i1, i9, m0", "guard: register i9 out of range 4 (main+0x3)"},
      {"call.r r1, f2, [], [r0, r9, r0]", "call.r: register r9 out of range 8 (main+0x0)"},
      {"tensor.alloc r1, int8, [i0, i7]", "tensor.alloc: register i7 out of range 4 (main+0x0)"},
      {"kernel.1 k1, [], [r1, r8]", "kernel.1: register r8 out of range 8 (main+0x0)"},
      // A register is not used after its last use.
      {"adt.new r1, #0, [r0!, r0]", "adt.new: register r0 is used after it is taken (main+0x0)"},
      {"adt.new r1, #0, [r0!, r0!]", "adt.new: register r0 is used after it is taken (main+0x0)"},
      {"ref.set r0!, r0", "ref.set: register r0 is used after it is taken (main+0x0)"},
      {"kernel.1 k1, [], [r1!, r1]", "kernel.1: register r1 is used after it is taken (main+0x0)"},
      // Tables.
      {"const.r r0, c3", "const.r: constant 3 out of range 3 (main+0x0)"},
      {"tensor.static r0, t2", "tensor.static: tensor type 2 out of range 2 (main+0x0)"},
      {"trap m2", "trap: message 2 out of range 2 (main+0x0)"},
      {"slot.item i0, s2, int8", "slot.item: slot 2 out of range 2 (main+0x0)"},
      {"kernel.1 k3, [], []", "kernel.1: kernel 3 out of range 3 (main+0x0)"},
      {"kernel.1 k1, [], [c3, s0]", "kernel.1: constant 3 out of range 3 (main+0x0)"},
      {"kernel.1 k1, [], [c0, s2]", "kernel.1: slot 2 out of range 2 (main+0x0)"},
      {"call.r r0, f4, [], []", "call.r: function 4 out of range 4 (main+0x0)"},
      // Calls and returns.
      {"call.i i0, f2, [], [r0, r0, r0]",
       "call.i: 'apply' returns an object, expected a scalar (main+0x0)"},
      {"call.r r0, f1, [i0, i0], [r0]",
       "call.r: 'count' returns a scalar, expected an object (main+0x0)"},
      {"call.i i0, f1, [i0], [r0]",
       "call.i: 'count' takes 2 scalars and 1 objects, 1 and 1 are given (main+0x0)"},
      {"call.r r1, f2, [], [r0]",
       "call.r: 'apply' takes 0 scalars and 3 objects, 0 and 1 are given (main+0x0)"},
      {"tail.call f1, [i0, i1], [r0]",
       "tail.call: 'count' returns a scalar, expected an object (main+0x0)"},
      {"tail.call f2, [], []",
       "tail.call: 'apply' takes 0 scalars and 3 objects, 0 and 0 are given (main+0x0)"},
      {"ret.i i0", "ret.i: the function returns an object (main+0x0)"},
      {"closure.new r1, f1, []", "closure.new: 'count' takes or returns scalars (main+0x0)"},
      {"closure.new r1, f3, [r0]",
       "closure.new: 'lambda' captures 2 values, 1 are given (main+0x0)"},
      {"closure.new r1, f2, [r0]",
       "closure.new: 'apply' captures 0 values, 1 are given (main+0x0)"},
      // Kernels.
      {"kernel.1 k0, [], [r0, r0, r0]",
       "kernel.1: kernel 'fused_add' takes 1 scalars and 3 buffers, 0 and 3 are given (main+0x0)"},
      {"kernel k1, i0, i0, i0, [], [r0]",
       "kernel: kernel 'cumsum' takes 0 scalars and 2 buffers, 0 and 1 are given (main+0x0)"},
      // Host functions.
      {"call.host r0, h0, [r0]",
       "call.host: host function 'fetch' takes 2 objects, 1 are given (main+0x0)"},
      {"call.host r0, h2, []", "call.host: host function 2 out of range 2 (main+0x0)"},
      // Dtypes and functions that do not fit.
      {"wrap i0, i0, float32", "wrap: not for float32 (main+0x0)"},
      {"convert i0, i0, float16, int32", "convert: not for float16 (main+0x0)"},
      {"convert i0, i0, int32, bfloat16", "convert: not for bfloat16 (main+0x0)"},
      {"fn.f32 i0, atan2, i0", "fn.f32: scalar function 'atan2' takes two arguments (main+0x0)"},
      {"fn2.f64 i0, exp, i0, i0", "fn2.f64: scalar function 'exp' takes one argument (main+0x0)"},
      {"slot.item i0, s1, int64", "slot.item: slot of 4 bytes for a int64 (main+0x0)"},
      {"tensor.item i0, r0, int8, -1", "tensor.item: position -1 (main+0x0)"},
      // Control.
      {"mov.i i0, i0", "control runs past the end of the function (main+0x3)"},
      {"jump L1\nL1:", "jump: jump by 3 leaves the function (main+0x0)"},
      {"L0:\nbr.if i0, L0", "control runs past the end of the function (main+0x4)"},
      {"", "control runs past the end of the function (main+0x0)"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.body);
    bool ends = c.message.find("control") != std::string::npos ||
                c.message.find("leaves") != std::string::npos;
    Program program = Sample(ends ? c.body : c.body + "\ntrap m0");
    program.functions[0].locations.clear();
    Status status = VerifyProgram(program);
    REQUIRE(!status.ok());
    CHECK(status.code() == StatusCode::kInvalidInput);
    CHECK(status.message() == c.message);
  }
}

// What the assembler can't say: units of "main", which are followed by `trap m0`.
TEST_CASE("verifier: units that are refused") {
  auto op = [](Opcode opcode) { return static_cast<uint16_t>(opcode); };
  struct Case {
    std::vector<uint16_t> units;
    std::string message;
  };
  const Case kCases[] = {
      {{255}, "unknown opcode 0xff (main+0x0)"},
      {{0x100}, "unknown opcode 0x100 (main+0x0)"},
      {{op(Opcode::kMoveR), 0x8001, 0}, "mov.r: take bit on r1, which is written (main+0x0)"},
      {{op(Opcode::kMoveI), 0, 0x8001}, "mov.i: register i32769 out of range 4 (main+0x0)"},
      {{op(Opcode::kWrap), 0, 0, 14}, "wrap: unknown dtype 14 (main+0x0)"},
      {{op(Opcode::kCompareI), 0, 6, 0, 0}, "cmp.i: comparison 6 out of range 6 (main+0x0)"},
      {{op(Opcode::kCallF32), 0, kNumScalarFunctions, 0},
       fmt::format("fn.f32: scalar function {0} out of range {0} (main+0x0)", kNumScalarFunctions)},
      {{op(Opcode::kDimShape), 0, kNumShapeRules, 0, 0, 0, 0, 0, 0, 0},
       fmt::format("dim.shape: shape rule {0} out of range {0} (main+0x0)", kNumShapeRules)},
      {{op(Opcode::kDimShape), 1, 0x8001, 0, 0, 0, 0, 0, 0, 0, 0},
       "dim.shape: register i32769 out of range 4 (main+0x0)"},
      {[&] {
         std::vector<uint16_t> units = {op(Opcode::kDimShape), 0, 0, 0, 0, 0, 0, 65};
         units.resize(units.size() + 65 + 2);
         return units;
       }(),
       "dim.shape: 65 dims or numbers, above 64 (main+0x0)"},
      {{op(Opcode::kKernel1), 1, 0, 2, 3, 0, 0, 0},
       "kernel.1: unknown kind of buffer 0x3 (main+0x0)"},
      {{op(Opcode::kKernel1), 1, 0, 2, 0x100, 0, 0, 0},
       "kernel.1: unknown kind of buffer 0x100 (main+0x0)"},
      {{op(Opcode::kKernel1), 1, 0, 2, 0x8001, 0, 0, 0},
       "kernel.1: take bit on a buffer that is not a register (main+0x0)"},
      {{op(Opcode::kKernel1), 1, 0, 2, 0x8002, 0, 0, 0},
       "kernel.1: take bit on a buffer that is not a register (main+0x0)"},
      {{op(Opcode::kKernels), 1}, "kernels: expected 2 to 8 calls, found 1 (main+0x0)"},
      {{op(Opcode::kKernels), 9}, "kernels: expected 2 to 8 calls, found 9 (main+0x0)"},
      {{op(Opcode::kKernels), 0xffff}, "kernels: expected 2 to 8 calls, found -1 (main+0x0)"},
      {{op(Opcode::kKernels), 2, op(Opcode::kMoveI), 0, 0},
       "mov.i: expected a call of a host's kernel, as the instruction 'kernels' before says "
       "(main+0x2)"},
      {{op(Opcode::kJump), 0xffff, 0xffff}, "jump: jump by -1 leaves the function (main+0x0)"},
      {{op(Opcode::kJump), 0, 0x7fff}, "jump: jump by 2147418112 leaves the function (main+0x0)"},
      {{op(Opcode::kJump), 1, 0}, "jump to 0x1, inside an instruction (main+0x0)"},
      {{op(Opcode::kSwitch), 0, 1, 4, 0}, "jump to 0x4, inside an instruction (main+0x0)"},
      {{op(Opcode::kCallR), 0, 2, 0xffff},
       "call.r: operand 2 (ILIST) runs past the end of the function (main+0x0)"},
      {{op(Opcode::kSwitch), 0, 0xffff},
       "switch: operand 1 (TARGETS) runs past the end of the function (main+0x0)"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.message);
    Program program = Sample("trap m0");
    std::vector<uint16_t> code = c.units;
    code.insert(code.end(), program.code.begin(), program.code.end());
    auto added = static_cast<uint32_t>(c.units.size());
    program.functions[0].code_size += added;
    for (size_t i = 1; i < program.functions.size(); ++i) program.functions[i].code_offset += added;
    program.code = code;
    Status status = VerifyProgram(program);
    REQUIRE(!status.ok());
    CHECK(status.message() == c.message);
  }
}

ValueType Nested(int depth) {
  ValueType type;
  type.kind = ValueType::Kind::kTuple;
  for (int i = 1; i < depth; ++i) {
    ValueType outer;
    outer.kind = ValueType::Kind::kTuple;
    outer.args.push_back(std::move(type));
    type = std::move(outer);
  }
  return type;
}

TEST_CASE("verifier: tables that are refused") {
  const std::string too_new =
      "bytecode version 1000000, this runtime runs up to " + std::to_string(kBytecodeVersion);
  const std::vector<uint8_t> kBadElf = {1, 2, 3};
  struct Case {
    std::function<void(Program*)> change;
    std::string message;
  };
  const int64_t kHuge = std::numeric_limits<int64_t>::max();
  const Case kCases[] = {
      {[](Program* p) { p->bytecode_version = 1000000; }, too_new},
      // Functions.
      {[](Program* p) { p->functions[1].code_offset += 1; },
       "function 1 'count': code at 0x9b, expected 0x9a, where the code before it ends"},
      {[](Program* p) { p->functions[3].code_size += 1; },
       "function 3 'lambda': code of 10 units at 0xb6 is outside the program's 191 units"},
      {[](Program* p) { p->functions.pop_back(); }, "9 units of code after the last function"},
      {[](Program* p) { p->functions[0].num_object_registers = 32769; },
       "function 0 'main': 4 scalar and 32769 object registers, at most 32768 are possible"},
      {[](Program* p) { p->functions[1].num_scalar_registers = 1; },
       "function 1 'count': 2 scalar arguments in 1 registers"},
      {[](Program* p) { p->functions[2].num_object_args = 5; },
       "function 2 'apply': 5 object arguments in 4 registers"},
      {[](Program* p) { p->functions[3].num_captured = 4; },
       "function 3 'lambda': 4 captured values in 3 object arguments"},
      {[](Program* p) { p->functions[0].arena_bytes = kMaxArenaBytes + 1; },
       "function 0 'main': arena of 140737488355329 bytes, the limit is 140737488355328"},
      {[](Program* p) { p->functions[0].slots[1].offset = 65; },
       "function 0 'main': slot 1 at 65 is not a multiple of 64"},
      {[](Program* p) { p->functions[0].slots[1].bytes = 65; },
       "function 0 'main': slot 1 at 64, 65 bytes: outside the arena of 128 bytes"},
      {[](Program* p) { p->functions[0].slots[1].bytes = ~uint64_t{0}; },
       "function 0 'main': slot 1 at 64, 18446744073709551615 bytes: outside the arena of 128 "
       "bytes"},
      {[](Program* p) { p->functions[0].slots[1].offset = ~uint64_t{63}; },
       "function 0 'main': slot 1 at 18446744073709551552, 4 bytes: outside the arena of 128 "
       "bytes"},
      {[](Program* p) { p->functions[0].locations[0].pc = 1; },
       "source location inside an instruction (main+0x1)"},
      {[](Program* p) { p->functions[0].locations[1].pc = p->functions[0].code_size; },
       "function 0 'main': source location at 0x9a is out of order or past the code"},
      {[](Program* p) { std::swap(p->functions[0].locations[0], p->functions[0].locations[1]); },
       "function 0 'main': source location at 0x0 is out of order or past the code"},
      {[](Program* p) { p->functions[0].locations[0].file = 1; },
       "function 0 'main': source file 1 out of range 1"},
      // Tensors.
      {[](Program* p) { p->tensor_types[0].dims[0] = -1; }, "tensor type 0: dim of -1"},
      {[&](Program* p) { p->tensor_types[0].dims[0] = kHuge / 2; },
       "tensor type 0: tensor size does not fit 63 bits"},
      {[](Program* p) { p->tensor_types[1].dtype = static_cast<DType>(14); },
       "tensor type 1: unknown dtype 14"},
      {[](Program* p) { p->constants[0].dims[0] = 3; },
       "constant 0: 8 bytes of data, its type has 12"},
      {[](Program* p) { p->constants[1].dtype = static_cast<DType>(200); },
       "constant 1: unknown dtype 200"},
      {[](Program* p) { p->constants[2].dims[0] = 1; },
       "constant 2: 0 bytes of data, its type has 5"},
      {[](Program* p) { p->tensor_types[1].dims.assign(256, 1); },
       "tensor type 1: a tensor of rank 256, the limit is 255"},
      {[](Program* p) { p->constants[2].dims.assign(256, 0); },
       "constant 2: a tensor of rank 256, the limit is 255"},
      // Kernels and images.
      {[](Program* p) { p->kernels[0].entries.push_back(0x78); },
       "kernel 'fused_add' has 2 entries, expects 1"},
      {[](Program* p) { p->kernels[1].entries.push_back(0x78); },
       "kernel 'cumsum' has 1 entries, expects 0"},
      {[](Program* p) { p->kernels[0].entries[0] = 0x1000; },
       "kernel 'fused_add': entry 0x1000 is outside the code of image 0"},
      {[](Program* p) {
         p->images.clear();
         p->kernels[0].entries.clear();
       },
       "kernel 'fused_add' is compiled, and the program has no image"},
      // Batched forms: the kernel itself, what it takes, what calls share.
      {[](Program* p) { p->kernels[0].batched->kernel = 3; },
       "kernel 'fused_add': batched kernel k3 is out of range 3"},
      {[](Program* p) { p->kernels[0].batched->kernel = 0; },
       "kernel 'fused_add': kernel 'fused_add' is no batched form of it"},
      {[](Program* p) { p->kernels[0].batched->kernel = 1; },
       "kernel 'fused_add': kernel 'cumsum' is no batched form of it"},
      {[](Program* p) { p->kernels[2].fixed.push_back({.index = 0, .value = 1}); },
       "kernel 'fused_add': kernel 'fused_add_batched' is no batched form of it"},
      {[](Program* p) { p->kernels[2].buffers.pop_back(); },
       "kernel 'fused_add': its batched form has 2 buffers and 2 scalars, expected 3 and 2"},
      {[](Program* p) { p->kernels[0].batched->scalars.push_back(0); },
       "kernel 'fused_add': its batched form has 3 buffers and 2 scalars, expected 3 and 3"},
      {[](Program* p) { p->kernels[0].batched->scalars[1] = 1; },
       "kernel 'fused_add': its batched form takes scalar 1, out of range 1"},
      {[](Program* p) { p->kernels[2].buffers[0].dtype = DType::kInt8; },
       "kernel 'fused_add': buffer 0 of its batched form is another"},
      {[](Program* p) { p->kernels[2].buffers[1].written = true; },
       "kernel 'fused_add': buffer 1 of its batched form is another"},
      {[](Program* p) { p->kernels[0].batched->shared = {2}; },
       "kernel 'fused_add': calls share buffer 2, which is written, out of range 3 or out of "
       "order"},
      {[](Program* p) { p->kernels[0].batched->shared = {3}; },
       "kernel 'fused_add': calls share buffer 3, which is written, out of range 3 or out of "
       "order"},
      {[](Program* p) { p->kernels[0].batched->shared = {1, 1}; },
       "kernel 'fused_add': calls share buffer 1, which is written, out of range 3 or out of "
       "order"},
      {[&](Program* p) { p->images[0].elf = kBadElf; },
       "image 0: kernel image: 3 bytes are too few for an ELF file"},
      // Types.
      {[](Program* p) { p->adts[0].constructors[1].fields[0].index = 1; },
       "constructor 'Cons' of 'List': type variable 1 out of range 1"},
      {[](Program* p) { p->adts[0].constructors[1].fields[1].index = 2; },
       "constructor 'Cons' of 'List': data type 2 out of range 2"},
      {[](Program* p) { p->adts[0].constructors[1].fields[1].args.clear(); },
       "constructor 'Cons' of 'List': data type 'List' has 0 arguments, expects 1"},
      {[](Program* p) { p->host_functions[0].params[1].args[1].index = 2; },
       "host function 'fetch': parameter 1: data type 2 out of range 2"},
      {[](Program* p) { p->host_functions[1].result.kind = ValueType::Kind::kTypeVar; },
       "host function 'tick': result: type variable 0 out of range 0"},
      {[](Program* p) { p->exports[0].params[0].kind = static_cast<ValueType::Kind>(6); },
       "export 'main': parameter 0: unknown kind of type 6"},
      {[](Program* p) { p->exports[0].params[0].dims[0] = -2; },
       "export 'main': parameter 0: tensor type has a dim of -2"},
      {[](Program* p) { p->exports[0].params[0].dims.assign(256, 1); },
       "export 'main': parameter 0: a tensor of rank 256, the limit is 255"},
      {[](Program* p) { p->exports[0].result.args[0].args.resize(65536); },
       "export 'main': result: 65536 fields, the limit is 65535"},
      {[](Program* p) { p->adts[0].constructors[0].fields.resize(65536); },
       "constructor 'Nil' of 'List': 65536 fields, the limit is 65535"},
      {[](Program* p) { p->exports[0].params[0].dim_names.pop_back(); },
       "export 'main': parameter 0: tensor type has 1 names for 2 dims"},
      {[](Program* p) { p->exports[0].params[0].dtype = static_cast<DType>(14); },
       "export 'main': parameter 0: unknown dtype 14"},
      {[](Program* p) { p->exports[0].params[0].kind = ValueType::Kind::kTuple; },
       "export 'main': parameter 0: type other than a tensor's has dims"},
      {[](Program* p) { p->exports[0].params[0].args.emplace_back(); },
       "export 'main': parameter 0: tensor type has type arguments"},
      {[](Program* p) { p->exports[1].params[0].args.emplace_back(); },
       "export 'apply': parameter 0: function type has arguments or dims"},
      {[](Program* p) { p->exports[0].result.args[0].args[1].args.clear(); },
       "export 'main': result: reference type of 0 contents"},
      {[](Program* p) { p->exports[1].params[0].kind = ValueType::Kind::kTypeVar; },
       "export 'apply': parameter 0: type variable 0 out of range 0"},
      {[](Program* p) {
         p->exports[1].num_type_params = 2;
         p->exports[1].params[0].kind = ValueType::Kind::kTypeVar;
         p->exports[1].params[0].index = 2;
       },
       "export 'apply': parameter 0: type variable 2 out of range 2"},
      {[](Program* p) { p->exports[1].params[0] = Nested(kMaxTypeDepth + 1); },
       "export 'apply': parameter 0: type nests deeper than 256"},
      // Exports.
      {[](Program* p) { p->exports[0].function = 4; }, "export 'main': function 4 out of range 4"},
      {[](Program* p) { p->exports[0].function = 1; },
       "export 'main': function 'count' takes or returns scalars"},
      {[](Program* p) { p->exports[0].function = 3; },
       "export 'main': function 'lambda' is a closure's code"},
      {[](Program* p) { p->exports[0].function = 2; },
       "export 'main': 1 parameters, function 'apply' takes 3"},
      {[](Program* p) { p->exports[0].param_names.clear(); },
       "export 'main': 0 names for 1 parameters"},
      {[](Program* p) { p->exports[1].output_names.pop_back(); },
       "export 'apply': 1 names for 2 outputs"},
      {[](Program* p) { p->exports[1].name = "main"; }, "export 'main': exported twice"},
      {[](Program* p) { p->exports[0].states = {{1, 0}}; },
       "export 'main': state 1=0: there is no such parameter"},
      {[](Program* p) { p->exports[0].states = {{0, 1000000}}; },
       "export 'main': state 0=1000000: there is no such output"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.message);
    Program program = Sample();
    c.change(&program);
    Status status = VerifyProgram(program);
    REQUIRE(!status.ok());
    CHECK(status.message() == c.message);
  }
}

TEST_CASE("verifier: states") {
  Result<Program> assembled = Assemble(R"(
.version 1
.export "main" f0 ("x": float32[?"n", 2], "y": float32[2, 2], "z": int64[]) -> (float32[?"", 2], (float32[?"", 2], int64[]))
.function "main" scalars 0 objects 3 captured 0 registers 0 4 returns object arena 0
  adt.new r3, #0, [r1!, r2!]
  adt.new r3, #0, [r0!, r3!]
  ret.r r3!
.end
)");
  REQUIRE_MESSAGE(assembled.ok(), assembled.status().message());
  struct Case {
    std::vector<StateInfo> states;
    std::string error;  // empty: allowed
  };
  const Case kCases[] = {
      {{{2, 2}, {0, 0}, {1, 1}}, ""},
      {{{0, 0}, {0, 1}}, "state 0=1: that is another state's"},
      {{{0, 0}, {1, 0}}, "state 1=0: that is another state's"},
      {{{2, 1}}, "state 2=1: expected tensors of numbers, of one dtype and rank"},
      {{{3, 0}}, "state 3=0: there is no such parameter"},
      {{{0, UINT32_MAX}}, "state 0=4294967295: there is no such output"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.error);
    assembled->exports[0].states = c.states;
    const Status status = VerifyProgram(*assembled);
    CHECK(status.ok() == c.error.empty());
    if (!status.ok()) CHECK(status.message() == "export 'main': " + c.error);
  }
}

TEST_CASE("verifier: limits that are allowed") {
  Program program = Sample();
  program.exports[1].params[0] = Nested(kMaxTypeDepth);
  program.exports[1].num_type_params = 1;
  program.exports[1].params[2] = {.kind = ValueType::Kind::kTypeVar};
  program.tensor_types[1].dims.assign(kMaxTensorRank, 1);
  program.functions[0].num_object_registers = kMaxRegisters;
  program.functions[0].slots[0].bytes = 0;
  program.functions[0].slots[0].offset = 128;
  Status status = VerifyProgram(program);
  CHECK_MESSAGE(status.ok(), status.message());
}

TEST_CASE("verifier: sizes of static tensors") {
  const int64_t kHuge = std::numeric_limits<int64_t>::max();
  auto bytes = [](DType dtype, std::vector<int64_t> dims) {
    return StaticTensorBytes(dtype, dims);
  };
  CHECK(*bytes(DType::kFloat32, {}) == 4);
  CHECK(*bytes(DType::kInt64, {2, 3}) == 48);
  CHECK(*bytes(DType::kInt64, {kHuge, 0, kHuge}) == 0);
  CHECK(*bytes(DType::kInt8, {kHuge}) == static_cast<uint64_t>(kHuge));
  CHECK(!bytes(DType::kInt16, {kHuge}).ok());
  CHECK(!bytes(DType::kInt8, {kHuge, 2}).ok());
  CHECK(!bytes(DType::kInt8, {0, -1}).ok());
}

}  // namespace
}  // namespace relayvm
