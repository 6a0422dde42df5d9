// WorkerPool: the threads that run models. A runtime's scheduler posts its jobs here.
//
// A short run costs less than waking a thread for it and being woken again: where the thread that
// makes a run has an InlineScope, it does the job itself, when the scope says so. Thread-safe.
// Tested by worker_pool_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

class WorkerPool : public Executor {
 public:
  explicit WorkerPool(uint32_t num_threads);
  // Runs what was posted, but for what is due later. REQUIRES: nobody posts any more.
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Post(void (*job)(void* context), void* context) override;
  void PostAt(std::chrono::steady_clock::time_point time, void (*job)(void* context),
              void* context) override;

  // The first job that this thread posts to any pool while it has the scope, Run runs, or else the
  // destructor.
  class InlineScope {
   public:
    InlineScope();
    ~InlineScope();
    InlineScope(const InlineScope&) = delete;
    InlineScope& operator=(const InlineScope&) = delete;
    void Run();

   private:
    friend class WorkerPool;
    void (*job_)(void*) = nullptr;
    void* context_ = nullptr;
    InlineScope* outer_;
  };

 private:
  struct Job {
    void (*run)(void*);
    void* context;
  };
  struct Timed {
    std::chrono::steady_clock::time_point time;
    Job job;
    bool operator>(const Timed& other) const { return time > other.time; }
  };
  void Work();
  void KeepTime();

  static thread_local InlineScope* scope_;

  std::mutex mutex_;
  std::condition_variable work_, times_;
  std::deque<Job> jobs_;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> timed_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace relayvm::serve
