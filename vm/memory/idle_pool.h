// IdlePool: what ended runs leave for the next ones. The latest is taken first, so that what a
// burst has left is at the end of the line, and goes: when all have more than kMostBytes, or nobody
// took it for kLongest.
//
// Takes no memory of its own. One thread at a time. Tested by idle_pool_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace relayvm::vm {

// What a T is derived from.
template <typename T>
struct IdleLink {
  T *newer = nullptr, *older = nullptr;
  size_t idle_bytes = 0;
  int64_t idle_since = 0;
};

template <typename T>
class IdlePool {
 public:
  static constexpr size_t kMostBytes = size_t{32} << 20;
  static constexpr int64_t kLongest = 10'000'000'000;  // nanoseconds

  IdlePool() = default;
  ~IdlePool() {
    while (TakeOldest() != nullptr) {
    }
  }
  IdlePool(const IdlePool&) = delete;
  IdlePool& operator=(const IdlePool&) = delete;

  size_t size() const { return size_; }
  size_t bytes() const { return bytes_; }
  // Since when the oldest one is here. REQUIRES: there is one.
  int64_t oldest_since() const { return oldest_->idle_since; }

  // Null when there is none.
  std::unique_ptr<T> Take() { return Unlink(newest_); }
  std::unique_ptr<T> TakeOldest() { return Unlink(oldest_); }
  // Keeps what holds about `bytes`, `now` of the steady clock in nanoseconds.
  void Give(std::unique_ptr<T> item, size_t bytes, int64_t now) {
    T* given = item.release();
    given->idle_bytes = bytes;
    given->idle_since = now;
    given->newer = nullptr;
    given->older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = given;
    newest_ = given;
    bytes_ += bytes;
    ++size_;
  }
  // What is to go next, by bytes, or with `or_age` by age; null when all may stay. The latest one
  // does.
  std::unique_ptr<T> TakeSurplus(int64_t now, bool or_age) {
    if (oldest_ == newest_) return nullptr;
    const bool is_old = or_age && now - oldest_->idle_since > kLongest;
    return bytes_ > kMostBytes || is_old ? TakeOldest() : nullptr;
  }

 private:
  std::unique_ptr<T> Unlink(T* item) {
    if (item == nullptr) return nullptr;
    (item->newer != nullptr ? item->newer->older : newest_) = item->older;
    (item->older != nullptr ? item->older->newer : oldest_) = item->newer;
    bytes_ -= item->idle_bytes;
    --size_;
    return std::unique_ptr<T>(item);
  }

  T *newest_ = nullptr, *oldest_ = nullptr;
  size_t bytes_ = 0, size_ = 0;
};

}  // namespace relayvm::vm
