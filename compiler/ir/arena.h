// Owns the nodes of a module: nodes are never freed one by one. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace relayvm::ir {

class Arena {
 public:
  template <typename T>
  const T* New(T value) {
    auto* holder = new Holder<T>(std::move(value));
    nodes_.emplace_back(holder);
    return &holder->value;
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
  std::deque<std::unique_ptr<Base>> nodes_;
};

// Fresh numbers.
class IdSource {
 public:
  uint32_t Next() { return ++last_; }

 private:
  uint32_t last_ = 0;
};

}  // namespace relayvm::ir
