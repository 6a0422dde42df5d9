// The C API: schedulers.
#include "vm/api/c_api_scheduler.h"

#include "vm/api/c_api_internal.h"
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
struct relayvm_run {
  Scheduler::Handle handle;
};

namespace {

// The first versions of the structs.
constexpr size_t kSchedulerOptionsSize = 32, kRunOptionsSize = 24, kSchedulerStatsSize = 152;
static_assert(sizeof(relayvm_scheduler_options) >= kSchedulerOptionsSize);
static_assert(sizeof(relayvm_run_options) >= kRunOptionsSize);
static_assert(sizeof(relayvm_scheduler_stats) >= kSchedulerStatsSize);
static_assert(std::size(relayvm_scheduler_stats{}.ended) == relayvm::kNumStatusCodes);

Status ReadRunOptions(const relayvm_run_options* options, RunRequest* request) {
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_run_options read,
                           RELAYVM_READ_OPTIONS(options, relayvm_run_options, kRunOptionsSize));
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
    auto scheduler = Scheduler::Create(runtime->runtime, to);
    if (!scheduler.ok()) return Fail(scheduler.status());
    *out = new relayvm_scheduler{std::move(scheduler).value()};
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
    if (Status bad = ReadRunOptions(options, &request); !bad.ok()) return Fail(std::move(bad));
    Result<std::vector<Value>> values = relayvm::c_api::Inputs(inputs, num_inputs);
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
  return Guarded([&]() -> relayvm_status* {
    Status size = relayvm::c_api::CheckStructSize(stats->struct_size, kSchedulerStatsSize,
                                                  sizeof(*stats), "relayvm_scheduler_stats");
    if (!size.ok()) return Fail(std::move(size));
    const SchedulerStats from = scheduler->scheduler->stats();
    stats->accepted = from.accepted;
    stats->refused = from.refused;
    stats->slices = from.slices;
    std::copy(from.ended.begin(), from.ended.end(), stats->ended);
    stats->queued = from.queued;
    stats->ready = from.ready;
    stats->running = from.running;
    stats->waiting = from.waiting;
    if (stats->struct_size < offsetof(relayvm_scheduler_stats, lone_calls) + sizeof(uint64_t))
      return nullptr;
    stats->batches = from.batches;
    stats->batched_calls = from.batched_calls;
    stats->lone_calls = from.lone_calls;
    return nullptr;
  });
}

void relayvm_run_cancel(relayvm_run* run) {
  if (run != nullptr) run->handle.Cancel();
}
uint64_t relayvm_run_id(const relayvm_run* run) { return run == nullptr ? 0 : run->handle.id(); }
void relayvm_run_free(relayvm_run* run) { delete run; }

}  // extern "C"
