#include "vm/schedule/scheduler.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
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
#include "vm/schedule/task.h"

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
// Of a job that the host's executor runs, before it is queued again.
constexpr int kTurnsOfJob = 8;

int64_t Nanoseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

struct Scheduler::Impl {
  using Task = Handle::Task;
  using TaskPtr = std::shared_ptr<Task>;
  using Queue = Task::Queue;
  using ByPriority = Task::ByPriority;

  std::shared_ptr<Runtime> runtime;
  SchedulerOptions options;

  mutable std::mutex mutex;
  std::condition_variable work;
  std::condition_variable ended;  // all runs have, and all jobs
  ByPriority queued, ready;       // queued: those that no group keeps waiting
  Queue ending;                   // ready, and only to end: these go before all others
  Task::Timers timers;
  std::unordered_map<uint64_t, TaskPtr> tasks;  // that have not ended, by id
  vm::BatchQueue batches{SIZE_MAX};
  // num_kept: wait for a place in a group.
  size_t num_queued = 0, num_kept = 0, num_ready = 0, num_active = 0, num_running = 0;
  std::array<bool, kNumPriorities> began{};  // of each: whether it was a new run's turn last
  uint64_t turn = 0;
  bool stopping = false, draining = false;
  SchedulerStats totals;  // only what counts since the beginning
  uint64_t last_id = 0, last_group_id = 0;
  std::vector<std::shared_ptr<RunGroup::State>> groups;

  std::vector<std::thread> threads;
  // --- With an executor, instead of threads ---
  // Called when a timer is due; outlives the scheduler where the host's timers do.
  struct Tick {
    std::mutex mutex;  // comes before Impl::mutex
    Impl* scheduler;
    std::atomic<size_t> references{1};
    explicit Tick(Impl* scheduler) : scheduler(scheduler) {}
    void Drop() {
      if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
  };
  uint32_t max_jobs = 0;
  std::atomic<uint32_t> num_jobs{0};  // goes down under `mutex`
  Tick* tick = nullptr;
  TimePoint tick_at = TimePoint::max();                   // of the next one, under `mutex`
  std::vector<std::unique_ptr<vm::BatchRunner>> runners;  // of jobs to come, under `mutex`

  static Result<std::unique_ptr<Scheduler>> Create(std::shared_ptr<Runtime> runtime,
                                                   const SchedulerOptions& options);
  Result<Handle> RunAsync(RunRequest request, Completion completion, Handle* handle);
  Status SetGroups(Task& task, std::shared_ptr<RunGroup::State> a,
                   std::shared_ptr<RunGroup::State> b) const;
  Status WhyRefused(const Task& task) const;  // with `mutex`

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
    ByPriority* from = &queued;
    if (WaitsForGroup(task)) from = &task.groups[task.num_places]->waiting;
    --(from == &queued ? num_queued : num_kept);
    TaskPtr removed = (*from)[static_cast<size_t>(task.priority)].Remove(task);
    SetBegun(task);
    PushEnding(std::move(removed));
  }
  void SetBegun(Task& task) {
    StopTimer(task);
    task.is_queued = false;
    ++num_active;
    task.report.queued_ns = Nanoseconds(Clock::now() - task.accepted_at);
    for (const auto& group : task.groups) {
      if (group == nullptr) continue;
      --group->stats.queued;
      ++group->stats.active;
    }
  }

  // --- Groups; all with `mutex` ---

