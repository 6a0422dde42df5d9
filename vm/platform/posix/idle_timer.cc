#include "vm/platform/idle_timer.h"

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

#include "vm/platform/clock.h"

namespace relayvm::vm {

struct IdleTimer::Worker {
  std::mutex mutex;
  std::condition_variable stop_changed;
  bool stop = false;  // under it
  std::thread thread;
  pid_t process = getpid();
};

IdleTimer::IdleTimer(int64_t (*look)(void* context, int64_t now), void* context)
    : look_(look), context_(context) {}

IdleTimer::~IdleTimer() { Stop(); }

void IdleTimer::Begin() {
  const std::lock_guard lock(mutex_);
  if (stopped_ || running_.load(std::memory_order_relaxed)) return;
  if (worker_ != nullptr) {
    if (worker_->process != getpid()) return;
    worker_->thread.join();  // it is at its end
    worker_.reset();
  }
  // The host's signals are none of its business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    worker_ = std::make_unique<Worker>();
    running_.store(true, std::memory_order_release);
    worker_->thread = std::thread([this, worker = worker_.get()] { Run(worker); });
  } catch (const std::exception&) {  // no memory, or no more threads
    running_.store(false, std::memory_order_release);
    worker_.reset();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void IdleTimer::Run(Worker* worker) {
  int64_t next = 0;
  for (;;) {
    {
      std::unique_lock lock(worker->mutex);
      worker->stop_changed.wait_until(lock, ToTimePoint(next), [&] { return worker->stop; });
      if (worker->stop) return;
    }
    pending_.store(false);
    next = look_(context_, NowNanoseconds());
    if (next != INT64_MAX) continue;
    // Who wakes it sees that it ends, or this sees what is pending; Begin() comes before or after.
    const std::lock_guard lock(mutex_);
    running_.store(false);
    if (!pending_.load()) return;
    running_.store(true);
    next = 0;
  }
}

void IdleTimer::Stop() {
  std::unique_ptr<Worker> worker;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    worker = std::move(worker_);
  }
  if (worker == nullptr) return;
  // A child of fork() has what its parent knows of the thread, and no such thread.
  if (worker->process != getpid()) return static_cast<void>(worker.release());
  {
    const std::lock_guard lock(worker->mutex);
    worker->stop = true;
  }
  worker->stop_changed.notify_all();
  worker->thread.join();
  running_.store(false, std::memory_order_release);
}

}  // namespace relayvm::vm
