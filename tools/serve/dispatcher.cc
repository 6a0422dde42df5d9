#include "tools/serve/dispatcher.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/machine_limits.h"
#include "bytecode/base/status_detail.h"
#include "tools/serve/batch_rows.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kActivePerWorker = 4;
// A run that takes so many times what its model's took of late lets others begin beside it.
constexpr int64_t kLongRun = 4;

// Of the run whose completion is called on this thread.
thread_local RunReport ended;

Result<Priority> PriorityOf(const InferRequest& request, Priority none) {
  const Parameter* parameter = request.FindParameter("priority");
  if (parameter == nullptr) return none;
  const int64_t* number = std::get_if<int64_t>(parameter);
  if (number == nullptr || *number < 0) {
    return Status(StatusCode::kInvalidArgument,
                  "parameter priority: expected a whole number from 0 on");
  }
  if (*number == 0) return none;
  return *number == 1 ? Priority::kHigh : *number == 2 ? Priority::kNormal : Priority::kLow;
}

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

}  // namespace

// A request as it is run.
struct Dispatcher::Run {
  ~Run() {
    if (reserved != nullptr) reserved->fetch_sub(reserved_bytes, std::memory_order_relaxed);
  }

  std::shared_ptr<const ServedModel> model;
  std::string id;
  std::vector<RequestedOutput> outputs;
  std::vector<Value> inputs;  // until it begins
  std::optional<State> own_state;
  State* state = nullptr;  // that has begun with it
  std::shared_ptr<Sequences> sequences;
  Sequences::SequencePtr sequence;  // once its turn has come
  std::shared_ptr<Emitter> emitter;
  std::shared_ptr<std::atomic<size_t>> reserved;
  size_t reserved_bytes = 0;
  Done done;
  size_t memory_limit = SIZE_MAX;
  bool is_joined = false;  // the batcher counts its run

  void End(const Result<Value>& result, const RunTimes& times) {
    const bool is_whole = result.ok();  // others say nothing of how long those take
    const auto begin = Clock::now();
    model->metrics().queued.Add(times.queued_ns);
    ended.queued_ns = times.queued_ns;  // for `done`; a joined run has ended for many
    ended.total_ns = times.queued_ns + times.ran_ns;
    // A completion throws nothing. Who has the answer finds it counted.
    if (is_whole && !is_joined) CountTime(times.ran_ns);
    Result<InferResponse> answer = Guarded([&] { return Answer(result); });
    if (sequence != nullptr) sequences->End(std::exchange(sequence, nullptr));
    const Status failed = Guarded([&]() -> Status {
      std::exchange(done, nullptr)(std::move(answer));
      return OkStatus();
    });
    if (!failed.ok()) model->metrics().lost.Add();
    if (!is_whole) return;
    const int64_t answered = std::chrono::nanoseconds(Clock::now() - begin).count();
    if (times.requests == 1) model->NoteRun(times.ran_ns + answered);
    model->NoteShare(times.ran_ns / static_cast<int64_t>(times.requests) + answered);
  }

 private:
  void CountTime(int64_t ran_ns) {
    Guarded([&]() -> Status {  // without memory for it, it is not counted
      model->metrics().AddBatchTime(1, ran_ns);
      return OkStatus();
    })
        .ok();
  }
  Result<InferResponse> Answer(const Result<Value>& result) {
    if (state != nullptr) {
      const Status ended_state = state->End(result);
      if (result.ok() && !ended_state.ok()) return ended_state;
      if (result.ok() && sequence != nullptr) RELAYVM_RETURN_IF_ERROR(sequences->Check(sequence));
    }
    if (!result.ok() && NeverFits(result.status(), memory_limit))
      return Status(StatusCode::kOutOfRange, result.status().message());
    if (!result.ok()) return result.status();
    InferResponse response{model->name(), model->version(), std::move(id), {}};
    RELAYVM_ASSIGN_OR_RETURN(response.outputs, model->TakeOutputs(*result, outputs));
    return response;
  }
};

