#include "vm/schedule/scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/program.h"
#include "vm/platform/thread_pool.h"
#include "vm/run/interpreter.h"
#include "vm/schedule/batch.h"

namespace relayvm {
namespace {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// One turn in so many is that of a lower priority: of the lowest one and of the one above it in
// turn, so that two that always have something ready do not keep the third from running.
constexpr uint64_t kTurnsOfLower = 16;
using PriorityOrder = std::array<size_t, kNumPriorities>;
PriorityOrder OrderAt(uint64_t turn) {
  if (turn % kTurnsOfLower != 0) return {0, 1, 2};
  return turn / kTurnsOfLower % 2 == 0 ? PriorityOrder{2, 1, 0} : PriorityOrder{1, 2, 0};
}
// A call waits until each run that was ready when it came has had so many turns: those that would
// join it soon have done so.
constexpr uint64_t kTurnsOfBatch = 4;

}  // namespace

struct Scheduler::Handle::Task {
  using Timers = std::multimap<TimePoint, Task*>;

  uint64_t id = 0;
  Priority priority = Priority::kNormal;
  TimePoint deadline;
  RunRequest request;  // until it begins
  Completion completion;
  // Under Impl::mutex: its place in a queue, in the list of those that the end cancels, and among
  // the timers. They are made with the run, so that nothing that happens to it later takes memory.
  std::shared_ptr<Task> next_in_queue, next_to_cancel;
  Task* previous_in_queue = nullptr;
  bool is_queued = false;        // in Impl::queued
  Timers::node_type timer;       // while it is not set
  Timers::iterator timer_place;  // while it is
  // Comes before Impl::mutex where both are held. While it is held the invocation stays; the thread
  // that runs it needs no lock.
  std::mutex mutex;
  Impl* scheduler = nullptr;               // until its end
  std::unique_ptr<Invocation> invocation;  // from its beginning to its end
  std::atomic<bool> is_cancelled{false};
  // Of the thread that has it: what is left of its slice, while a kernel runs it with others.
  std::chrono::nanoseconds slice{0};
};

struct Scheduler::Impl {
  using Task = Handle::Task;
  using TaskPtr = std::shared_ptr<Task>;
  class Queue {
   public:
    bool empty() const { return first_ == nullptr; }
    void Push(TaskPtr task) {
      Task* pushed = task.get();
      pushed->previous_in_queue = last_;
      (empty() ? first_ : last_->next_in_queue) = std::move(task);
      last_ = pushed;
    }
    void PushFirst(TaskPtr task) {
      (empty() ? last_ : first_->previous_in_queue) = task.get();
      task->next_in_queue = std::move(first_);
      first_ = std::move(task);
    }
    TaskPtr Pop() { return Remove(*first_); }
    TaskPtr Remove(Task& task) {
      Task* const previous = std::exchange(task.previous_in_queue, nullptr);
      TaskPtr& from = previous == nullptr ? first_ : previous->next_in_queue;
      TaskPtr removed = std::exchange(from, std::move(task.next_in_queue));
      (from == nullptr ? last_ : from->previous_in_queue) = previous;
      return removed;
    }

   private:
    TaskPtr first_;
    Task* last_ = nullptr;
  };
  using ByPriority = std::array<Queue, kNumPriorities>;

  std::shared_ptr<Runtime> runtime;
  SchedulerOptions options;

  mutable std::mutex mutex;
  std::condition_variable work;
  ByPriority queued, ready;
  Queue ending;  // ready, and only to end: these go before all others
  Task::Timers timers;
  std::unordered_map<uint64_t, TaskPtr> tasks;  // that have not ended, by id
  vm::BatchQueue batches{SIZE_MAX};
  size_t num_queued = 0, num_ready = 0, num_active = 0, num_running = 0;
  std::array<bool, kNumPriorities> began{};  // of each: whether it was a new run's turn last
  uint64_t turn = 0;
  bool stopping = false;
  SchedulerStats totals;  // only what counts since the beginning
  uint64_t last_id = 0;

  std::vector<std::thread> threads;

  static Result<std::unique_ptr<Scheduler>> Create(std::shared_ptr<Runtime> runtime,
                                                   const SchedulerOptions& options);
  Result<Handle> RunAsync(RunRequest request, Completion completion, Handle* handle);

