// Golden bytecode: small programs and all that is generated for them, so that a change of code
// generation is seen and reviewed. Adapters for hosts ("main (boxed)") are left out.
#include "compiler/lowering/lower.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/disassembler.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/stop_scope.h"
#include "compiler/pipeline.h"
#include "compiler/testing.h"

namespace relayvm::lower {
namespace {

ir::Module Ready(const std::string& text, int level) {
  // One target, so that schedules are the same on every machine.
  PipelineOptions options;
  options.opt_level = level;
  options.machine = MachineNamed("x86-64-v3");
  auto module = RunPipeline(ir::Parsed(text), options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

Program Lower(const std::string& text, int level) {
  const KernelOptions options{.machine = MachineNamed("x86-64-v3"), .opt_level = 0};
  auto lowered = LowerModule(Ready(text, level), options);
  REQUIRE_MESSAGE(lowered.ok(), lowered.status().message());
  return std::move(lowered->program);
}

std::string Functions(const Program& program) {
  std::string out = "\n";
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    if (program.functions[f].name.ends_with(" (boxed)")) continue;
    std::string code = DisassembleFunction(program, f, {.comments = false, .locations = false});
    out += code.substr(code.find_first_not_of('\n'));
  }
  return out;
}

struct Case {
  const char* name;
  int level;
  const char *source, *code;
};

const Case kCases[] = {
    {"a loop by a tail call: scalars stay in registers, the frame is used again", 2,
     R"(def @main(%n: int32, %acc: int64) -> int64 {
  if (less_equal(%n, 0)) { %acc } else {
    @main(subtract(%n, 1), add(%acc, cast(%n, dtype="int64")))
  }
})",
     R"(
.function "main" scalars 2 objects 0 captured 0 registers 3 0 returns scalar arena 0
  const.i16 i2, 0
  br.cmp.i gt, i0, i2, L0
  ret.i i1
L0:
  addimm.i32 i2, i0, -1
  add.i i0, i1, i0
  tail.call f1, [i2, i0], []
.end
)"},
    {"a call that is not the last thing keeps its frame", 2,
     R"(def @main(%n: int32) -> int32 {
  if (equal(%n, 0)) { 1 } else { multiply(%n, @main(subtract(%n, 1))) }
})",
     R"(
.function "main" scalars 1 objects 0 captured 0 registers 2 0 returns scalar arena 0
  const.i16 i1, 0
  br.cmp.i ne, i0, i1, L0
  const.i16 i1, 1
  ret.i i1
L0:
  addimm.i32 i1, i0, -1
  call.i i1, f1, [i1], []
  mul.i32 i0, i0, i1
  ret.i i0
.end
)"},
    {"mutual recursion", 2,
     R"(def @main(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @main(subtract(%n, 1)) } })",
     R"(
.function "main" scalars 1 objects 0 captured 0 registers 2 0 returns scalar arena 0
  const.i16 i1, 0
  br.cmp.i ne, i0, i1, L0
  const.i16 i1, 1
  ret.i i1
L0:
  addimm.i32 i0, i0, -1
  tail.call f2, [i0], []
.end
.function "odd" scalars 1 objects 0 captured 0 registers 2 0 returns scalar arena 0
  const.i16 i1, 0
  br.cmp.i ne, i0, i1, L0
  ret.i i1
L0:
  addimm.i32 i0, i0, -1
  tail.call f1, [i0], []
.end
)"},
    {"branches meet in one register", 2,
     R"(def @main(%n: int32, %x: Tensor[(4), float32], %y: Tensor[(4), float32]) {
  let %z = if (greater(%n, 3)) { %x } else { %y };
  (%z, %n)
})",
     R"(
.function "main" scalars 1 objects 2 captured 0 registers 2 3 returns object arena 0
  const.i16 i1, 3
  br.cmp.i le, i0, i1, L0
  drop r1!
  mov.r r2, r0!
  jump L1
L0:
  drop r0!
  mov.r r2, r1!
L1:
  tensor.box r0, i0, int32
  adt.new r0, #0, [r2!, r0!]
  ret.r r0!
