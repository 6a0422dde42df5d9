// An injected pool of threads: kernels run on it, and one that breaks its promises ends the run.
#include "vm/kernels/task_pool.h"

#include <atomic>
#include <thread>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Int64Values;
using testing::LoadText;

// Runs each worker's share of the tasks on a new thread. `fault` says what it does wrong.
class HostPool : public TaskPool {
 public:
  enum class Fault : uint8_t { kNone, kSkips, kRepeats, kUnknownWorker };
  explicit HostPool(uint32_t num_threads, Fault fault = Fault::kNone)
      : num_threads_(num_threads), fault_(fault) {}

  uint32_t num_threads() const override { return num_threads_; }
  void Run(uint32_t num_tasks, TaskFn task, void* context) override {
    ++calls;
    tasks += num_tasks;
    std::vector<std::thread> threads;
    for (uint32_t worker = 0; worker < num_threads_; ++worker) {
      threads.emplace_back([&, worker] {
        for (uint32_t i = worker; i < num_tasks; i += num_threads_) {
          if (fault_ == Fault::kSkips && i == 1) continue;
          const bool repeats = fault_ == Fault::kRepeats && i == 1;  // the one before it
          task(context, repeats ? 0 : i, fault_ == Fault::kUnknownWorker ? worker + 1 : worker);
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }

  std::atomic<uint32_t> calls{0}, tasks{0};

 private:
  uint32_t num_threads_;
  Fault fault_;
};

// Buffer 0 receives the squares of its units' numbers. Asks for memory and polls, as kernels may.
int32_t Squares(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                uint32_t end) {
  auto* out = static_cast<int64_t*>(args->buffers[0]);
  auto* scratch = static_cast<int64_t*>(args->scratch);
  for (uint32_t i = begin; i < end; ++i) {
    scratch[0] = int64_t{i} * i;
    out[i] = scratch[0];
  }
  if (env->allocate != nullptr) {
    void* memory = env->allocate(env, 100);
    if (memory == nullptr) return RELAYVM_KERNEL_OUT_OF_MEMORY;
    env->release(env, memory, 100);
  }
  return env->poll(env);
}
constexpr Builtin kKernels[] = {{"squares", Squares}};

std::shared_ptr<const Executable> SquaresProgram() {
  return LoadText(R"(
.version 1
.kernel "squares" scalars 1 buffers (out int64[s0]) builtin
.export "main" f0 ("n": int64[]) -> int64[?""]
.function "main" scalars 0 objects 1 captured 0 registers 3 2 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.alloc r1, int64, [i0]
  const.i16 i1, 1
  const.i16 i2, 64
  kernel k0, i0, i1, i2, [i0], [r1]
  ret.r r1!
.end
)",
                  kKernels);
}

std::unique_ptr<Invocation> InvocationOn(TaskPool* pool) {
  auto runtime = Runtime::Create({.thread_pool = pool});
  REQUIRE(runtime.ok());
  CHECK((*runtime)->num_threads() == pool->num_threads());
  return *Invocation::Create(*runtime, SquaresProgram());
}

TEST_CASE("task pool: kernels run on the host's threads, in slices too") {
  for (uint32_t threads : {1u, 2u, 5u}) {
    CAPTURE(threads);
    HostPool pool(threads);
    auto invocation = InvocationOn(&pool);
    for (int64_t n : {1, 2, 7, 1000}) {
      REQUIRE(invocation->Start("main", Int64Values({n})).ok());
      while (invocation->Poll(std::chrono::nanoseconds(1)) != RunState::kDone) {
      }
      Result<Value> result = invocation->TakeResult();
      REQUIRE_MESSAGE(result.ok(), result.status().message());
      const std::vector<int64_t> squares = testing::ElementsOf<int64_t>(*result);
      for (int64_t i = 0; i < n; ++i) REQUIRE(squares[static_cast<size_t>(i)] == i * i);
    }
    CHECK((pool.calls > 0) == (threads > 1));
    CHECK(pool.tasks >= 2 * pool.calls);
  }
}

TEST_CASE("task pool: invocations on several threads share one") {
  HostPool pool(2);
  auto executable = SquaresProgram();
  auto runtime = *Runtime::Create({.thread_pool = &pool});
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto invocation = *Invocation::Create(runtime, executable);
      for (int i = 0; i < 20; ++i) {
        Result<Value> result = invocation->Run("main", Int64Values({100}));
        if (result.ok() && testing::ElementsOf<int64_t>(*result)[99] == 99 * 99) ++good;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 80);
}

TEST_CASE("task pool: one that leaves tasks out, or invents workers, ends the run") {
  for (auto fault :
       {HostPool::Fault::kSkips, HostPool::Fault::kRepeats, HostPool::Fault::kUnknownWorker}) {
    for (uint32_t threads : {2u, 80u}) {  // 80: more tasks than fit in a few words
      HostPool pool(threads, fault);
      Result<Value> result = InvocationOn(&pool)->Run("main", Int64Values({100'000}));
      REQUIRE(!result.ok());
      CHECK(result.status().code() == StatusCode::kInternal);
      CHECK(Contains(result.status().message(), "did not run each of "));
    }
  }
  HostPool none(0), many(1025);
  for (TaskPool* pool : {&none, &many}) {
    auto runtime = Runtime::Create({.thread_pool = pool});
    REQUIRE(!runtime.ok());
    CHECK(runtime.status().code() == StatusCode::kInvalidArgument);
    CHECK(Contains(runtime.status().message(), "expected 1 to 1024"));
  }
}

// Throws in the unit that element 0 of its input says; -1: in none.
int32_t Throws(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin,
               uint32_t end) {
  const int64_t at = *static_cast<int64_t*>(args->buffers[0]);
  if (at >= begin && at < end) throw std::runtime_error("unit " + std::to_string(at));
  return RELAYVM_KERNEL_OK;
}

TEST_CASE("task pool: what a host's kernel throws ends the run, on any thread") {
  static constexpr Builtin kThrows[] = {{"throws", Throws}};
  auto program = LoadText(R"(
.version 1
.kernel "throws" scalars 0 buffers (int64[1]) builtin
.export "main" f0 ("at": int64[1]) -> int64[1]
.function "main" scalars 0 objects 1 captured 0 registers 3 1 returns object arena 0
  const.i16 i0, 64
  const.i16 i1, 1
  const.i16 i2, 0
  kernel k0, i0, i1, i2, [], [r0]
  ret.r r0!
.end
)",
                          kThrows);
  for (uint32_t threads : {1u, 2u, 4u}) {
    auto invocation = *Invocation::Create(*Runtime::Create({.num_threads = threads}), program);
    for (int round = 0; round < 20; ++round) {
      for (int64_t at : {0, 63, 31, -1}) {
        const Value where = testing::TensorOf<int64_t>(DType::kInt64, {1}, {at});
        Result<Value> result = invocation->Run("main", {where});
        CHECK(result.ok() == (at < 0));
        if (at < 0) continue;
        CHECK(result.status().code() == StatusCode::kInternal);
        CHECK(Contains(result.status().message(), "unit " + std::to_string(at)));
      }
    }
  }
}

}  // namespace
}  // namespace relayvm
