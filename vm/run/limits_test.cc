// Time limits, cancellation and slices inside kernels and at the end of a run; memory limits.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <thread>

#include "vm/api/c_api_internal.h"
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

// Takes small blocks, of more and more bytes, and keeps one in so many as share a span.
int32_t Fragment(const RelayvmKernelEnv* env, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  constexpr uint64_t kSpan = 64 << 10, kFilled = 3 << 20;
  for (uint64_t bytes = 64;; bytes += bytes / 4) {
    std::vector<void*> blocks;
    while (blocks.size() * bytes < kFilled) {
      blocks.push_back(env->allocate(env, bytes));
      if (blocks.back() == nullptr) return RELAYVM_KERNEL_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i % (kSpan / bytes) != 0) env->release(env, blocks[i], bytes);
    }
  }
}

constexpr Builtin kKernels[] = {{"poll_for_long", PollForLong},
                                {"sleep_units", SleepUnits},
                                {"fail", Fail},
                                {"allocate", Allocate},
                                {"fragment", Fragment}};
constexpr const char* kTables = R"(
.kernel "poll_for_long" scalars 1 buffers () builtin
.kernel "sleep_units" scalars 0 buffers () builtin
.kernel "fail" scalars 1 buffers () builtin
.kernel "allocate" scalars 1 buffers () builtin
.kernel "fragment" scalars 0 buffers () builtin
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
      CAPTURE(argument);
      CAPTURE(threads);
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
  CHECK(result.status().message() == "main: the deadline has passed");
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
// f1: calls itself as often as its argument says.
std::string DeepFunction(int arena_bytes) {
  return fmt::format(R"(
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
                     arena_bytes);
}

std::shared_ptr<const Executable> DeepRecursion(int arena_bytes = 0) {
  return LoadText(ScalarProgram(1, "call.i i15, f1, [i0], []", DeepFunction(arena_bytes)));
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

TEST_CASE("limits: where many pages hold little, the run ends as at the limit, and says so") {
  constexpr int64_t kLimit = 6 << 20;
  auto invocation = NewInvocation(KernelProgram("kernel.1 k4, [], []\n  mov.i i15, i0"),
                                  {.memory_limit = kLimit});
  const Status status = invocation->Run("main", Int64Values({1})).status();
  CHECK(status.code() == StatusCode::kResourceExhausted);
  CHECK(Contains(status.message(), "bytes are in use of 6291456, in pages of "));
  CHECK(Contains(status.message(), "; raise the memory limit"));
  REQUIRE(status.detail() != nullptr);
  const std::vector<int64_t>& numbers = status.detail()->numbers;
  REQUIRE(numbers.size() == 3);
  CHECK(numbers[0] < kLimit);
  CHECK(numbers[1] == kLimit);
  CHECK(numbers[2] > kLimit);
  CHECK(numbers[2] <= kLimit + kLimit / 4 + (3 << 20));
}

// --- Memory of a runtime ---

// A tensor of i0 bytes, a stack of i1 calls, a kernel's scratch of i2 bytes; the tensor is the
// result.
std::shared_ptr<const Executable> HoldingProgram() {
  return LoadText(fmt::format(R"(
.version 1
{}
.export "main" f0 ("bytes": int64[], "depth": int64[], "scratch": int64[]) -> uint8[?""]
.function "main" scalars 0 objects 3 captured 0 registers 8 4 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  tensor.item i2, r2!, int64, 0
  tensor.alloc r3, uint8, [i0]
  call.i i3, f1, [i1], []
  const.i16 i4, 0
  const.i16 i5, 2
  kernel k2, i5, i5, i2, [i4], []
  ret.r r3!
.end
{})",
                              kTables, DeepFunction(0)),
                  kKernels);
}

