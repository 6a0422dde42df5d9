// Calls: frames, tail calls in constant memory, depth, closures, arenas.
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Evaluate;
using testing::Int64Values;
using testing::LoadText;
using testing::RunFails;
using testing::RunOk;
using testing::ScalarProgram;
using testing::ToInt64;

constexpr const char* kSumDown = R"(
.function "sum_down" scalars 1 objects 0 captured 0 registers 3 0 returns scalar arena 0
  br.if i0, L0
  ret.i i0
L0:
  addimm.i i1, i0, -1
  call.i i2, f1, [i1], []
  add.i i0, i0, i2
  ret.i i0
.end
)";

TEST_CASE("interpreter: recursion of any depth takes no native stack") {
  CHECK(Evaluate("call.i i15, f1, [i0], []", {10}, kSumDown) == 55);
  CHECK(Evaluate("call.i i15, f1, [i0], []", {1'000'000}, kSumDown) == 500000500000);
}

TEST_CASE("interpreter: too deep a recursion is an error, and the invocation goes on") {
  auto invocation = testing::NewInvocation(
      LoadText(ScalarProgram(1, "call.i i15, f1, [i0], []", kSumDown)), {.stack_limit = 1 << 20});
  Result<Value> result = invocation->Run("main", Int64Values({1'000'000}));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  CHECK(testing::Contains(result.status().message(), "stack overflow: "));
  CHECK(testing::Contains(result.status().message(), "at the call of sum_down, in 1048576 bytes"));
  CHECK(ToInt64(RunOk(*invocation, Int64Values({1000}))) == 500500);
}

TEST_CASE("interpreter: ten million tail calls run in constant memory") {
  // Scalars and objects are permuted at each turn, by two functions of different frames and arenas.
  const char* functions = R"(
.function "even" scalars 3 objects 2 captured 0 registers 4 3 returns object arena 64
  .slot 0 64
  br.if i0, L0
  tensor.box r2, i1, int64
  ret.r r2!
L0:
  addimm.i i0, i0, -1
  add.i i1, i1, i2
  tail.call f2, [i2, i1, i0], [r1!, r0!]
.end
.function "odd" scalars 3 objects 2 captured 0 registers 9 2 returns object arena 4096
  .slot 0 4096
  tail.call f1, [i2, i1, i0], [r1!, r0]
.end
)";
  auto executable = LoadText(ScalarProgram(1, R"(
  const.i16 i1, 0
  const.i16 i2, 1
  tensor.box r1, i1, int64
  tensor.box r2, i2, int64
  call.r r3, f1, [i0, i1, i2], [r1!, r2!]
  tensor.item i15, r3!, int64, 0
)",
                                           functions));
  auto invocation =
      testing::NewInvocation(executable, {.memory_limit = 1 << 20, .stack_limit = 64 << 10});
  constexpr int64_t kTurns = 10'000'000 / testing::kSlowdown;
  CHECK(ToInt64(RunOk(*invocation, Int64Values({kTurns}))) == kTurns);
  CHECK(invocation->stats().peak_bytes <= (512 << 10));
}

