// The C API: schedulers.
#include "vm/api/c_api_scheduler.h"

#include "vm/api/c_api_internal.h"
#include "vm/api/c_api_task_pool.h"
#include "vm/schedule/scheduler.h"

using relayvm::Priority;
using relayvm::Result;
using relayvm::RunRequest;
using relayvm::Scheduler;
using relayvm::SchedulerOptions;
using relayvm::SchedulerStats;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::Value;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;

struct relayvm_scheduler {
  std::unique_ptr<Scheduler> scheduler;
};
struct relayvm_run_group {
  relayvm::RunGroup group;
};
struct relayvm_run {
  Scheduler::Handle handle;
};

namespace {

// The first versions of the structs.
constexpr size_t kSchedulerOptionsSize = 32, kRunOptionsSize = 24, kSchedulerStatsSize = 152;
constexpr size_t kExecutorSize = 40, kGroupOptionsSize = 24, kGroupStatsSize = 1184;
static_assert(sizeof(relayvm_executor) >= kExecutorSize);
static_assert(sizeof(relayvm_run_group_options) >= kGroupOptionsSize);
static_assert(sizeof(relayvm_run_group_stats) >= kGroupStatsSize);
static_assert(std::size(relayvm_latency{}.buckets) == relayvm::LatencyHistogram::kNumBuckets);
static_assert(sizeof(relayvm_scheduler_options) >= kSchedulerOptionsSize);
static_assert(sizeof(relayvm_run_options) >= kRunOptionsSize);
static_assert(sizeof(relayvm_scheduler_stats) >= kSchedulerStatsSize);
static_assert(std::size(relayvm_scheduler_stats{}.ended) == relayvm::kNumStatusCodes);

class HostExecutor : public relayvm::Executor {
 public:
  explicit HostExecutor(const relayvm_executor& functions) : functions_(functions) {}
  void Post(void (*job)(void*), void* context) override {
    functions_->post(functions_->user, job, context);
  }
  void PostAt(std::chrono::steady_clock::time_point time, void (*job)(void*),
              void* context) override {
    functions_->post_at(functions_->user, std::chrono::nanoseconds(time.time_since_epoch()).count(),
                        job, context);
  }
  void Take() { functions_.Take(); }

 private:
  relayvm::c_api::Taken<relayvm_executor> functions_;
};

Result<std::shared_ptr<HostExecutor>> ReadExecutor(const relayvm_executor* executor) {
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_executor read,
                           RELAYVM_READ_OPTIONS(executor, relayvm_executor, kExecutorSize));
  if (read.post == nullptr || read.post_at == nullptr)
    return Status(StatusCode::kInvalidArgument, "relayvm_executor: post or post_at is NULL");
  return std::make_shared<HostExecutor>(read);
}

std::function<void(const relayvm::RunReport&)> OnEnd(const relayvm_scheduler_options& options) {
  if (options.on_end == nullptr) return nullptr;
  return [on_end = options.on_end, user = options.on_end_user](const relayvm::RunReport& report) {
    const relayvm_run_report to{sizeof(relayvm_run_report),
                                static_cast<int>(report.status),
                                report.id,
                                report.tag,
                                report.invocation,
                                report.queued_ns,
                                report.total_ns};
    on_end(user, &to);
  };
}

// `inputs` by the names of the options, else as they are.
Result<std::vector<Value>> OrderInputs(const relayvm::Executable& executable, const char* function,
                                       const char* const* names, std::vector<Value> inputs) {
  if (names == nullptr) return inputs;
  std::vector<relayvm::NamedValue> named;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (names[i] == nullptr)
      return Status(StatusCode::kInvalidArgument,
                    "input_names: name " + std::to_string(i) + " is NULL");
    named.push_back({names[i], std::move(inputs[i])});
  }
  RELAYVM_ASSIGN_OR_RETURN(const relayvm::FunctionSignature* signature,
                           executable.info().FindFunction(function));
  return signature->OrderInputs(named);
}

relayvm_latency ToC(const relayvm::LatencyHistogram& from) {
  relayvm_latency to{from.count, from.sum_ns, {}};
  std::ranges::copy(from.buckets, to.buckets);
  return to;
}
// What stats of schedulers and of groups have in common.
template <typename Stats>
void CopyTotals(const relayvm::RunTotals& from, Stats* to) {
  to->accepted = from.accepted;
  to->refused = from.refused;
  std::ranges::copy(from.ended, to->ended);
  to->queue_time = ToC(from.queue_time);
  to->latency = ToC(from.latency);
}
// As much as the caller has of them.
template <typename Stats, typename Fill>
relayvm_status* GiveStats(Stats* stats, size_t first_size, const char* type, const Fill& fill) {
  return Guarded([&]() -> relayvm_status* {
    const uint32_t size = stats->struct_size;
    Status bad = relayvm::c_api::CheckStructSize(size, first_size, sizeof(*stats), type);
    if (!bad.ok()) return Fail(std::move(bad));
    Stats all{};
    fill(&all);
    all.struct_size = size;
    std::memcpy(stats, &all, std::min<size_t>(size, sizeof(all)));
    return nullptr;
  });
}