  static bool WaitsForGroup(const Task& task) {
    return task.num_places < task.groups.size() && task.groups[task.num_places] != nullptr;
  }
  // Takes places in its groups, as far as there are some; with all of them it may begin.
  void Admit(TaskPtr task) {
    const auto priority = static_cast<size_t>(task->priority);
    while (WaitsForGroup(*task)) {
      RunGroup::State& group = *task->groups[task->num_places];
      if (group.num_places >= group.options.max_active) {
        group.waiting[priority].Push(std::move(task));
        ++num_kept;
        return;
      }
      ++group.num_places;
      ++task->num_places;
    }
    queued[priority].Push(std::move(task));
    ++num_queued;
  }
  // Gives its places to those that wait for them.
  void LeaveGroups(Task& task) {
    for (size_t i = 0; i < task.num_places; ++i) {
      RunGroup::State& group = *task.groups[i];
      --group.num_places;
      const size_t priority = First(group.waiting, {0, 1, 2});
      if (priority == kNumPriorities) continue;
      --num_kept;
      Admit(group.waiting[priority].Pop());
    }
    task.num_places = 0;
  }
  // The scheduler's, and those of its groups.
  template <typename Function>
  void ForTotals(const Task& task, const Function& function) {
    function(totals);
    for (const auto& group : task.groups) {
      if (group != nullptr) function(group->stats);
    }
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
    TaskPtr task = queued[priority].Pop();
    SetBegun(*task);
    ForTotals(*task, [&](RunTotals& totals) { totals.queue_time.Add(task->report.queued_ns); });
    task->slice = options.slice;
    return task;
  }

  // --- Threads ---

  // A batch or a slice; false: there is none to run now.
  bool RunOne(vm::BatchRunner& runner, std::unique_lock<std::mutex>& lock) {
    WakeDue(lock);
    if (vm::BatchQueue::GroupPtr group = NextBatch()) {
      RunBatch(std::move(group), runner, lock);
      return true;
    }
    const TaskPtr task = Next();
    if (task == nullptr) return false;
    ++num_running;
    ++totals.slices;
    lock.unlock();
    RunSlice(task);
    lock.lock();
    return true;
  }

  void Work() {
    current = this;
    vm::BatchRunner runner;
    std::unique_lock lock(mutex);
    for (;;) {
      if (RunOne(runner, lock)) continue;
      if (stopping && tasks.empty()) return;
      if (timers.empty()) {
        work.wait(lock);
      } else {
        work.wait_until(lock, TimePoint(timers.begin()->first));
      }
    }
  }

  // Somebody is to look for work.
  void Notify() {
    if (options.executor == nullptr) return work.notify_one();
    // One that ends meanwhile has seen what was there before this was called.
    uint32_t jobs = num_jobs.load();
    while (jobs < max_jobs) {
      if (num_jobs.compare_exchange_weak(jobs, jobs + 1)) return options.executor->Post(Job, this);
    }
  }
  void NotifyAll(size_t count) {
    if (options.executor == nullptr) return work.notify_all();
    for (size_t i = 0; i < std::min<size_t>(count, max_jobs); ++i) Notify();
  }

  // Of the executor: runs what there is for a while.
  static void Job(void* self) { static_cast<Impl*>(self)->RunJob(); }
  void RunJob() {
    const Impl* const before =
        std::exchange(current, this);  // the executor may run jobs within jobs
    std::unique_lock lock(mutex);
    std::unique_ptr<vm::BatchRunner> runner = std::move(runners.back());
    runners.pop_back();
    int turns = 0;
    while (turns < kTurnsOfJob && RunOne(*runner, lock)) ++turns;
    runners.push_back(std::move(runner));  // there is room
    current = before;
    if (turns == kTurnsOfJob) return options.executor->Post(Job, this);
    AskForTick();
    // The last to look at the scheduler, which may go then.
    if (num_jobs.fetch_sub(1) == 1) ended.notify_all();
  }

  // With `mutex`: has the executor call when the first timer is due.
  void AskForTick() {
    if (tick == nullptr || timers.empty() || timers.begin()->first >= tick_at) return;
    tick_at = timers.begin()->first;
    tick->references.fetch_add(1, std::memory_order_relaxed);
    options.executor->PostAt(
        tick_at,
        [](void* context) {
          auto* const due = static_cast<Tick*>(context);
          {
            const std::lock_guard lock(due->mutex);
            if (due->scheduler != nullptr) due->scheduler->OnTick();
          }
          due->Drop();
        },
        tick);
  }
  void OnTick() {
    std::unique_lock lock(mutex);
    tick_at = TimePoint::max();
    WakeDue(lock);
    AskForTick();
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
    if (size > 1) NotifyAll(size);
  }

