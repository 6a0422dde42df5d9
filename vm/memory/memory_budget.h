// MemoryBudget: what the heaps of a runtime may hold together (RuntimeOptions::memory_limit). A
// heap draws before it has pages, or memory elsewhere that is charged to it, and returns what goes
// back: so the sum never exceeds the limit. Where it would, free pages that heaps between two runs
// have kept are taken from them first.
//
// Thread-safe. Heaps hold it, and may outlive the runtime. Tested by memory_budget_test.cc,
// vm/run/limits_test.cc.
#pragma once

#include <atomic>
#include <cstddef>

#include "bytecode/base/threads.h"

namespace relayvm::vm {

class Heap;

class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  size_t limit() const { return limit_; }
  size_t drawn() const { return drawn_.load(std::memory_order_relaxed); }
  // Little is left: heaps then keep hardly any free pages, which others may need.
  bool is_tight() const { return drawn() > limit_ - limit_ / 8; }

  bool Draw(size_t bytes) {
    size_t drawn = drawn_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - drawn) return false;
    } while (!drawn_.compare_exchange_weak(drawn, drawn + bytes, std::memory_order_relaxed));
    return true;
  }
  // The same; where that is too much, what heaps keep that nobody uses goes back first.
  bool DrawOrReclaim(size_t bytes) {
    if (Draw(bytes)) return true;
    ReclaimIdle();
    return Draw(bytes);
  }
  void Return(size_t bytes) { drawn_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  friend class Heap;
  void Join(Heap* heap);
  void Part(Heap* heap);
  void ReclaimIdle();

  const size_t limit_;
  std::atomic<size_t> drawn_{0};
  Mutex mutex_;
  Heap* heaps_ = nullptr;  // under mutex_; linked by Heap::Member
};

}  // namespace relayvm::vm
