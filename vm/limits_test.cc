// Time limits, cancellation and slices inside kernels and at the end of a run; memory limits.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <thread>

#include "vm/testing.h"

namespace relayvm {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Int64Values;
using testing::LoadText;
using testing::NewInvocation;
using testing::RunOk;
using testing::ScalarProgram;
using testing::ToInt64;

// --- Kernels ---

// Runs until it is told to stop, or for as many polls as its scalar says.
int32_t PollForLong(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t,
                    uint32_t) {
  for (int64_t i = 0; i < args->scalars[0]; ++i) {
    const int32_t code = env->poll(env);
    if (code != 0) return code;
  }
  return 0;
}

// Takes a tenth of a millisecond a unit, and knows nothing of polls.
int32_t SleepUnits(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t begin,
                   uint32_t end) {
  std::this_thread::sleep_for(std::chrono::microseconds(100) * (end - begin));
  return 0;
}

int32_t Fail(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  return static_cast<int32_t>(args->scalars[0]);
}

// Takes scalar 0 bytes a thousand times, without giving them back.
int32_t Allocate(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  const auto bytes = static_cast<uint64_t>(args->scalars[0]);
  void* kept[1000];
  for (void*& memory : kept) {
    memory = env->allocate(env, bytes);
    if (memory == nullptr) return RELAYVM_KERNEL_OUT_OF_MEMORY;
    static_cast<char*>(memory)[0] = 1;
  }
  for (void* memory : kept) env->release(env, memory, bytes);
  return 0;
}

constexpr Builtin kKernels[] = {{"poll_for_long", PollForLong},
                                {"sleep_units", SleepUnits},
                                {"fail", Fail},
                                {"allocate", Allocate}};
constexpr const char* kTables = R"(
.kernel "poll_for_long" scalars 1 buffers () builtin
.kernel "sleep_units" scalars 0 buffers () builtin
.kernel "fail" scalars 1 buffers () builtin
.kernel "allocate" scalars 1 buffers () builtin
)";
constexpr int64_t kForever = int64_t{1} << 60;

std::shared_ptr<const Executable> KernelProgram(const std::string& body) {
  return LoadText(ScalarProgram(1, body, "", kTables), kKernels);
}
// A kernel that polls, one that does not over a range, and a range on the pool.
std::shared_ptr<const Executable> PollingKernel() {
  return KernelProgram("kernel.1 k0, [i0], []\n  mov.i i15, i0");
}
std::shared_ptr<const Executable> SleepingRange() {
  return KernelProgram("const.i16 i1, 1\n  kernel k1, i0, i1, i2, [], []");
}
std::shared_ptr<const Executable> PollingRange() {
  return KernelProgram("const.i16 i1, 1\n  const.i16 i3, 64\n  kernel k0, i3, i1, i2, [i0], []");
}
constexpr int64_t kManyUnits = 1'000'000;

struct LongRun {
  std::shared_ptr<const Executable> executable;
  int64_t argument;
};
std::vector<LongRun> LongRuns() {
  return {{PollingKernel(), kForever}, {SleepingRange(), kManyUnits}, {PollingRange(), kForever}};
}

// --- Time ---

