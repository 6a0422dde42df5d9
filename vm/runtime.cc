#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "vm/relayvm.h"
#include "vm/thread_pool.h"
#include "vm/workspace.h"

namespace relayvm {
namespace {

// A host's pool, which nobody has proved to keep its promises.
class CheckedPool : public TaskPool {
 public:
  CheckedPool(TaskPool* pool, uint32_t num_threads) : pool_(pool), num_threads_(num_threads) {}

  uint32_t num_threads() const override { return num_threads_; }
  // Throws, which ends the run, when the pool breaks them.
  void Run(uint32_t num_tasks, TaskFn task, void* context) override {
    Call call{task, context, num_tasks, num_threads_};
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
  };
  static void RunTask(void* self, uint32_t index, uint32_t worker) {
    auto& call = *static_cast<Call*>(self);
    if (worker >= call.num_threads || index >= call.num_tasks) return;
    call.task(call.context, index, worker);
    call.finished.fetch_add(1, std::memory_order_release);
  }

  TaskPool* pool_;  // borrowed
  uint32_t num_threads_;
};

}  // namespace

struct Runtime::Impl {
  RuntimeOptions options;
  std::unique_ptr<TaskPool> own_pool;  // behind which an injected one is
  TaskPool* pool = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<vm::Workspace>> idle;  // under mutex
  std::atomic<uint64_t> last_id{0};
};

namespace vm {
Workspace::Workspace(TaskPool* pool, TraceSink* trace, const std::shared_ptr<MemorySource>& memory)
    : heap(new Heap(memory)),
      arena(heap),
      scratch(pool->num_threads(), memory.get()),
      pool(pool),
      trace(trace),
      machine_memory(static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<size_t>(sysconf(_SC_PAGESIZE))) {}

Workspace::~Workspace() { heap->Orphan(); }
}  // namespace vm

Runtime::Runtime(const RuntimeOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}

Runtime::~Runtime() = default;

Result<std::shared_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  std::shared_ptr<Runtime> runtime(new Runtime(options));
  Impl& impl = *runtime->impl_;
  if (options.thread_pool != nullptr) {
    const uint32_t threads = options.thread_pool->num_threads();
    if (threads < 1 || threads > vm::kMaxThreads) {
      return Status(StatusCode::kInvalidArgument,
                    "the host's thread pool has " + std::to_string(threads) +
                        " threads, expected 1 to " + std::to_string(vm::kMaxThreads));
    }
    impl.own_pool = std::make_unique<CheckedPool>(options.thread_pool, threads);
  } else {
    RELAYVM_ASSIGN_OR_RETURN(const uint32_t threads, vm::CountThreads(options.num_threads));
    try {
      impl.own_pool = std::make_unique<vm::ThreadPool>(threads);
    } catch (const std::exception& e) {
      return Status(StatusCode::kResourceExhausted,
                    "cannot start " + std::to_string(threads) + " threads: " + e.what());
    }
  }
  impl.pool = impl.own_pool.get();
  return runtime;
}

uint32_t Runtime::num_threads() const { return impl_->pool->num_threads(); }

uint64_t Runtime::NextInvocationId() {
  return impl_->last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::unique_ptr<vm::Workspace> Runtime::Acquire() {
  {
    std::lock_guard lock(impl_->mutex);
    if (!impl_->idle.empty()) {
      std::unique_ptr<vm::Workspace> workspace = std::move(impl_->idle.back());
      impl_->idle.pop_back();
      return workspace;
    }
  }
  const RuntimeOptions& options = impl_->options;
  auto workspace = std::make_unique<vm::Workspace>(impl_->pool, options.trace, options.memory);
  workspace->injected_pool = options.thread_pool != nullptr;
  return workspace;
}

void Runtime::Release(std::unique_ptr<vm::Workspace> workspace) {
  // A little memory stays, so that short invocations do not map and fault anew. Values that point
  // into the heap give their blocks back to it, whoever runs there then.
  constexpr size_t kIdleBytes = 1 << 20;
  workspace->heap->Park(kIdleBytes);
  workspace->scratch.Trim(kIdleBytes);
  std::lock_guard lock(impl_->mutex);
  if (impl_->idle.size() < impl_->options.max_idle_workspaces)
    impl_->idle.push_back(std::move(workspace));
}

}  // namespace relayvm
