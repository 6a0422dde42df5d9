// What a module shares with those that passes make of it: the owner of their nodes and the source
// of their numbers. Thread-safe, so that threads may compile one module at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace relayvm::ir {

// Owns nodes, which are never freed one by one.
class Arena {
 public:
  template <typename T>
  const T* New(T value) {
    auto holder = std::make_unique<Holder<T>>(std::move(value));
    const T* node = &holder->value;
    const std::lock_guard lock(mutex_);
    nodes_.push_back(std::move(holder));
    return node;
  }

 private:
  struct Base {
    virtual ~Base() = default;
  };
  template <typename T>
  struct Holder final : Base {
    explicit Holder(T v) : value(std::move(v)) {}
    T value;
  };
  std::mutex mutex_;
  std::deque<std::unique_ptr<Base>> nodes_;
};

// Fresh numbers.
class IdSource {
 public:
  uint32_t Next() { return last_.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  std::atomic<uint32_t> last_ = 0;
};

}  // namespace relayvm::ir
