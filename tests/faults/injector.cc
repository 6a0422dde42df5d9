#include "tests/faults/injector.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tests/faults/failing.h"

namespace relayvm::faults {
namespace {

constinit std::atomic<int64_t> g_blocks{0}, g_mapped{0};

void* Counted(void* block) {
  if (block != nullptr) ++g_blocks;
  return block;
}

}  // namespace

void Arm(int64_t number, Failing failing) { StartCountdown(number, failing == Failing::kRest); }
bool Disarm() { return StopCountdown(); }
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

// operator new's, of all libraries.
void* relayvm::faults::Allocate(size_t bytes, size_t alignment) {
  if (alignment == 0) return Counted(__real_malloc(bytes));
  return Counted(__real_aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1)));
}
void relayvm::faults::Free(void* block) { __wrap_free(block); }
// NOLINTEND(bugprone-reserved-identifier)
