#include "tools/serve/dispatcher.h"

#include <fmt/format.h>

#include <optional>
#include <thread>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/machine_limits.h"
#include "bytecode/base/status_detail.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

// Of the run whose completion is called on this thread.
thread_local RunReport ended;

// Whether a run that lacked memory would lack it if it were alone: it is over its own limit, larger
// than that of all, or larger than any memory. Later is no better for such a request.
bool NeverFits(const Status& status, size_t run_memory) {
  const StatusDetail* detail = status.detail();
  if (status.code() != StatusCode::kResourceExhausted || detail == nullptr) return false;
  if (detail->numbers.size() < 2) return !detail->found.empty();  // a size that overflows
  const int64_t limit = detail->numbers[1];
  return static_cast<uint64_t>(limit) == run_memory ||
         (!detail->found.empty() && detail->found[0] > limit);
}

// A request as it is run.
struct Run {
  std::shared_ptr<const ServedModel> model;
  std::string id;
  std::vector<RequestedOutput> outputs;
  std::optional<State> state;
  Dispatcher::Done done;
  size_t memory_limit = SIZE_MAX;

  void End(const Result<Value>& result) {
    const bool has_begun = ended.invocation != 0;
    const int64_t queued = has_begun ? ended.queued_ns : ended.total_ns;
    const int64_t ran = ended.total_ns - queued;
    const auto begin = Clock::now();
    ModelMetrics& metrics = model->metrics();
    metrics.queued.Add(queued);
    if (has_begun) {
      metrics.runs.Add();
      metrics.ran.Add(ran);
    }
    const bool is_whole = result.ok();  // others say nothing of how long those take
    // A completion throws nothing.
    Result<InferResponse> answer = Guarded([&] { return Answer(result); });
    const Status failed = Guarded([&]() -> Status {
      std::exchange(done, nullptr)(std::move(answer));
      return OkStatus();
    });
    if (!failed.ok()) metrics.lost.Add();
    if (is_whole) model->NoteRun(ran + std::chrono::nanoseconds(Clock::now() - begin).count());
  }

 private:
  Result<InferResponse> Answer(const Result<Value>& result) {
    if (state) {
      const Status ended_state = state->End(result);
      if (result.ok() && !ended_state.ok()) return ended_state;
    }
    if (!result.ok() && NeverFits(result.status(), memory_limit))
      return Status(StatusCode::kOutOfRange, result.status().message());
    if (!result.ok()) return result.status();
    InferResponse response{model->name(), model->version(), std::move(id), {}};
    RELAYVM_ASSIGN_OR_RETURN(response.outputs, model->TakeOutputs(*result, outputs));
    return response;
  }
};

}  // namespace

Result<std::unique_ptr<Dispatcher>> Dispatcher::Create(const DispatcherOptions& options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(options));
  const uint32_t workers =
      options.workers > 0 ? options.workers : ReadMachineLimits().num_processors;
  dispatcher->options_.workers = workers;
  RELAYVM_ASSIGN_OR_RETURN(
      dispatcher->runtime_,
      Runtime::Create({.num_threads = options.kernel_threads,
                       .max_idle_workspaces = std::max<uint32_t>(8, workers * 2),
                       .memory_limit = options.memory_limit}));
  dispatcher->pool_ = std::make_shared<WorkerPool>(workers);
  SchedulerOptions scheduler;
  scheduler.num_threads = workers;
  scheduler.executor = dispatcher->pool_;
  // What has begun holds memory: no more than the threads, and some that wait in host functions.
  scheduler.max_active = size_t{workers} * 4;
  scheduler.on_end = [](const RunReport& report) { ended = report; };
  RELAYVM_ASSIGN_OR_RETURN(dispatcher->scheduler_,
                           Scheduler::Create(dispatcher->runtime_, scheduler));
  return dispatcher;
}

Dispatcher::~Dispatcher() = default;

Result<RunGroup> Dispatcher::MakeGroup() {
  return scheduler_->MakeGroup({.max_queued = options_.max_queued});
}

Status Dispatcher::Admit(const ServedModel& model, const InferOptions& options) const {
  if (options.deadline == Clock::time_point::max()) return OkStatus();
  const int64_t left = std::chrono::nanoseconds(options.deadline - Clock::now()).count();
  const int64_t typical = model.typical_run_ns();
  if (left > 0 && typical == 0) return OkStatus();
  const auto queued = static_cast<int64_t>(scheduler_->stats(model.group()).queued);
  const int64_t expected = typical * (queued / options_.workers + 1);
  if (left > 0 && expected <= left) return OkStatus();
  return {StatusCode::kDeadlineExceeded,
          fmt::format("{} us are left, and {} runs of some {} us are queued before it",
                      std::max<int64_t>(left, 0) / 1000, queued, typical / 1000)};
}

Status Dispatcher::Infer(std::shared_ptr<const ServedModel> model, InferRequest& request,
                         const InferOptions& options, Done done, Cancel* cancel) {
  RELAYVM_RETURN_IF_ERROR(model->CheckOutputs(request.outputs));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> inputs,
                           model->OrderInputs(std::move(request.inputs)));
  RELAYVM_RETURN_IF_ERROR(Admit(*model, options));
  auto run = std::make_shared<Run>();
  run->model = std::move(model);
  run->id = std::move(request.id);
  run->outputs = request.outputs;
  run->done = std::move(done);
  run->memory_limit = options_.run_memory;
  const ServedModel& served = *run->model;
  if (!served.function().states.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(run->state,
                             State::Create(served.executable(), served.function().name));
    RELAYVM_RETURN_IF_ERROR(run->state->Begin(&inputs, {}, runtime_.get()));
  }
  RunRequest scheduled;
  scheduled.executable = served.executable();
  scheduled.function = served.function().name;
  scheduled.inputs = std::move(inputs);
  scheduled.options.memory_limit = options_.run_memory;
  scheduled.options.tag = options.tag;
  scheduled.priority = options.priority;
  scheduled.model = served.group();
  scheduled.deadline = options.deadline;
  auto completion = [run](Result<Value> result) { run->End(result); };
  const int64_t typical = served.typical_run_ns();
  std::optional<WorkerPool::InlineScope> scope;
  if (typical > 0 && typical < options_.inline_limit.count()) scope.emplace();
  return scheduler_->RunAsync(std::move(scheduled), std::move(completion), cancel).status();
}

void Dispatcher::Post(std::function<void()> job) {
  auto owned = std::make_unique<std::function<void()>>(std::move(job));
  pool_->Post(
      [](void* context) {
        const std::unique_ptr<std::function<void()>> mine(
            static_cast<std::function<void()>*>(context));
        (*mine)();
      },
      owned.get());
  static_cast<void>(owned.release());
}

Status Dispatcher::Drain(Clock::time_point deadline) { return scheduler_->Drain(deadline); }

}  // namespace relayvm::serve
