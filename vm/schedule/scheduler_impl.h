// What a scheduler is made of: its runs in their queues, its threads or the host's executor. The
// public functions are in scheduler.cc; what runs next, in slices and batches, is in
// scheduler_runs.cc; who runs it and when, in scheduler_threads.cc. Tested by scheduler_test.cc,
// scheduler_groups_test.cc and batch_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/schedule/batch.h"
#include "vm/schedule/scheduler.h"
#include "vm/schedule/task.h"

namespace relayvm {

struct Scheduler::Impl {
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
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
  TimePoint tick_at = TimePoint::max();  // of the next one, under `mutex`

  static Result<std::unique_ptr<Scheduler>> Create(std::shared_ptr<Runtime> runtime,
                                                   const SchedulerOptions& options);
  Result<Handle> RunAsync(RunRequest request, Completion completion, Handle* handle);
  Status SetGroups(Task& task, std::shared_ptr<RunGroup::State> a,
                   std::shared_ptr<RunGroup::State> b) const;
  Status WhyRefused(const Task& task) const;  // with `mutex`

  // --- Queues; all with `mutex` ---

  // The first in this order that has a run; the number of priorities: none has.
  static size_t First(const ByPriority& queues, const std::array<size_t, kNumPriorities>& order) {
    size_t i = 0;
    while (i < kNumPriorities && queues[order[i]].empty()) ++i;
    return i;
  }

  // A run that will not begin, because it was cancelled or is late: a thread ends it, however many
  // are active.
  void EndQueued(Task& task);
  void SetBegun(Task& task);

  // --- Groups; all with `mutex` ---

  static bool WaitsForGroup(const Task& task) {
    return task.num_places < task.groups.size() && task.groups[task.num_places] != nullptr;
  }
  static bool HasPlaceFor(const RunGroup::State& group, const Task& task);
  // Takes places in its groups, as far as there are some; with all of them it may begin.
  void Admit(TaskPtr task);
  // Those that wait for places, where there are some again; now and then one of a lower priority
  // before others.
  void AdmitNext(RunGroup::State& group);
  // Whether the run keeps others of its groups from beginning.
  void SetCounted(Task& task, bool is_counted);
  // Gives its places to those that wait for them.
  void LeaveGroups(Task& task);
  // The scheduler's, and those of its groups.
  template <typename Function>
  void ForTotals(const Task& task, const Function& function) {
    function(totals);
    for (const auto& group : task.groups) {
      if (group != nullptr) function(group->stats);
    }
  }
  void PushEnding(TaskPtr task);
  // At the end of its queue, with a slice to come; where it goes on, before others, with what is
  // left of its slice.
  void PushReady(TaskPtr task, bool goes_on = false);

  // What a thread is to run next: of one priority, runs that have begun and new ones in turn.
  TaskPtr Next();

  // --- Threads ---

  // A batch or a slice; false: there is none to run now.
  bool RunOne(vm::BatchRunner& runner, std::unique_lock<std::mutex>& lock);

  void Work();

  // Somebody is to look for work.
  void Notify();
  void NotifyAll(size_t count);

  // Of the executor: runs what there is for a while.
  static void Job(void* self) { static_cast<Impl*>(self)->RunJob(); }
  void RunJob();

  // With `mutex`: has the executor call when the first timer is due.
  void AskForTick();
  void OnTick();

  // --- Batches ---

  bool has_batching() const { return options.batching.max_batch > 1; }

  // The priority of the first run that is ready or may begin; kNumPriorities: there is none.
  size_t HighestReady() const;

  // With `mutex`: calls that are to run now, before any run goes on.
  vm::BatchQueue::GroupPtr NextBatch();

  // In memory of the runtime's: it counts toward its limit, and goes back when it idles.
  bool RunTogether(const vm::BatchQueue::Group& group, vm::BatchRunner& runner);

  // With `mutex`, which others may have while the kernel runs.
  void RunBatch(vm::BatchQueue::GroupPtr group, vm::BatchRunner& runner,
                std::unique_lock<std::mutex>& lock);

  // A run whose call waits for others; its slice began at `began_at`.
  void Park(const TaskPtr& task, vm::BatchedCall* call, int64_t began_at);

  // Runs that wait, in a host function or to begin, and whose time has come.
  void WakeDue(std::unique_lock<std::mutex>& lock);

  // With `mutex`. To the earlier of that and what it is set to; not of a run that has ended.
  void SetTimer(Task& task, TimePoint at);
  void StopTimer(Task& task) {
    if (task.timer.empty()) task.timer = timers.extract(task.timer_place);
  }

  void RunSlice(const TaskPtr& task);

  Status Begin(const TaskPtr& task);

  void OnReady(uint64_t id);

  void End(const TaskPtr& task, Result<Value> result);

  static thread_local const Impl* current;  // that the thread runs for
};

}  // namespace relayvm
