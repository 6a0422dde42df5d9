// WaitState: what an invocation that waits and those who wake it share.
//
// A host call has a number, which grows over the life of the invocation; wakes name the call they
// are for, so that those that come late do nothing. The invocation waits only once its fiber has
// been left (Enter), so whoever makes it ready may run it at once, on any thread. Outlives the
// invocation through wakers. Thread-safe. Tested by wait_state_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "bytecode/base/threads.h"

namespace relayvm::vm {

class WaitState {
 public:
  // --- The invocation's side, one thread at a time ---

  // True when `call` was woken since it last asked.
  bool TakeWake(uint64_t call);
  // Waits for `call` to be woken, until `time` (steady clock, nanoseconds). False when it need not:
  // it was woken, or `stop` is set. After true, another thread may run the invocation.
  bool Enter(uint64_t call, int64_t time, const std::atomic<uint32_t>& stop);
  // False while it still waits at `now`.
  bool Leave(int64_t now);
  // Ends the waiting without a word to on_ready, which is not called any more after this.
  void Close();
  // REQUIRES: it does not wait. After this the former callback does not run on another thread.
  // Throws bad_alloc, and changes nothing then.
  void SetOnReady(std::function<void()> on_ready);

  // --- From any thread ---

  void Wake(uint64_t call);
  // Makes it ready, whatever it waits for; only if its time has come by `now`.
  void Stop();
  bool Expire(int64_t now);
  // Sleeps until it is ready or its time has come.
  void Block();
  // INT64_MAX when it does not wait, or without end.
  int64_t time() const;
  bool waiting() const;

 private:
  // A thread that is in on_ready_, on whose stack this lies: waking takes no memory.
  struct Notifier {
    ThreadId thread;
    Notifier* next;
  };

  void MakeReady(std::unique_lock<Mutex>& lock);
  // Until nobody but this thread is in on_ready_.
  void AwaitNotifiers(std::unique_lock<Mutex>& lock);

  mutable Mutex mutex_;
  Condition changed_;
  // Under mutex_: numbers of calls, from 1; 0: none.
  uint64_t waiting_ = 0, woken_ = 0;
  int64_t time_ = INT64_MAX;
  std::shared_ptr<const std::function<void()>> on_ready_;
  Notifier* notifiers_ = nullptr;
};

}  // namespace relayvm::vm
