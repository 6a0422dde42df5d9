#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "bytecode/base/guarded.h"
#include "vm/checked_pool.h"
#include "vm/relayvm.h"
#include "vm/thread_pool.h"
#include "vm/workspace.h"

namespace relayvm {
namespace {

// What only ever grows.
void AddCounters(const vm::Workspace& workspace, RuntimeStats* stats) {
  const vm::RunCounters& counters = workspace.counters;
  const vm::HeapTotals heap = workspace.heap->totals();
  stats->started += counters.started;
  stats->refused += counters.refused;
  for (size_t i = 0; i < kNumStatusCodes; ++i) stats->ended[i] += counters.ended[i];
  stats->run_ns += counters.run_ns;
  stats->slices += counters.slices;
  stats->kernel_calls += counters.kernel_calls;
  stats->host_calls += counters.host_calls;
  stats->waits += counters.waits;
  stats->wait_ns += counters.wait_ns;
  stats->batch_waits += counters.batch_waits;
  stats->batch_wait_ns += counters.batch_wait_ns;
  stats->allocations += heap.allocations;
  stats->allocated_bytes += heap.allocated_bytes;
  stats->peak_bytes = std::max<uint64_t>({stats->peak_bytes, counters.peak_bytes, heap.peak_bytes});
}

}  // namespace

struct Runtime::Impl {
  RuntimeOptions options;
  std::shared_ptr<vm::MemoryBudget> budget;  // null: no limit
  std::unique_ptr<TaskPool> own_pool;        // behind which an injected one is
  TaskPool* pool = nullptr;
  std::mutex mutex;
  // Under the mutex: those that are idle, all, and what those that are gone have counted.
  std::vector<std::unique_ptr<vm::Workspace>> idle;
  std::vector<vm::Workspace*> workspaces;
  RuntimeStats gone;
  std::atomic<uint64_t> last_id{0};
  std::atomic<uint64_t> batched_calls{0}, lone_calls{0};
  std::array<std::atomic<uint64_t>, kNumBatchSizes> batch_sizes{};

  // With the mutex: `workspace` is to go.
  void Forget(const vm::Workspace& workspace) {
    workspaces[workspace.index] = workspaces.back();
    workspaces[workspace.index]->index = workspace.index;
    workspaces.pop_back();
    AddCounters(workspace, &gone);
  }
};

namespace vm {
Workspace::Workspace(TaskPool* pool, TraceSink* trace, const std::shared_ptr<MemorySource>& memory,
                     const std::shared_ptr<MemoryBudget>& budget)
    : heap(new Heap(memory, budget)),
      arena(heap.get()),
      scratch(pool->num_threads(), memory.get()),
      pool(pool),
      trace(trace),
      machine_memory(static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<size_t>(sysconf(_SC_PAGESIZE))) {}
}  // namespace vm

Runtime::Runtime(const RuntimeOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (options.memory_limit != SIZE_MAX)
    impl_->budget = std::make_shared<vm::MemoryBudget>(options.memory_limit);
}

Runtime::~Runtime() = default;

Result<std::shared_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  return Guarded([&]() -> Result<std::shared_ptr<Runtime>> {
    std::shared_ptr<Runtime> runtime(new Runtime(options));
    Impl& impl = *runtime->impl_;
    if (options.thread_pool != nullptr) {
      RELAYVM_ASSIGN_OR_RETURN(impl.own_pool, vm::CheckedPool::Create(options.thread_pool));
    } else {
      RELAYVM_ASSIGN_OR_RETURN(const uint32_t threads, vm::CountThreads(options.num_threads));
      try {
        impl.own_pool = std::make_unique<vm::ThreadPool>(threads);
      } catch (const std::system_error& e) {
        return vm::NoThreads(threads, e);
      }
    }
    impl.pool = impl.own_pool.get();
    return runtime;
  });
}

uint32_t Runtime::num_threads() const { return impl_->pool->num_threads(); }

RuntimeStats Runtime::stats() const {
  Impl& impl = *impl_;
  std::lock_guard lock(impl.mutex);
  RuntimeStats stats = impl.gone;
  for (const vm::Workspace* workspace : impl.workspaces) {
    AddCounters(*workspace, &stats);
    const vm::HeapTotals heap = workspace->heap->totals();
    stats.live_bytes += heap.live_bytes;
    stats.resident_bytes += heap.resident_bytes;
    stats.waiting += workspace->counters.waiting;
  }
  if (impl.budget != nullptr) stats.counted_bytes = impl.budget->drawn();
  const uint64_t ended = std::accumulate(stats.ended.begin(), stats.ended.end(), uint64_t{0});
  stats.running = stats.started - std::min(ended, stats.started);
  stats.workspaces = impl.workspaces.size();
  stats.idle_workspaces = impl.idle.size();
  for (size_t i = 0; i < kNumBatchSizes; ++i) {
    stats.batch_sizes[i] = impl.batch_sizes[i].load(std::memory_order_relaxed);
    stats.batches += stats.batch_sizes[i];
  }
  stats.batched_calls = impl.batched_calls.load(std::memory_order_relaxed);
  stats.lone_calls = impl.lone_calls.load(std::memory_order_relaxed);
  return stats;
}

void Runtime::CountBatch(size_t num_calls, bool batched) {
  Impl& impl = *impl_;
  (batched ? impl.batched_calls : impl.lone_calls).fetch_add(num_calls, std::memory_order_relaxed);
  if (!batched) return;
  const size_t power = std::bit_width(num_calls) - 1;
  impl.batch_sizes[std::min(power, kNumBatchSizes - 1)].fetch_add(1, std::memory_order_relaxed);
}

TraceSink* Runtime::trace() const { return impl_->options.trace; }

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
  auto workspace =
      std::make_unique<vm::Workspace>(impl_->pool, options.trace, options.memory, impl_->budget);
  workspace->injected_pool = options.thread_pool != nullptr;
  std::lock_guard lock(impl_->mutex);
  workspace->index = impl_->workspaces.size();
  impl_->workspaces.push_back(workspace.get());
  return workspace;
}

void Runtime::Release(std::unique_ptr<vm::Workspace> workspace) {
  // A little memory stays, so that short invocations do not map and fault anew. Values that point
  // into the heap give their blocks back to it, whoever runs there then.
  constexpr size_t kIdleBytes = 1 << 20;
  workspace->heap->Park(kIdleBytes);
  workspace->scratch.Trim(kIdleBytes);
  std::lock_guard lock(impl_->mutex);
  if (impl_->idle.size() < impl_->options.max_idle_workspaces) {
    try {
      return impl_->idle.push_back(std::move(workspace));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // Then it is not kept.
    }
  }
  impl_->Forget(*workspace);
}

}  // namespace relayvm
