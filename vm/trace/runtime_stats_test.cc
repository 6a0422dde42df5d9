// What a runtime counts: by whom, when, and that it can be read while it changes.
#include "vm/trace/runtime_stats.h"

#include <atomic>
#include <numeric>
#include <thread>

#include "vm/border/host_testing.h"
#include "vm/schedule/scheduler.h"

namespace relayvm {
namespace {

using testing::Int64Values;
using testing::LoadText;
using testing::RunOk;
using testing::ScalarProgram;
using testing::ToInt64;
using namespace std::chrono_literals;

uint64_t Ended(const RuntimeStats& stats, StatusCode code) {
  return stats.ended[static_cast<size_t>(code)];
}

std::unique_ptr<Invocation> In(const std::shared_ptr<Runtime>& runtime,
                               std::shared_ptr<const Executable> executable) {
  auto invocation = Invocation::Create(runtime, std::move(executable));
  REQUIRE(invocation.ok());
  return *std::move(invocation);
}

int32_t Nothing(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  return RELAYVM_KERNEL_OK;
}
constexpr Builtin kKernels[] = {{"host.nothing", Nothing}};
constexpr const char* kTables = ".kernel \"host.nothing\" scalars 0 buffers () builtin\n";

// main(n): n turns of two kernel calls and an object each.
std::shared_ptr<const Executable> Turns() {
  return LoadText(ScalarProgram(1, R"(
L0:
  kernel.1 k0, [], []
  const.i16 i1, 1
  kernel k0, i1, i1, i2, [], []
  tensor.box r1, i0, int64
  addimm.i i0, i0, -1
  br.if i0, L0)",
                                "", kTables),
                  kKernels);
}

TEST_CASE("runtime stats: runs by status, calls, memory") {
  auto runtime = testing::TestRuntime();
  CHECK(runtime->stats().workspaces == 0);
  auto turns = In(runtime, Turns());
  RunOk(*turns, Int64Values({10}));
  RuntimeStats stats = runtime->stats();
  CHECK(stats.started == 1);
  CHECK(Ended(stats, StatusCode::kOk) == 1);
  CHECK(stats.kernel_calls == 20);
  CHECK(stats.host_calls == 0);
  CHECK(stats.slices == 1);
  CHECK(stats.run_ns == turns->stats().run_ns);
  CHECK(stats.allocations == turns->stats().allocations);
  CHECK(stats.allocated_bytes >= 11 * sizeof(int64_t));
  CHECK(stats.peak_bytes == turns->stats().peak_bytes);
  CHECK(stats.running == 0);
  CHECK(stats.workspaces == 1);
  CHECK(stats.idle_workspaces == 0);

  CHECK(turns->Run("other", {}).status().code() == StatusCode::kNotFound);
  CHECK(turns->Run("main", {}).status().code() == StatusCode::kInvalidArgument);
  turns->Cancel();
  CHECK(!turns->Run("main", Int64Values({1})).ok());
  auto trap = In(runtime, LoadText(ScalarProgram(0, "  trap m0\n", "", ".message \"no\"\n")));
  CHECK(!trap->Run("main", {}).ok());
  const RuntimeStats then = runtime->stats();
  CHECK(then.refused == 2);
  CHECK(then.started == 3);
  CHECK(Ended(then, StatusCode::kCancelled) == 1);
  CHECK(Ended(then, StatusCode::kFailedPrecondition) == 1);
  CHECK(then.kernel_calls == 20);
  CHECK(then.workspaces == 2);

  // What has gone stays counted.
  turns.reset();
  trap.reset();
  CHECK(runtime->stats().idle_workspaces == 2);
  CHECK(runtime->stats().started == 3);
  auto small = Runtime::Create({.max_idle_workspaces = 0});
  REQUIRE(small.ok());
  RunOk(*In(*small, Turns()), Int64Values({3}));
  RunOk(*In(*small, Turns()), Int64Values({4}));
  CHECK((*small)->stats().workspaces == 0);
  CHECK((*small)->stats().kernel_calls == 14);
  CHECK((*small)->stats().allocations >= 7);
}

TEST_CASE("runtime stats: a run in progress counts, from any thread; numbers never go down") {
  auto runtime = testing::TestRuntime();
  auto invocation = In(runtime, Turns());
  std::thread runner([&] { CHECK(!invocation->Run("main", Int64Values({-1})).ok()); });
  RuntimeStats last;
  while (last.kernel_calls < 100'000) {
    const RuntimeStats stats = runtime->stats();
    CHECK(stats.kernel_calls >= last.kernel_calls);
    CHECK(stats.allocations >= last.allocations);
    CHECK(stats.allocated_bytes >= last.allocated_bytes);
    last = stats;
  }
  last =
      runtime->stats();  // the numbers of one are not of one moment: the run may have begun in it
  CHECK(last.running == 1);
  CHECK(last.live_bytes > 0);
  CHECK(last.resident_bytes > 0);
  CHECK(Ended(last, StatusCode::kOk) == 0);
  invocation->Cancel();
  runner.join();
  last = runtime->stats();
  CHECK(last.running == 0);
  CHECK(last.live_bytes == 0);
  CHECK(Ended(last, StatusCode::kCancelled) == 1);
}

TEST_CASE("runtime stats: nothing is lost or counted twice while workspaces come and go") {
  auto runtime = *Runtime::Create({.max_idle_workspaces = 0});
  const auto turns = Turns();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> begun{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<Invocation>> held(300);
      for (unsigned i = t; !stop; i = i * 1664525 + 1013904223) {
        std::unique_ptr<Invocation>& one = held[(i >> 8) % held.size()];
        one = *Invocation::Create(runtime, turns);
        ++begun;
        CHECK(one->Run("main", Int64Values({1})).ok());
      }
    });
  }
  RuntimeStats last;
  for (int i = 0; i < 300 || last.started < 2000; ++i) {
    const RuntimeStats stats = runtime->stats();
    const uint64_t most = begun;
    REQUIRE(stats.started >= last.started);
    REQUIRE(stats.kernel_calls >= last.kernel_calls);
    REQUIRE(stats.started <= most);
    last = stats;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  last = runtime->stats();
  CHECK(last.started == begun);
  CHECK(Ended(last, StatusCode::kOk) == begun);
  CHECK(last.kernel_calls == 2 * begun);
  CHECK(last.workspaces == 0);
}

