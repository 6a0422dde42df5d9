// A host's thread pool, which nobody has proved to keep the promises of task_pool.h; for runtimes
// and graphs. Thread-safe. Tested by task_pool_test.cc and vm/graph/c_api_graph_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/kernels/task_pool.h"
#include "vm/platform/thread_pool.h"

namespace relayvm::vm {

#if !RELAYVM_MINIMAL
class CheckedPool final : public TaskPool {
 public:
  // `pool` is borrowed. kInvalidArgument for a number of threads that cannot be.
  static Result<std::unique_ptr<TaskPool>> Create(TaskPool* pool) {
    const uint32_t threads = pool->num_threads();
    if (threads < 1 || threads > kMaxThreads) {
      return Status(StatusCode::kInvalidArgument,
                    "the host's thread pool has " + std::to_string(threads) +
                        " threads, expected 1 to " + std::to_string(kMaxThreads));
    }
    return std::unique_ptr<TaskPool>(new CheckedPool(pool, threads));
  }

  uint32_t num_threads() const override { return num_threads_; }
  // Throws, which ends the run, when the pool breaks its promises.
  void Run(uint32_t num_tasks, TaskFn task, void* context) override {
    Call call{task, context, num_tasks, num_threads_};
    const size_t words = (num_tasks + 63) / 64;
    std::vector<std::atomic<uint64_t>> more(words > call.few.size() ? words : 0);
    call.begun = more.empty() ? call.few.data() : more.data();
    pool_->Run(num_tasks, RunTask, &call);
    if (call.finished.load(std::memory_order_acquire) == num_tasks) return;
    throw std::runtime_error("the host's thread pool did not run each of " +
                             std::to_string(num_tasks) + " tasks once, with a worker below its " +
                             std::to_string(num_threads_) + " threads");
  }

 private:
  struct Call {
    TaskFn task;
    void* context;
    uint32_t num_tasks, num_threads;
    std::atomic<uint32_t> finished{0};
    // A bit for each task: one that is asked for again is left out.
    std::array<std::atomic<uint64_t>, 4> few{};
    std::atomic<uint64_t>* begun = nullptr;
  };

  CheckedPool(TaskPool* pool, uint32_t num_threads) : pool_(pool), num_threads_(num_threads) {}
  static void RunTask(void* self, uint32_t index, uint32_t worker) {
    auto& call = *static_cast<Call*>(self);
    if (worker >= call.num_threads || index >= call.num_tasks) return;
    const uint64_t bit = uint64_t{1} << (index % 64);
    if ((call.begun[index / 64].fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
    call.task(call.context, index, worker);
    call.finished.fetch_add(1, std::memory_order_release);
  }

  TaskPool* pool_;
  uint32_t num_threads_;
};
#endif

// `hosts` where there is one (borrowed), else threads of its own, as the option num_threads says.
inline Result<std::unique_ptr<TaskPool>> MakeTaskPool(TaskPool* hosts, uint32_t num_threads) {
#if RELAYVM_MINIMAL
  if (hosts != nullptr) return Status(StatusCode::kUnsupported, "this build has no thread pools");
#else
  if (hosts != nullptr) return CheckedPool::Create(hosts);
#endif
  return NewThreadPool(num_threads);
}

}  // namespace relayvm::vm
