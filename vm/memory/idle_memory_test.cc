// What stays in memory between runs: when it goes back, and who can see it.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <span>
#include <thread>

#include "vm/schedule/scheduler.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using std::chrono::milliseconds;
using testing::Int64Values;
using testing::RunOk;

// A tensor of n float32 that nobody has written.
constexpr const char* kUnwritten = R"(
.version 5
.kernel "first" scalars 1 buffers (out float32[s0], uint8[]) builtin
.export "main" f0 ("n": int64[]) -> float32[?]
.export "arena" f1 ("n": int64[]) -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 0
  tensor.item i0, r0, int64, 0
  tensor.alloc r1, float32, [i0]
  ret.r r1!
.end
.function "arena" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 4096
  .slot 0 4096
  tensor.item i0, r0, int64, 0
  tensor.alloc r1, float32, [i0]
  kernel.1 k0, [i0], [r1, s0]
  ret.r r1!
.end
)";

// Copies n floats of the second buffer.
int32_t First(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  std::copy_n(static_cast<const float*>(args->buffers[1]), args->scalars[0],
              static_cast<float*>(args->buffers[0]));
  return RELAYVM_KERNEL_OK;
}
constexpr Builtin kFirst{"first", First};

// Fills the tensor and the arena that they get with ones.
constexpr const char* kOnes = R"(
.version 5
.kernel "ones" scalars 1 buffers (out float32[s0], out uint8[]) builtin
.export "main" f0 ("n": int64[]) -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 4096
  .slot 0 4096
  tensor.item i0, r0, int64, 0
  tensor.alloc r1, float32, [i0]
  kernel.1 k0, [i0], [r1, s0]
  ret.r r1!
.end
)";
int32_t Ones(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  std::fill_n(static_cast<float*>(args->buffers[0]), args->scalars[0], 1.0F);
  std::fill_n(static_cast<float*>(args->buffers[1]), 1024, 1.0F);
  return RELAYVM_KERNEL_OK;
}
constexpr Builtin kOnesKernel{"ones", Ones};

// 40 times y = x, with a batched form.
constexpr const char* kCopies = R"(
.version 1
.kernel "copy" scalars 1 buffers (float32[s0], out float32[s0]) builtin batched k1 (s0, calls)
.kernel "copy_many" scalars 2 buffers (float32[s1, s0], out float32[s1, s0]) builtin
.export "main" f0 ("x": float32[?]) -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  const.i16 i0, 40
  tensor.dim i1, r0, #0
  const.i16 i2, 1
  const.i16 i3, 0
L0:
  tensor.alloc r1, float32, [i1]
  kernel k0, i2, i2, i3, [i1], [r0!, r1]
  mov.r r0, r1!
  addimm.i i0, i0, -1
  br.if i0, L0
  ret.r r0!
.end
)";
template <bool kMany>
int32_t Copy(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  const int64_t count = args->scalars[0] * (kMany ? args->scalars[1] : 1);
  std::copy_n(static_cast<const float*>(args->buffers[0]), count,
              static_cast<float*>(args->buffers[1]));
  return RELAYVM_KERNEL_OK;
}
constexpr Builtin kCopyKernels[] = {{"copy", Copy<false>}, {"copy_many", Copy<true>}};

std::shared_ptr<const Executable> Load(const char* text, std::span<const Builtin> kernels,
                                       bool clear) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto executable =
      Executable::FromProgram(*std::move(program), {.kernels = kernels, .clear_memory = clear});
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  return *executable;
}

std::shared_ptr<Runtime> RuntimeWith(RuntimeOptions options) {
  auto runtime = Runtime::Create(options);
  REQUIRE(runtime.ok());
  return *runtime;
}

