// Runtime and Invocation: running, limits, cancellation, deadlines, slices, threads, memory.
#include <atomic>
#include <thread>

#include "vm/api/relayvm.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Int64Values;
using testing::LoadText;
using testing::NewInvocation;
using testing::RunOk;
using testing::ScalarProgram;
using testing::ToInt64;

// Counts i0 down to 0 by jumps, or by calls.
std::shared_ptr<const Executable> CountDown() {
  return LoadText(
      ScalarProgram(1, "L0:\n  addimm.i i0, i0, -1\n  addimm.i i15, i15, 1\n  br.if i0, L0"));
}
std::shared_ptr<const Executable> CountDownByCalls() {
  return LoadText(ScalarProgram(1, "  call.i i15, f1, [i0], []", R"(
.function "f" scalars 1 objects 0 captured 0 registers 1 0 returns scalar arena 0
  br.ifnot i0, L0
  addimm.i i0, i0, -1
  tail.call f1, [i0], []
L0:
  ret.i i0
.end
)"));
}
constexpr int64_t kForever = int64_t{1} << 60;

TEST_CASE("invocation: runs again and again, also after failures") {
  auto invocation = NewInvocation(
      LoadText(ScalarProgram(1, "guard i0, i0, i0, m0\n mov.i i15, i0", "", ".message \"zero\"")));
  for (int64_t i : {1, 2, 0, 3}) {
    Result<Value> result = invocation->Run("main", Int64Values({i}));
    CHECK(result.ok() == (i != 0));
    if (i == 0) CHECK(result.status().message() == "main+0x6: zero (0 and 0)");
    if (i != 0) CHECK(ToInt64(*result) == i);
  }
}

TEST_CASE("invocation: unknown functions and wrong inputs") {
  auto invocation = NewInvocation(CountDown());
  Result<Value> result = invocation->Run("nain", Int64Values({1}));
  CHECK(result.status().code() == StatusCode::kNotFound);
  CHECK(result.status().message() == "the program has no function 'nain'; did you mean main?");
  result = invocation->Run("main", {});
  CHECK(result.status().code() == StatusCode::kInvalidArgument);
  CHECK(result.status().message() == "main: expected 1 inputs, found 0");
  result = invocation->Run("main", {Value::Int32(1)});
  CHECK(result.status().message() == "main: parameter %x0: expected int64, found int32");
  result = invocation->Run("main", {Value()});
  CHECK(result.status().message() == "main: parameter %x0: expected int64, found nothing");
}

TEST_CASE("invocation: cancelled from another thread, in jumps and in calls") {
  for (const auto& executable : {CountDown(), CountDownByCalls()}) {
    auto invocation = NewInvocation(executable);
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      invocation->Cancel();
    });
    Result<Value> result = invocation->Run("main", Int64Values({kForever}));
    canceller.join();
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kCancelled);
    CHECK(Contains(result.status().message(), "cancelled"));
    CHECK(invocation->Run("main", Int64Values({3})).ok());
  }
}