  // --- Queues; all with `mutex` ---

  // The first in this order that has a run; the number of priorities: none has.
  static size_t First(const ByPriority& queues, const PriorityOrder& order) {
    size_t i = 0;
    while (i < kNumPriorities && queues[order[i]].empty()) ++i;
    return i;
  }

  // A run that will not begin, because it was cancelled or is late: a thread ends it, however many
  // are active.
  void EndQueued(Task& task) {
    StopTimer(task);
    task.is_queued = false;
    --num_queued;
    ++num_active;
    PushEnding(queued[static_cast<size_t>(task.priority)].Remove(task));
  }
  void PushEnding(TaskPtr task) {
    task->slice = options.slice;
    ending.Push(std::move(task));
    ++num_ready;
  }

  // At the end of its queue, with a slice to come.
  void PushReady(TaskPtr task) {
    task->slice = options.slice;
    ready[static_cast<size_t>(task->priority)].Push(std::move(task));
    ++num_ready;
  }
  // With what is left of its slice.
  void PushReadyFirst(TaskPtr task) {
    ready[static_cast<size_t>(task->priority)].PushFirst(std::move(task));
    ++num_ready;
  }

  // What a thread is to run next: of one priority, runs that have begun and new ones in turn.
  TaskPtr Next() {
    if (!ending.empty()) {
      --num_ready;
      return ending.Pop();
    }
    const PriorityOrder order = OrderAt(++turn);
    const bool may_begin = num_queued > 0 && num_active < options.max_active;
    if (num_ready == 0 && !may_begin) return nullptr;
    const size_t begun = First(ready, order), fresh = First(queued, order);
    const bool begins = may_begin && (fresh < begun || (fresh == begun && !began[order[fresh]]));
    const size_t priority = order[begins ? fresh : begun];
    began[priority] = begins;
    if (!begins) {
      --num_ready;
      return ready[priority].Pop();
    }
    --num_queued;
    ++num_active;
    TaskPtr task = queued[priority].Pop();
    task->is_queued = false;
    task->slice = options.slice;
    StopTimer(*task);
    return task;
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
        continue;
      }
      if (stopping && tasks.empty()) return;
      if (timers.empty()) {
        work.wait(lock);
      } else {
        work.wait_until(lock, TimePoint(timers.begin()->first));
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
    std::chrono::nanoseconds share{0};
    if (size > 1) {
      lock.unlock();
      const int64_t begin = vm::NowNanoseconds();
      done = RunTraced(*group, runner);
      share = std::chrono::nanoseconds(vm::NowNanoseconds() - begin) / static_cast<int64_t>(size);
      lock.lock();
    }
    runtime->CountBatch(size, done);
    if (done) {
      ++totals.batches;
      totals.batched_calls += size;
    } else {
      totals.lone_calls += size;
    }
    // They go on where they were, with the rest of their slices: a call that waits costs its run no
    // turn.
    for (auto member = group->members.rbegin(); member != group->members.rend(); ++member) {
      member->call->done = done;
      TaskPtr task = std::static_pointer_cast<Task>(std::move(member->run));
      task->slice -= share;
      if (task->slice.count() > 0) {
        PushReadyFirst(std::move(task));
      } else {
        PushReady(std::move(task));
      }
    }
    batches.Recycle(std::move(group));
    if (size > 1 && threads.size() > 1) work.notify_all();
  }

  // A run whose call waits for others; its slice began at `began_at`.
  void Park(const TaskPtr& task, vm::BatchedCall* call, int64_t began_at) {
    const int64_t wait = options.batching.max_wait.count(), now = vm::NowNanoseconds();
    task->slice -= std::chrono::nanoseconds(now - began_at);
    std::lock_guard lock(mutex);
    --num_running;
    try {
      batches.Add({call, task}, static_cast<size_t>(task->priority),
                  turn + kTurnsOfBatch * (num_ready + 1),
                  wait < INT64_MAX - now ? now + wait : INT64_MAX);
    } catch (const std::bad_alloc&) {
      PushReady(task);  // to run it alone
    }
  }