TEST_CASE("limits: a runtime's memory is shared by its invocations; one that needs more ends") {
  constexpr size_t kMiB = 1 << 20, kLimit = 32 * kMiB;
  auto runtime = *Runtime::Create({.memory_limit = kLimit});
  auto executable = HoldingProgram();
  auto first = *Invocation::Create(runtime, executable);
  auto second = *Invocation::Create(runtime, executable, {.memory_limit = 1000 * kMiB});
  // A result counts while the host has it.
  Value result = RunOk(*first, Int64Values({20 * kMiB, 10, 100}));
  CHECK(runtime->stats().counted_bytes >= 20 * kMiB);
  CHECK(runtime->stats().counted_bytes <= 22 * kMiB);
  struct Case {
    const char* what;
    std::vector<Value> inputs;
    int64_t needed;  // 0: not said
  };
  const Case cases[] = {
      {"a tensor of ", Int64Values({20 * kMiB, 1, 1}), 20 * kMiB},
      {"a tensor of ", Int64Values({40 * kMiB, 1, 1}), 40 * kMiB},
      {"the stack of calls", Int64Values({1, 10'000'000, 1}), 0},
      {"bytes of a kernel's scratch", Int64Values({1, 1, 20 * kMiB}), 20 * kMiB},
  };
  for (const Case& c : cases) {
    const Status status = second->Run("main", c.inputs).status();
    CAPTURE(status.message());
    CHECK(status.code() == StatusCode::kResourceExhausted);
    CHECK(Contains(status.message(), c.what));
    CHECK(Contains(status.message(),
                   " bytes are in use of the 33554432 of all invocations; raise "
                   "the runtime's memory limit"));
    REQUIRE(status.detail() != nullptr);
    CHECK(status.detail()->numbers.size() == 2);
    CHECK(status.detail()->numbers[0] >= static_cast<int64_t>(20 * kMiB));
    CHECK(status.detail()->numbers[1] == kLimit);
    if (c.needed != 0) {
      REQUIRE(status.detail()->found.size() == 1);
      CHECK(status.detail()->found[0] >= c.needed);
      CHECK(status.detail()->expected[0] < c.needed);
    }
    CHECK(runtime->stats().counted_bytes <= 24 * kMiB);
    RunOk(*second, Int64Values({5 * kMiB, 1000, 100'000}));
  }
  // An invocation's own limit is said to be that.
  second->set_memory_limit(kMiB);
  const Status own = second->Run("main", Int64Values({20 * kMiB, 1, 1})).status();
  CHECK(Contains(own.message(), "of 1048576; raise the memory limit"));
  second->set_memory_limit(SIZE_MAX);
  result = Value();
  // What the first keeps for its next run is taken from it.
  RunOk(*first, Int64Values({1, 1, 1}));
  RunOk(*second, Int64Values({30 * kMiB, 1, 1}));
  first.reset();
  second.reset();
  // Of two invocations 1 MiB each, of others 64 KiB.
  CHECK(runtime->stats().counted_bytes <= 2 * kMiB + 6 * (kMiB / 16));  // of idle workspaces
  // Less than the first frame needs.
  auto none = *Runtime::Create({.memory_limit = 100});
  auto invocation = *Invocation::Create(none, executable);
  CHECK(Contains(invocation->Run("main", Int64Values({1, 1, 1})).status().message(),
                 "no memory for the stack of calls: 0 bytes are in use of the 100 of all"));
}

TEST_CASE(
    "limits: invocations of many threads keep to their runtime's memory, and all comes back") {
  constexpr int64_t kMiB = 1 << 20;
  constexpr size_t kLimit = 24 * kMiB;
  auto runtime =
      *Runtime::Create({.num_threads = 2, .max_idle_workspaces = 2, .memory_limit = kLimit});
  auto executable = HoldingProgram();
  std::atomic<int> done{0}, refused{0}, running{3}, wrong{0};
  auto run = [&](unsigned seed) {
    std::vector<Value> results;
    auto invocation = *Invocation::Create(runtime, executable);
    for (int i = 0; i < 40; ++i, seed = seed * 1'103'515'245 + 12'345) {
      auto result = invocation->Run("main", {Value::Int64(int64_t{(seed >> 8) % 12} * kMiB),
                                             Value::Int64(20'000), Value::Int64(kMiB)});
      if (result.ok()) {
        results.push_back(*std::move(result));
      } else {
        if (!Contains(result.status().message(), "of all invocations")) ++wrong;
        results.clear();
      }
      ++(results.empty() ? refused : done);
      if (i % 7 == 0) invocation = *Invocation::Create(runtime, executable);
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back(run, i);
  while (running > 0) {
    if (runtime->stats().counted_bytes > kLimit) ++wrong;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(done > 0);
  CHECK(refused > 0);
  // Of two invocations 1 MiB each, of others 64 KiB.
  CHECK(runtime->stats().counted_bytes <= 2 * kMiB + 6 * (kMiB / 16));
  auto invocation = *Invocation::Create(runtime, executable);
  CHECK(RunOk(*invocation, Int64Values({20 * kMiB, 1, 1})).bytes() == 20 * kMiB);
}

TEST_CASE("limits: a runtime's memory limit through the C API") {
  relayvm_runtime_options options{};
  options.struct_size = sizeof(options);
  options.memory_limit = 8 << 20;
  relayvm_runtime* runtime = nullptr;
  REQUIRE(relayvm_runtime_create(&options, &runtime) == nullptr);
  relayvm_executable executable;
  executable.executable = HoldingProgram();
  relayvm_invocation* invocation = nullptr;
  REQUIRE(relayvm_invocation_create(runtime, &executable, nullptr, &invocation) == nullptr);
  for (const int64_t bytes : {4 << 20, 9 << 20, 5 << 20}) {
    relayvm_value* inputs[3] = {};
    for (int i = 0; i < 3; ++i) {
      const int64_t number = i == 0 ? bytes : 1;
      REQUIRE(relayvm_value_tensor(RELAYVM_INT64, nullptr, 0, &number, &inputs[i]) == nullptr);
    }
    relayvm_value* result = nullptr;
    relayvm_status* status = relayvm_invocation_run(invocation, "main", inputs, 3, &result);
    relayvm_runtime_stats stats{};
    stats.struct_size = sizeof(stats);
    REQUIRE(relayvm_runtime_get_stats(runtime, &stats) == nullptr);
    CHECK(stats.counted_bytes <= options.memory_limit);
    if (bytes > 8 << 20) {
      CHECK(relayvm_status_code(status) == RELAYVM_RESOURCE_EXHAUSTED);
      CHECK(Contains(relayvm_status_message(status), "raise the runtime's memory limit"));
    } else {
      CHECK(status == nullptr);
      CHECK(stats.counted_bytes >= static_cast<uint64_t>(bytes));
    }
    relayvm_status_free(status);
    relayvm_value_free(result);
    for (relayvm_value* input : inputs) relayvm_value_free(input);
  }
  relayvm_invocation_free(invocation);
  relayvm_runtime_free(runtime);
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

TEST_CASE("limits: a result that is dropped while its invocation lives goes back; stats tell") {
  auto runtime = testing::TestRuntime();
  auto executable = HoldingProgram();
  auto invocation = *Invocation::Create(runtime, executable);
  constexpr size_t kHuge = 50 << 20, kMedium = 30 << 20;
  for (const size_t bytes : {kHuge, kMedium}) {
    CAPTURE(bytes);
    Value result = RunOk(
        *invocation, {Value::Int64(static_cast<int64_t>(bytes)), Value::Int64(1), Value::Int64(1)});
    std::memset(const_cast<void*>(result.data()), 1, result.bytes());
    CHECK(runtime->stats().live_bytes == 0);
    CHECK(runtime->stats().resident_bytes >= bytes);
    CHECK(invocation->stats().resident_bytes >= bytes);
    [[maybe_unused]] const size_t resident = StatmPages(1);
    result = Value();
    CHECK(runtime->stats().resident_bytes <= (9 << 20));
#if !RELAYVM_ASAN && !RELAYVM_TSAN
    CHECK((resident - StatmPages(1)) * 4096 > bytes / 2);
#endif
    invocation->Trim();
    CHECK(runtime->stats().resident_bytes == 0);
  }
}

}  // namespace
}  // namespace relayvm
