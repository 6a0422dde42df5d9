// What a scheduler runs next: runs in turn, and calls of kernels that wait for each other.
#include <algorithm>
#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/program.h"
#include "vm/platform/clock.h"
#include "vm/run/workspace.h"
#include "vm/schedule/scheduler_impl.h"

namespace relayvm {
namespace {

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
// Bytes that stay of a batch's memory: a run has batches of many sizes, one after the other, and
// each would fault in anew what the one before gave back.
constexpr size_t kKeptOfBatch = 8 << 20;

int64_t Nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

// --- Queues; what is swapped with is null, so that nothing is counted ---

void Scheduler::Handle::Task::Queue::Push(std::shared_ptr<Task>&& task) {
  Task* pushed = task.get();
  pushed->previous_in_queue = last_;
  (empty() ? first_ : last_->next_in_queue).swap(task);
  last_ = pushed;
}

void Scheduler::Handle::Task::Queue::PushFirst(std::shared_ptr<Task>&& task) {
  (empty() ? last_ : first_->previous_in_queue) = task.get();
  task->next_in_queue.swap(first_);
  first_.swap(task);
}

std::shared_ptr<Scheduler::Handle::Task> Scheduler::Handle::Task::Queue::Remove(Task& task) {
  Task* const previous = std::exchange(task.previous_in_queue, nullptr);
  std::shared_ptr<Task>& from = previous == nullptr ? first_ : previous->next_in_queue;
  std::shared_ptr<Task> removed;
  removed.swap(from);
  from.swap(task.next_in_queue);
  (from == nullptr ? last_ : from->previous_in_queue) = previous;
  return removed;
}

void Scheduler::Impl::EndQueued(Task& task) {
  ByPriority* from = &queued;
  if (WaitsForGroup(task)) from = &task.groups[task.num_places]->waiting;
  --(from == &queued ? num_queued : num_kept);
  TaskPtr removed = (*from)[static_cast<size_t>(task.priority)].Remove(task);
  SetBegun(task);
  PushEnding(std::move(removed));
}

void Scheduler::Impl::SetBegun(Task& task) {
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

bool Scheduler::Impl::HasPlaceFor(const RunGroup::State& group, const Task& task) {
  size_t num_ready = 0;
  for (size_t i = 0; i <= static_cast<size_t>(task.priority); ++i) num_ready += group.num_ready[i];
  return group.num_places < group.options.max_active && num_ready < group.options.max_ready;
}

void Scheduler::Impl::Admit(TaskPtr task) {
  const auto priority = static_cast<size_t>(task->priority);
  while (WaitsForGroup(*task)) {
    RunGroup::State& group = *task->groups[task->num_places];
    if (!HasPlaceFor(group, *task)) {
      group.waiting[priority].Push(std::move(task));
      ++num_kept;
      return;
    }
    ++group.num_places;
    ++group.num_ready[priority];
    ++task->num_places;
    task->is_counted = true;
  }
  queued[priority].Push(std::move(task));
  ++num_queued;
}

void Scheduler::Impl::AdmitNext(RunGroup::State& group) {
  const PriorityOrder order = OrderAt(group.num_admitted);
  for (size_t i = 0; i < kNumPriorities;) {
    Queue& waiting = group.waiting[order[i]];
    if (waiting.empty() || !HasPlaceFor(group, waiting.first())) {
      ++i;
      continue;
    }
    --num_kept;
    ++group.num_admitted;
    Admit(waiting.Pop());
    Notify();  // this thread may be busy for a while
  }
}

void Scheduler::Impl::SetCounted(Task& task, bool is_counted) {
  if (task.is_counted == is_counted) return;
  task.is_counted = is_counted;
  for (size_t i = 0; i < task.num_places; ++i) {
    RunGroup::State& group = *task.groups[i];
    size_t& num_ready = group.num_ready[static_cast<size_t>(task.priority)];
    if (is_counted) {
      ++num_ready;
      continue;
    }
    --num_ready;
    AdmitNext(group);
  }
}

void Scheduler::Impl::PushEnding(TaskPtr task) {
  task->slice = options.slice;
  ending.Push(std::move(task));
  ++num_ready;
}

void Scheduler::Impl::PushReady(TaskPtr task, bool goes_on) {
  SetCounted(*task, task->quantum.count() >= 0);
  Queue& queue = ready[static_cast<size_t>(task->priority)];
  ++num_ready;
  if (goes_on) return queue.PushFirst(std::move(task));
  task->slice = options.slice;
  queue.Push(std::move(task));
}

void Scheduler::Impl::LeaveGroups(Task& task) {
  SetCounted(task, false);
  for (size_t i = 0; i < task.num_places; ++i) {
    --task.groups[i]->num_places;
    AdmitNext(*task.groups[i]);
  }
  task.num_places = 0;
}

Scheduler::Impl::TaskPtr Scheduler::Impl::Next() {
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

size_t Scheduler::Impl::HighestReady() const {
  const bool may_begin = num_queued > 0 && num_active < options.max_active;
  for (size_t i = 0; i < kNumPriorities; ++i) {
    if (!ready[i].empty() || (may_begin && !queued[i].empty())) return i;
  }
  return kNumPriorities;
}

vm::BatchQueue::GroupPtr Scheduler::Impl::NextBatch() {
  if (batches.empty()) return nullptr;
  if (auto group = batches.TakeFull()) return group;
  const size_t highest = HighestReady();
  if (highest == kNumPriorities) return batches.TakeLargest();
  if (auto group = batches.TakeDue(turn)) return group;
  if (auto group = batches.TakeLate(vm::NowNanoseconds())) return group;
  return batches.TakeMoreUrgentThan(highest);
}

bool Scheduler::Impl::RunTogether(const vm::BatchQueue::Group& group, vm::BatchRunner& runner) {
  const int64_t begin = vm::NowNanoseconds();
  std::unique_ptr<vm::Workspace> workspace;
  if (!HasMemoryFor([&] { workspace = runtime->Acquire(); })) return false;
  const bool done = runner.Run(group, *workspace);
  const int64_t end = vm::NowNanoseconds();
  runtime->Release(std::move(workspace), end, kKeptOfBatch);
  TraceSink* const trace = runtime->trace();
  if (trace == nullptr) return done;
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

void Scheduler::Impl::RunBatch(vm::BatchQueue::GroupPtr group, vm::BatchRunner& runner,
                               std::unique_lock<std::mutex>& lock) {
  const size_t size = group->members.size();
  bool done = false;
  std::chrono::nanoseconds share{0};
  if (size > 1) {
    lock.unlock();
    const int64_t begin = vm::NowNanoseconds();
    done = RunTogether(*group, runner);
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
    const bool goes_on = task->slice.count() > 0;
    PushReady(std::move(task), goes_on);
  }
  batches.Recycle(std::move(group));
  if (size > 1) NotifyAll(size);
}

void Scheduler::Impl::Park(const TaskPtr& task, vm::BatchedCall* call, int64_t began_at) {
  const int64_t wait = options.batching.max_wait.count(), now = vm::NowNanoseconds();
  task->slice -= std::chrono::nanoseconds(now - began_at);
  call->key = vm::KeyOf(*call);
  std::lock_guard lock(mutex);
  --num_running;
  const bool is_parked = HasMemoryFor([&] {
    batches.Add({call, task}, static_cast<size_t>(task->priority),
                turn + kTurnsOfBatch * (num_ready + 1),
                wait < INT64_MAX - now ? now + wait : INT64_MAX);
  });
  if (!is_parked) return PushReady(task);  // to run it alone
  SetCounted(*task, false);
}

void Scheduler::Impl::RunSlice(const TaskPtr& task) {
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
      task->quantum -= options.slice;
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
        // Where it is ready again by now, others may begin beside it.
        SetCounted(*task, false);
      }
      Notify();
      return;
    }
  }
}

Status Scheduler::Impl::Begin(const TaskPtr& task) {
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

void Scheduler::Impl::OnReady(uint64_t id) {
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

void Scheduler::Impl::End(const TaskPtr& task, Result<Value> result) {
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

}  // namespace relayvm
