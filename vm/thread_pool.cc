#include "vm/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace relayvm::vm {
namespace {

// How long a thread looks before it sleeps: waking it takes 10 to 50 us, and the kernels of a program
// follow each other faster.
constexpr std::chrono::microseconds kSpan{60};

constexpr int64_t kTasksPerThread = 4;

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
  if (num_threads == 0) return std::max(1u, std::thread::hardware_concurrency());
  if (num_threads <= kMaxThreads) return num_threads;
  return Status(StatusCode::kInvalidArgument, "num_threads is " + std::to_string(num_threads) +
                                                  ", above " + std::to_string(kMaxThreads));
}

uint32_t CountTasks(int64_t units, int64_t grain, uint32_t num_threads) {
  grain = std::max<int64_t>(grain, 1);
  if (num_threads <= 1 || units <= grain) return 1;
  const int64_t threads = num_threads;
  const int64_t tasks =
      std::min(units / grain + (units % grain != 0 ? 1 : 0), kTasksPerThread * threads);
  // One more than the others have, and these wait for it: three tasks on two threads take two thirds.
  return static_cast<uint32_t>(tasks > threads ? tasks - tasks % threads : tasks);
}

Status NoThreads(uint32_t num_threads, const std::system_error& error) {
  return {StatusCode::kResourceExhausted,
          "cannot start " + std::to_string(num_threads) + " threads: " + error.what()};
}

ThreadPool::ThreadPool(uint32_t num_threads) {
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
      job.finished.fetch_add(1, std::memory_order_release);
    }
  }
}

// A job with tasks left, or null. REQUIRES: mutex_ is held.
ThreadPool::Job* ThreadPool::OpenJob() {
  for (Job* job = jobs_; job != nullptr; job = job->following) {
    if (job->HasTasks()) return job;
  }
  return nullptr;
}

void ThreadPool::Run(uint32_t num_tasks, TaskFn fn, void* context) {
  if (num_tasks <= 1 || threads_.empty()) {
    for (uint32_t i = 0; i < num_tasks; ++i) fn(context, i, 0);
    return;
  }
  Job job{fn, context, num_tasks, std::min({num_tasks, num_threads(), kMaxShares})};
  for (uint32_t i = 0; i < job.num_shares; ++i) {
    const auto first = [&](uint64_t share) {
      return static_cast<uint32_t>(share * num_tasks / job.num_shares);
    };
    job.shares[i].next.store(first(i), std::memory_order_relaxed);
    job.shares[i].end = first(i + 1);
  }
  {
    std::lock_guard lock(mutex_);
    job.following = jobs_;
    jobs_ = &job;
    opened_.fetch_add(1, std::memory_order_release);
  }
  if (num_tasks == 2) {
    work_.notify_one();
  } else {
    work_.notify_all();
  }
  RunTasks(job, 0);
  {
    // All tasks are taken: nobody else comes.
    std::lock_guard lock(mutex_);
    Job** link = &jobs_;
    while (*link != &job) link = &(*link)->following;
    *link = job.following;
  }
  const auto done = [&] {
    return job.helpers.load() == 0 && job.finished.load(std::memory_order_acquire) == num_tasks;
  };
  if (SpinUntil(done)) return;
  std::unique_lock lock(mutex_);
  ++sleepers_;
  done_.wait(lock, done);
  --sleepers_;
}

// The job may be gone afterwards. Either its caller sees that nobody is inside before it sleeps, or it
// is seen to sleep here.
void ThreadPool::Leave(Job& job) {
  if (job.helpers.fetch_sub(1) != 1 || sleepers_.load() == 0) return;
  { std::lock_guard lock(mutex_); }
  done_.notify_all();
}

void ThreadPool::Work(uint32_t worker) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Job* job = OpenJob();
    if (job != nullptr) {
      job->helpers.fetch_add(1);
      lock.unlock();
      RunTasks(*job, worker);
      Leave(*job);
      lock.lock();
      continue;
    }
    const uint64_t seen = opened_.load(std::memory_order_relaxed);
    lock.unlock();
    const bool opened = SpinUntil([&] { return opened_.load(std::memory_order_acquire) != seen; });
    lock.lock();
    if (!opened) work_.wait(lock, [this] { return stopping_ || OpenJob() != nullptr; });
  }
}

}  // namespace relayvm::vm
