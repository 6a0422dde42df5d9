#include "vm/scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <queue>
#include <string>
#include <thread>
#include <unordered_map>

#include "vm/batch.h"
#include "vm/interpreter.h"
#include "vm/thread_pool.h"

namespace relayvm {
namespace {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// One turn in so many is that of the lowest priority that is ready.
constexpr uint32_t kTurnsOfLowest = 16;
// A call waits until each run that was ready when it came has had so many turns: those that would join
// it soon have done so.
constexpr uint64_t kTurnsOfBatch = 4;

}  // namespace

struct Scheduler::Handle::Task {
  uint64_t id = 0;
  Priority priority = Priority::kNormal;
  TimePoint deadline;
  RunRequest request;  // until it begins
  Completion completion;
  TimePoint timer = TimePoint::max();  // the earliest that is set for it; under Impl::mutex
  // Comes before Impl::mutex where both are held. While it is held the invocation stays; the thread
  // that runs it needs no lock.
  std::mutex mutex;
  std::unique_ptr<Invocation> invocation;  // from its beginning to its end
  bool cancelled = false;                  // before it began
};

struct Scheduler::Impl {
  using Task = Handle::Task;
  using TaskPtr = std::shared_ptr<Task>;
  struct Timer {
    TimePoint at;
    std::weak_ptr<Task> task;
    bool operator<(const Timer& other) const { return at > other.at; }  // the earliest on top
  };
  template <typename T>
  using ByPriority = std::array<std::deque<T>, kNumPriorities>;

  std::shared_ptr<Runtime> runtime;
  SchedulerOptions options;

  mutable std::mutex mutex;
  std::condition_variable work;
  ByPriority<TaskPtr> queued, ready;
  std::priority_queue<Timer> timers;
  std::unordered_map<uint64_t, TaskPtr> tasks;  // that have not ended, by id
  vm::BatchQueue batches{SIZE_MAX};
  size_t num_queued = 0, num_ready = 0, num_active = 0, num_running = 0;
  uint64_t turn = 0;
  bool stopping = false;
  SchedulerStats totals;  // only what counts since the beginning
  uint64_t last_id = 0;

  std::vector<std::thread> threads;

  // --- Queues; all with `mutex` ---

  static TaskPtr Pop(ByPriority<TaskPtr>& queues, bool lowest) {
    for (size_t i = 0; i < kNumPriorities; ++i) {
      auto& queue = queues[lowest ? kNumPriorities - 1 - i : i];
      if (queue.empty()) continue;
      TaskPtr task = std::move(queue.front());
      queue.pop_front();
      return task;
    }
    return nullptr;
  }

  void PushReady(TaskPtr task) {
    ready[static_cast<size_t>(task->priority)].push_back(std::move(task));
    ++num_ready;
  }

  // What a thread is to run next: of one priority, runs that have begun and new ones in turn.
  TaskPtr Next() {
    const bool lowest = ++turn % kTurnsOfLowest == 0;
    const bool may_begin = num_queued > 0 && num_active < options.max_active;
    if (num_ready == 0 && !may_begin) return nullptr;
    const auto first = [&](const ByPriority<TaskPtr>& queues) {
      for (size_t i = 0; i < kNumPriorities; ++i) {
        const size_t at = lowest ? kNumPriorities - 1 - i : i;
        if (!queues[at].empty()) return static_cast<int>(i);
      }
      return static_cast<int>(kNumPriorities);
    };
    const bool begins = may_begin && (num_ready == 0 || first(queued) < first(ready) ||
                                      (first(queued) == first(ready) && turn % 2 == 0));
    if (begins) {
      --num_queued;
      ++num_active;
      return Pop(queued, lowest);
    }
    --num_ready;
    return Pop(ready, lowest);
  }

  // --- Threads ---