TEST_CASE("interpreter: a tail call releases what it does not pass on") {
  const char* loop = R"(
.function "loop" scalars 1 objects 1 captured 0 registers 2 2 returns scalar arena 0
  br.if i0, L0
  tensor.item i0, r0, int64, 0
  ret.i i0
L0:
  tensor.box r1, i0, int64
  addimm.i i0, i0, -1
  tail.call f1, [i0], [r1]
.end
)";
  auto executable =
      LoadText(ScalarProgram(1, "tensor.box r0, i0, int64\n call.i i15, f1, [i0], [r0!]", loop));
  auto invocation = testing::NewInvocation(executable, {.memory_limit = 64 << 10});
  CHECK(ToInt64(RunOk(*invocation, Int64Values({100'000}))) == 1);
}

TEST_CASE("interpreter: arguments are copied or moved, results replace what a register held") {
  const char* second = R"(
.function "second" scalars 0 objects 2 captured 0 registers 0 2 returns object arena 0
  ret.r r1
.end
)";
  CHECK(Evaluate(R"(
  tensor.box r1, i0, int64
  tensor.box r2, i1, int64
  call.r r1, f1, [], [r2, r1]
  call.r r1, f1, [], [r1!, r2]
  tensor.item i14, r2!, int64, 0
  tensor.item i15, r1!, int64, 0
  sub.i i15, i15, i14
)",
                 {30, 12}, second) == 0);
}

TEST_CASE("interpreter: frames own their arenas") {
  // fill writes its number to its slot, calls itself, and reads the slot again.
  const char* fill = R"(
.function "fill" scalars 1 objects 0 captured 0 registers 4 1 returns scalar arena 100000
  .slot 99904 64
  br.if i0, L0
  ret.i i0
L0:
  tensor.box r0, i0, int64
  kernel.1 k0, [], [r0!, s0]
  addimm.i i1, i0, -1
  call.i i2, f1, [i1], []
  slot.item i3, s0, int64
  add.i i2, i2, i3
  ret.i i2
.end
)";
  Builtin copy = {
      "copy8",
      [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) -> int32_t {
        CHECK(reinterpret_cast<uintptr_t>(args->buffers[1]) % 64 == 0);
        std::memcpy(args->buffers[1], args->buffers[0], 8);
        return 0;
      }};
  auto executable =
      LoadText(ScalarProgram(1, "call.i i15, f1, [i0], []", fill,
                             ".kernel \"copy8\" scalars 0 buffers (int64[], out int64[]) builtin"),
               {&copy, 1});
  auto invocation = testing::NewInvocation(executable);
  for (int64_t n : {1, 2, 3, 100, 5, 100})
    CHECK(ToInt64(RunOk(*invocation, Int64Values({n}))) == n * (n + 1) / 2);
  CHECK(invocation->stats().peak_bytes >= 100 * 100000);
  Status status = RunFails(executable, Int64Values({1000}), {.memory_limit = 10 << 20});
  CHECK(status.code() == StatusCode::kResourceExhausted);
  CHECK(testing::Contains(status.message(), "fill+0x"));
  CHECK(testing::Contains(status.message(), "no memory for "));
}

constexpr const char* kClosures = R"(
.function "add" scalars 0 objects 2 captured 1 registers 3 2 returns object arena 0
  tensor.item i0, r0, int64, 0
  tensor.item i1, r1, int64, 0
  add.i i0, i0, i1
  tensor.box r0, i0, int64
  ret.r r0!
.end
.function "apply" scalars 0 objects 2 captured 0 registers 0 2 returns object arena 0
  tail.closure r0!, [r1!]
.end
.function "twice" scalars 0 objects 2 captured 1 registers 0 3 returns object arena 64
  .slot 0 8
  call.closure r1, r0, [r1!]
  tail.closure r0!, [r1]
.end
)";

TEST_CASE("interpreter: closures hold what they captured") {
  // twice(add 5) to 10, the inner closure captured by the outer.
  CHECK(Evaluate(R"(
  tensor.box r1, i0, int64
  tensor.box r2, i1, int64
  closure.new r3, f1, [r1!]
  closure.new r4, f3, [r3]
  call.r r5, f2, [], [r4, r2!]
  call.closure r6, r3!, [r5]
  tensor.item i15, r6!, int64, 0
)",
                 {5, 10}, kClosures) == 25);
}

TEST_CASE("interpreter: calls of what is no closure, or of another arity, fail") {
  auto fails = [](const char* body) {
    return RunFails(LoadText(ScalarProgram(1, body, kClosures)), Int64Values({1})).message();
  };
  CHECK(testing::Contains(fails("tensor.box r1, i0, int64\n call.closure r2, r1, []"),
                          "call.closure needs a closure, found a tensor"));
  CHECK(testing::Contains(fails("call.closure r2, r9, []"), "found an empty register"));
  CHECK(testing::Contains(
      fails("tensor.box r1, i0, int64\n closure.new r1, f1, [r1]\n call.closure r2, r1, []"),
      "closure of add is called with 0 arguments and 1 captured values, takes 2"));
  CHECK(testing::Contains(
      fails("tensor.box r1, i0, int64\n closure.new r1, f1, [r1]\n tail.closure r1, [r1, r1]"),
      "closure of add is called with 2 arguments"));
}

}  // namespace
}  // namespace relayvm