.end
)"},
    {"a condition from two comparisons", 2,
     R"(def @main(%n: int32, %m: int32) -> int32 {
  if (logical_and(less(%n, %m), not_equal(%n, 7))) { %n } else { %m }
})",
     R"(
.function "main" scalars 2 objects 0 captured 0 registers 4 0 returns scalar arena 0
  cmp.i i2, lt, i0, i1
  const.i16 i3, 7
  cmp.i i3, ne, i0, i3
  and.i i2, i2, i3
  br.ifnot i2, L0
  ret.i i0
L0:
  ret.i i1
.end
)"},
    {"float arithmetic on scalars", 2,
     R"(def @main(%x: float32, %n: int32) -> float32 {
  divide(add(multiply(%x, 2f), cast(%n, dtype="float32")), sqrt(%x))
})",
     R"(
.function "main" scalars 2 objects 0 captured 0 registers 3 0 returns scalar arena 0
  const.i64 i2, 1073741824
  mul.f32 i2, i0, i2
  convert i1, i1, int32, float32
  add.f32 i1, i2, i1
  fn.f32 i0, sqrt, i0
  div.f32 i0, i1, i0
  ret.i i0
.end
)"},
    {"a match is a jump table; nested patterns test nothing twice", 2,
     R"(type List[A] { Cons(A, List[A]), Nil }
def @main(%l: List[int32]) -> int32 {
  match (%l) { Cons(_, Cons(%y, _)) => { %y }, Cons(%x, Nil) => { %x }, Nil => { 0 } }
})",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 1 4 returns scalar arena 0
  switch.tag r0, [L0, L3]
  drop r0!
  trap m0
L0:
  adt.get r1, r0, #0
  adt.get r2, r0!, #1
  switch.tag r2, [L1, L2]
  drop r2!
  drop r1!
  trap m0
L1:
  drop r1!
  adt.get r3, r2!, #0
  tensor.item i0, r3!, int32, 0
  ret.i i0
L2:
  drop r2!
  tensor.item i0, r1!, int32, 0
  ret.i i0
L3:
  drop r0!
  const.i16 i0, 0
  ret.i i0
.end
)"},
    {"one constructor is not tested; its fields move out of what dies", 2,
     R"(type Pair[A, B] { Both(A, B) }
def @main(%p: Pair[Tensor[(2), float32], int32]) { match (%p) { Both(%a, %b) => { (%b, %a) } } })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 0 2 returns object arena 0
  adt.get r1, r0, #0
  adt.get r0, r0!, #1
  adt.new r0, #0, [r0!, r1!]
  ret.r r0!
.end
)"},
    {"a clause that several ways reach is there once", 2,
     R"(type T { A, B, C }
def @main(%x: T, %y: T) -> int32 {
  match ((%x, %y)) { (A, A) => { 1 }, (_, B) => { 2 }, _ => { 3 } }
})",
     R"(
.function "main" scalars 0 objects 2 captured 0 registers 1 2 returns scalar arena 0
  switch.tag r0!, [L2]
  switch.tag r1!, [L0, L1]
L0:
  jump L5
L1:
  jump L4
L2:
  switch.tag r1!, [L3, L4]
  jump L5
L3:
  const.i16 i0, 1
  ret.i i0
L4:
  const.i16 i0, 2
  ret.i i0
L5:
  const.i16 i0, 3
  ret.i i0
.end
)"},
    {"a match that leaves something out traps", 2,
     R"(type T { A, B, C }
def @main(%x: T) -> int32 { match? (%x) { B => { 1 } } })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 1 1 returns scalar arena 0
  switch.tag r0!, [L0, L1]
L0:
  trap m0
L1:
  const.i16 i0, 1
  ret.i i0
.end
)"},
    {"data is built from its last uses", 2,
     R"(type List[A] { Cons(A, List[A]), Nil }
def @main(%x: Tensor[(2), float32]) { Cons(%x, Cons(%x, Nil)) })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 0 2 returns object arena 0
  adt.new r1, #1, []
  adt.new r1, #0, [r0, r1!]
  adt.new r0, #0, [r0!, r1!]
  ret.r r0!
