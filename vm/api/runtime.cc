#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <string>
#include <system_error>

#include "bytecode/base/guarded.h"
#include "bytecode/base/machine_limits.h"
#include "bytecode/base/threads.h"
#include "vm/api/relayvm.h"
#include "vm/border/shared_object.h"
#include "vm/device/device_memory.h"
#include "vm/kernels/checked_pool.h"
#include "vm/platform/clock.h"
#include "vm/platform/idle_timer.h"
#include "vm/platform/process_mutex.h"
#include "vm/platform/system_pages.h"
#include "vm/platform/thread_pool.h"
#include "vm/run/workspace.h"

namespace relayvm {
namespace {

// What idle workspaces hold at most of which as many are kept as come back. Of others kKeptBytes
// stay: what short runs need, so that they do not map and fault anew.
constexpr size_t kSmallBytes = 64 << 10;
// What a workspace takes besides what it knows of: pages of its stacks, tables of its heap.
constexpr size_t kOwnBytes = 20 << 10;
// When to look again at what should be idle, and is not.
constexpr int64_t kLookAgainNanoseconds = 100'000'000;
// Of the workspaces of one pool, what stays for good.
constexpr size_t kFewIdleBytes = 4 << 20;

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

// All of it.
void AddWorkspace(const vm::Workspace& workspace, RuntimeStats* stats) {
  AddCounters(workspace, stats);
  const vm::HeapTotals heap = workspace.heap->totals();
  stats->live_bytes += heap.live_bytes;
  stats->resident_bytes += heap.resident_bytes;
  stats->waiting += workspace.counters.waiting;
}

}  // namespace

struct Runtime::Impl {
  RuntimeOptions options;
  std::vector<std::shared_ptr<vm::RuntimeDevice>> devices;
  size_t machine_memory = 0;
  std::shared_ptr<vm::MemoryBudget> budget;  // null: no limit
  std::unique_ptr<TaskPool> own_pool;        // behind which an injected one is
  TaskPool* pool = nullptr;
  // Idle workspaces: those that hold much, max_idle_workspaces at most, and small ones.
  Mutex idle_mutex;
  vm::IdlePool<vm::Workspace> idle, small_idle;  // under it
  // All workspaces, and what those that are gone have counted.
  Mutex mutex;
  std::atomic<uint32_t> wanted{0};         // by so many besides stats()
  std::vector<vm::Workspace*> workspaces;  // under it, as all below
  RuntimeStats gone;
  // A stats() that is on its way: those from `next` on are still to be added to `sum`. One at a
  // time.
  Mutex stats_mutex;
  RuntimeStats* sum = nullptr;
  size_t next = 0;
  // Looks at what idles.
  vm::IdleTimer timer{
      [](void* self, int64_t now) { return static_cast<Impl*>(self)->TrimIdle(now); }, this};
  std::atomic<uint64_t> last_id{0};
  std::atomic<uint64_t> batched_calls{0}, lone_calls{0};
  std::array<std::atomic<uint64_t>, kNumBatchSizes> batch_sizes{};

  ~Impl() { timer.Stop(); }
  bool keeps_for_ever() const { return options.keep_idle == std::chrono::nanoseconds::max(); }
  void WakeTimer(bool is_much) {
    if (is_much && !keeps_for_ever()) timer.Wake();
  }

  // Gives back what nobody has used since `now` less keep_idle; when to look again.
  int64_t TrimIdle(int64_t now);
  int64_t TrimHeaps(int64_t before);
  int64_t TrimPool(vm::IdlePool<vm::Workspace>& pool, int64_t before);

