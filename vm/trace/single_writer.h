// SingleWriter: a number that one thread at a time changes, as cheaply as a plain one, and that any
// thread may read meanwhile. What it reads may be a little old. Tested by runtime_stats_test.cc.
#pragma once

#include <atomic>

namespace relayvm::vm {

template <typename T>
class SingleWriter {
 public:
  SingleWriter() = default;
  SingleWriter(const SingleWriter&) = delete;
  operator T() const { return value_.load(std::memory_order_relaxed); }  // NOLINT: as a number
  SingleWriter& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  SingleWriter& operator=(const SingleWriter& other) { return *this = static_cast<T>(other); }
  SingleWriter& operator+=(T more) { return *this = *this + more; }
  SingleWriter& operator-=(T less) { return *this = *this - less; }
  SingleWriter& operator++() { return *this += 1; }

 private:
  static_assert(std::atomic<T>::is_always_lock_free);
  std::atomic<T> value_{0};
};

}  // namespace relayvm::vm
