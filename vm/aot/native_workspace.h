// The memory of one run of native code; kept for the next ones. One thread at a time. Tested by
// tests/aot.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "vm/aot/native_program.h"
#include "vm/kernels/scratch_buffers.h"
#include "vm/memory/allocator.h"
#include "vm/memory/idle_pool.h"
#include "vm/memory/object.h"
#include "vm/memory/stack.h"

namespace relayvm::vm {

// Of a program with a heap.
struct NativeProgram::Workspace : IdleLink<NativeProgram::Workspace> {
  // What stays of the native stack besides what the latest run used.
  static constexpr size_t kKeptStackBytes = 256 << 10;

  void StackUsed(size_t bytes) {
    if (stack_used > bytes + kKeptStackBytes) stacks.TrimNative(bytes + kKeptStackBytes);
    stack_used = bytes;
  }

  OwnedHeap heap{new Heap()};
  StackRegion stacks;
  ArenaStack arena{heap.get()};
  ScratchBuffers scratch{1};
  size_t stack_used = 0;  // of the native one, by the latest run, as far as it was seen
};

// Of one without.
struct NativeProgram::Memory : IdleLink<NativeProgram::Memory> {
  // Null without memory.
  static std::unique_ptr<Memory> Make(size_t bytes) {
    auto memory = std::make_unique<Memory>();
    memory->bytes = bytes;
    memory->data = std::aligned_alloc(kDataAlignment, bytes);
    return memory->data != nullptr || bytes == 0 ? std::move(memory) : nullptr;
  }
  Memory() = default;
  ~Memory() { std::free(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data = nullptr;
  size_t bytes = 0;
};

}  // namespace relayvm::vm