.end
)"},
    {"a closure captures what it uses; called by name it is a function", 2,
     R"(def @main(%n: int32) {
  let %f = fn (%a: int32) -> int32 { add(%a, %n) };
  (%f, %f(3))
})",
     R"(
.function "main" scalars 1 objects 0 captured 0 registers 2 2 returns object arena 0
  tensor.box r0, i0, int32
  closure.new r0, f2, [r0!]
  const.i16 i1, 3
  call.i i0, f3, [i0, i1], []
  tensor.box r1, i0, int32
  adt.new r0, #0, [r0!, r1!]
  ret.r r0!
.end
.function "main.f2" scalars 0 objects 2 captured 1 registers 2 2 returns object arena 0
  tensor.item i0, r1!, int32, 0
  tensor.item i1, r0!, int32, 0
  add.i32 i0, i0, i1
  tensor.box r0, i0, int32
  ret.r r0!
.end
.function "main.f2" scalars 2 objects 0 captured 0 registers 2 0 returns scalar arena 0
  add.i32 i0, i1, i0
  ret.i i0
.end
)"},
    {"a call of a value", 2,
     R"(def @apply(%f: fn (int32) -> int32, %n: int32) -> int32 { if (less(%n, 9)) { %f(%n) } else { @apply(%f, subtract(%n, 9)) } }
def @main(%n: int32) -> int32 { @apply(fn (%a: int32) -> int32 { add(%a, %n) }, %n) })",
     R"(
.function "main" scalars 1 objects 0 captured 0 registers 1 1 returns scalar arena 0
  tensor.box r0, i0, int32
  closure.new r0, f2, [r0!]
  tail.call f3, [i0], [r0!]
.end
.function "main.fn11" scalars 0 objects 2 captured 1 registers 2 2 returns object arena 0
  tensor.item i0, r1!, int32, 0
  tensor.item i1, r0!, int32, 0
  add.i32 i0, i0, i1
  tensor.box r0, i0, int32
  ret.r r0!
.end
.function "apply" scalars 1 objects 1 captured 0 registers 2 2 returns scalar arena 0
  const.i16 i1, 9
  br.cmp.i ge, i0, i1, L0
  tensor.box r1, i0, int32
  call.closure r1, r0!, [r1!]
  tensor.item i1, r1!, int32, 0
  ret.i i1
L0:
  addimm.i32 i0, i0, -9
  tail.call f3, [i0], [r0!]
.end
)"},
    {"generic code takes boxes", 2,
     R"(type List[A] { Cons(A, List[A]), Nil }
def @last[A](%x: A, %l: List[A]) -> A { match (%l) { Cons(%y, %r) => { @last(%y, %r) }, Nil => { %x } } }
def @main(%n: int32, %l: List[int32]) -> int32 { @last(%n, %l) })",
     R"(
.function "main" scalars 1 objects 1 captured 0 registers 1 2 returns scalar arena 0
  tensor.box r1, i0, int32
  call.r r0, f2, [], [r1!, r0!]
  tensor.item i0, r0!, int32, 0
  ret.i i0
.end
.function "last" scalars 0 objects 2 captured 0 registers 0 4 returns object arena 0
  switch.tag r1, [L0, L1]
  drop r1!
  drop r0!
  trap m0
L0:
  drop r0!
  adt.get r2, r1, #0
  adt.get r3, r1!, #1
  tail.call f2, [], [r2!, r3!]
L1:
  drop r1!
  ret.r r0!
.end
)"},
    {"references", 2,
     R"(def @main(%n: int32) {
  let %r = ref(%n);
  ref_write(%r, add(ref_read(%r), 1));
  ref_read(%r)
})",
     R"(
.function "main" scalars 1 objects 0 captured 0 registers 1 2 returns scalar arena 0
  tensor.box r0, i0, int32
  ref.new r0, r0!
  ref.get r1, r0
  tensor.item i0, r1!, int32, 0
  addimm.i32 i0, i0, 1
  tensor.box r1, i0, int32
  ref.set r0, r1!
  ref.get r0, r0!
  tensor.item i0, r0!, int32, 0
  ret.i i0