struct Dispatcher::RunHandle::Turn {
  std::mutex mutex;
  bool is_cancelled = false;
  Scheduler::Handle run;
};

void Dispatcher::RunHandle::Cancel() const {
  run_.Cancel();
  member_.Cancel();
  if (turn_ == nullptr) return;
  const std::lock_guard lock(turn_->mutex);
  turn_->is_cancelled = true;
  turn_->run.Cancel();
}

Result<std::unique_ptr<Dispatcher>> Dispatcher::Create(const DispatcherOptions& options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(options));
  const uint32_t workers =
      options.workers > 0 ? options.workers : ReadMachineLimits().num_processors;
  dispatcher->options_.workers = workers;
  RELAYVM_ASSIGN_OR_RETURN(
      dispatcher->runtime_,
      Runtime::Create({.num_threads = options.kernel_threads,
                       .max_idle_workspaces = std::max<uint32_t>(8, workers * 2),
                       .trace = options.trace,
                       .memory_limit = options.memory_limit}));
  dispatcher->pool_ = std::make_shared<WorkerPool>(workers);
  SchedulerOptions scheduler;
  scheduler.num_threads = workers;
  scheduler.executor = dispatcher->pool_;
  // What has begun holds memory: no more than the threads, and some that wait in host functions.
  scheduler.max_active = std::max(size_t{workers} * kActivePerWorker, options.batching.max_batch);
  scheduler.batching = options.batching;
  scheduler.on_end = [](const RunReport& report) { ended = report; };
  RELAYVM_ASSIGN_OR_RETURN(dispatcher->scheduler_,
                           Scheduler::Create(dispatcher->runtime_, scheduler));
  auto launch = [d = dispatcher.get()](Batcher::Launch run, Batcher::Done done,
                                       Scheduler::Handle* handle) {
    return d->Launch(std::move(run), std::move(done), handle);
  };
  dispatcher->batcher_ = std::make_shared<Batcher>(
      Batcher::Options{.max_running = workers, .max_waiting = options.max_queued},
      std::move(launch), *dispatcher->pool_, *dispatcher->runtime_);
  dispatcher->sequences_ = std::make_shared<Sequences>(*dispatcher->pool_);
  return dispatcher;
}

Dispatcher::~Dispatcher() {
  if (batcher_ != nullptr) batcher_->Stop();
}

Result<RunGroup> Dispatcher::MakeGroup(bool is_batched) {
  const size_t few = size_t{options_.workers} * kActivePerWorker;
  return scheduler_->MakeGroup(
      {.max_active = is_batched ? std::max(few, options_.batching.max_batch) : few,
       .max_queued = options_.max_queued,
       .max_ready = options_.workers});
}

Status Dispatcher::Admit(const ServedModel& model, const InferOptions& options) const {
  if (options.deadline == Clock::time_point::max()) return OkStatus();
  const int64_t left = std::chrono::nanoseconds(options.deadline - Clock::now()).count();
  const int64_t typical = model.typical_run_ns();
  if (left > 0 && typical == 0) return OkStatus();
  size_t queued = scheduler_->stats(model.group()).queued;
  if (model.is_joinable()) queued += batcher_->num_waiting(model);
  const int64_t share = model.typical_share_ns();
  const int64_t expected = share * (static_cast<int64_t>(queued) / options_.workers) + typical;
  if (left > 0 && expected <= left) return OkStatus();
  return {StatusCode::kDeadlineExceeded,
          fmt::format("{} us are left, and {} runs of some {} us are queued before it",
                      std::max<int64_t>(left, 0) / 1000, queued, typical / 1000)};
}

