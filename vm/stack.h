// The two stacks of an invocation, both outside the native stack.
//
// VmStack: frames, in one range of reserved address space, so that it grows without moving and
// costs only what is touched. ArenaStack: the arenas of active frames, in chunks taken from the
// heap; last in, first out. Not thread-safe. Tested by stack_test.cc.
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
  char* end() const { return begin_ + bytes_; }
  // Gives back the pages from `used` bytes on.
  void Trim(size_t used);

 private:
  char* begin_ = nullptr;
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
  // Forgets everything; the memory is the heap's to free (Heap::Reset).
  void Clear();

 private:
  struct Chunk {  // at the start of its memory; 64 bytes are set aside for it
    Chunk* previous;
    char* previous_top;
    size_t bytes;
  };
  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kMinChunkBytes = 256 << 10;

  char* PushSlow(size_t bytes);
  void PopChunk();

  Heap* heap_;
  Chunk* chunk_ = nullptr;  // the current one
  Chunk* spare_ = nullptr;  // an empty one, so that a loop at a chunk's edge does not allocate
  char *first_ = nullptr, *top_ = nullptr, *end_ = nullptr;  // of the current chunk
};

}  // namespace relayvm::vm
