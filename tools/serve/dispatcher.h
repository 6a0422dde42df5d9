// Dispatcher: runs of models, whatever protocol asked for them: admitted, queued, run by a pool of
// threads, ended by their deadlines.
//
// A run is refused at once where its model's queue is full, or where what is queued before it would
// take longer than its deadline leaves. One that is short, as its model's runs were of late, runs
// on the thread that asks for it, if nothing else is to be run: that answers in a fraction of the
// time. Requests of models whose rows are independent are joined on the way (batcher.h), and kernels
// of runs at once where the file has batched forms of them. Thread-safe. Tested by
// dispatcher_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/batcher.h"
#include "tools/serve/inference.h"
#include "tools/serve/model.h"
#include "tools/serve/worker_pool.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

struct DispatcherOptions {
  uint32_t workers = 0;                 // threads that run models; 0: as many as the machine has
  uint32_t kernel_threads = 1;          // threads of one run's kernels
  size_t max_queued = 1000;             // runs of a model that have not begun
  size_t memory_limit = SIZE_MAX;       // bytes of all runs
  size_t run_memory = SIZE_MAX;         // bytes of one
  std::chrono::nanoseconds timeout{0};  // of one, its wait included, where it says none; 0: none
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
};

class Dispatcher {
 public:
  using Done = std::function<void(Result<InferResponse>)>;
  // Of a run that was asked for; does nothing once it has ended.
  class RunHandle {
   public:
    void Cancel() const {
      run_.Cancel();
      member_.Cancel();
    }

   private:
    friend class Dispatcher;
    Scheduler::Handle run_;
    Batcher::Handle member_;
  };
  using Cancel = RunHandle;

  static Result<std::unique_ptr<Dispatcher>> Create(const DispatcherOptions& options);
  // REQUIRES: not called by a Done. Cancels what runs.
  ~Dispatcher();

  // Runs that are limited together: one group for each version of a model.
  Result<RunGroup> MakeGroup();
  // Takes inputs and id out of `request`. `done` is called once, on this thread before this
  // returns, or on one of the workers. Fails, and does not call it, where the
  // request is refused: kInvalidArgument (its inputs or outputs), kResourceExhausted (the queue is
  // full), kDeadlineExceeded, kFailedPrecondition (draining).
  Status Infer(std::shared_ptr<const ServedModel> model, InferRequest& request,
               const InferOptions& options, Done done, Cancel* cancel);

  // Runs `job` on one of the workers.
  void Post(std::function<void()> job);

  // Refuses what comes from here on, waits for what runs.
  Status Drain(std::chrono::steady_clock::time_point deadline);

  Runtime& runtime() { return *runtime_; }
  SchedulerStats stats() const { return scheduler_->stats(); }
  RunGroupStats stats(const RunGroup& group) const { return scheduler_->stats(group); }
  std::chrono::nanoseconds default_timeout() const { return options_.timeout; }

 private:
  explicit Dispatcher(const DispatcherOptions& options) : options_(options) {}
  Status Admit(const ServedModel& model, const InferOptions& options) const;
  bool ToBeJoined(const ServedModel& model) const;
  Status Launch(Batcher::Launch launch, Batcher::Done done, Scheduler::Handle* handle);

  DispatcherOptions options_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<WorkerPool> pool_;
  std::shared_ptr<Batcher> batcher_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace relayvm::serve
