// Builtins that make constants (Builtin::makes_constants), for native code that has no runtime: of
// each name a function with the kernel ABI, which trusts its arguments. Compiled without
// exceptions, into an object that needs nothing of others, C's library neither; relayc links it
// into an image as it does kernels (aot/constant_builtins.h).
#include <cstddef>
#include <cstdint>

#include "kernels/runtime/winograd_transform.h"

extern "C" {

// What compilers call by themselves.
void* memcpy(void* to, const void* from, size_t bytes) {
  void* const start = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return start;
}
void* memset(void* to, int value, size_t bytes) {
  void* const start = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return start;
}
void* memmove(void* to, const void* from, size_t bytes) {
  if (to <= from) return memcpy(to, from, bytes);
  auto* last_to = static_cast<char*>(to) + bytes - 1;
  auto* last_from = static_cast<const char*>(from) + bytes - 1;
  __asm__ volatile("std\n\trep movsb\n\tcld"
                   : "+D"(last_to), "+S"(last_from), "+c"(bytes)
                   :
                   : "memory");
  return to;
}

int32_t winograd_weights_2(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args,
                           uint32_t /*begin*/, uint32_t /*end*/) {
  const relayvm::CallArgs call(env, args, 2);
  return relayvm::TransformWinogradWeights(call[0], call[1], [](int64_t) {})
             ? RELAYVM_KERNEL_OK
             : RELAYVM_KERNEL_INVALID_ARGUMENT;
}
int32_t winograd_weights_4(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args,
                           uint32_t begin, uint32_t end) {
  return winograd_weights_2(env, args, begin, end);  // the shapes tell the tile
}

}  // extern "C"
