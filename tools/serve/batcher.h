// Batcher: requests of one version of a model that wait for each other, are joined by rows
// (batch_rows.h), run once and split again.
//
// As many runs of a model as there are workers go on at a time; what comes meanwhile waits for one
// to end, and goes together then. With a delay, requests wait that long for others even where
// nothing runs, and no longer. Where a joined run fails its requests run one by one, so that what
// is wrong with one is an error of that one. A request that is cancelled, or late, is answered at
// once. Its rows may be what a run never ends for: the others run one by one then, but where all of
// them have deadlines, and only one of these has passed.
//
// Thread-safe. Tested by batcher_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/emitter.h"
#include "tools/serve/model.h"
#include "tools/serve/ticker.h"
#include "tools/serve/worker_pool.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

// Of a run that has ended; of several requests' one.
struct RunTimes {
  int64_t queued_ns = 0, ran_ns = 0;
  size_t requests = 1;
};

class Batcher : public std::enable_shared_from_this<Batcher> {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(Result<Value>, const RunTimes&)>;

  // A run as the scheduler is to have it.
  struct Launch {
    std::shared_ptr<const ServedModel> model;
    std::vector<Value> inputs;
    Clock::time_point deadline = Clock::time_point::max();
    Priority priority = Priority::kNormal;
    uint64_t tag = 0;
    Emitter* emitter = nullptr;  // lives as long as the run
    // Whether the thread that launches it may run it, where it is short.
    bool may_run_here = false;
  };
  using Launcher = std::function<Status(Launch launch, Done done, Scheduler::Handle* handle)>;

  struct Options {
    size_t max_running = 1;  // runs of a model
    size_t max_waiting = 1000;
  };

  // A request that waits or runs.
  struct Member;
  // Answers it with kCancelled; does nothing once it has been answered.
  class Handle {
   public:
    void Cancel() const;

   private:
    friend class Batcher;
    std::weak_ptr<Batcher> batcher_;
    std::weak_ptr<Member> member_;
  };

  // `launch` is called without locks, by the threads that submit and those that end runs. `pool`
  // tells the time and outlives this; `runtime` has the memory of what is joined.
  Batcher(const Options& options, Launcher launch, WorkerPool& pool, Runtime& runtime);

  // REQUIRES: the model is joinable, and takes the inputs. `handle` is set before `done` may be
  // called. Fails, without calling `done`, with kResourceExhausted and kFailedPrecondition as
  // Dispatcher::Infer.
  Status Submit(Launch request, int64_t rows, Done done, Handle* handle);
  // Requests of a model that wait here.
  size_t num_waiting(const ServedModel& model) const;
  // Takes no more requests and waits until all are answered; kDeadlineExceeded.
  Status Drain(Clock::time_point deadline);
  // Takes no more requests, answers those that wait with kCancelled, and launches nothing more.
  void Stop();

 private:
  friend class Ticker;
  struct Group;
  struct Queue;
  using MemberPtr = std::shared_ptr<Member>;
  using GroupPtr = std::shared_ptr<Group>;
  // Answers to be given once the lock is not held.
  struct Answer {
    Done done;
    Result<Value> result;
    RunTimes times;
  };

  // --- With the lock ---
  std::vector<GroupPtr> TakeReady(Queue& queue, Clock::time_point now);
  GroupPtr TakeGroup(Queue& queue, bool* is_full);
  // `runs` are to be cancelled.
  void TakeLate(Clock::time_point now, std::vector<Answer>* answers,
                std::vector<Scheduler::Handle>* runs);
  // When something is due or late next.
  Clock::time_point NextTime(Clock::time_point now) const;
  void Forget(const ServedModel* model);

  // --- Without it ---
  void Start(const GroupPtr& group);
  void OnEnd(const GroupPtr& group, Result<Value> result, const RunTimes& times, bool is_final);
  std::vector<Result<Value>> Split(const Group& group, const Result<Value>& result) const;
  void OnTick();
  void Cancel(const MemberPtr& member);
  static void Give(std::vector<Answer> answers);

  const Options options_;
  const Launcher launch_;
  Runtime& runtime_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<const ServedModel*, std::shared_ptr<Queue>> queues_;
  Ticker ticker_;
  bool draining_ = false, stopped_ = false;
};

}  // namespace relayvm::serve
