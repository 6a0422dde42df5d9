// MemorySource: where a runtime takes large memory from: chunks that it cuts tensors and objects
// from, tensors of some 64 MiB or more, kernels' scratch. A host that injects one (RuntimeOptions)
// decides where that memory lies, and how much there is.
//
// Not from it come: stacks (address space with guard pages), headers and tables of a few KiB, what
// kernels allocate on a pool's threads, and values that the host itself makes (value.h), but for
// those of Runtime::NewTensor. Tensors of 64 MiB
// or more go back when they are freed between runs, chunks when no block of theirs is left: but
// for 8 MiB, and what the next run may need (results too while runs follow each other), which
// Invocation::Trim and its end give back.
// Thread-safe: called from any thread, by several at once. Must not throw. Tested by
// memory_source_test.cc.
#pragma once

#include <cstddef>

namespace relayvm {

class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // `bytes`, a multiple of 4096, at a multiple of `alignment`, a power of two from 4096 to 64 MiB
  // that may be above `bytes` (posix_memalign takes that, C's aligned_alloc need not). Whatever it
  // holds. Null when there is none: the run that needs it ends with kResourceExhausted.
  virtual void* Allocate(size_t bytes, size_t alignment) = 0;
  // Gives back what Allocate gave, whole.
  virtual void Free(void* memory, size_t bytes) = 0;
  // The content of these pages, part of what Allocate gave, is not needed: their memory may go back
  // to the system until they are written again.
  virtual void Discard(void* memory, size_t bytes) {
    (void)memory;
    (void)bytes;
  }
};

}  // namespace relayvm