TEST_CASE("runtime: of many invocations at once small memory stays, of a few more") {
  auto runtime = testing::TestRuntime();
  const auto turns = Turns();
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Invocation>> all;
    for (int i = 0; i < 100; ++i) {
      all.push_back(In(runtime, turns));
      RunOk(*all.back(), Int64Values({1}));
    }
    CHECK(runtime->stats().workspaces == 100);
    CHECK(runtime->stats().idle_workspaces == 0);
    all.clear();
    CHECK(runtime->stats().idle_workspaces == 100);
  }
  // Those that hold more become small, but for the latest 8.
  const auto large =
      LoadText(ScalarProgram(1, "  tensor.alloc r1, uint8, [i0]\n  mov.i i15, i0\n"));
  std::vector<std::unique_ptr<Invocation>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(In(runtime, large));
    RunOk(*all.back(), Int64Values({700'000}));
  }
  CHECK(runtime->stats().resident_bytes > 60'000'000);
  all.clear();
  CHECK(runtime->stats().idle_workspaces == 100);
  CHECK(runtime->stats().resident_bytes < 10'000'000);
  CHECK(runtime->stats().resident_bytes > 4'000'000);
}

// What a kernel sees of the runtime that runs it.
const Runtime* observed = nullptr;
RuntimeStats seen;
int32_t Observe(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  seen = observed->stats();
  return RELAYVM_KERNEL_OK;
}

TEST_CASE("runtime stats: resident memory has the stack, arenas and scratch of runs in it, once") {
  constexpr Builtin kKernels[] = {{"observe", Observe}};
  constexpr const char* kProgram = R"(
.function "deep" scalars 1 objects 0 captured 0 registers 4 1 returns scalar arena {}
  br.if i0, L0
  const.i16 i1, 1
  const.i64 i2, {}
  kernel k0, i1, i1, i2, [], []
  ret.i i0
L0:
  addimm.i i0, i0, -1
  call.i i1, f1, [i0], []
  ret.i i1
.end
)";
  struct Case {
    int arena, scratch;
    size_t least;
  };
  for (const Case& c :
       {Case{0, 0, 30'000 * 32}, Case{1024, 0, 30'000 * 1024}, Case{0, 5'000'000, 5'000'000}}) {
    CAPTURE(c.least);
    auto runtime = testing::TestRuntime();
    observed = runtime.get();
    auto invocation =
        In(runtime, LoadText(ScalarProgram(1, "call.i i15, f1, [i0], []",
                                           fmt::format(kProgram, c.arena, c.scratch),
                                           ".kernel \"observe\" scalars 0 buffers () builtin\n"),
                             kKernels));
    RunOk(*invocation, Int64Values({30'000}));
    CHECK(seen.live_bytes >= c.least);
    CHECK(seen.resident_bytes >= seen.live_bytes);
    CHECK(seen.resident_bytes <= seen.live_bytes + (1 << 20));
    CHECK(runtime->stats().resident_bytes <= (c.arena > 0 ? seen.resident_bytes : 1 << 20));
    invocation->Trim();
    CHECK(runtime->stats().resident_bytes == 0);
  }
}

TEST_CASE("runtime stats: calls of host functions, and their waits") {
  auto runtime = testing::TestRuntime();
  Waker waker;
  auto invocation = In(runtime, testing::Loop([&](HostCall& call) -> Result<Value> {
                         waker = call.waker();
                         if (ToInt64(call.args()[0]) % 2 == 0) waker.Wake();  // nothing to wait for
                         RELAYVM_RETURN_IF_ERROR(call.Suspend());
                         return call.args()[0];
                       }));
  REQUIRE(invocation->Start("main", Int64Values({4})).ok());
  for (uint64_t wait = 0; wait < 2; ++wait) {
    REQUIRE(invocation->Poll() == RunState::kWaiting);
    CHECK(runtime->stats().waiting == 1);
    CHECK(runtime->stats().running == 1);
    CHECK(runtime->stats().waits == wait);
    std::this_thread::sleep_for(1ms);
    waker.Wake();
  }
  CHECK(invocation->Poll() == RunState::kDone);
  const RuntimeStats stats = runtime->stats();
  CHECK(stats.host_calls == 4);
  CHECK(stats.waits == 2);
  CHECK(stats.wait_ns >= 2'000'000);
  CHECK(stats.wait_ns <= stats.run_ns);
  CHECK(stats.waiting == 0);
  CHECK(stats.slices == 3);
  CHECK(stats.batch_waits == 0);
}

TEST_CASE("runtime stats: of schedulers' runs on several threads") {
  auto runtime = testing::TestRuntime();
  constexpr uint64_t kRuns = 200;
  std::atomic<uint64_t> ended{0};
  {
    auto scheduler = Scheduler::Create(runtime, {.num_threads = 4, .slice = 50us});
    REQUIRE(scheduler.ok());
    auto program = Turns();
    for (uint64_t i = 0; i < kRuns; ++i) {
      REQUIRE((*scheduler)
                  ->RunAsync({.executable = program, .inputs = Int64Values({100})},
                             [&](const Result<Value>&) { ++ended; })
                  .ok());
    }
    while (ended < kRuns) std::this_thread::yield();
  }
  const RuntimeStats stats = runtime->stats();
  CHECK(stats.started == kRuns);
  CHECK(Ended(stats, StatusCode::kOk) == kRuns);
  CHECK(stats.kernel_calls == kRuns * 200);
  CHECK(stats.live_bytes == 0);
  CHECK(stats.slices >= kRuns);
}

}  // namespace
}  // namespace relayvm