TEST_CASE("limits: a time limit ends a run inside a kernel, on any number of threads") {
  for (uint32_t threads : {1u, 3u}) {
    for (const LongRun& run : LongRuns()) {
      auto invocation = NewInvocation(run.executable, {.timeout = milliseconds(20)}, threads);
      Result<Value> result = invocation->Run("main", Int64Values({run.argument}));
      REQUIRE(!result.ok());
      CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
      CHECK(Contains(result.status().message(), ": the deadline has passed"));
      CHECK(Contains(result.status().message(), "main+0x"));
      CHECK(invocation->stats().run_ns < 10'000'000'000);
      CHECK(invocation->Run("main", Int64Values({1})).ok());
    }
  }
}

TEST_CASE("limits: a cancellation ends a run inside a kernel") {
  for (uint32_t threads : {1u, 3u}) {
    for (const LongRun& run : LongRuns()) {
      auto invocation = NewInvocation(run.executable, {}, threads);
      std::thread canceller([&] {
        std::this_thread::sleep_for(milliseconds(5));
        invocation->Cancel();
      });
      Result<Value> result = invocation->Run("main", Int64Values({run.argument}));
      canceller.join();
      REQUIRE(!result.ok());
      CHECK(result.status().code() == StatusCode::kCancelled);
      CHECK(invocation->Run("main", Int64Values({1})).ok());
    }
  }
}

TEST_CASE("limits: a slice ends inside a kernel, and the next one goes on there") {
  for (uint32_t threads : {1u, 3u}) {
    for (const auto& [executable, argument] :
         {LongRun{PollingKernel(), 300'000 / testing::kSlowdown}, LongRun{SleepingRange(), 1000},
          LongRun{PollingRange(), 30'000 / testing::kSlowdown}}) {
      auto invocation = NewInvocation(executable, {}, threads);
      REQUIRE(invocation->Start("main", Int64Values({argument})).ok());
      int slices = 1;
      while (invocation->Poll(std::chrono::microseconds(20)) != RunState::kDone) ++slices;
      CHECK(invocation->TakeResult().ok());
      CHECK(slices >= 2);
    }
  }
}

TEST_CASE("limits: a run that ends too late is an error, whatever it was doing") {
  // One unit of 20 ms: nothing can look at the clock before it is over.
  auto invocation =
      NewInvocation(KernelProgram("const.i16 i1, 200\n  kernel k1, i1, i1, i2, [], []"),
                    {.timeout = milliseconds(10)});
  Result<Value> result = invocation->Run("main", Int64Values({0}));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
  CHECK(result.status().message() == "the deadline has passed");
  invocation->set_timeout(std::chrono::seconds(100));
  CHECK(invocation->Run("main", Int64Values({0})).ok());
}

TEST_CASE("limits: a cancellation before the run ends it; each ends one run") {
  for (const auto& executable : {PollingKernel(), LoadText(ScalarProgram(1, "mov.i i15, i0"))}) {
    auto invocation = NewInvocation(executable);
    invocation->Cancel();
    CHECK(!invocation->Run("no such function", Int64Values({2})).ok());  // not a run
    Result<Value> result = invocation->Run("main", Int64Values({2}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kCancelled);
    CHECK(ToInt64(RunOk(*invocation, Int64Values({2}))) == 2);
    // Between start and poll.
    REQUIRE(invocation->Start("main", Int64Values({2})).ok());
    invocation->Cancel();
    CHECK(invocation->Poll() == RunState::kDone);
    CHECK(invocation->TakeResult().status().code() == StatusCode::kCancelled);
    // One that nobody waits for any more.
    invocation->Cancel();
    invocation->ForgetCancel();
    CHECK(ToInt64(RunOk(*invocation, Int64Values({3}))) == 3);
  }
}

// --- Errors of kernels ---

TEST_CASE("limits: what a kernel cannot take is never the host's invalid argument") {
  const std::pair<int32_t, StatusCode> kCodes[] = {
      {RELAYVM_KERNEL_INDEX_OUT_OF_RANGE, StatusCode::kOutOfRange},
      {RELAYVM_KERNEL_INVALID_ARGUMENT, StatusCode::kFailedPrecondition},
      {RELAYVM_KERNEL_STOPPED, StatusCode::kCancelled},
      {RELAYVM_KERNEL_OUT_OF_MEMORY, StatusCode::kResourceExhausted},
      {99, StatusCode::kInternal}};
  for (auto [code, expected] : kCodes) {
    auto invocation = NewInvocation(KernelProgram("kernel.1 k2, [i0], []"));
    CHECK(invocation->Run("main", Int64Values({code})).status().code() == expected);
    CHECK(invocation->Run("main", Int64Values({0})).ok());
  }
}

TEST_CASE("limits: the memory that kernels take counts, and comes back") {
  auto executable = KernelProgram("kernel.1 k3, [i0], []");
  auto invocation = NewInvocation(executable, {.memory_limit = 20 << 20});
  for (int64_t bytes : {0, 1, 16, 1000, 16'384, 16'385, 20'000, 1'000'000, 40'000'000}) {
    CAPTURE(bytes);
    Result<Value> result = invocation->Run("main", Int64Values({bytes}));
    CHECK(result.ok() == (bytes <= 20'000));
    if (!result.ok()) CHECK(result.status().code() == StatusCode::kResourceExhausted);
  }
  CHECK(invocation->Run("main", Int64Values({1000})).ok());
}

// --- Memory ---

// f(n) = n == 0 ? 0 : f(n - 1) + 1
std::shared_ptr<const Executable> DeepRecursion(int arena_bytes = 0) {
  return LoadText(ScalarProgram(1, "call.i i15, f1, [i0], []",
                                fmt::format(R"(
.function "deep" scalars 1 objects 0 captured 0 registers 2 1 returns scalar arena {}
  br.if i0, L0
  ret.i i0
L0:
  addimm.i i0, i0, -1
  call.i i1, f1, [i0], []
  addimm.i i1, i1, 1
  ret.i i1
.end
)",
                                            arena_bytes)));
}

TEST_CASE("limits: the stack of calls counts") {
  constexpr size_t kLimit = 4 << 20;
  auto invocation = NewInvocation(DeepRecursion(), {.memory_limit = kLimit});
  for (int i = 0; i < 3; ++i) {
    CHECK(ToInt64(RunOk(*invocation, Int64Values({10'000}))) == 10'000);
    Result<Value> result = invocation->Run("main", Int64Values({10'000'000}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kResourceExhausted);
    CHECK(Contains(result.status().message(), "no memory for the stack of calls: "));
    CHECK(Contains(result.status().message(), "of 4194304; raise the memory limit"));
    CHECK(invocation->stats().peak_bytes <= kLimit);
    CHECK(invocation->stats().peak_bytes > kLimit / 2);
  }
  invocation->set_memory_limit(SIZE_MAX);
  CHECK(ToInt64(RunOk(*invocation, Int64Values({1'000'000}))) == 1'000'000);
}

TEST_CASE("limits: arenas count as they are used") {
  for (int arena_bytes : {64, 11'000, 100'000, 300'000}) {
    CAPTURE(arena_bytes);
    auto invocation = NewInvocation(DeepRecursion(arena_bytes));
    for (int64_t depth : {1, 10, 100}) {
      RunOk(*invocation, Int64Values({depth}));
      const size_t used = static_cast<size_t>(arena_bytes) * static_cast<size_t>(depth + 1);
      CHECK(invocation->stats().peak_bytes >= used);
      CHECK(invocation->stats().peak_bytes <= used + used / 2 + 40'000);
    }
  }
  auto invocation = NewInvocation(DeepRecursion(5'000), {.memory_limit = 32 << 10});
  CHECK(invocation->Run("main", Int64Values({1})).ok());
  CHECK(!invocation->Run("main", Int64Values({20})).ok());
  CHECK(invocation->Run("main", Int64Values({1})).ok());
}

TEST_CASE("limits: scratch counts, and no more can be asked for than the machine has") {
  const char* body = "const.i16 i1, 1\n  const.i16 i2, 8\n  kernel k2, i2, i1, i0, [i15], []";
  for (uint32_t threads : {1u, 4u}) {
    auto invocation = NewInvocation(KernelProgram(body), {}, threads);
    for (int64_t bytes : {int64_t{1} << 62, INT64_MAX, int64_t{1} << 50, int64_t{1} << 44}) {
      Result<Value> result = invocation->Run("main", Int64Values({bytes}));
      REQUIRE(!result.ok());
      CHECK(result.status().code() == StatusCode::kResourceExhausted);
      CHECK(Contains(result.status().message(), " bytes of a kernel's scratch, for each of "));
    }
    invocation->set_memory_limit(1 << 20);
    CHECK(invocation->Run("main", Int64Values({200'000})).ok());
    CHECK(!invocation->Run("main", Int64Values({2'000'000})).ok());
    CHECK(invocation->Run("main", Int64Values({200'000})).ok());
  }
}

TEST_CASE("limits: a boxed scalar takes at most 48 bytes") {
  const char* build_list = R"(
  adt.new r1, #0, []
L0:
  tensor.box r2, i0, int32
  adt.new r1, #1, [r2!, r1!]
  addimm.i i0, i0, -1
  br.if i0, L0)";
  auto invocation = NewInvocation(LoadText(ScalarProgram(1, build_list)));
  constexpr size_t kCount = 100'000;
  RunOk(*invocation, Int64Values({kCount}));
  CHECK(invocation->stats().peak_bytes <= kCount * (48 + 32) + 10'000);
}

// --- Results that stay ---

size_t StatmPages(int column) {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  uint64_t pages[2] = {};
  REQUIRE(std::fscanf(file, "%" SCNu64 " %" SCNu64, &pages[0], &pages[1]) == 2);
  std::fclose(file);
  return pages[column];
}

TEST_CASE("limits: a result that outlives its invocation holds about its own size") {
  auto runtime = testing::TestRuntime();
  auto executable = LoadText(R"(
.version 1
.export "main" f0 ("n": int64[]) -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 1 2 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.alloc r1, float32, [i0]
  ret.r r1!
.end
)");
  constexpr int64_t kElements = 5'000;
  constexpr size_t kResults = 1'000;
  auto run = [&] {
    auto invocation = Invocation::Create(runtime, executable);
    REQUIRE(invocation.ok());
    Value result = RunOk(**invocation, Int64Values({kElements}));
    std::memset(const_cast<void*>(result.data()), 1, result.bytes());
    return result;
  };
  run();
  const size_t address_space = StatmPages(0);
  [[maybe_unused]] const size_t resident = StatmPages(1);
  std::vector<Value> results;
  for (size_t i = 0; i < kResults; ++i) results.push_back(run());
  constexpr size_t kBytes = kResults * kElements * sizeof(float);
  CHECK((StatmPages(0) - address_space) * 4096 < 10 * kBytes);
#if !RELAYVM_ASAN && !RELAYVM_TSAN
  CHECK((StatmPages(1) - resident) * 4096 < kBytes + kBytes / 2);
#endif
  // The heap that they lie in runs others meanwhile, and gets them back in any order.
  for (size_t i = 0; i < kResults; i += 2) results[i] = Value();
  for (size_t i = 1; i < kResults; i += 2) {
    const auto* bytes = static_cast<const char*>(results[i].data());
    CHECK(std::count(bytes, bytes + results[i].bytes(), 1) ==
          static_cast<ptrdiff_t>(results[i].bytes()));
  }
  run();
  runtime.reset();
  results.resize(kResults / 2);
}

TEST_CASE("limits: what is freed while its heap is idle goes back to the machine") {
  auto runtime = testing::TestRuntime();
  Value result;
  {
    auto executable = LoadText(R"(
.version 1
.export "main" f0 () -> float32[?]
.function "main" scalars 0 objects 0 captured 0 registers 1 1 returns object arena 0
  const.i64 i0, 5000000
  tensor.alloc r0, float32, [i0]
  ret.r r0!
.end
)");
    auto invocation = Invocation::Create(runtime, executable);
    REQUIRE(invocation.ok());
    result = RunOk(**invocation, {});
  }
  std::memset(const_cast<void*>(result.data()), 1, result.bytes());
  [[maybe_unused]] const size_t resident = StatmPages(1);
  [[maybe_unused]] const size_t bytes = result.bytes();
  result = Value();
#if !RELAYVM_ASAN && !RELAYVM_TSAN
  CHECK((resident - StatmPages(1)) * 4096 > bytes / 2);
#endif
}

}  // namespace
}  // namespace relayvm