  // It is to go.
  void Forget(const vm::Workspace* workspace) {
    ++wanted;
    const std::lock_guard lock(mutex);
    --wanted;
    const size_t index = workspace->index;
    vm::Workspace& last = *workspaces.back();
    if (sum != nullptr && last.index >= next) {
      // The last one moves to where stats() may have been.
      if (index >= next) AddCounters(*workspace, sum);
      if (index < next && &last != workspace) AddWorkspace(last, sum);
    }
    workspaces[index] = &last;
    last.index = index;
    workspaces.pop_back();
    AddCounters(*workspace, &gone);
  }
};

namespace {
// `time` of the steady clock and so many nanoseconds.
int64_t After(int64_t time, int64_t nanoseconds) {
  return time > INT64_MAX - nanoseconds ? INT64_MAX : time + nanoseconds;
}
}  // namespace

int64_t Runtime::Impl::TrimIdle(int64_t now) {
  const int64_t keep = options.keep_idle.count();
  const int64_t before = now - std::min(keep, now);
  int64_t oldest = TrimHeaps(before);
  for (auto* pool : {&idle, &small_idle}) oldest = std::min(oldest, TrimPool(*pool, before));
  return After(oldest, keep);
}

// Of those that have been idle since then. The oldest time of the others.
int64_t Runtime::Impl::TrimHeaps(int64_t before) {
  // One at a time, and without the lock: giving pages back takes a while.
  for (size_t i = 0;;) {
    // Nor is a heap ever taken in a child of fork().
    const std::lock_guard whole(vm::ProcessMutex());
    vm::Heap* due = nullptr;
    {
      const std::lock_guard lock(mutex);
      for (; due == nullptr && i < workspaces.size(); ++i) {
        vm::Heap& heap = *workspaces[i]->heap;
        const bool is_due = heap.idle_trimmable_bytes() > 0 && heap.idle_since() <= before;
        if (is_due && heap.TakeIfIdle()) due = &heap;
      }
    }
    if (due == nullptr) break;
    due->TrimTaken();
  }
  const std::lock_guard lock(mutex);
  int64_t oldest = INT64_MAX;
  for (const vm::Workspace* workspace : workspaces) {
    const vm::Heap& heap = *workspace->heap;
    if (heap.idle_trimmable_bytes() == 0) continue;
    // One that is older runs, and tells when it is idle again; or has changed its place meanwhile.
    oldest = std::min(oldest, std::max(heap.idle_since(), before + kLookAgainNanoseconds));
  }
  return oldest;
}

// The same of a pool that holds more than a little.
int64_t Runtime::Impl::TrimPool(vm::IdlePool<vm::Workspace>& pool, int64_t before) {
  for (;;) {
    std::unique_ptr<vm::Workspace> workspace;
    {
      const std::lock_guard lock(idle_mutex);
      if (pool.bytes() <= kFewIdleBytes) return INT64_MAX;
      if (pool.oldest_since() > before) return pool.oldest_since();
      workspace = pool.TakeOldest();
    }
    Forget(workspace.get());
  }
}

namespace vm {
Workspace::Workspace(TaskPool* pool, TraceSink* trace, const std::shared_ptr<MemorySource>& memory,
                     const std::shared_ptr<MemoryBudget>& budget, size_t machine_memory)
    : heap(new Heap(memory, budget)),
      arena(heap.get()),
      scratch(pool->num_threads(), memory.get()),
      pool(pool),
      trace(trace),
      machine_memory(machine_memory) {}

Workspace::~Workspace() = default;

size_t Workspace::Park(size_t held, size_t bytes) {
  heap->Park(bytes);
  NativeStackUsed(0);
  if (held <= bytes) return held;
  scratch.Trim(bytes);
  stack.Trim(bytes);
  return bytes_held();
}

// With results that hosts hold: they come back.
size_t Workspace::bytes_held() const {
  return heap->resident_bytes() + scratch.bytes() + stack.kept_bytes();
}
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
    impl.machine_memory = ReadMachineLimits().memory_bytes;
    RELAYVM_ASSIGN_OR_RETURN(impl.own_pool,
                             vm::MakeTaskPool(options.thread_pool, options.num_threads));
    impl.pool = impl.own_pool.get();
    for (const std::shared_ptr<Device>& device : options.devices) {
      if (device == nullptr) return Status(StatusCode::kInvalidArgument, "a device is null");
      impl.devices.push_back(
          std::make_shared<vm::RuntimeDevice>(device, options.device_memory_limit));
    }
    impl.options.devices = {};
    return runtime;
  });
}

