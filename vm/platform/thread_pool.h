// ThreadPool: the task pool of runtimes without an injected one. Owned by a Runtime, used by all
// its invocations.
//
// A call is split into tasks; the calling thread takes part and returns when all are done. Each
// worker begins with the same share of the tasks in every call, so that what it wrote in one kernel
// is in its cache for the next; then it takes what others have left. Calls from several threads at
// once are served together. Who waits looks for a while before it sleeps: between the kernels of a
// program no thread does.
//
// A kernel may take a few microseconds, and a cache line some 60 ns from core to core. So a worker
// that looks for work is handed its first task, and says that it is done, on one line of its own:
// its seat. Workers that do not look are told by a list of jobs, under a lock. Thread-safe. Tested
// by thread_pool_test.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/threads.h"
#include "vm/kernels/task_pool.h"

namespace relayvm::vm {

inline constexpr uint32_t kMaxThreads = 1024;
// What an option `num_threads` says: 0 is as many as ReadMachineLimits() tells. Fails above
// kMaxThreads.
Result<uint32_t> CountThreads(uint32_t num_threads);
// Tasks to split `units` units of work into, of `grain` or more: as many for each thread, and
// several where there is work for them, so that uneven ones even out. `grain` below 1 is 1. Here,
// so that a native program without threads is not linked with a pool.
inline uint32_t CountTasks(int64_t units, int64_t grain, uint32_t num_threads) {
  constexpr uint32_t kMostOfThread = 6;
  grain = std::max<int64_t>(grain, 1);
  if (num_threads <= 1 || units <= grain) return 1;
  const int64_t grains = units / grain + (units % grain != 0 ? 1 : 0);
  if (grains <= num_threads) return static_cast<uint32_t>(grains);
  uint32_t of_thread = 1;
  while (of_thread < kMostOfThread && grains >= int64_t{num_threads} << of_thread) ++of_thread;
  return of_thread * num_threads;
}
// The first unit of a task of so many. A thread's tasks are halves of what is left of its share,
// the last two are equal: few calls, and little is left when the first thread has done its share.
// REQUIRES: tasks is CountTasks, index <= tasks, units <= UINT32_MAX.
inline uint32_t FirstUnit(int64_t units, uint32_t index, uint32_t tasks, uint32_t num_threads) {
  const uint32_t of_thread = std::max(tasks / num_threads, 1U);
  const uint64_t share = uint64_t{1} << (of_thread - 1);  // in last tasks
  const uint64_t before = index / of_thread * share + share - (share >> index % of_thread);
  return static_cast<uint32_t>(static_cast<uint64_t>(units) * before /
                               (std::min(tasks, num_threads) * share));
}
// Threads of its own, as the option says. kResourceExhausted where they can't be started.
Result<std::unique_ptr<TaskPool>> NewThreadPool(uint32_t num_threads);

#if !RELAYVM_MINIMAL
// Of `num_threads`, one could not be started.
Status NoThreads(uint32_t num_threads, const std::system_error& error);

class ThreadPool final : public TaskPool {
 public:
  // Worker 0 is a calling thread, 1 .. num_threads() - 1 are the pool's own. `num_threads` counts
  // the caller: 1 starts no thread. Throws std::bad_alloc or std::system_error where there are no
  // more threads. REQUIRES: num_threads >= 1.
  explicit ThreadPool(uint32_t num_threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t num_threads() const override { return static_cast<uint32_t>(threads_.size()) + 1; }
  void Run(uint32_t num_tasks, TaskFn fn, void* context) override;

 private:
  static constexpr uint32_t kMaxShares = 16;
  struct alignas(64) Share {
    std::atomic<uint32_t> next{0};  // first task not taken; may run past the end
    uint32_t first = 0, end = 0;
  };
  struct alignas(64) Job {
    TaskFn fn;
    void* context;
    uint32_t num_shares;
    // Threads that are inside by the list; they come under mutex_.
    std::atomic<uint32_t> helpers{0};
    Job* following = nullptr;  // in the list of open jobs; under mutex_
    Share shares[kMaxShares];
    bool HasTasks() const;
  };

  // Of one worker. Callers hand tasks to idle seats; the worker claims what it was handed, unless
  // its caller has taken it back, runs it, and touches the job no more when it says kDone. Then the
  // seat is idle again, by the caller, or closed, by the worker that looks no longer.
  //
  //   kClosed <-> kIdle -> kFilling -> (job, kHanded) -> (job, kClaimed) -> (job, kDone) -> kIdle, kClosed
  //                ^___________________________|
  struct alignas(128) Seat {
    std::atomic<uintptr_t> state{kClosed};
    // Of the handed task; `more`: its job, where others of its tasks may be left, else null.
    TaskFn fn = nullptr;
    void* context = nullptr;
    Job* more = nullptr;
    uint32_t task = 0;
  };
  enum SeatState : uintptr_t { kClosed, kIdle, kFilling };
  enum SeatTag : uintptr_t { kHanded = 1, kClaimed = 2, kDone = 3, kTagMask = 3 };
  static uintptr_t StateOf(const Job& job, SeatTag tag) {
    return reinterpret_cast<uintptr_t>(&job) | tag;
  }
  static bool IsHanded(uintptr_t state) {
    return state > kTagMask && (state & kTagMask) == kHanded;
  }

  void Stop();
  void Work(uint32_t worker);
  static bool Take(Seat& seat);
  static void Hand(Job& job, uint32_t task, bool has_more, Seat& seat);
  void Await(Job& job, uint32_t task, Seat& seat);
  template <typename Fn>
  void WaitUntil(const Fn& done);
  bool Serve(Seat& seat, uint32_t worker);
  void Look(Seat& seat, uint32_t worker, uint64_t seen);
  void Enlist(Job& job, bool for_one);
  void Unlist(Job& job);
  void WakeCallers();
  static void RunTasks(Job& job, uint32_t worker);
  Job* OpenJob();

  Mutex mutex_;
  Condition work_, done_;
  Job* jobs_ = nullptr;
  std::atomic<uint64_t> opened_{0};    // jobs that were listed so far
  std::atomic<uint32_t> sleepers_{0};  // callers that wait for done_
  bool stopping_ = false;
  std::vector<Seat> seats_;  // of worker i + 1
  std::vector<std::thread> threads_;
};
#endif

}  // namespace relayvm::vm
