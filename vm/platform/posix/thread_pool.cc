#include "vm/platform/thread_pool.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "bytecode/base/machine_limits.h"

namespace relayvm::vm {
namespace {

// How long a thread looks before it sleeps: waking it takes 10 to 50 us, and the kernels of a
// program follow each other faster.
constexpr std::chrono::microseconds kSpan{60};

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Looks until `fn` holds, for kSpan at most; whether it does.
template <typename Fn>
bool SpinUntil(const Fn& fn) {
  constexpr int kLooks = 32;  // between two looks at the clock
  const auto end = std::chrono::steady_clock::now() + kSpan;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (fn()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return fn();
}

}  // namespace

Result<uint32_t> CountThreads(uint32_t num_threads) {
  if (num_threads == 0) return ReadMachineLimits().num_processors;
  if (num_threads <= kMaxThreads) return num_threads;
  return Status(StatusCode::kInvalidArgument, "num_threads is " + std::to_string(num_threads) +
                                                  ", above " + std::to_string(kMaxThreads));
}

Status NoThreads(uint32_t num_threads, const std::system_error& error) {
  return {StatusCode::kResourceExhausted,
          "cannot start " + std::to_string(num_threads) + " threads: " + error.what()};
}

Result<std::unique_ptr<TaskPool>> NewThreadPool(uint32_t num_threads) {
  RELAYVM_ASSIGN_OR_RETURN(const uint32_t threads, CountThreads(num_threads));
  try {
    return std::unique_ptr<TaskPool>(std::make_unique<ThreadPool>(threads));
  } catch (const std::system_error& error) {
    return NoThreads(threads, error);
  }
}

ThreadPool::ThreadPool(uint32_t num_threads) : seats_(num_threads - 1) {
  static_assert(alignof(Job) > kTagMask);
  try {
    // Before one is started: the workers look at their number.
    threads_.reserve(num_threads - 1);
    for (uint32_t i = 1; i < num_threads; ++i) threads_.emplace_back([this, i] { Work(i); });
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool ThreadPool::Job::HasTasks() const {
  for (uint32_t i = 0; i < num_shares; ++i) {
    if (shares[i].next.load(std::memory_order_relaxed) < shares[i].end) return true;
  }
  return false;
}

void ThreadPool::RunTasks(Job& job, uint32_t worker) {
  const uint32_t own = worker % job.num_shares;
  for (uint32_t i = 0; i < job.num_shares; ++i) {
    Share& share = job.shares[(own + i) % job.num_shares];
    // Looked at before: a counter that many have passed is not written again.
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const uint32_t index = share.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= share.end) break;
      job.fn(job.context, index, worker);
    }
  }
}

// WakeCallers comes after what makes `done` hold.
template <typename Fn>
void ThreadPool::WaitUntil(const Fn& done) {
  if (SpinUntil(done)) return;
  std::unique_lock lock(mutex_);
  ++sleepers_;
  done_.wait(lock, done);
  --sleepers_;
}

// --- Seats ---

// Whether the seat was idle. It is then the caller's, until Hand.
bool ThreadPool::Take(Seat& seat) {
  uintptr_t idle = kIdle;
  return seat.state.load(std::memory_order_relaxed) == kIdle &&
         seat.state.compare_exchange_strong(idle, kFilling, std::memory_order_acquire);
}

// The task is the worker's from here on, or whoever takes it back.
void ThreadPool::Hand(Job& job, uint32_t task, bool has_more, Seat& seat) {
  seat.fn = job.fn;
  seat.context = job.context;
  seat.more = has_more ? &job : nullptr;
  seat.task = task;
  seat.state.store(StateOf(job, kHanded), std::memory_order_release);
}

// Returns when the task that the seat was handed is done. Its worker may have lost its core: what
// it has not claimed after a short while is taken back.
void ThreadPool::Await(Job& job, uint32_t task, Seat& seat) {
  constexpr int kLooks = 200;
  const uintptr_t handed = StateOf(job, kHanded), claimed = StateOf(job, kClaimed);
  for (int i = 0; i < kLooks && seat.state.load(std::memory_order_relaxed) == handed; ++i) Pause();
  uintptr_t state = handed;
  if (seat.state.compare_exchange_strong(state, kIdle, std::memory_order_acquire))
    return job.fn(job.context, task, 0);
  WaitUntil([&] { return seat.state.load() != claimed; });
  state = StateOf(job, kDone);  // unless it was closed
  seat.state.compare_exchange_strong(state, kIdle, std::memory_order_acq_rel);
}

// Runs what the seat's worker was handed, if anything.
bool ThreadPool::Serve(Seat& seat, uint32_t worker) {
  uintptr_t state = seat.state.load(std::memory_order_relaxed);
  if (!IsHanded(state)) return false;
  const uintptr_t job = state & ~uintptr_t{kTagMask};
  if (!seat.state.compare_exchange_strong(state, job | kClaimed, std::memory_order_acquire))
    return false;
  seat.fn(seat.context, seat.task, worker);
  if (seat.more != nullptr) RunTasks(*seat.more, worker);
  seat.state.store(job | kDone);  // before sleepers_ is read
  WakeCallers();
  return true;
}

// Opens the seat and serves it until there is nothing for kSpan, or a job is listed.
void ThreadPool::Look(Seat& seat, uint32_t worker, uint64_t seen) {
  const auto is_listed = [&] { return opened_.load(std::memory_order_acquire) != seen; };
  seat.state.store(kIdle, std::memory_order_release);
  for (;;) {
    bool has_served = false;
    SpinUntil([&] { return (has_served = Serve(seat, worker)) || is_listed(); });
    if (has_served) continue;
    uintptr_t state = seat.state.load(std::memory_order_relaxed);
    if (state == kFilling || IsHanded(state)) continue;
    if (seat.state.compare_exchange_strong(state, kClosed, std::memory_order_acq_rel)) return;
  }
}

// --- Jobs ---

// A job with tasks left, or null. REQUIRES: mutex_ is held.
ThreadPool::Job* ThreadPool::OpenJob() {
  for (Job* job = jobs_; job != nullptr; job = job->following) {
    if (job->HasTasks()) return job;
  }
  return nullptr;
}

void ThreadPool::Enlist(Job& job, bool for_one) {
  {
    std::lock_guard lock(mutex_);
    job.following = jobs_;
    jobs_ = &job;
    opened_.fetch_add(1, std::memory_order_release);
  }
  if (for_one) {
    work_.notify_one();
  } else {
    work_.notify_all();
  }
}

// All its tasks are taken: nobody else comes. Returns when those who came have left.
void ThreadPool::Unlist(Job& job) {
  {
    std::lock_guard lock(mutex_);
    Job** link = &jobs_;
    while (*link != &job) link = &(*link)->following;
    *link = job.following;
  }
  WaitUntil([&] { return job.helpers.load() == 0; });
}

void ThreadPool::Run(uint32_t num_tasks, TaskFn fn, void* context) {
  if (num_tasks <= 1 || threads_.empty()) {
    for (uint32_t i = 0; i < num_tasks; ++i) fn(context, i, 0);
    return;
  }
  Job job{.fn = fn,
          .context = context,
          .num_shares = std::min({num_tasks, num_threads(), kMaxShares}),
          .shares = {}};
  // The shares whose first task goes with the seat of a worker.
  std::array<uint32_t, kMaxShares> handed;
  uint32_t num_handed = 0;
  for (uint32_t i = 0; i < job.num_shares; ++i) {
    const auto first = [&](uint64_t share) {
      return static_cast<uint32_t>(share * num_tasks / job.num_shares);
    };
    const bool is_handed = i > 0 && Take(seats_[i - 1]);
    if (is_handed) handed[num_handed++] = i;
    job.shares[i].first = first(i);
    job.shares[i].next.store(first(i) + (is_handed ? 1 : 0), std::memory_order_relaxed);
    job.shares[i].end = first(i + 1);
  }
  const auto each_handed = [&](const auto& function) {
    for (uint32_t i = 0; i < num_handed; ++i)
      function(job.shares[handed[i]].first, seats_[handed[i] - 1]);
  };
  const bool has_more = num_tasks > job.num_shares;
  each_handed([&](uint32_t task, Seat& seat) { Hand(job, task, has_more, seat); });
  const uint32_t wanted = std::min(num_tasks, num_threads()) - 1;
  const bool is_listed = num_handed < wanted;
  if (is_listed) Enlist(job, wanted - num_handed == 1);
  RunTasks(job, 0);
  if (is_listed) Unlist(job);
  each_handed([&](uint32_t task, Seat& seat) { Await(job, task, seat); });
}

// The job may be gone. Either its caller saw that nobody is inside before it sleeps, or it is seen
// to sleep here.
void ThreadPool::WakeCallers() {
  if (sleepers_.load() == 0) return;
  {
    std::lock_guard lock(mutex_);
  }
  done_.notify_all();
}

void ThreadPool::Work(uint32_t worker) {
  Seat& seat = seats_[worker - 1];
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Job* job = OpenJob();
    if (job != nullptr) {
      job->helpers.fetch_add(1);
      lock.unlock();
      RunTasks(*job, worker);
      if (job->helpers.fetch_sub(1) == 1) WakeCallers();
      lock.lock();
      continue;
    }
    const uint64_t seen = opened_.load(std::memory_order_relaxed);
    lock.unlock();
    Look(seat, worker, seen);
    lock.lock();
    // Also for a job that is gone by then: the next one comes soon.
    work_.wait(lock, [&] { return stopping_ || opened_.load(std::memory_order_relaxed) != seen; });
  }
}

}  // namespace relayvm::vm
