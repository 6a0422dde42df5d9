// Who runs what a scheduler has to run, and when: threads of its own, or jobs of the host's
// executor; and the times that runs wait for.
#include <algorithm>
#include <utility>

#include "vm/schedule/scheduler_impl.h"

namespace relayvm {
namespace {
// Of a job that the host's executor runs, before it is queued again.
constexpr int kTurnsOfJob = 8;
}  // namespace

thread_local const Scheduler::Impl* Scheduler::Impl::current = nullptr;

bool Scheduler::Impl::RunOne(vm::BatchRunner& runner, std::unique_lock<std::mutex>& lock) {
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

void Scheduler::Impl::Work() {
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

void Scheduler::Impl::Notify() {
  if (options.executor == nullptr) return work.notify_one();
  // One that ends meanwhile has seen what was there before this was called.
  uint32_t jobs = num_jobs.load();
  while (jobs < max_jobs) {
    if (num_jobs.compare_exchange_weak(jobs, jobs + 1)) return options.executor->Post(Job, this);
  }
}

void Scheduler::Impl::NotifyAll(size_t count) {
  if (options.executor == nullptr) return work.notify_all();
  for (size_t i = 0; i < std::min<size_t>(count, max_jobs); ++i) Notify();
}

void Scheduler::Impl::RunJob() {
  const Impl* const before = std::exchange(current, this);  // the executor may run jobs within jobs
  std::unique_lock lock(mutex);
  vm::BatchRunner runner;
  int turns = 0;
  while (turns < kTurnsOfJob && RunOne(runner, lock)) ++turns;
  current = before;
  if (turns == kTurnsOfJob) return options.executor->Post(Job, this);
  AskForTick();
  // The last to look at the scheduler, which may go then.
  if (num_jobs.fetch_sub(1) == 1) ended.notify_all();
}

void Scheduler::Impl::AskForTick() {
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

void Scheduler::Impl::OnTick() {
  std::unique_lock lock(mutex);
  tick_at = TimePoint::max();
  WakeDue(lock);
  AskForTick();
}

void Scheduler::Impl::WakeDue(std::unique_lock<std::mutex>& lock) {
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

void Scheduler::Impl::SetTimer(Task& task, TimePoint at) {
  const bool is_set = task.timer.empty();
  if (at == TimePoint::max() || (is_set && task.timer_place->first <= at)) return;
  if (!tasks.contains(task.id)) return;
  StopTimer(task);
  task.timer.key() = at;
  task.timer_place = timers.insert(std::move(task.timer));
  AskForTick();
}

}  // namespace relayvm