  void Work() {
    vm::BatchRunner runner;
    std::unique_lock lock(mutex);
    for (;;) {
      WakeDue(lock);
      if (vm::BatchQueue::GroupPtr group = NextBatch()) {
        RunBatch(std::move(group), runner, lock);
        continue;
      }
      if (TaskPtr task = Next()) {
        ++num_running;
        ++totals.slices;
        lock.unlock();
        RunSlice(task);
        lock.lock();
        --num_running;
        continue;
      }
      if (stopping && tasks.empty()) return;
      if (timers.empty()) {
        work.wait(lock);
      } else {
        work.wait_until(lock, TimePoint(timers.top().at));
      }
    }
  }

  // --- Batches ---

  bool has_batching() const { return options.batching.max_batch > 1; }

  // The priority of the first run that is ready or may begin; kNumPriorities: there is none.
  size_t HighestReady() const {
    const bool may_begin = num_queued > 0 && num_active < options.max_active;
    for (size_t i = 0; i < kNumPriorities; ++i) {
      if (!ready[i].empty() || (may_begin && !queued[i].empty())) return i;
    }
    return kNumPriorities;
  }

  // With `mutex`: calls that are to run now, before any run goes on.
  vm::BatchQueue::GroupPtr NextBatch() {
    if (batches.empty()) return nullptr;
    if (auto group = batches.TakeFull()) return group;
    const size_t highest = HighestReady();
    if (highest == kNumPriorities) return batches.TakeLargest();
    if (auto group = batches.TakeDue(turn)) return group;
    if (auto group = batches.TakeLate(vm::NowNanoseconds())) return group;
    return batches.TakeMoreUrgentThan(highest);
  }

  bool RunTraced(const vm::BatchQueue::Group& group, vm::BatchRunner& runner) {
    TraceSink* const trace = runtime->trace();
    if (trace == nullptr) return runner.Run(group);
    const int64_t begin = vm::NowNanoseconds();
    const bool done = runner.Run(group);
    const int64_t end = vm::NowNanoseconds();
    const uint64_t size = group.members.size();
    for (const auto& member : group.members) {
      member.call->calls = size;
      member.call->begin_ns = begin;
      member.call->end_ns = end;
    }
    const vm::BatchedCall& call = *group.members[0].call;
    const std::string& name = call.executable->program().kernels[call.kernel].name;
    if (done) trace->OnBatch({call.executable, call.kernel, name, begin, end, size});
    return done;
  }

  // With `mutex`, which others may have while the kernel runs.
  void RunBatch(vm::BatchQueue::GroupPtr group, vm::BatchRunner& runner,
                std::unique_lock<std::mutex>& lock) {
    const size_t size = group->members.size();
    bool done = false;
    if (size > 1) {
      lock.unlock();
      done = RunTraced(*group, runner);
      lock.lock();
    }
    runtime->CountBatch(size, done);
    if (done) {
      ++totals.batches;
      totals.batched_calls += size;
    } else {
      totals.lone_calls += size;
    }
    for (auto& member : group->members) {
      member.call->done = done;
      PushReady(std::static_pointer_cast<Task>(std::move(member.run)));
    }
    batches.Recycle(std::move(group));
    if (size > 1 && threads.size() > 1) work.notify_all();
  }

  // A run whose call waits for others.
  void Park(const TaskPtr& task, vm::BatchedCall* call) {
    const int64_t wait = options.batching.max_wait.count(), now = vm::NowNanoseconds();
    std::lock_guard lock(mutex);
    try {
      batches.Add({call, task}, static_cast<size_t>(task->priority),
                  turn + kTurnsOfBatch * (num_ready + 1),
                  wait < INT64_MAX - now ? now + wait : INT64_MAX);
    } catch (const std::bad_alloc&) {
      PushReady(task);  // to run it alone
    }
  }

  // Runs that wait and whose time has come.
  void WakeDue(std::unique_lock<std::mutex>& lock) {
    while (!timers.empty() && timers.top().at <= Clock::now()) {
      TaskPtr task = timers.top().task.lock();
      timers.pop();
      if (task == nullptr) continue;
      task->timer = TimePoint::max();
      lock.unlock();
      TimePoint next = TimePoint::max();
      {
        std::lock_guard task_lock(task->mutex);
        // Its on_ready makes it ready.
        if (task->invocation != nullptr && !task->invocation->WakeIfDue())
          next = task->invocation->next_deadline();
      }
      lock.lock();
      SetTimer(task, next);
    }
  }