TEST_CASE("invocation: a deadline ends a run") {
  for (const auto& executable : {CountDown(), CountDownByCalls()}) {
    auto invocation = NewInvocation(executable, {.timeout = std::chrono::milliseconds(5)});
    Result<Value> result = invocation->Run("main", Int64Values({kForever}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
    CHECK(invocation->stats().run_ns >= 5'000'000);
    invocation->set_timeout(std::chrono::nanoseconds(0));
    CHECK(invocation->Run("main", Int64Values({100})).ok());
  }
}

TEST_CASE("invocation: a slice without end runs to the end") {
  auto invocation = NewInvocation(CountDown());
  REQUIRE(invocation->Start("main", Int64Values({100'000})).ok());
  CHECK(invocation->Poll(std::chrono::nanoseconds::max()) == RunState::kDone);
  CHECK(invocation->TakeResult().ok());
}

TEST_CASE("invocation: many run in turns on one thread") {
  constexpr int64_t kTurns = 2'000'000 / testing::kSlowdown;
  auto runtime = testing::TestRuntime();
  auto executable = CountDown();
  std::vector<std::unique_ptr<Invocation>> invocations;
  for (int i = 0; i < 10; ++i) {
    auto invocation = Invocation::Create(runtime, executable);
    REQUIRE(invocation.ok());
    REQUIRE((*invocation)->Start("main", Int64Values({kTurns + i})).ok());
    invocations.push_back(*std::move(invocation));
  }
  CHECK(invocations[0]->Start("main", Int64Values({1})).code() == StatusCode::kFailedPrecondition);
  CHECK(invocations[0]->TakeResult().status().code() == StatusCode::kFailedPrecondition);
  int polls = 0;
  for (size_t ended = 0; ended < invocations.size();) {
    ended = 0;
    for (auto& invocation : invocations) {
      ended += invocation->Poll(std::chrono::microseconds(100)) == RunState::kDone;
      ++polls;
    }
  }
  CHECK(polls > 10);
  for (int i = 0; i < 10; ++i)
    CHECK(ToInt64(*invocations[static_cast<size_t>(i)]->TakeResult()) == kTurns + i);
}

TEST_CASE("invocation: destroyed while suspended") {
  auto invocation = NewInvocation(CountDown());
  REQUIRE(invocation->Start("main", Int64Values({kForever})).ok());
  CHECK(invocation->Poll(std::chrono::microseconds(10)) == RunState::kReady);
  invocation.reset();
  invocation = NewInvocation(CountDown());
  REQUIRE(invocation->Start("main", Int64Values({5})).ok());  // never polled
}

TEST_CASE("invocation: a program runs on many threads at once") {
  auto runtime = testing::TestRuntime(2);
  auto executable = LoadText(ScalarProgram(1, R"(
  adt.new r1, #0, []
  mov.i i1, i0
L0:
  tensor.box r2, i1, int64
  adt.new r1, #1, [r2!, r1!]
  addimm.i i1, i1, -1
  br.if i1, L0
L1:
  switch.tag r1, [L3, L2]
L2:
  adt.get r2, r1, #0
  adt.get r1, r1!, #1
  tensor.item i1, r2!, int64, 0
  add.i i15, i15, i1
  jump L1
L3:)"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        auto invocation = Invocation::Create(runtime, executable);
        int64_t n = 100 * (t + 1) + i;
        Result<Value> result = (*invocation)->Run("main", Int64Values({n}));
        if (!result.ok() || static_cast<int64_t>(result->element(0)) != n * (n + 1) / 2) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

constexpr const char* kMakeTensors = R"(
.version 1
.export "main" f0 ("n": int64[]) -> (float32[?], float32[?], int64[])
.function "main" scalars 0 objects 1 captured 0 registers 2 4 returns object arena 0
  tensor.item i0, r0, int64, 0
  tensor.alloc r1, float32, [i0]
  tensor.view r2, r1, [i0]
  adt.new r3, #0, [r1!, r2!, r0!]
  ret.r r3!
.end
)";

TEST_CASE(
    "invocation: results outlive invocation, runtime and program; large ones are not copied") {
  for (int64_t n : {10, 100'000, 20'000'000}) {
    CAPTURE(n);
    std::vector<Value> results;
    {
      auto runtime = testing::TestRuntime();
      auto invocation = Invocation::Create(runtime, LoadText(kMakeTensors));
      REQUIRE(invocation.ok());
      for (int i = 0; i < 3; ++i) results.push_back(RunOk(**invocation, Int64Values({n})));
    }
    for (const Value& v : results) {
      Value tensor = v.field(0);
      REQUIRE(tensor.num_elements() == n);
      auto* data = static_cast<float*>(const_cast<void*>(tensor.data()));
      data[0] = data[n - 1] = 1.0f;
      if (n > 10) CHECK(v.field(1).data() == data);  // the view is of the same memory
      CHECK(ToInt64(v.field(2)) == n);
    }
    // Dropped in another thread, one part after the other.
    std::thread([moved = std::move(results)]() mutable {
      Value last = moved[1].field(1);
      moved.clear();
      CHECK(last.dims()[0] == last.num_elements());
    }).join();
  }
}

TEST_CASE("invocation: memory of results comes back to a running invocation") {
  auto invocation = NewInvocation(LoadText(kMakeTensors));
  size_t resident = 0;
  for (int i = 0; i < 20; ++i) {
    Value result = RunOk(*invocation, Int64Values({1'000'000}));
    static_cast<char*>(const_cast<void*>(result.field(0).data()))[0] = 1;
    result = Value();
    if (i == 3) resident = invocation->stats().resident_bytes;
  }
  CHECK(invocation->stats().resident_bytes <= resident);
}

TEST_CASE("invocation: a memory limit is an error with the numbers, and the next run is fine") {
  auto invocation = NewInvocation(LoadText(kMakeTensors), {.memory_limit = 1 << 20});
  CHECK(invocation->Run("main", Int64Values({200'000})).ok());
  Result<Value> result = invocation->Run("main", Int64Values({400'000}));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  CHECK(Contains(result.status().message(),
                 "no memory for a tensor of 1600000 bytes, shape (400000)"));
  CHECK(invocation->Run("main", Int64Values({200'000})).ok());
  invocation->set_memory_limit(SIZE_MAX);
  CHECK(invocation->Run("main", Int64Values({400'000})).ok());
  CHECK(invocation->stats().peak_bytes >= 1'600'000);
  CHECK(invocation->stats().allocations >= 3);
}

TEST_CASE("invocation: a stack that cannot be reserved is an error") {
  auto invocation =
      Invocation::Create(testing::TestRuntime(), CountDown(), {.stack_limit = size_t{1} << 62});
  REQUIRE(!invocation.ok());
  CHECK(Contains(invocation.status().message(), "lower stack_limit"));
}

TEST_CASE("runtime: thread counts") {
  CHECK((*Runtime::Create({.num_threads = 3}))->num_threads() == 3);
  CHECK((*Runtime::Create({.num_threads = 0}))->num_threads() >= 1);
  CHECK(!Runtime::Create({.num_threads = 1'000'000}).ok());
}

}  // namespace
}  // namespace relayvm
