// What the sanitizers must be told: memory of our own allocators that is free, and switches of
// stacks (fiber.cc). Nothing, in builds without them.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define RELAYVM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RELAYVM_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define RELAYVM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RELAYVM_TSAN 1
#endif
#endif

#if RELAYVM_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace relayvm::vm {

// Marks memory as free, or in use, for AddressSanitizer.
inline void PoisonMemory([[maybe_unused]] const void* p, [[maybe_unused]] size_t bytes) {
#if RELAYVM_ASAN
  __asan_poison_memory_region(p, bytes);
#endif
}
inline void UnpoisonMemory([[maybe_unused]] const void* p, [[maybe_unused]] size_t bytes) {
#if RELAYVM_ASAN
  __asan_unpoison_memory_region(p, bytes);
#endif
}

}  // namespace relayvm::vm
