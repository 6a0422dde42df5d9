#include "tests/faults/injector.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace relayvm::faults {
namespace {

constexpr int64_t kNever = INT64_MAX;

constinit std::atomic<int64_t> g_calls_left{kNever};  // until the one that fails
constinit std::atomic<bool> g_rest{false}, g_failed{false};
constinit std::atomic<int64_t> g_blocks{0}, g_mapped{0};

bool Fails() {
  if (g_calls_left.load(std::memory_order_relaxed) == kNever) return false;
  const int64_t left = g_calls_left.fetch_sub(1) - 1;
  if (left > 0 || (left < 0 && !g_rest)) return false;
  g_failed = true;
  return true;
}

void* Counted(void* block) {
  if (block != nullptr) ++g_blocks;
  return block;
}

}  // namespace

void Arm(int64_t number, Failing failing) {
  g_rest = failing == Failing::kRest;
  g_failed = false;
  g_calls_left = number;
}

bool Disarm() {
  g_calls_left = kNever;
  return g_failed;
}

Live LiveNow() { return {g_blocks, g_mapped}; }

}  // namespace relayvm::faults

// --- The C library's, through --wrap ---

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
using relayvm::faults::Counted;
using relayvm::faults::Fails;

extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* block, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void* block);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* memory, size_t bytes);

void* __wrap_malloc(size_t bytes) { return Fails() ? nullptr : Counted(__real_malloc(bytes)); }
void* __wrap_calloc(size_t count, size_t bytes) {
  return Fails() ? nullptr : Counted(__real_calloc(count, bytes));
}
void* __wrap_realloc(void* block, size_t bytes) {
  if (Fails()) return nullptr;
  return block == nullptr ? Counted(__real_malloc(bytes)) : __real_realloc(block, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return Fails() ? nullptr : Counted(__real_aligned_alloc(alignment, bytes));
}
void __wrap_free(void* block) {
  if (block != nullptr) --relayvm::faults::g_blocks;
  __real_free(block);
}

void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (Fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* memory = __real_mmap(at, bytes, protection, flags, fd, offset);
  // What is mapped over a mapping is part of it.
  const bool is_new = (flags & MAP_FIXED) == 0;
  if (memory != MAP_FAILED && is_new) relayvm::faults::g_mapped += static_cast<int64_t>(bytes);
  return memory;
}
int __wrap_munmap(void* memory, size_t bytes) {
  const int result = __real_munmap(memory, bytes);
  if (result == 0) relayvm::faults::g_mapped -= static_cast<int64_t>(bytes);
  return result;
}

}  // extern "C"

// --- operator new, of all libraries ---

namespace {

void* New(size_t bytes, size_t alignment) {
  if (Fails()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return Counted(__real_malloc(bytes == 0 ? 1 : bytes));
  return Counted(__real_aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1)));
}
void* NewOrThrow(size_t bytes, size_t alignment) {
  void* block = New(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

void* operator new(size_t bytes) { return NewOrThrow(bytes, kDefault); }
void* operator new[](size_t bytes) { return NewOrThrow(bytes, kDefault); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return New(bytes, kDefault); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return New(bytes, kDefault); }
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return New(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return New(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept { __wrap_free(block); }
void operator delete[](void* block) noexcept { __wrap_free(block); }
void operator delete(void* block, size_t) noexcept { __wrap_free(block); }
void operator delete[](void* block, size_t) noexcept { __wrap_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { __wrap_free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { __wrap_free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { __wrap_free(block); }
// NOLINTEND(bugprone-reserved-identifier)
