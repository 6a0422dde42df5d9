// The injector for a process that is Python's: preloaded (LD_PRELOAD), it makes operator new fail,
// which Python itself has no use for; and malloc, its kin and mmap where our own module calls them.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "tests/faults/failing.h"

using relayvm::faults::Fails;

namespace {

// The code whose calls of malloc count.
constinit std::atomic<uintptr_t> g_code_begin{0}, g_code_end{0};

bool FailsFor(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return at >= g_code_begin && at < g_code_end && Fails();
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names.
extern "C" {

// What a test calls: from now on allocation `number` (from 1) fails, with `rest` all behind it too.
void relayvm_faults_arm(int64_t number, int rest) {
  relayvm::faults::StartCountdown(number, rest != 0);
}
// Allocations succeed again. Not 0 when one had failed.
int relayvm_faults_disarm() { return static_cast<int>(relayvm::faults::StopCountdown()); }
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

void* relayvm::faults::Allocate(size_t bytes, size_t alignment) {
  return alignment == 0 ? std::malloc(bytes)
                        : std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}
void relayvm::faults::Free(void* block) { std::free(block); }