  // Runs that wait, in a host function or to begin, and whose time has come.
  void WakeDue(std::unique_lock<std::mutex>& lock) {
    while (!timers.empty() && timers.begin()->first <= Clock::now()) {
      const TaskPtr task = tasks.at(timers.begin()->second->id);
      if (task->is_queued) {
        EndQueued(*task);
        work.notify_one();
        continue;
      }
      StopTimer(*task);
      lock.unlock();
      TimePoint next = TimePoint::max();
      {
        std::lock_guard task_lock(task->mutex);
        // Its on_ready makes it ready.
        if (task->invocation != nullptr && !task->invocation->WakeIfDue())
          next = task->invocation->next_deadline();
      }
      lock.lock();
      SetTimer(*task, next);
    }
  }

  // With `mutex`. To the earlier of that and what it is set to; not of a run that has ended.
  void SetTimer(Task& task, TimePoint at) {
    const bool is_set = task.timer.empty();
    if (at == TimePoint::max() || (is_set && task.timer_place->first <= at)) return;
    if (!tasks.contains(task.id)) return;
    StopTimer(task);
    task.timer.key() = at;
    task.timer_place = timers.insert(std::move(task.timer));
  }
  void StopTimer(Task& task) {
    if (task.timer.empty()) task.timer = timers.extract(task.timer_place);
  }

  void RunSlice(const TaskPtr& task) {
    if (task->invocation == nullptr) {
      Status status = Guarded([&] { return Begin(task); });
      if (!status.ok()) return End(task, std::move(status));
    }
    Invocation& invocation = *task->invocation;
    vm::BatchedCall* call = nullptr;
    const int64_t began_at = has_batching() ? vm::NowNanoseconds() : 0;
    switch (invocation.Poll(task->slice, &call)) {
      case RunState::kDone:
        return End(task, invocation.TakeResult());
      case RunState::kReady: {
        std::lock_guard lock(mutex);
        --num_running;
        PushReady(task);
        return;
      }
      case RunState::kWaiting: {
        if (call != nullptr) return Park(task, call, began_at);
        // Whoever makes it ready has the run; its time may be asked for all the same.
        TimePoint at = TimePoint::max();
        {
          std::lock_guard task_lock(task->mutex);
          if (task->invocation != nullptr) at = task->invocation->next_deadline();
        }
        {
          std::lock_guard lock(mutex);
          --num_running;
          SetTimer(*task, at);
        }
        work.notify_one();
        return;
      }
    }
  }

  Status Begin(const TaskPtr& task) {
    RunRequest request = std::move(task->request);
    const auto cancelled = [] {
      return Status(StatusCode::kCancelled, "cancelled before the run began");
    };
    if (task->is_cancelled) return cancelled();
    if (task->deadline != TimePoint::max()) {
      const TimePoint now = Clock::now();
      if (task->deadline <= now)
        return {StatusCode::kDeadlineExceeded, "the deadline has passed before the run began"};
      const auto left = task->deadline - now;
      std::chrono::nanoseconds& timeout = request.options.timeout;
      timeout = timeout.count() <= 0 ? left : std::min<std::chrono::nanoseconds>(timeout, left);
    }
    auto made = Invocation::Create(runtime, request.executable, request.options);
    if (!made.ok()) return made.status();
    (*made)->set_batching(has_batching());
    RELAYVM_RETURN_IF_ERROR((*made)->set_on_ready([this, id = task->id] { OnReady(id); }));
    {
      std::lock_guard lock(task->mutex);
      if (task->is_cancelled) return cancelled();
      task->invocation = *std::move(made);
    }
    return task->invocation->Start(request.function, std::move(request.inputs),
                                   std::move(request.outputs));
  }

  void OnReady(uint64_t id) {
    {
      std::lock_guard lock(mutex);
      const TaskPtr& task = tasks.at(id);  // a run that waits has not ended
      if (task->is_cancelled) {
        PushEnding(task);
      } else {
        PushReady(task);
      }
    }
    work.notify_one();
  }