  // A run whose call waits for others; its slice began at `began_at`.
  void Park(const TaskPtr& task, vm::BatchedCall* call, int64_t began_at) {
    const int64_t wait = options.batching.max_wait.count(), now = vm::NowNanoseconds();
    task->slice -= std::chrono::nanoseconds(now - began_at);
    call->key = vm::KeyOf(*call);
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
        Notify();
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
    AskForTick();
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
        Notify();
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
    auto made = Invocation::Create(request.runtime != nullptr ? request.runtime : runtime,
                                   request.executable, request.options);
    if (!made.ok()) return made.status();
    (*made)->set_batching(has_batching());
    RELAYVM_RETURN_IF_ERROR((*made)->set_on_ready([this, id = task->id] { OnReady(id); }));
    task->report.invocation = (*made)->id();
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
    Notify();
  }

  void End(const TaskPtr& task, Result<Value> result) {
    std::unique_ptr<Invocation> invocation;
    {
      std::lock_guard lock(task->mutex);
      task->scheduler = nullptr;
      invocation = std::move(task->invocation);
    }
    invocation.reset();
    RunReport& report = task->report;
    report.status = result.status().code();
    report.total_ns = Nanoseconds(Clock::now() - task->accepted_at);
    {
      std::lock_guard lock(mutex);
      ForTotals(*task, [&](RunTotals& totals) {
        ++totals.ended[static_cast<size_t>(report.status)];
        totals.latency.Add(report.total_ns);
      });
      for (const auto& group : task->groups) {
        if (group != nullptr) --group->stats.active;
      }
      --num_active;
      --num_running;
      LeaveGroups(*task);
      if (num_queued > 0) Notify();  // the completion may take a while
    }
    if (options.on_end != nullptr) options.on_end(report);
    task->completion(std::move(result));
    task->completion = nullptr;
    std::lock_guard lock(mutex);
    StopTimer(*task);
    tasks.erase(task->id);
    if (!tasks.empty()) return;
    ended.notify_all();
    if (stopping) work.notify_all();
  }

  static thread_local const Impl* current;  // that the thread runs for
};

thread_local const Scheduler::Impl* Scheduler::Impl::current = nullptr;

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
  if (options.executor != nullptr) {
    self->max_jobs = threads;
    for (uint32_t i = 0; i < threads; ++i)
      self->runners.push_back(std::make_unique<vm::BatchRunner>());
    self->tick = new Tick(self);
    return scheduler;
  }
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
    for (const auto& group : impl.groups) group->scheduler = nullptr;
    for (const auto& [id, task] : impl.tasks) task->next_to_cancel = std::exchange(first, task);
  }
  while (first != nullptr) {
    Handle(first).Cancel();
    first = std::exchange(first->next_to_cancel, nullptr);
  }
  impl.work.notify_all();
  for (std::thread& thread : impl.threads) thread.join();
  if (impl.options.executor == nullptr) return;
  {
    std::unique_lock lock(impl.mutex);
    impl.ended.wait(lock, [&] { return impl.tasks.empty() && impl.num_jobs == 0; });
  }
  if (impl.tick == nullptr) return;
  {
    const std::lock_guard lock(impl.tick->mutex);
    impl.tick->scheduler = nullptr;
  }
  impl.tick->Drop();
}

Result<RunGroup> Scheduler::MakeGroup(const RunGroupOptions& options) {
  return Guarded([&]() -> Result<RunGroup> {
    if (options.max_active == 0)
      return Status(StatusCode::kInvalidArgument, "expected a max_active above 0, found 0");
    RunGroup group;
    group.state_ = std::make_shared<RunGroup::State>();
    group.state_->options = options;
    group.state_->scheduler = impl_.get();
    const std::lock_guard lock(impl_->mutex);
    // Those that nobody has any more go, now and then.
    auto& groups = impl_->groups;
    if (groups.size() == groups.capacity())
      std::erase_if(groups, [](const auto& one) { return one.use_count() == 1; });
    groups.push_back(group.state_);
    group.state_->id = ++impl_->last_group_id;
    return group;
  });
}

