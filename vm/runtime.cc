#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "vm/relayvm.h"
#include "vm/thread_pool.h"
#include "vm/workspace.h"

namespace relayvm {

struct Runtime::Impl {
  RuntimeOptions options;
  std::unique_ptr<vm::ThreadPool> own_pool;
  vm::ThreadPool* pool = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<vm::Workspace>> idle;  // under mutex
  std::atomic<uint64_t> last_id{0};
};

namespace vm {
Workspace::Workspace(ThreadPool* pool, TraceSink* trace)
    : heap(new Heap),
      arena(heap),
      scratch(pool->num_threads()),
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
  impl.pool = options.thread_pool;
  if (impl.pool == nullptr) {
    uint32_t threads = options.num_threads;
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    constexpr uint32_t kMaxThreads = 1024;
    if (threads > kMaxThreads) {
      return Status(StatusCode::kInvalidArgument, "num_threads is " + std::to_string(threads) +
                                                      ", above " + std::to_string(kMaxThreads));
    }
    try {
      impl.own_pool = std::make_unique<vm::ThreadPool>(threads);
    } catch (const std::exception& e) {
      return Status(StatusCode::kResourceExhausted,
                    "cannot start " + std::to_string(threads) + " threads: " + e.what());
    }
    impl.pool = impl.own_pool.get();
  }
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
  return std::make_unique<vm::Workspace>(impl_->pool, impl_->options.trace);
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
