// IdleTimer: a thread that looks at what idles, and is there only while something does. It ends
// when there is nothing left to wait for, so that a process at rest is never woken.
//
// Thread-safe. Who can't have a thread goes without, as does a child of fork() whose parent had
// one. Tested by idle_timer_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "bytecode/base/threads.h"

namespace relayvm::vm {

class IdleTimer {
 public:
  // `look(context, now)` is called on the timer's thread, one call at a time, after Wake() and then
  // whenever the time that it gave has come; INT64_MAX: it needs no further look. Times are of the
  // steady clock, in nanoseconds. It does not throw, and is not called once Stop() has returned.
  IdleTimer(int64_t (*look)(void* context, int64_t now), void* context);
  ~IdleTimer();
  IdleTimer(const IdleTimer&) = delete;
  IdleTimer& operator=(const IdleTimer&) = delete;

  // There is something to look at. Does not wait for the look.
  void Wake() {
    if (!pending_.load(std::memory_order_relaxed)) pending_.store(true);
    if (!running_.load()) Begin();
  }
  // No more looks from here on.
  void Stop();
  bool running() const { return running_.load(std::memory_order_acquire); }

 private:
  struct Worker;
  void Begin();
  void Run(Worker* worker);

  int64_t (*look_)(void* context, int64_t now);
  void* context_;
  std::atomic<bool> pending_{false};  // since the last look began
  std::atomic<bool> running_{false};  // there is a thread, which will see what is pending
  Mutex mutex_;
  bool stopped_ = false;  // under it, as the worker
  std::unique_ptr<Worker> worker_;
};

}  // namespace relayvm::vm
