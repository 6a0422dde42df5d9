// The injector for a process that is Python's: preloaded (LD_PRELOAD), it makes operator new fail, which
// Python itself has no use for; and malloc, its kin and mmap where our own module calls them.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr int64_t kNever = INT64_MAX;

constinit std::atomic<int64_t> g_calls_left{kNever};  // until the one that fails
constinit std::atomic<bool> g_rest{false}, g_failed{false};
// The code whose calls of malloc count.
constinit std::atomic<uintptr_t> g_code_begin{0}, g_code_end{0};

bool Fails() {
  if (g_calls_left.load(std::memory_order_relaxed) == kNever) return false;
  const int64_t left = g_calls_left.fetch_sub(1) - 1;
  if (left > 0 || (left < 0 && !g_rest)) return false;
  g_failed = true;
  return true;
}
bool FailsFor(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return at >= g_code_begin && at < g_code_end && Fails();
}

void* NewOrThrow(size_t bytes, size_t alignment) {
  void* block = nullptr;
  if (!Fails()) {
    block = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes == 0 ? 1 : bytes)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  }
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names.
extern "C" {

// What a test calls: from now on allocation `number` (from 1) fails, with `rest` all behind it too.
void relayvm_faults_arm(int64_t number, int rest) {
  g_rest = rest != 0;
  g_failed = false;
  g_calls_left = number;
}
// Allocations succeed again. Not 0 when one had failed.
int relayvm_faults_disarm() {
  g_calls_left = kNever;
  return g_failed;
}
void relayvm_faults_set_code(uintptr_t begin, uintptr_t end) {
  g_code_begin = begin;
  g_code_end = end;
}

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  return FailsFor(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  return FailsFor(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  return FailsFor(__builtin_return_address(0)) ? nullptr : __libc_realloc(block, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return FailsFor(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (FailsFor(__builtin_return_address(0))) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  static const auto real = reinterpret_cast<decltype(&mmap)>(dlsym(RTLD_NEXT, "mmap"));
  return real(at, bytes, protection, flags, fd, offset);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

void* operator new(size_t bytes) { return NewOrThrow(bytes, kDefault); }
void* operator new[](size_t bytes) { return NewOrThrow(bytes, kDefault); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Fails() ? nullptr : std::malloc(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return Fails() ? nullptr : std::malloc(bytes);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { std::free(block); }
