// What stays in memory between runs: when it goes back, and who can see it.
#include <algorithm>
#include <chrono>
#include <thread>

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

std::shared_ptr<const Executable> Load(const char* text, const Builtin& kernel, bool clear) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto executable = Executable::FromProgram(*std::move(program),
                                            {.kernels = {&kernel, 1}, .clear_memory = clear});
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
        RunOk(**Invocation::Create(runtime, Load(kOnes, kOnesKernel, false)), Int64Values({n}));
        auto peek = *Invocation::Create(runtime, Load(kUnwritten, kFirst, clear));
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
    auto invocation = *Invocation::Create(runtime, Load(kOnes, kOnesKernel, false));
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
      invocations.push_back(*Invocation::Create(runtime, Load(kOnes, kOnesKernel, false)));
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
  auto invocation = *Invocation::Create(runtime, Load(kOnes, kOnesKernel, false));
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
      auto invocation = *Invocation::Create(runtime, Load(kOnes, kOnesKernel, false));
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
#endif

}  // namespace
}  // namespace relayvm
