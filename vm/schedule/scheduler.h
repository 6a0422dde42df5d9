// Scheduler: runs many invocations on a few threads.
//
//   auto scheduler = Scheduler::Create(runtime, {.num_threads = 2});
//   (*scheduler)->RunAsync({.executable = program, .function = "main", .inputs = {x}},
//                          [](Result<Value> y) { ... });
//   RunRequest request{.executable = program, .inputs = {x}};    GCC 12 takes no braces in co_await
//   Result<Value> y = co_await (*scheduler)->Run(std::move(request));
//
// Each thread takes a run that is ready and runs it for a slice, inside kernels too; then it is the
// next one's turn. Runs that wait in a host function take no thread. Runs of a higher priority go
// first, but one turn in 16 is that of a lower one, of each in turn, so that all get on.
//
// Groups limit and count the runs of a tenant, or of a program. Drain is how a service ends. Where
// threads are to be the host's, an Executor takes the place of the scheduler's own.
//
// Thread-safe. A process that forks has no threads in the child: its schedulers and runtimes are
// not to be used there. Completions are called once for each run that was accepted, on a thread of
// the scheduler and without its locks: they may start runs, should not take long, and must not
// throw, which ends the process. The runtime's threads of kernels are apart from these: with as
// many of these as the machine has cores, let RuntimeOptions::num_threads be 1. Tested by
// scheduler_test.cc.
#pragma once

#include <array>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/api/relayvm.h"
#include "vm/trace/latency.h"

namespace relayvm {

enum class Priority : uint8_t { kHigh = 0, kNormal = 1, kLow = 2 };
inline constexpr size_t kNumPriorities = 3;

// Batching: runs that reach the same kernel of the same executable, with the same shapes and
// weights, have it run once for all of them. Results are those that runs have alone, bit for bit.
// Only the products that `relayc --batching` made a batched form of.
//
// A call waits until max_batch calls are together, nothing of its priority or above is ready, the
// runs that were ready when it came have had a few turns each, or it has waited for max_wait (and
// the slices that then run). Its run then goes on before others of its priority, with the rest of
// its slice. What a run may use and how long it may take is looked at for each run: one that is
// cancelled, or late, ends when its batch has run.
struct BatchingOptions {
  size_t max_batch = 0;  // below 2: no batching
  std::chrono::nanoseconds max_wait = std::chrono::milliseconds(1);
};

// Threads of the host, for a scheduler that has none of its own. From any thread, several at once,
// and while the scheduler has locks: these functions only queue the job. They must not throw, and
// run each job once, also where the scheduler is gone by then.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs job(context) soon, on any thread, but not before this returns. It runs slices of
  // invocations, for a few times SchedulerOptions::slice.
  virtual void Post(void (*job)(void* context), void* context) = 0;
  // The same when the time has come: a deadline, or what a host function waits for. Takes
  // microseconds.
  virtual void PostAt(std::chrono::steady_clock::time_point time, void (*job)(void* context),
                      void* context) = 0;
};

// A run that has ended.
struct RunReport {
  uint64_t id = 0;          // Handle::id
  uint64_t tag = 0;         // InvocationOptions::tag
  uint64_t invocation = 0;  // as events of traces say; 0: it has not begun
  StatusCode status = StatusCode::kOk;
  int64_t queued_ns = 0, total_ns = 0;  // from RunAsync to the begin, and to the end
};

struct SchedulerOptions {
  // Threads that run invocations, or jobs of the executor at once; 0: as many as the machine has.
  uint32_t num_threads = 1;
  // Null: threads of its own.
  std::shared_ptr<Executor> executor;
  std::chrono::nanoseconds slice = std::chrono::milliseconds(1);
  // Runs that have begun and not ended, those that wait included; others are queued without memory
  // of their own.
  size_t max_active = 100'000;
  // Runs that have not begun: above that, new ones are refused.
  size_t max_queued = 1'000'000;
  BatchingOptions batching;
  // Told of each run that was accepted, before its completion is called, as that is.
  std::function<void(const RunReport&)> on_end;
};

struct RunGroupOptions {
  size_t max_active = SIZE_MAX;  // as those of SchedulerOptions, of the group's runs
  size_t max_queued = SIZE_MAX;
  // Of runs that have begun and wait for nothing, within their quantum: another begins where fewer
  // are of its priority or above. Runs of about one length that take turns all end late.
  size_t max_ready = SIZE_MAX;
};
// Runs that are limited and counted together (Scheduler::MakeGroup). Copies share it, and may be
// older than the scheduler.
class RunGroup {
 public:
  RunGroup() = default;  // none

