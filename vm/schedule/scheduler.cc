#include "vm/schedule/scheduler.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "bytecode/base/guarded.h"
#include "vm/border/outputs.h"
#include "vm/platform/thread_pool.h"
#include "vm/schedule/scheduler_impl.h"

namespace relayvm {

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
    if (options.max_active == 0 || options.max_ready == 0) {
      return Status(StatusCode::kInvalidArgument,
                    "expected a max_active and a max_ready above 0, found " +
                        std::to_string(options.max_active) + " and " +
                        std::to_string(options.max_ready));
    }
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

Status Scheduler::Drain(Impl::TimePoint deadline) {
  return Guarded([&]() -> Status {
    Impl& impl = *impl_;
    if (IsOwnThread())
      return {StatusCode::kFailedPrecondition, "a run of the scheduler cannot wait for its end"};
    std::unique_lock lock(impl.mutex);
    impl.draining = true;
    const auto done = [&] { return impl.tasks.empty(); };
    if (deadline == Impl::TimePoint::max()) {
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
  task->quantum = request.quantum;
  task->accepted_at = Clock::now();
  task->report.tag = request.options.tag;
  RELAYVM_RETURN_IF_ERROR(
      SetGroups(*task, std::move(request.tenant.state_), std::move(request.model.state_)));
  task->request = std::move(request);
  vm::HoldDims(task->request.outputs, &task->output_dims);
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
