// Dispatcher: runs of models, whatever protocol asked for them: admitted, queued, run by a pool of
// threads, ended by their deadlines.
//
// A run is refused at once where its model's queue is full, or where what is queued before it would
// take longer than its deadline leaves. One that is short, as its model's runs were of late, runs
// on the thread that asks for it, if nothing else is to be run: that answers in a fraction of the
// time. Requests of models whose rows are independent are joined on the way (batcher.h), and
// kernels of runs at once where the file has batched forms of them. Thread-safe. Tested by
// dispatcher_test.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/batcher.h"
#include "tools/serve/emitter.h"
#include "tools/serve/model.h"
#include "tools/serve/protocol/inference.h"
#include "tools/serve/sequences.h"
#include "tools/serve/worker_pool.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

struct DispatcherOptions {
  uint32_t workers = 0;            // threads that run models; 0: as many as the machine has
  uint32_t kernel_threads = 1;     // threads of one run's kernels
  size_t max_queued = 1000;        // runs of a model that have not begun
  size_t memory_limit = SIZE_MAX;  // bytes of all runs
  size_t run_memory = SIZE_MAX;    // bytes of one
  // Bytes that all requests that have been admitted may need, inputs and what their model's file
  // says (ServedModel::memory).
  size_t max_memory = SIZE_MAX;
  std::chrono::nanoseconds timeout{0};  // of one, its wait included, where it says none; 0: none
  TraceSink* trace = nullptr;           // of the runtime (borrowed)
  // Runs that are typically shorter than this may run on the thread that asks.
  std::chrono::nanoseconds inline_limit = std::chrono::microseconds(250);
  // Runs that take less than this are not joined, where nothing says that they are to wait: their
  // requests take longer to receive than to run.
  std::chrono::nanoseconds join_limit = std::chrono::microseconds(50);
  BatchingOptions batching;  // of kernels
};

struct InferOptions {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  Priority priority = Priority::kNormal;
  uint64_t tag = 0;
  std::shared_ptr<Emitter> emitter;  // told what the program emits while it runs
};

class Dispatcher {
 public:
  using Done = std::function<void(Result<InferResponse>)>;
  // Of a run that was asked for; does nothing once it has ended.
  class RunHandle {
   public:
    void Cancel() const;

   private:
    friend class Dispatcher;
    struct Turn;  // of a request that waits for its sequence's
    Scheduler::Handle run_;
    Batcher::Handle member_;
    std::shared_ptr<Turn> turn_;
  };
  using Cancel = RunHandle;

  static Result<std::unique_ptr<Dispatcher>> Create(const DispatcherOptions& options);
  // REQUIRES: not called by a Done. Cancels what runs.
  ~Dispatcher();

  // Runs that are limited together: one group for each version of a model. `is_batched`: it has
  // batched kernels, so that as many of its runs go on at a time as a batch takes.
  Result<RunGroup> MakeGroup(bool is_batched = false);
  // Takes inputs and id out of `request`. `done` is called once, on this thread before this
  // returns, or on one of the workers: kOutOfRange where the run takes more memory than it may or
  // than there could be, kResourceExhausted where others have what it lacks. Fails, and does not
  // call it, where the request is refused: kInvalidArgument (its inputs, outputs or parameters;
  // more memory than there ever is), kResourceExhausted (the queue is full, or memory is),
  // kDeadlineExceeded, kNotFound and kFailedPrecondition (sequences.h), kFailedPrecondition
  // (draining).
  //
  // Of its parameters: priority (0: the default, that of 2; 1: before others; 3 and more: behind
  // them, but in turn now and then), sequence_id, sequence_start, sequence_end.
  Status Infer(std::shared_ptr<const ServedModel> model, InferRequest& request,
               const InferOptions& options, Done done, Cancel* cancel);

  // Runs `job` on one of the workers.
  void Post(std::function<void()> job);

  // Refuses what comes from here on, waits for what runs.
  Status Drain(std::chrono::steady_clock::time_point deadline);

  // What the scheduler says of the run whose Done is called on this thread.
  static const RunReport& ended_run();

  Runtime& runtime() { return *runtime_; }
  const Sequences& sequences() const { return *sequences_; }
  size_t reserved_memory() const { return *reserved_; }
  SchedulerStats stats() const { return scheduler_->stats(); }
  RunGroupStats stats(const RunGroup& group) const { return scheduler_->stats(group); }
  // No tensor can be larger: of all runs together.
  size_t max_tensor_bytes() const { return options_.memory_limit; }
  std::chrono::nanoseconds default_timeout() const { return options_.timeout; }

 private:
  explicit Dispatcher(const DispatcherOptions& options) : options_(options) {}
  Status Admit(const ServedModel& model, const InferOptions& options) const;
  bool ToBeJoined(const ServedModel& model) const;
  struct Run;
  using RunPtr = std::shared_ptr<Run>;
  // Counts what it needs until the run is gone.
  Status ReserveMemory(Run& run);
  Status InferAlone(const RunPtr& run, const InferOptions& options, Cancel* cancel);
  Status InferInSequence(const RunPtr& run, const SequenceRequest& sequence,
                         const InferOptions& options, Cancel* cancel);
  void TakeTurn(const RunPtr& run, const Sequences::SequencePtr& sequence,
                const InferOptions& options, const std::shared_ptr<RunHandle::Turn>& turn,
                bool is_first);
  Status Launch(Batcher::Launch launch, Batcher::Done done, Scheduler::Handle* handle);

  DispatcherOptions options_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<WorkerPool> pool_;
  std::shared_ptr<Batcher> batcher_;
  std::shared_ptr<Sequences> sequences_;
  // Bytes of what has been admitted.
  std::shared_ptr<std::atomic<size_t>> reserved_ = std::make_shared<std::atomic<size_t>>(0);
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace relayvm::serve