Status ReadRunOptions(const relayvm_run_options* options, RunRequest* request,
                      const char* const** names) {
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_run_options read,
                           RELAYVM_READ_OPTIONS(options, relayvm_run_options, kRunOptionsSize));
  *names = read.input_names;
  if (read.tenant != nullptr) request->tenant = read.tenant->group;
  if (read.model != nullptr) request->model = read.model->group;
  if (read.runtime != nullptr) request->runtime = read.runtime->runtime;
  constexpr Priority kPriorities[] = {Priority::kNormal, Priority::kHigh, Priority::kLow};
  if (read.priority < 0 || static_cast<size_t>(read.priority) >= std::size(kPriorities)) {
    return {StatusCode::kInvalidArgument,
            "priority is " + std::to_string(read.priority) + ", expected 0 to 2"};
  }
  request->priority = kPriorities[read.priority];
  if (read.deadline_ns < 0) {
    return {StatusCode::kInvalidArgument,
            "deadline_ns is " + std::to_string(read.deadline_ns) + ", expected 0 or more"};
  }
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds left(read.deadline_ns);
  if (left.count() > 0 && left < request->deadline - now) request->deadline = now + left;
  RELAYVM_ASSIGN_OR_RETURN(request->options,
                           relayvm::c_api::ReadInvocationOptions(read.invocation));
  RELAYVM_ASSIGN_OR_RETURN(request->outputs,
                           relayvm::c_api::Outputs(read.outputs, read.num_outputs));
  return relayvm::OkStatus();
}

}  // namespace

