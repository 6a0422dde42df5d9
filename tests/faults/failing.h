// What the injectors share: a countdown to the allocation that fails, and operator new over it.
// Included by one source of a program or library, which defines Allocate and Free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace relayvm::faults {

inline constexpr int64_t kNever = INT64_MAX;
inline constinit std::atomic<int64_t> g_calls_left{kNever};  // until the one that fails
inline constinit std::atomic<bool> g_rest{false}, g_failed{false};

inline bool Fails() {
  if (g_calls_left.load(std::memory_order_relaxed) == kNever) return false;
  const int64_t left = g_calls_left.fetch_sub(1) - 1;
  if (left > 0 || (left < 0 && !g_rest)) return false;
  g_failed = true;
  return true;
}

// From now on allocation `number` (from 1) fails, with `rest` all behind it too.
inline void StartCountdown(int64_t number, bool rest) {
  g_rest = rest;
  g_failed = false;
  g_calls_left = number;
}
// Allocations succeed again. Whether one had failed.
inline bool StopCountdown() {
  g_calls_left = kNever;
  return g_failed;
}

// operator new's, where it does not fail; null: no memory. `alignment`: 0 for what any type needs.
void* Allocate(size_t bytes, size_t alignment);
void Free(void* block);

inline void* New(size_t bytes, std::align_val_t alignment = {}) {
  const auto at = static_cast<size_t>(alignment);
  return Fails() ? nullptr
                 : Allocate(bytes == 0 ? 1 : bytes, at <= alignof(std::max_align_t) ? 0 : at);
}
inline void* NewOrThrow(size_t bytes, std::align_val_t alignment = {}) {
  void* block = New(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace relayvm::faults

void* operator new(size_t n) { return relayvm::faults::NewOrThrow(n); }
void* operator new[](size_t n) { return relayvm::faults::NewOrThrow(n); }
void* operator new(size_t n, std::align_val_t a) { return relayvm::faults::NewOrThrow(n, a); }
void* operator new[](size_t n, std::align_val_t a) { return relayvm::faults::NewOrThrow(n, a); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return relayvm::faults::New(n); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return relayvm::faults::New(n); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return relayvm::faults::New(n, a);
}
void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return relayvm::faults::New(n, a);
}
void operator delete(void* block) noexcept { relayvm::faults::Free(block); }
void operator delete[](void* block) noexcept { relayvm::faults::Free(block); }
void operator delete(void* block, size_t) noexcept { relayvm::faults::Free(block); }
void operator delete[](void* block, size_t) noexcept { relayvm::faults::Free(block); }
void operator delete(void* block, std::align_val_t) noexcept { relayvm::faults::Free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { relayvm::faults::Free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  relayvm::faults::Free(block);
}
void operator delete[](void* block, size_t, std::align_val_t) noexcept {
  relayvm::faults::Free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept { relayvm::faults::Free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  relayvm::faults::Free(block);
}