.end
)"},
    {"a fused kernel works in place on what dies, if the sizes agree", 2,
     R"(def @main(%x: Tensor[(?, 4), float32]) { exp(negative(%x)) })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 4
  tensor.reuse r1, r0, float32, [i0, i1]
  dim.addimm i1, i0, 511, m0
  const.i16 i2, 512
  dim.floordiv i1, i1, i2, m0
  const.i16 i2, 5
  const.i16 i3, 0
  kernel k0, i1, i2, i3, [i0], [r0!, r1]
  ret.r r1!
.end
)"},
    {"not on what is used again", 2, R"(def @main(%x: Tensor[(?, 4), float32]) { (exp(%x), %x) })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 4
  tensor.alloc r1, float32, [i0, i1]
  dim.addimm i1, i0, 511, m0
  const.i16 i2, 512
  dim.floordiv i1, i1, i2, m0
  const.i16 i2, 6
  const.i16 i3, 0
  kernel k0, i1, i2, i3, [i0], [r0, r1]
  adt.new r0, #0, [r1!, r0!]
  ret.r r0!
.end
)"},
    {"tensors of static size between kernels have a place in the frame's arena", 0,
     R"(def @main(%x: Tensor[(4, 4), float32]) { transpose(exp(transpose(%x, axes=[1, 0])), axes=[1, 0]) })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 3 1 returns object arena 64
  .slot 0 64
  const.i16 i0, 4
  const.i16 i1, 16384
  const.i16 i2, 0
  kernel k0, i0, i1, i2, [], [r0!, s0]
  kernel.1 k1, [], [s0, s0]
  tensor.static r0, t0
  kernel k0, i0, i1, i2, [], [s0, r0]
  ret.r r0!
.end
)"},
    {"two unknown sizes that must agree: one guard", 2,
     R"(def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {
  concatenate((stack((%x, %y), axis=0), stack((%y, %x), axis=0)), axis=0)
})",
     R"(
.function "main" scalars 0 objects 2 captured 0 registers 5 3 returns object arena 0
  tensor.dim i0, r0, #0
  tensor.dim i1, r1, #0
  dim.check eq, i0, i1, m0, [i0, i1]
  const.i16 i2, 2
  dim.tensor [i2, i1], m1
  dim.tensor [i2, i0], m1
  const.i16 i2, 4
  tensor.alloc r2, float32, [i2, i0]
  dim.addimm i3, i0, 16383, m1
  const.i16 i4, 16384
  dim.floordiv i3, i3, i4, m1
  dim.mul i2, i3, i2, m1
  const.i16 i3, 1
  const.i16 i4, 0
  kernel k0, i2, i3, i4, [i0, i1], [r0!, r1!, r2]
  ret.r r2!
.end
)"},
    {"shape arithmetic is scalar arithmetic", 2,
     R"(def @main(%x: Tensor[(?, 4), float32]) {
  add(multiply(take(shape_of(%x, dtype="int64"), 0i64), 3i64), 1i64)
})",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 2 1 returns scalar arena 0
  tensor.dim i0, r0!, #0
  const.i16 i1, 3
  dim.mul i0, i0, i1, m0
  dim.addimm i0, i0, 1, m0
  ret.i i0
.end
)"},
    {"views copy nothing", 2,
     R"(def @main(%x: Tensor[(?, 4), float32]) { reshape(%x, newshape=[-1, 2, 2]) })",
     R"(
.function "main" scalars 0 objects 1 captured 0 registers 2 1 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 2
  tensor.view r0, r0!, [i0, i1, i1]
  ret.r r0!
.end
)"},
    {"codes that only running tells are one instruction", 2,
     R"(def @main(%x: Tensor[(?, ?), float32], %s: Tensor[(3), int64]) {
  dyn.reshape(%x, %s, newshape=[])
})",
     R"(
.function "main" scalars 0 objects 2 captured 0 registers 5 2 returns object arena 0
  tensor.dim i0, r0, #0
  tensor.dim i1, r0, #1
  tensor.item i2, r1, int64, 0
  tensor.item i3, r1, int64, 1
  tensor.item i4, r1!, int64, 2
  dim.shape [i0, i1, i2], reshape, 0, [i0, i1], [i2, i3, i4], m0
  tensor.view r0, r0!, [i0, i1, i2]
  ret.r r0!