namespace {
// Of a tensor that a host has for its inputs.
struct InputMemory : vm::ExternalMemory {
  std::shared_ptr<MemorySource> source;      // null: the system's pages
  std::shared_ptr<vm::MemoryBudget> budget;  // null: no limit
  void* data = nullptr;
  size_t bytes = 0;

  ~InputMemory() {
    if (data != nullptr) Source().Free(data, bytes);
    if (budget != nullptr) budget->Return(bytes);
  }
  MemorySource& Source() const { return source != nullptr ? *source : vm::SystemPages(); }
};
}  // namespace

Result<Value> Runtime::NewTensor(DType dtype, std::span<const int64_t> dims) {
  constexpr int64_t kCountedBytes = 16 << 10;
  const Impl& impl = *impl_;
  const bool counts = impl.budget != nullptr || impl.options.memory != nullptr;
  const bool numbers = dtype != DType::kString && dims.size() <= vm::kMaxRank;
  const int64_t bytes = counts && numbers ? vm::CheckedTensorBytes(dtype, dims) : -1;
  if (bytes < kCountedBytes) return Value::NewTensor(dtype, dims);  // or says what is wrong
  return Guarded([&]() -> Result<Value> {
    const auto no_room = [&](const std::string& why) {
      return Status(StatusCode::kResourceExhausted,
                    "no memory for a tensor of " + std::to_string(bytes) + " bytes" + why);
    };
    auto memory = std::make_unique<InputMemory>();
    const size_t size = vm::PagesOf(static_cast<size_t>(bytes)) * vm::kPageBytes;
    if (impl.budget != nullptr) {
      if (!impl.budget->DrawOrReclaim(size)) {
        return no_room(": the runtime's limit is " + std::to_string(impl.budget->limit()) + ", " +
                       std::to_string(impl.budget->drawn()) + " are in use");
      }
      memory->budget = impl.budget;
    }
    memory->source = impl.options.memory;
    memory->bytes = size;
    memory->is_writable = true;
    memory->release = [](vm::ExternalMemory* self) { delete static_cast<InputMemory*>(self); };
    memory->data = memory->Source().Allocate(size, vm::kPageBytes);
    if (memory->data == nullptr) return no_room("");
    auto* const data = static_cast<char*>(memory->data);
    vm::Tensor* tensor =
        vm::NewSharedTensor(dtype, dims, data, static_cast<size_t>(bytes), memory.release());
    if (tensor == nullptr) return no_room("");
    return Value::Adopt(tensor);
  });
}

void Runtime::Trim() {
  Impl& impl = *impl_;
  impl.TrimHeaps(INT64_MAX - kLookAgainNanoseconds);
  for (;;) {
    std::unique_ptr<vm::Workspace> workspace;
    {
      const std::lock_guard lock(impl.idle_mutex);
      workspace = impl.idle.TakeOldest();
      if (workspace == nullptr) workspace = impl.small_idle.TakeOldest();
    }
    if (workspace == nullptr) return;
    impl.Forget(workspace.get());
  }
}

uint32_t Runtime::num_threads() const { return impl_->pool->num_threads(); }

