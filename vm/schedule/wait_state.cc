#include "vm/schedule/wait_state.h"

#include <algorithm>

#include "vm/run/interpreter.h"

namespace relayvm::vm {

bool WaitState::TakeWake(uint64_t call) {
  std::lock_guard lock(mutex_);
  if (woken_ != call) return false;
  woken_ = 0;
  return true;
}

bool WaitState::Enter(uint64_t call, int64_t time, const std::atomic<uint32_t>& stop) {
  std::lock_guard lock(mutex_);
  // Who stops it sets `stop` first, and then calls Stop(): one of the two sees the other.
  if (woken_ == call || stop.load(std::memory_order_acquire) != 0) {
    woken_ = 0;
    return false;
  }
  waiting_ = call;
  time_ = time;
  return true;
}

bool WaitState::Leave(int64_t now) {
  std::lock_guard lock(mutex_);
  if (waiting_ != 0 && now < time_) return false;
  waiting_ = 0;
  return true;
}

void WaitState::Close() {
  std::unique_lock lock(mutex_);
  on_ready_.reset();
  waiting_ = 0;
  AwaitNotifiers(lock);
}

void WaitState::SetOnReady(std::function<void()> on_ready) {
  std::shared_ptr<const std::function<void()>> shared;
  if (on_ready) shared = std::make_shared<const std::function<void()>>(std::move(on_ready));
  std::unique_lock lock(mutex_);
  on_ready_.reset();
  AwaitNotifiers(lock);
  on_ready_ = std::move(shared);
}

void WaitState::Wake(uint64_t call) {
  std::unique_lock lock(mutex_);
  if (waiting_ == call) return MakeReady(lock);
  // Of a call that has ended, the number is below that of any that will ask.
  woken_ = std::max(woken_, call);
}

void WaitState::Stop() {
  std::unique_lock lock(mutex_);
  if (waiting_ != 0) MakeReady(lock);
}

bool WaitState::Expire(int64_t now) {
  std::unique_lock lock(mutex_);
  if (waiting_ == 0 || now < time_) return false;
  MakeReady(lock);
  return true;
}

void WaitState::Block() {
  std::unique_lock lock(mutex_);
  while (waiting_ != 0 && NowNanoseconds() < time_) {
    if (time_ == INT64_MAX) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, ToTimePoint(time_));
    }
  }
}

int64_t WaitState::time() const {
  std::lock_guard lock(mutex_);
  return waiting_ != 0 ? time_ : INT64_MAX;
}

bool WaitState::waiting() const {
  std::lock_guard lock(mutex_);
  return waiting_ != 0;
}

void WaitState::MakeReady(std::unique_lock<Mutex>& lock) {
  waiting_ = 0;
  changed_.notify_all();
  if (on_ready_ == nullptr) return;
  // Called without the lock: it may run the invocation, and even end it.
  const std::shared_ptr<const std::function<void()>> on_ready = on_ready_;
  Notifier self{ThisThread(), notifiers_};
  notifiers_ = &self;
  lock.unlock();
  (*on_ready)();
  lock.lock();
  Notifier** link = &notifiers_;
  while (*link != &self) link = &(*link)->next;
  *link = self.next;
  changed_.notify_all();
}

void WaitState::AwaitNotifiers(std::unique_lock<Mutex>& lock) {
  const ThreadId self = ThisThread();
  changed_.wait(lock, [&] {
    for (const Notifier* n = notifiers_; n != nullptr; n = n->next) {
      if (n->thread != self) return false;
    }
    return true;
  });
}

}  // namespace relayvm::vm