  void End(const TaskPtr& task, Result<Value> result) {
    std::unique_ptr<Invocation> invocation;
    {
      std::lock_guard lock(task->mutex);
      task->scheduler = nullptr;
      invocation = std::move(task->invocation);
    }
    invocation.reset();
    {
      std::lock_guard lock(mutex);
      ++totals.ended[static_cast<size_t>(result.status().code())];
      --num_active;
      --num_running;
      if (num_queued > 0) work.notify_one();  // the completion may take a while
    }
    task->completion(std::move(result));
    task->completion = nullptr;
    std::lock_guard lock(mutex);
    StopTimer(*task);
    tasks.erase(task->id);
    if (tasks.empty()) work.notify_all();
  }
};

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(std::shared_ptr<Runtime> runtime,
                                                     const SchedulerOptions& options) {
  return Guarded([&] { return Impl::Create(std::move(runtime), options); });
}

Result<std::unique_ptr<Scheduler>> Scheduler::Impl::Create(std::shared_ptr<Runtime> runtime,
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
  } catch (const std::system_error& e) {
    return vm::NoThreads(threads, e);
  }
  return scheduler;
}

Scheduler::~Scheduler() {
  Impl& impl = *impl_;
  std::shared_ptr<Handle::Task> first;
  {
    std::lock_guard lock(impl.mutex);
    impl.stopping = true;
    for (const auto& [id, task] : impl.tasks) task->next_to_cancel = std::exchange(first, task);
  }
  while (first != nullptr) {
    Handle(first).Cancel();
    first = std::exchange(first->next_to_cancel, nullptr);
  }
  impl.work.notify_all();
  for (std::thread& thread : impl.threads) thread.join();
}

Result<Scheduler::Handle> Scheduler::RunAsync(RunRequest request, Completion completion,
                                              Handle* handle) {
  return Guarded(
      [&] { return impl_->RunAsync(std::move(request), std::move(completion), handle); });
}

Result<Scheduler::Handle> Scheduler::Impl::RunAsync(RunRequest request, Completion completion,
                                                    Handle* handle) {
  if (request.executable == nullptr)
    return Status(StatusCode::kInvalidArgument, "the run has no executable");
  if (completion == nullptr)
    return Status(StatusCode::kInvalidArgument, "the run has no completion");
  if (static_cast<size_t>(request.priority) >= kNumPriorities)
    return Status(StatusCode::kInvalidArgument, "the run's priority is none");
  auto task = std::make_shared<Task>();
  task->priority = request.priority;
  task->deadline = request.deadline;
  task->request = std::move(request);
  task->completion = std::move(completion);
  task->scheduler = this;
  Task::Timers timer;
  task->timer = timer.extract(timer.emplace(TimePoint::max(), task.get()));
  {
    std::lock_guard lock(mutex);
    if (stopping || num_queued >= options.max_queued) {
      ++totals.refused;
      return Status(StatusCode::kResourceExhausted,
                    stopping ? "the scheduler is being destroyed"
                             : std::to_string(num_queued) + " runs are queued already");
    }
    // The last that takes memory.
    tasks.emplace(last_id + 1, task);
    task->id = ++last_id;
    queued[static_cast<size_t>(task->priority)].Push(task);
    task->is_queued = true;
    ++num_queued;
    SetTimer(*task, task->deadline);
    ++totals.accepted;
    if (handle != nullptr) *handle = Handle(task);
  }
  work.notify_one();
  return Handle(std::move(task));
}

SchedulerStats Scheduler::stats() const {
  const Impl& impl = *impl_;
  std::lock_guard lock(impl.mutex);
  SchedulerStats stats = impl.totals;
  stats.queued = impl.num_queued;
  stats.ready = impl.num_ready;
  stats.running = impl.num_running;
  const size_t busy = impl.num_ready + impl.num_running;
  stats.waiting = impl.num_active > busy ? impl.num_active - busy : 0;
  return stats;
}

bool Scheduler::IsOwnThread() const {
  return std::ranges::any_of(impl_->threads, [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
}

void Scheduler::Handle::Cancel() const {
  if (task_ == nullptr) return;
  std::lock_guard lock(task_->mutex);
  task_->is_cancelled = true;
  if (task_->invocation != nullptr) return task_->invocation->Cancel();
  if (task_->scheduler == nullptr) return;  // it has ended
  Impl& impl = *task_->scheduler;
  {
    std::lock_guard impl_lock(impl.mutex);
    if (!task_->is_queued) return;
    impl.EndQueued(*task_);
  }
  impl.work.notify_one();
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