Status Dispatcher::Infer(std::shared_ptr<const ServedModel> model, InferRequest& request,
                         const InferOptions& given, Done done, Cancel* cancel) {
  RELAYVM_RETURN_IF_ERROR(model->CheckOutputs(request.outputs));
  InferOptions options = given;
  RELAYVM_ASSIGN_OR_RETURN(options.priority, PriorityOf(request, given.priority));
  RELAYVM_ASSIGN_OR_RETURN(const std::optional<SequenceRequest> sequence, SequenceOf(request));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> inputs,
                           model->OrderInputs(std::move(request.inputs)));
  RELAYVM_RETURN_IF_ERROR(Admit(*model, options));
  auto run = std::make_shared<Run>();
  run->model = std::move(model);
  run->id = std::move(request.id);
  run->outputs = request.outputs;
  run->inputs = std::move(inputs);
  run->emitter = options.emitter;
  run->done = std::move(done);
  run->memory_limit = options_.run_memory;
  Cancel unused;
  if (cancel == nullptr) cancel = &unused;
  if (options_.max_memory != SIZE_MAX) RELAYVM_RETURN_IF_ERROR(ReserveMemory(*run));
  return sequence ? InferInSequence(run, *sequence, options, cancel)
                  : InferAlone(run, options, cancel);
}

Status Dispatcher::ReserveMemory(Run& run) {
  size_t needed = 0;
  for (const Value& input : run.inputs) needed += input.is_tensor() ? input.bytes() : 0;
  if (const auto& formula = run.model->memory()) {
    needed += static_cast<size_t>(formula->Evaluate(run.inputs));
  }
  if (needed > options_.max_memory) {
    return {StatusCode::kInvalidArgument,
            fmt::format("it needs {} bytes of memory: the server has {} for all requests", needed,
                        options_.max_memory)};
  }
  const size_t before = reserved_->fetch_add(needed, std::memory_order_relaxed);
  run.reserved = reserved_;
  run.reserved_bytes = needed;
  if (before <= options_.max_memory - needed) return OkStatus();
  return {StatusCode::kResourceExhausted,
          fmt::format("it needs {} bytes of memory: others have {} of {} now", needed, before,
                      options_.max_memory)};
}

Status Dispatcher::InferAlone(const RunPtr& run, const InferOptions& options, Cancel* cancel) {
  const ServedModel& served = *run->model;
  if (!served.function().states.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(run->own_state,
                             State::Create(served.executable(), served.function().name));
    RELAYVM_RETURN_IF_ERROR(run->own_state->Begin(&run->inputs, {}, runtime_.get()));
    run->state = &*run->own_state;
  }
  Batcher::Launch launch{run->model,           std::move(run->inputs),
                         options.deadline,     options.priority,
                         options.tag,          options.emitter.get(),
                         /*may_run_here=*/true};
  auto ended_run = [run](const Result<Value>& result, const RunTimes& times) {
    run->End(result, times);
  };
  if (options.emitter == nullptr && ToBeJoined(served)) {
    RELAYVM_RETURN_IF_ERROR(
        served.executable()->CheckInputs(served.function().name, launch.inputs));
    const int64_t rows = RowsOf(launch.inputs);
    if (rows > 0) {
      run->is_joined = true;
      return batcher_->Submit(std::move(launch), rows, std::move(ended_run), &cancel->member_);
    }
  }
  return Launch(std::move(launch), std::move(ended_run), &cancel->run_);
}

Status Dispatcher::InferInSequence(const RunPtr& run, const SequenceRequest& sequence,
                                   const InferOptions& options, Cancel* cancel) {
  const auto turn = std::make_shared<RunHandle::Turn>();
  cancel->turn_ = turn;
  run->sequences = sequences_;
  return sequences_->Submit(
      run->model, sequence, options.deadline,
      [this, run, options, turn](const Result<Sequences::SequencePtr>& of, bool is_first) {
        if (!of.ok()) return run->End(of.status(), {});
        TakeTurn(run, *of, options, turn, is_first);
      });
}

