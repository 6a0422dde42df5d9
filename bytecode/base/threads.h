// Locks and waiting, as the platform has them: the standard library's, or, where a process has one
// thread (RELAYVM_MINIMAL), nothing. Taken by std::lock_guard and std::unique_lock.
#pragma once

#include <mutex>

#if RELAYVM_MINIMAL
#include <cstdlib>
#else
#include <condition_variable>
#include <thread>
#endif

namespace relayvm {

#if RELAYVM_MINIMAL
struct Mutex {
  void lock() {}
  void unlock() {}
  bool try_lock() { return true; }
};
struct Condition {
  void notify_one() {}
  void notify_all() {}
  // Nobody else could end it.
  template <typename... Args>
  [[noreturn]] void wait_until(std::unique_lock<Mutex>& /*lock*/, const Args&... /*args*/) {
    std::abort();
  }
  [[noreturn]] void wait(std::unique_lock<Mutex>& /*lock*/) { std::abort(); }
  template <typename Done>
  void wait(std::unique_lock<Mutex>& /*lock*/, const Done& done) {
    if (!done()) std::abort();
  }
};
using ThreadId = int;
inline ThreadId ThisThread() { return 0; }
inline void YieldThread() {}
#else
using Mutex = std::mutex;
using Condition = std::condition_variable;
using ThreadId = std::thread::id;
inline ThreadId ThisThread() { return std::this_thread::get_id(); }
inline void YieldThread() { std::this_thread::yield(); }
#endif

}  // namespace relayvm
