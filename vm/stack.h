// The two stacks of an invocation, both outside the native stack.
//
// VmStack: frames, in one range of reserved address space, so that it grows without moving and
// costs only what is touched. ArenaStack: the arenas of active frames, in chunks taken from the
// heap; last in, first out. Both charge the heap for the pages that they use, a few at a time, and
// keep them until the run ends. Not thread-safe. Tested by stack_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytecode/base/status.h"

namespace relayvm::vm {

class Heap;

class VmStack {
 public:
  VmStack() = default;
  ~VmStack();
  VmStack(const VmStack&) = delete;
  VmStack& operator=(const VmStack&) = delete;

  // Reserves `bytes`, rounded up to pages; keeps the present range when it has that size.
  Status Reserve(size_t bytes);
  char* begin() const { return begin_; }
  // Past what may be written: the charged part, and all that was reserved.
  char* end() const { return end_; }
  size_t reserved_bytes() const { return bytes_; }

  enum class Growth : uint8_t { kDone, kAtReserve, kAtLimit };
  // Moves end() to `end` or further, and charges the heap; at the end of what is reserved, or at
  // the heap's limit, nothing changes.
  Growth Grow(Heap& heap, const char* end);
  // Nothing is in use: end() is begin() again, and pages are given back from `kept` bytes on.
  void Clear(size_t kept);

 private:
  char *begin_ = nullptr, *end_ = nullptr;
  size_t bytes_ = 0;
};

class ArenaStack {
 public:
  explicit ArenaStack(Heap* heap) : heap_(heap) {}

  // 64-byte aligned; null when the heap's limit is reached. `bytes` is a multiple of 64 above 0.
  char* Push(size_t bytes) {
    char* arena = top_;
    if (bytes > static_cast<size_t>(end_ - top_)) [[unlikely]]
      return PushSlow(bytes);
    top_ = arena + bytes;
    return arena;
  }
  // Frees the arena pushed last, which Push gave.
  void Pop(char* arena) {
    top_ = arena;
    if (arena == first_) [[unlikely]]
      PopChunk();
  }
  // Frees everything.
  void Clear();

 private:
  struct Chunk {  // at the start of its memory; 64 bytes are set aside for it
    Chunk* previous;
    char* previous_top;
    size_t bytes;
    size_t charged;  // bytes, from the first on
  };
  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kMinChunkBytes = 256 << 10;

  char* PushSlow(size_t bytes);
  bool Extend(Chunk* chunk, char* end);
  void Enter(Chunk* chunk);
  void PopChunk();
  void Free(Chunk* chunk);

  Heap* heap_;
  Chunk* chunk_ = nullptr;  // the current one
  Chunk* spare_ = nullptr;  // an empty one, so that a loop at a chunk's edge does not allocate
  // Of the current chunk; end_ is where its charged part ends.
  char *first_ = nullptr, *top_ = nullptr, *end_ = nullptr;
};

}  // namespace relayvm::vm