void Dispatcher::TakeTurn(const RunPtr& run, const Sequences::SequencePtr& sequence,
                          const InferOptions& options, const std::shared_ptr<RunHandle::Turn>& turn,
                          bool is_first) {
  run->sequence = sequence;
  const auto begin = [&]() -> Status {
    {
      const std::lock_guard lock(turn->mutex);
      if (turn->is_cancelled) return {StatusCode::kCancelled, "the request was cancelled"};
    }
    RELAYVM_RETURN_IF_ERROR(sequence->state.Begin(&run->inputs, {}, runtime_.get()));
    run->state = &sequence->state;
    Batcher::Launch launch{run->model,  std::move(run->inputs), options.deadline, options.priority,
                           options.tag, options.emitter.get(),  is_first};
    Scheduler::Handle handle;
    RELAYVM_RETURN_IF_ERROR(Launch(
        std::move(launch),
        [run](const Result<Value>& result, const RunTimes& times) { run->End(result, times); },
        &handle));
    const std::lock_guard lock(turn->mutex);
    turn->run = handle;
    if (turn->is_cancelled) handle.Cancel();
    return OkStatus();
  };
  Status failed = Guarded(begin);
  if (failed.ok()) return;
  if (failed.code() == StatusCode::kFailedPrecondition)
    failed = {StatusCode::kResourceExhausted, "the server ends"};
  run->End(failed, {});
}

bool Dispatcher::ToBeJoined(const ServedModel& model) const {
  if (!model.is_joinable()) return false;
  const int64_t typical = model.typical_run_ns();
  return model.max_delay().count() > 0 || typical == 0 || typical >= options_.join_limit.count();
}

Status Dispatcher::Launch(Batcher::Launch launch, Batcher::Done done, Scheduler::Handle* handle) {
  const auto model = std::move(launch.model);
  RunRequest scheduled;
  scheduled.executable = model->executable();
  scheduled.function = model->function().name;
  scheduled.inputs = std::move(launch.inputs);
  scheduled.options.memory_limit = options_.run_memory;
  scheduled.options.tag = launch.tag;
  scheduled.options.host_context = launch.emitter;
  scheduled.priority = launch.priority;
  scheduled.quantum = kLongRun * std::chrono::nanoseconds(model->typical_run_ns());
  scheduled.model = model->group();
  scheduled.deadline = launch.deadline;
  auto completion = [model, done = std::move(done)](Result<Value> result) {
    model->num_runs().fetch_sub(1, std::memory_order_relaxed);
    const bool has_begun = ended.invocation != 0;
    const int64_t queued = has_begun ? ended.queued_ns : ended.total_ns;
    const RunTimes times{queued, ended.total_ns - queued, 1};
    if (has_begun) {
      model->metrics().runs.Add();
      model->metrics().ran.Add(times.ran_ns);
    }
    done(std::move(result), times);
  };
  const bool is_alone = model->num_runs().fetch_add(1, std::memory_order_relaxed) == 0;
  const int64_t typical = model->typical_run_ns();
  // Others that come are to be read meanwhile, where they run together.
  const bool is_crowded = !is_alone && (model->has_batched_kernels() || model->is_joinable()) &&
                          typical >= options_.join_limit.count();
  std::optional<WorkerPool::InlineScope> scope;
  if (launch.may_run_here && typical > 0 && typical < options_.inline_limit.count() && !is_crowded)
    scope.emplace();
  Status refused =
      scheduler_->RunAsync(std::move(scheduled), std::move(completion), handle).status();
  if (!refused.ok()) model->num_runs().fetch_sub(1, std::memory_order_relaxed);
  return refused;
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

const RunReport& Dispatcher::ended_run() { return ended; }

Status Dispatcher::Drain(Clock::time_point deadline) {
  RELAYVM_RETURN_IF_ERROR(batcher_->Drain(deadline));
  return scheduler_->Drain(deadline);
}

}  // namespace relayvm::serve