.end
)"},
    {"tuples that do not leave the function are not built", 2,
     R"(def @main(%n: int32, %x: Tensor[(2), float32]) {
  let %t = (%n, (%x, 5));
  (%t.1.0, add(%t.0, %t.1.1))
})",
     R"(
.function "main" scalars 1 objects 1 captured 0 registers 1 2 returns object arena 0
  addimm.i32 i0, i0, 5
  tensor.box r1, i0, int32
  adt.new r0, #0, [r0!, r1!]
  ret.r r0!
.end
)"},
};

TEST_CASE("golden bytecode") {
  for (const Case& c : kCases) {
    INFO(std::string(c.name));
    Program program = Lower(c.source, c.level);
    CHECK(VerifyProgram(program).ok());
    std::string code = Functions(program);
    CHECK_MESSAGE(code == c.code, "found:", code);
  }
}

TEST_CASE("equal programs give equal bytes") {
  for (const Case& c : kCases) {
    INFO(std::string(c.name));
    auto once = SerializeProgram(Lower(c.source, c.level));
    auto twice = SerializeProgram(Lower(c.source, c.level));
    REQUIRE(once.ok());
    REQUIRE(twice.ok());
    CHECK(*once == *twice);
  }
}

TEST_CASE("what bytecode has no room for is named with its place") {
  std::string fields;
  for (int i = 0; i < 65'537; ++i) fields += "int8, ";
  const auto lowered =
      LowerModule(Ready("def @main(%x: (" + fields + ")) {\n  %x.65536\n}", 0), {});
  CHECK(lowered.status().code() == StatusCode::kOutOfRange);
  const std::string message = lowered.status().message();
  CHECK_MESSAGE(
      message.find("test.relay:3:3: adt.get: too large for bytecode: number 65536 of a ") == 0,
      message.substr(0, 200));
}

TEST_CASE("a compilation that is cancelled ends inside its stages") {
  const std::string text = "def @main(%x: Tensor[(?), float32]) { let %y = exp(%x); add(%y, %y) }";
  const ir::Module ready = Ready(text, 2);
  std::stop_source source;
  source.request_stop();
  const auto code = [&](const auto& stage) {
    return ir::Stoppable(source.get_token(), stage).code();
  };
  const auto parse = [&] {
    return frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + text);
  };
  const ir::Module parsed = *parse();
  CHECK(code([&] { return parse().status(); }) == StatusCode::kCancelled);
  CHECK(code([&] { return LowerModule(ready, {}).status(); }) == StatusCode::kCancelled);
  for (const char* name :
       {"CheckTypes", "Inline", "PropagateConstants", "EliminateDeadCode", "HoistProducts"}) {
    CAPTURE(std::string(name));
    const auto pass = std::ranges::find(CompilerPasses(), name, &Pass::name);
    const ir::Module& from = pass->name == "CheckTypes" ? parsed : ready;
    CHECK(code([&] { return pass->run(from, PassContext()).status(); }) == StatusCode::kCancelled);
  }
}

TEST_CASE("KernelsOf: a spec for each call, that needs no module, but for what is named") {
  const std::string program = R"(
def @layer(%x: Tensor[(?, 8), float32], %w: Tensor[(8, 8), float32]) {
  nn.relu(nn.dense(nn.relu(nn.dense(%x, %w)), %w))
}
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(8, 8), float32]) { sum(@layer(%x, %w)) }
)";
  KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  const auto names = [&] {
    auto kernels = KernelsOf(Ready(program, 2), options);
    REQUIRE_MESSAGE(kernels.ok(), kernels.status().message());
    std::vector<std::string> all;
    for (const KernelSpec& k : *kernels) {
      CHECK(!k.outputs.empty());
      all.push_back(k.name);
    }
    std::ranges::sort(all);
    return all;
  };
  const std::string dense = "fused_nn_dense_nn_relu";
  CHECK(names() == std::vector<std::string>{dense, dense, "sum"});
  options.schedules[dense] = {4, 8, 0};
  CHECK(names() == std::vector<std::string>{"sum"});
}

}  // namespace
}  // namespace relayvm::lower
