#include "vm/thread_pool.h"

namespace relayvm::vm {
namespace {
// How often an idle thread looks for work before it sleeps: a few microseconds, about what waking
// it would cost.
constexpr int kSpins = 2000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

ThreadPool::ThreadPool(uint32_t num_threads) {
  for (uint32_t i = 1; i < num_threads; ++i) threads_.emplace_back([this, i] { Work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void ThreadPool::RunTasks(Job& job, uint32_t worker) {
  for (;;) {
    uint32_t index = job.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= job.num_tasks) return;
    job.fn(job.context, index, worker);
    job.finished.fetch_add(1, std::memory_order_release);
  }
}

// A job with tasks left, or null. REQUIRES: mutex_ is held.
ThreadPool::Job* ThreadPool::OpenJob() {
  for (Job* job = jobs_; job != nullptr; job = job->following) {
    if (job->next.load(std::memory_order_relaxed) < job->num_tasks) return job;
  }
  return nullptr;
}

void ThreadPool::Run(uint32_t num_tasks, TaskFn fn, void* context) {
  if (num_tasks <= 1 || threads_.empty()) {
    for (uint32_t i = 0; i < num_tasks; ++i) fn(context, i, 0);
    return;
  }
  Job job{fn, context, num_tasks};
  {
    std::lock_guard lock(mutex_);
    job.following = jobs_;
    jobs_ = &job;
    open_jobs_.fetch_add(1, std::memory_order_relaxed);
  }
  if (num_tasks == 2) {
    work_.notify_one();
  } else {
    work_.notify_all();
  }
  RunTasks(job, 0);
  for (int i = 0; i < kSpins && job.finished.load(std::memory_order_acquire) < num_tasks; ++i)
    Pause();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] {
    return job.helpers == 0 && job.finished.load(std::memory_order_acquire) == num_tasks;
  });
  Job** link = &jobs_;
  while (*link != &job) link = &(*link)->following;
  *link = job.following;
  open_jobs_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Work(uint32_t worker) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Job* job = OpenJob();
    if (job == nullptr) {
      if (open_jobs_.load(std::memory_order_relaxed) == 0) {
        lock.unlock();
        for (int i = 0; i < kSpins && open_jobs_.load(std::memory_order_relaxed) == 0; ++i) Pause();
        lock.lock();
      }
      work_.wait(lock, [this] { return stopping_ || OpenJob() != nullptr; });
      continue;
    }
    ++job->helpers;
    lock.unlock();
    RunTasks(*job, worker);
    lock.lock();
    --job->helpers;
    done_.notify_all();
  }
}

}  // namespace relayvm::vm