  void SetTimer(const TaskPtr& task, TimePoint at) {
    if (at >= task->timer) return;
    task->timer = at;
    timers.push({at, task});
  }

  void RunSlice(const TaskPtr& task) {
    if (task->invocation == nullptr) {
      Status status;
      try {
        status = Begin(task);
      } catch (const std::bad_alloc&) {
        status = {StatusCode::kResourceExhausted, "no memory to begin the run"};
      }
      if (!status.ok()) return End(task, std::move(status));
    }
    Invocation& invocation = *task->invocation;
    vm::BatchedCall* call = nullptr;
    switch (invocation.Poll(options.slice, &call)) {
      case RunState::kDone:
        return End(task, invocation.TakeResult());
      case RunState::kReady: {
        std::lock_guard lock(mutex);
        PushReady(task);
        return;
      }
      case RunState::kWaiting: {
        if (call != nullptr) return Park(task, call);
        // Whoever makes it ready has the run; its time may be asked for all the same.
        TimePoint at = TimePoint::max();
        {
          std::lock_guard task_lock(task->mutex);
          if (task->invocation != nullptr) at = task->invocation->next_deadline();
        }
        {
          std::lock_guard lock(mutex);
          SetTimer(task, at);
        }
        work.notify_one();
        return;
      }
    }
  }

  Status Begin(const TaskPtr& task) {
    RunRequest request = std::move(task->request);
    if (task->deadline != TimePoint::max()) {
      const auto left = task->deadline - Clock::now();
      if (left <= Clock::duration::zero())
        return {StatusCode::kDeadlineExceeded, "the deadline has passed before the run began"};
      std::chrono::nanoseconds& timeout = request.options.timeout;
      timeout = timeout.count() <= 0 ? left : std::min<std::chrono::nanoseconds>(timeout, left);
    }
    auto made = Invocation::Create(runtime, request.executable, request.options);
    if (!made.ok()) return made.status();
    (*made)->set_batching(has_batching());
    (*made)->set_on_ready([this, id = task->id] { OnReady(id); });
    {
      std::lock_guard lock(task->mutex);
      if (task->cancelled) return {StatusCode::kCancelled, "cancelled before the run began"};
      task->invocation = *std::move(made);
    }
    return task->invocation->Start(request.function, std::move(request.inputs),
                                   std::move(request.outputs));
  }

  void OnReady(uint64_t id) {
    {
      std::lock_guard lock(mutex);
      PushReady(tasks.at(id));  // a run that waits has not ended
    }
    work.notify_one();
  }