extern "C" {

relayvm_status* relayvm_scheduler_create(relayvm_runtime* runtime,
                                         const relayvm_scheduler_options* options,
                                         relayvm_scheduler** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(runtime);
  return Guarded([&]() -> relayvm_status* {
    auto read = RELAYVM_READ_OPTIONS(options, relayvm_scheduler_options, kSchedulerOptionsSize);
    if (!read.ok()) return Fail(read.status());
    SchedulerOptions to;
    if (read->num_threads != 0) to.num_threads = read->num_threads;
    if (read->num_threads == RELAYVM_ALL_THREADS) to.num_threads = 0;
    if (read->slice_ns != 0) to.slice = std::chrono::nanoseconds(read->slice_ns);
    if (read->max_active != 0) to.max_active = read->max_active;
    if (read->max_queued != 0) to.max_queued = read->max_queued;
    to.batching.max_batch = read->max_batch;
    if (read->max_batch_wait_ns != 0)
      to.batching.max_wait = std::chrono::nanoseconds(read->max_batch_wait_ns);
    to.on_end = OnEnd(*read);
    std::shared_ptr<HostExecutor> executor;
    if (read->executor != nullptr) {
      auto made = ReadExecutor(read->executor);
      if (!made.ok()) return Fail(made.status());
      to.executor = executor = *std::move(made);
    }
    auto scheduler = Scheduler::Create(runtime->runtime, to);
    if (!scheduler.ok()) return Fail(scheduler.status());
    *out = new relayvm_scheduler{std::move(scheduler).value()};
    if (executor != nullptr) executor->Take();
    return nullptr;
  });
}
void relayvm_scheduler_free(relayvm_scheduler* scheduler) { delete scheduler; }

relayvm_status* relayvm_scheduler_run(relayvm_scheduler* scheduler, relayvm_executable* executable,
                                      const char* function, relayvm_value* const* inputs,
                                      size_t num_inputs, const relayvm_run_options* options,
                                      relayvm_completion completion, void* context,
                                      relayvm_run** out) {
  if (out != nullptr) *out = nullptr;
  RELAYVM_REQUIRE(scheduler);
  RELAYVM_REQUIRE(executable);
  RELAYVM_REQUIRE(function);
  RELAYVM_REQUIRE(completion);
  return Guarded([&]() -> relayvm_status* {
    RunRequest request;
    const char* const* names = nullptr;
    if (Status bad = ReadRunOptions(options, &request, &names); !bad.ok())
      return Fail(std::move(bad));
    Result<std::vector<Value>> values = relayvm::c_api::Inputs(inputs, num_inputs);
    if (values.ok())
      values = OrderInputs(*executable->executable, function, names, *std::move(values));
    if (!values.ok()) return Fail(values.status());
    request.executable = executable->executable;
    request.function = function;
    request.inputs = std::move(values).value();
    // What may fail comes before the run: once it is accepted, the completion is called.
    auto run = out == nullptr ? nullptr : std::make_unique<relayvm_run>();
    Scheduler::Completion complete = [completion, context](Result<Value> result) {
      relayvm_value* value = nullptr;
      relayvm_status* status =
          Guarded([&] { return relayvm::c_api::GiveValue(std::move(result), &value); });
      completion(context, status, value);
    };
    if (run != nullptr) *out = run.get();  // nothing throws from here on
    Result<Scheduler::Handle> handle = scheduler->scheduler->RunAsync(
        std::move(request), std::move(complete), run == nullptr ? nullptr : &run->handle);
    if (!handle.ok()) {
      if (out != nullptr) *out = nullptr;
      return Fail(handle.status());
    }
    static_cast<void>(run.release());  // the caller's
    return nullptr;
  });
}

relayvm_status* relayvm_scheduler_get_stats(const relayvm_scheduler* scheduler,
                                            relayvm_scheduler_stats* stats) {
  RELAYVM_REQUIRE(stats);
  RELAYVM_REQUIRE(scheduler);
  return GiveStats(stats, kSchedulerStatsSize, "relayvm_scheduler_stats",
                   [&](relayvm_scheduler_stats* all) {
                     const SchedulerStats from = scheduler->scheduler->stats();
                     CopyTotals(from, all);
                     all->slices = from.slices;
                     all->queued = from.queued;
                     all->ready = from.ready;
                     all->running = from.running;
                     all->waiting = from.waiting;
                     all->batches = from.batches;
                     all->batched_calls = from.batched_calls;
                     all->lone_calls = from.lone_calls;
                   });
}

int64_t relayvm_latency_bound(size_t bucket) { return relayvm::LatencyHistogram::Bound(bucket); }

relayvm_status* relayvm_scheduler_make_group(relayvm_scheduler* scheduler,
                                             const relayvm_run_group_options* options,
                                             relayvm_run_group** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(scheduler);
  return Guarded([&]() -> relayvm_status* {
    auto read = RELAYVM_READ_OPTIONS(options, relayvm_run_group_options, kGroupOptionsSize);
    if (!read.ok()) return Fail(read.status());
    relayvm::RunGroupOptions to;
    if (read->max_active != 0) to.max_active = read->max_active;
    if (read->max_queued != 0) to.max_queued = read->max_queued;
    auto group = scheduler->scheduler->MakeGroup(to);
    if (!group.ok()) return Fail(group.status());
    *out = new relayvm_run_group{*std::move(group)};
    return nullptr;
  });
}
void relayvm_run_group_free(relayvm_run_group* group) { delete group; }
relayvm_status* relayvm_scheduler_get_group_stats(const relayvm_scheduler* scheduler,
                                                  const relayvm_run_group* group,
                                                  relayvm_run_group_stats* stats) {
  RELAYVM_REQUIRE(stats);
  RELAYVM_REQUIRE(scheduler);
  RELAYVM_REQUIRE(group);
  return GiveStats(stats, kGroupStatsSize, "relayvm_run_group_stats",
                   [&](relayvm_run_group_stats* all) {
                     const relayvm::RunGroupStats from = scheduler->scheduler->stats(group->group);
                     CopyTotals(from, all);
                     all->queued = from.queued;
                     all->active = from.active;
                   });
}
relayvm_status* relayvm_scheduler_drain(relayvm_scheduler* scheduler, int64_t timeout_ns) {
  RELAYVM_REQUIRE(scheduler);
  const auto now = std::chrono::steady_clock::now();
  auto deadline = std::chrono::steady_clock::time_point::max();
  if (std::chrono::nanoseconds(timeout_ns) < deadline - now)
    deadline = now + std::chrono::nanoseconds(timeout_ns);
  return Guarded([&] { return Fail(scheduler->scheduler->Drain(deadline)); });
}

void relayvm_run_cancel(relayvm_run* run) {
  if (run != nullptr) run->handle.Cancel();
}
uint64_t relayvm_run_id(const relayvm_run* run) { return run == nullptr ? 0 : run->handle.id(); }
void relayvm_run_free(relayvm_run* run) { delete run; }

}  // extern "C"