RuntimeStats Runtime::stats() const {
  Impl& impl = *impl_;
  RuntimeStats stats;
  const std::lock_guard one(impl.stats_mutex);
  // A few at a time, so that runs begin and end meanwhile: there may be tens of thousands.
  constexpr size_t kAtOnce = 64;
  for (bool done = false; !done;) {
    if (impl.wanted != 0) YieldThread();  // the mutex goes to who has it first
    const std::lock_guard lock(impl.mutex);
    if (impl.sum == nullptr) {
      stats = impl.gone;
      impl.sum = &stats;
      impl.next = 0;
    }
    const size_t end = std::min(impl.workspaces.size(), impl.next + kAtOnce);
    for (; impl.next < end; ++impl.next) AddWorkspace(*impl.workspaces[impl.next], &stats);
    done = end == impl.workspaces.size();
    if (!done) continue;
    impl.sum = nullptr;
    stats.workspaces = impl.workspaces.size();
  }
  {
    const std::lock_guard lock(impl.idle_mutex);
    stats.idle_workspaces = impl.idle.size() + impl.small_idle.size();
  }
  if (impl.budget != nullptr) stats.counted_bytes = impl.budget->drawn();
  const uint64_t ended = std::accumulate(stats.ended.begin(), stats.ended.end(), uint64_t{0});
  stats.running = stats.started - std::min(ended, stats.started);
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
std::span<const std::shared_ptr<vm::RuntimeDevice>> Runtime::devices() const {
  return impl_->devices;
}

uint64_t Runtime::NextInvocationId() {
  return impl_->last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::unique_ptr<vm::Workspace> Runtime::Acquire() {
  Impl& impl = *impl_;
  {
    const std::lock_guard lock(impl.idle_mutex);
    std::unique_ptr<vm::Workspace> workspace = impl.idle.Take();
    if (workspace == nullptr) workspace = impl.small_idle.Take();
    if (workspace != nullptr) return workspace;
  }
  const RuntimeOptions& options = impl.options;
  auto workspace = std::make_unique<vm::Workspace>(impl.pool, options.trace, options.memory,
                                                   impl.budget, impl.machine_memory);
  workspace->injected_pool = options.thread_pool != nullptr;
  if (!impl.keeps_for_ever()) {
    workspace->heap->TellWhenIdle([](void* self) { static_cast<Impl*>(self)->timer.Wake(); },
                                  &impl);
  }
  ++impl.wanted;
  const std::lock_guard lock(impl.mutex);
  --impl.wanted;
  workspace->index = impl.workspaces.size();
  impl.workspaces.push_back(workspace.get());
  return workspace;
}

void Runtime::Release(std::unique_ptr<vm::Workspace> workspace, int64_t now, size_t kept) {
  Impl& impl = *impl_;
  // A little memory stays. Values that point into the heap give their blocks back to it, whoever
  // runs there then.
  size_t bytes = workspace->bytes_held();
  bytes = workspace->Park(bytes, bytes > kSmallBytes ? kept : kSmallBytes);
  const size_t most = impl.options.max_idle_workspaces;
  if (most == 0) return impl.Forget(workspace.get());
  bool is_much = false;  // what is in the pools
  std::unique_ptr<vm::Workspace> surplus;
  // A host's memory goes back in chunks of several MiB.
  const bool injected = impl.options.memory != nullptr;
  if (bytes > kSmallBytes || injected) {
    {
      const std::lock_guard lock(impl.idle_mutex);
      impl.idle.Give(std::move(workspace), bytes, now);
      is_much = impl.idle.bytes() > kFewIdleBytes;
      // The one that waits longest is made small.
      if (impl.idle.size() > most) workspace = impl.idle.TakeOldest();
    }
    if (workspace == nullptr) return impl.WakeTimer(is_much);
  }
  if (injected) return impl.Forget(workspace.get());
  if (bytes > kSmallBytes) bytes = workspace->Park(bytes, kSmallBytes);
  constexpr int kMostOld = 2;  // at once, so that no call takes long
  for (int i = 0;; ++i) {
    {
      const std::lock_guard lock(impl.idle_mutex);
      // More than that is results that hosts hold.
      bytes = std::min(bytes, kSmallBytes) + kOwnBytes;
      if (workspace != nullptr) impl.small_idle.Give(std::move(workspace), bytes, now);
      surplus = impl.small_idle.TakeSurplus(now, /*or_age=*/i < kMostOld);
      is_much |= impl.small_idle.bytes() > kFewIdleBytes;
    }
    if (surplus == nullptr) return impl.WakeTimer(is_much);
    impl.Forget(surplus.get());
    surplus.reset();  // without a lock
  }
}

}  // namespace relayvm
