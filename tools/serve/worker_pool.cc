#include "tools/serve/worker_pool.h"

#include <utility>

namespace relayvm::serve {

thread_local WorkerPool::InlineScope* WorkerPool::scope_ = nullptr;

WorkerPool::InlineScope::InlineScope() : outer_(std::exchange(scope_, this)) {}

WorkerPool::InlineScope::~InlineScope() { Run(); }

void WorkerPool::InlineScope::Run() {
  if (scope_ == this) scope_ = outer_;
  if (auto* const job = std::exchange(job_, nullptr); job != nullptr) job(context_);
}

WorkerPool::WorkerPool(uint32_t num_threads) {
  for (uint32_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
  threads_.emplace_back([this] { KeepTime(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  times_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  // Jobs that were to come later run once all the same: they give back what they hold.
  for (; !timed_.empty(); timed_.pop()) timed_.top().job.run(timed_.top().job.context);
}

void WorkerPool::Post(void (*job)(void* context), void* context) {
  if (scope_ != nullptr && scope_->job_ == nullptr) {
    scope_->job_ = job;
    scope_->context_ = context;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({job, context});
  }
  work_.notify_one();
}

void WorkerPool::PostAt(std::chrono::steady_clock::time_point time, void (*job)(void* context),
                        void* context) {
  bool is_next = false;
  {
    const std::lock_guard lock(mutex_);
    is_next = timed_.empty() || time < timed_.top().time;
    timed_.push({time, {job, context}});
  }
  if (is_next) times_.notify_one();
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    job.run(job.context);
    lock.lock();
  }
}

void WorkerPool::KeepTime() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (timed_.empty()) {
      times_.wait(lock);
      continue;
    }
    const Timed next = timed_.top();
    if (next.time > std::chrono::steady_clock::now()) {
      times_.wait_until(lock, next.time);
      continue;
    }
    timed_.pop();
    lock.unlock();
    next.job.run(next.job.context);
    lock.lock();
  }
}

}  // namespace relayvm::serve