Status Scheduler::Drain(TimePoint deadline) {
  return Guarded([&]() -> Status {
    Impl& impl = *impl_;
    if (IsOwnThread())
      return {StatusCode::kFailedPrecondition, "a run of the scheduler cannot wait for its end"};
    std::unique_lock lock(impl.mutex);
    impl.draining = true;
    const auto done = [&] { return impl.tasks.empty(); };
    if (deadline == TimePoint::max()) {
      impl.ended.wait(lock, done);
    } else if (!impl.ended.wait_until(lock, deadline, done)) {
      return {StatusCode::kDeadlineExceeded,
              std::to_string(impl.tasks.size()) + " runs have not ended"};
    }
    return OkStatus();
  });
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
  task->accepted_at = Clock::now();
  task->report.tag = request.options.tag;
  RELAYVM_RETURN_IF_ERROR(
      SetGroups(*task, std::move(request.tenant.state_), std::move(request.model.state_)));
  task->request = std::move(request);
  task->completion = std::move(completion);
  task->scheduler = this;
  Task::Timers timer;
  task->timer = timer.extract(timer.emplace(TimePoint::max(), task.get()));
  {
    std::lock_guard lock(mutex);
    if (Status refused = WhyRefused(*task); !refused.ok()) {
      ForTotals(*task, [](RunTotals& totals) { ++totals.refused; });
      return refused;
    }
    // The last that takes memory.
    tasks.emplace(last_id + 1, task);
    task->id = task->report.id = ++last_id;
    task->is_queued = true;
    for (const auto& group : task->groups) {
      if (group != nullptr) ++group->stats.queued;
    }
    ForTotals(*task, [](RunTotals& totals) { ++totals.accepted; });
    SetTimer(*task, task->deadline);
    if (handle != nullptr) *handle = Handle(task);
    Admit(task);
  }
  Notify();  // also of its deadline
  return Handle(std::move(task));
}

Status Scheduler::Impl::SetGroups(Task& task, std::shared_ptr<RunGroup::State> a,
                                  std::shared_ptr<RunGroup::State> b) const {
  if (a == b) b = nullptr;
  if (a == nullptr || (b != nullptr && b->id < a->id)) std::swap(a, b);
  for (const auto& group : {a, b}) {
    if (group != nullptr && group->scheduler != this)
      return {StatusCode::kInvalidArgument, "the run's group is not of this scheduler"};
  }
  task.groups = {std::move(a), std::move(b)};
  return OkStatus();
}

Status Scheduler::Impl::WhyRefused(const Task& task) const {
  if (stopping) return {StatusCode::kResourceExhausted, "the scheduler is being destroyed"};
  if (draining)
    return {StatusCode::kFailedPrecondition, "the scheduler accepts no runs: it is drained"};
  const auto full = [](size_t queued, const char* whose) -> Status {
    return {StatusCode::kResourceExhausted,
            std::to_string(queued) + " runs are queued already" + whose};
  };
  if (num_queued + num_kept >= options.max_queued) return full(num_queued + num_kept, "");
  for (const auto& group : task.groups) {
    if (group != nullptr && group->stats.queued >= group->options.max_queued)
      return full(group->stats.queued, " in the run's group");
  }
  return OkStatus();
}

SchedulerStats Scheduler::stats() const {
  const Impl& impl = *impl_;
  std::lock_guard lock(impl.mutex);
  SchedulerStats stats = impl.totals;
  stats.queued = impl.num_queued + impl.num_kept;
  stats.ready = impl.num_ready;
  stats.running = impl.num_running;
  const size_t busy = impl.num_ready + impl.num_running;
  stats.waiting = impl.num_active > busy ? impl.num_active - busy : 0;
  return stats;
}

RunGroupStats Scheduler::stats(const RunGroup& group) const {
  if (group.state_ == nullptr || group.state_->scheduler != impl_.get()) return {};
  const std::lock_guard lock(impl_->mutex);
  return group.state_->stats;
}

bool Scheduler::IsOwnThread() const { return Impl::current == impl_.get(); }

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
  impl.Notify();
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
