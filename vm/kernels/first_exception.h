// What tasks on several threads have thrown: the first of it, for the thread that waits for them. The
// pool's threads know no exceptions, and a host's kernel may throw.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

namespace relayvm::vm {

class FirstException {
 public:
  // In a catch clause, on any thread.
  void Keep() noexcept {
    if (!is_kept_.exchange(true, std::memory_order_relaxed)) kept_ = std::current_exception();
  }
  // Once all tasks are over.
  void Rethrow() {
    if (kept_ != nullptr) std::rethrow_exception(std::exchange(kept_, nullptr));
  }

 private:
  std::atomic<bool> is_kept_{false};
  std::exception_ptr kept_;
};

}  // namespace relayvm::vm