TEST_CASE("memory: a program that is not trusted sees nothing of other runs") {
  for (const int64_t n : {1, 16, 1000, 100'000, 20'000'000}) {
    CAPTURE(n);
    auto runtime = RuntimeWith({});
    // A program that is trusted shows that there is something to see.
    int64_t seen = 0;
    for (const bool clear : {false, true}) {
      CAPTURE(clear);
      for (const char* function : {"main", "arena"}) {
        CAPTURE(function);
        const int64_t count = std::min<int64_t>(n, function[0] == 'a' ? 1000 : n);
        RunOk(**Invocation::Create(runtime, Load(kOnes, {&kOnesKernel, 1}, false)),
              Int64Values({n}));
        auto peek = *Invocation::Create(runtime, Load(kUnwritten, {&kFirst, 1}, clear));
        const Value result = RunOk(*peek, Int64Values({count}), function);
        const auto* data = static_cast<const float*>(result.data());
        const int64_t ones = std::count(data, data + count, 1.0F);
        if (!clear) seen += ones;
        if (clear) CHECK(std::count(data, data + count, 0.0F) == count);
      }
    }
    CHECK(seen > 0);
  }
}

#if !RELAYVM_ASAN && !RELAYVM_TSAN
bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

TEST_CASE("memory: results and what runs need stay while runs go on, and go back when none comes") {
  constexpr int64_t kFloats = 16 << 20;  // 64 MiB
  for (const bool holds : {false, true}) {
    CAPTURE(holds);
    auto runtime = RuntimeWith({.keep_idle = milliseconds(300)});
    auto invocation = *Invocation::Create(runtime, Load(kOnes, {&kOnesKernel, 1}, false));
    const auto resident = [&] { return runtime->stats().resident_bytes; };
    for (int round = 0; round < 2; ++round) {
      Value held;
      for (int i = 0; i < 4; ++i) {
        Value result = RunOk(*invocation, Int64Values({kFloats}));
        if (holds) held = std::move(result);
      }
      CHECK(resident() > size_t{60} << 20);
      held = {};
      CHECK(resident() > size_t{60} << 20);
      CHECK(Eventually([&] { return resident() <= size_t{8} << 20; }));
    }
  }
}

TEST_CASE(
    "memory: of many ended runs little stays when no other comes, and nothing when it is asked "
    "for") {
  constexpr uint64_t kRuns = 400;
  const auto burst = [](const std::shared_ptr<Runtime>& runtime) {
    std::vector<std::unique_ptr<Invocation>> invocations;
    for (uint64_t i = 0; i < kRuns; ++i) {
      invocations.push_back(*Invocation::Create(runtime, Load(kOnes, {&kOnesKernel, 1}, false)));
      RunOk(*invocations.back(), Int64Values({4000}));
    }
  };
  auto runtime = RuntimeWith({.keep_idle = milliseconds(100)});
  burst(runtime);
  // Where the burst is slow, some are gone already.
  CHECK(runtime->stats().workspaces >= kRuns / 4);
  CHECK(Eventually([&] { return runtime->stats().workspaces <= kRuns / 2; }));

  // By itself nothing goes where it is kept for ever.
  runtime = RuntimeWith({.keep_idle = std::chrono::nanoseconds::max()});
  burst(runtime);
  auto invocation = *Invocation::Create(runtime, Load(kOnes, {&kOnesKernel, 1}, false));
  for (int i = 0; i < 4; ++i) RunOk(*invocation, Int64Values({16 << 20}));
  std::this_thread::sleep_for(milliseconds(20));
  CHECK(runtime->stats().workspaces >= 100);
  CHECK(runtime->stats().resident_bytes > size_t{60} << 20);
  runtime->Trim();
  CHECK(runtime->stats().workspaces == 1);
  CHECK(runtime->stats().resident_bytes <= size_t{8} << 20);
  CHECK(static_cast<const float*>(RunOk(*invocation, Int64Values({5})).data())[4] == 1);
}

TEST_CASE("memory: runs on several threads go on while what idles goes back") {
  auto runtime = RuntimeWith({.keep_idle = std::chrono::microseconds(200)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto invocation = *Invocation::Create(runtime, Load(kOnes, {&kOnesKernel, 1}, false));
      Value held;
      for (int i = 0; i < 60; ++i) {
        Value result = RunOk(*invocation, Int64Values({(3 << 20) + i}));
        CHECK(static_cast<const float*>(result.data())[(3 << 20) + i - 1] == 1);
        if (i % 3 == 0) held = std::move(result);
        if (i % 5 == 0) std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("memory: that of a batch is there for the next one, and goes back when none comes") {
  auto runtime = RuntimeWith({.keep_idle = milliseconds(300)});
  auto program = Load(kCopies, kCopyKernels, false);
  constexpr int64_t kFloats = 200'000, kBatches = 40;
  const Value x =
      testing::TensorOf<float>(DType::kFloat32, {kFloats}, std::vector<float>(kFloats, 1.0F));
  auto scheduler = *Scheduler::Create(
      runtime, {.batching = {.max_batch = 2, .max_wait = std::chrono::hours(1)}});
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const auto run = [&](const Value& input, Scheduler::Completion completion) {
    REQUIRE(scheduler->RunAsync({.executable = program, .inputs = {input}}, std::move(completion))
                .ok());
  };
  // Its thread waits until both are there.
  std::promise<void> are_there;
  run(testing::TensorOf<float>(DType::kFloat32, {1}, {1.0F}),
      [&](const Result<Value>&) { are_there.get_future().wait(); });
  const int64_t before = faults();
  for (int i = 0; i < 2; ++i) run(x, [](const Result<Value>& y) { CHECK(y.ok()); });
  are_there.set_value();
  REQUIRE(scheduler->Drain().ok());
  CHECK(scheduler->stats().batches == kBatches);
  // Pages of what a batch copies in and out. One batch's, and those of the runs' own, are few.
  constexpr int64_t kPages = 2 * 2 * kFloats * int64_t{sizeof(float)} / 4096;
  CHECK(faults() - before < kBatches * kPages / 4);
  CHECK(runtime->stats().resident_bytes >= kPages * 4096);
  CHECK(Eventually([&] { return runtime->stats().resident_bytes <= size_t{4} << 20; }));
}
#endif

}  // namespace
}  // namespace relayvm