  void End(const TaskPtr& task, Result<Value> result) {
    std::unique_ptr<Invocation> invocation;
    {
      std::lock_guard lock(task->mutex);
      invocation = std::move(task->invocation);
    }
    invocation.reset();
    {
      std::lock_guard lock(mutex);
      ++totals.ended[static_cast<size_t>(result.status().code())];
      --num_active;
    }
    task->completion(std::move(result));
    task->completion = nullptr;
    std::lock_guard lock(mutex);
    tasks.erase(task->id);
    if (tasks.empty()) {
      work.notify_all();
    } else if (num_queued > 0) {
      work.notify_one();
    }
  }
};

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(std::shared_ptr<Runtime> runtime,
                                                     const SchedulerOptions& options) {
  if (runtime == nullptr) return Status(StatusCode::kInvalidArgument, "the runtime is null");
  auto impl = std::make_unique<Impl>();
  impl->runtime = std::move(runtime);
  impl->options = options;
  RELAYVM_ASSIGN_OR_RETURN(const uint32_t threads, vm::CountThreads(options.num_threads));
  if (options.batching.max_wait.count() < 0) {
    return Status(StatusCode::kInvalidArgument,
                  "expected a max_wait of 0 or above, found " +
                      std::to_string(options.batching.max_wait.count()) + " ns");
  }
  impl->batches = vm::BatchQueue(std::max<size_t>(options.batching.max_batch, 1));
  if (options.slice.count() <= 0 || options.max_active == 0) {
    return Status(StatusCode::kInvalidArgument,
                  "expected a slice and a max_active above 0, found " +
                      std::to_string(options.slice.count()) + " ns and " +
                      std::to_string(options.max_active));
  }
  std::unique_ptr<Scheduler> scheduler(new Scheduler(std::move(impl)));
  Impl* self = scheduler->impl_.get();
  try {
    for (uint32_t i = 0; i < threads; ++i) self->threads.emplace_back([self] { self->Work(); });
  } catch (const std::exception& e) {
    return Status(StatusCode::kResourceExhausted,
                  "cannot start " + std::to_string(threads) + " threads: " + e.what());
  }
  return scheduler;
}

Scheduler::~Scheduler() {
  Impl& impl = *impl_;
  std::vector<Handle> handles;
  {
    std::lock_guard lock(impl.mutex);
    impl.stopping = true;
    for (const auto& [id, task] : impl.tasks) handles.push_back(Handle(task));
  }
  for (const Handle& handle : handles) handle.Cancel();
  handles.clear();
  impl.work.notify_all();
  for (std::thread& thread : impl.threads) thread.join();
}

Result<Scheduler::Handle> Scheduler::RunAsync(RunRequest request, Completion completion) {
  if (request.executable == nullptr)
    return Status(StatusCode::kInvalidArgument, "the run has no executable");
  if (completion == nullptr)
    return Status(StatusCode::kInvalidArgument, "the run has no completion");
  if (static_cast<size_t>(request.priority) >= kNumPriorities)
    return Status(StatusCode::kInvalidArgument, "the run's priority is none");
  Impl& impl = *impl_;
  auto task = std::make_shared<Handle::Task>();
  task->priority = request.priority;
  task->deadline = request.deadline;
  task->request = std::move(request);
  task->completion = std::move(completion);
  {
    std::lock_guard lock(impl.mutex);
    if (impl.stopping || impl.num_queued >= impl.options.max_queued) {
      ++impl.totals.refused;
      return Status(StatusCode::kResourceExhausted,
                    impl.stopping ? "the scheduler is being destroyed"
                                  : std::to_string(impl.num_queued) + " runs are queued already");
    }
    task->id = ++impl.last_id;
    impl.tasks.emplace(task->id, task);
    impl.queued[static_cast<size_t>(task->priority)].push_back(task);
    ++impl.num_queued;
    ++impl.totals.accepted;
  }
  impl.work.notify_one();
  return Handle(std::move(task));
}

SchedulerStats Scheduler::stats() const {
  const Impl& impl = *impl_;
  std::lock_guard lock(impl.mutex);
  SchedulerStats stats = impl.totals;
  stats.queued = impl.num_queued;
  stats.ready = impl.num_ready;
  stats.running = impl.num_running;
  // A run that ends is for a moment one that runs and is not active.
  const size_t busy = impl.num_ready + impl.num_running;
  stats.waiting = impl.num_active > busy ? impl.num_active - busy : 0;
  return stats;
}

void Scheduler::Handle::Cancel() const {
  if (task_ == nullptr) return;
  std::lock_guard lock(task_->mutex);
  if (task_->invocation == nullptr) {
    task_->cancelled = true;
  } else {
    task_->invocation->Cancel();
  }
}

uint64_t Scheduler::Handle::id() const { return task_ == nullptr ? 0 : task_->id; }

bool Scheduler::Awaitable::await_suspend(std::coroutine_handle<> coroutine) {
  // Once it is accepted, this may be gone at any time.
  Result<Handle> run =
      scheduler_.RunAsync(std::move(request_), [this, coroutine](Result<Value> result) {
        result_.emplace(std::move(result));
        coroutine.resume();
      });
  if (run.ok()) return true;
  result_.emplace(run.status());
  return false;
}

}  // namespace relayvm