 private:
  friend class Scheduler;
  struct State;
  std::shared_ptr<State> state_;
};

struct RunRequest {
  std::shared_ptr<const Executable> executable;
  std::string function = "main";
  std::vector<Value> inputs;
  std::vector<OutputBuffer> outputs;
  InvocationOptions options;
  Priority priority = Priority::kNormal;
  // Of its groups' max_ready: how long it runs, in whole slices, before others begin all the same,
  // which are not to wait for one that is far longer than they are.
  std::chrono::nanoseconds quantum{0};
  // None, or groups of this scheduler. A run that the second of them (by when they were made) keeps
  // waiting has taken its place in the first.
  RunGroup tenant, model;
  // What it runs on, with its threads for kernels and its memory limit; null: the scheduler's.
  // Batches are counted and traced by the scheduler's.
  std::shared_ptr<Runtime> runtime;
  // When it must have ended, its time in the queue included: one that has not begun ends then.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// Since the scheduler, or the group, was made.
struct RunTotals {
  uint64_t accepted = 0, refused = 0;
  std::array<uint64_t, kNumStatusCodes> ended{};  // completions by StatusCode
  // From RunAsync to the begin, of those that began; and to the end, of all.
  LatencyHistogram queue_time, latency;
};
struct RunGroupStats : RunTotals {
  size_t queued = 0, active = 0;  // now
};
struct SchedulerStats : RunTotals {
  uint64_t slices = 0;
  // Kernels that ran for several calls, and those calls; calls that waited and then ran alone.
  uint64_t batches = 0, batched_calls = 0, lone_calls = 0;
  // Now.
  size_t queued = 0, ready = 0, running = 0, waiting = 0;
};

class Scheduler {
 public:
  using Completion = std::function<void(Result<Value>)>;

  static Result<std::unique_ptr<Scheduler>> Create(std::shared_ptr<Runtime> runtime,
                                                   const SchedulerOptions& options = {});
  // Cancels all runs and waits for their completions. REQUIRES: not called by one of them, nor by
  // the only thread of its executor.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A run that was accepted. Copies may be kept for as long as anybody likes.
  class Handle {
   public:
    Handle() = default;  // of no run
    // Makes it complete with kCancelled, soon; a run that has ended is left as it is.
    void Cancel() const;
    uint64_t id() const;  // from 1 in its scheduler, in the order of RunAsync; 0: of no run

   private:
    friend class Scheduler;
    friend class RunGroup;
    struct Task;
    explicit Handle(std::shared_ptr<Task> task) : task_(std::move(task)) {}
    std::shared_ptr<Task> task_;
  };

  Result<RunGroup> MakeGroup(const RunGroupOptions& options = {});

  // Fails with kResourceExhausted when too many are queued or there is no memory,
  // kFailedPrecondition once Drain was called, and kInvalidArgument without an executable or a
  // completion; the completion is then not called. What Invocation::Start refuses (no such
  // function, other inputs) goes to the completion. `handle`, if given, is there before anything of
  // the run begins, so that its completion and host functions can use it.
  Result<Handle> RunAsync(RunRequest request, Completion completion, Handle* handle = nullptr);

  // For coroutines: co_await gives the result, on a thread of the scheduler.
  class Awaitable {
   public:
    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine);
    Result<Value> await_resume() { return *std::move(result_); }

   private:
    friend class Scheduler;
    Awaitable(Scheduler& scheduler, RunRequest request)
        : scheduler_(scheduler), request_(std::move(request)) {}
    Scheduler& scheduler_;
    RunRequest request_;
    std::optional<Result<Value>> result_;
  };
  Awaitable Run(RunRequest request) { return {*this, std::move(request)}; }

  // Accepts no runs from here on, and waits until all have ended, their completions too.
  // kDeadlineExceeded when the time comes before: those that are left go on. kFailedPrecondition on
  // a thread of its own.
  Status Drain(std::chrono::steady_clock::time_point deadline =
                   std::chrono::steady_clock::time_point::max());

  SchedulerStats stats() const;
  RunGroupStats stats(const RunGroup& group) const;  // of another one: zeros
  // Whether the calling thread runs for it now: it must not destroy the scheduler, which waits for
  // it.
  bool IsOwnThread() const;

 private:
  friend class RunGroup;
  struct Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
