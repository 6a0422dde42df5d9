// The stacks of an invocation.
//
// StackRegion: address space of the native stack and, above it, of the VM's: one grows down and the
// other up from one address, so that a run which needs little of both touches one page.
// VmStack: frames, in a range of such a region, so that it grows without moving and costs only what
// is touched. ArenaStack: the arenas of active frames, in chunks taken from the heap; last in,
// first out. The latter two charge the heap for the pages that they use, a few at a time, and keep
// them until the run ends. Not thread-safe. Tested by stack_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytecode/base/status.h"
#include "vm/platform/system_pages.h"

namespace relayvm::vm {

class Heap;

class StackRegion {
 public:
  StackRegion() = default;
  ~StackRegion();
  StackRegion(const StackRegion&) = delete;
  StackRegion& operator=(const StackRegion&) = delete;

  // Of so many bytes each, rounded up to pages; keeps the present region when it was asked for with
  // those. Where there is less address space (ulimit -v), the VM's stack gets what there is, down
  // to a thousandth, and the native one down to `least_native`. REQUIRES: nothing is in use.
  Status Reserve(size_t native_bytes, size_t vm_bytes, size_t least_native = SIZE_MAX);
  // The native stack is from native_bottom() to split(), an inaccessible page below it; the VM's is
  // vm_bytes() from split() on.
  char* native_bottom() const { return memory_ + kPageBytes; }
  char* split() const { return split_; }
  size_t native_bytes() const { return static_cast<size_t>(split_ - native_bottom()); }
  size_t vm_bytes() const { return vm_bytes_; }
  // What whoever needs more of it can do.
  const char* advice() const;
  // Gives back what the native stack has below its first `kept` bytes. REQUIRES: not in use.
  void TrimNative(size_t kept) const;

 private:
  // Of the page that both stacks begin in, the native one's.
  static constexpr size_t kNativePart = 3 << 10;

  size_t total_bytes() const;

  char *memory_ = nullptr, *split_ = nullptr;
  size_t vm_bytes_ = 0;
  size_t asked_native_ = 0, asked_vm_ = 0;
};

class VmStack {
 public:
  // Of a region, which is borrowed; nothing is in use.
  void Use(const StackRegion& region);
  char* begin() const { return begin_; }
  // Past what may be written: the charged part, and all that was reserved.
  char* end() const { return end_; }
  size_t reserved_bytes() const { return bytes_; }
  const char* advice() const { return region_->advice(); }

  enum class Growth : uint8_t { kDone, kAtReserve, kAtLimit };
  // Moves end() to `end` or further, and charges the heap; at the end of what is reserved, or at
  // the heap's limit, nothing changes.
  Growth Grow(Heap& heap, const char* end);
  // Nothing is in use: end() is begin() again, and pages are given back from `kept` bytes on.
  void Clear(size_t kept);
  // Between runs: gives back what is kept from `bytes` on.
  void Trim(size_t bytes) {
    if (kept_ > bytes) TrimSlow(bytes);
  }
  size_t kept_bytes() const { return kept_; }

 private:
  void TrimSlow(size_t bytes);

  char *begin_ = nullptr, *end_ = nullptr;
  size_t bytes_ = 0;
  size_t kept_ = 0;  // from begin_ on: what former runs have used
  const StackRegion* region_ = nullptr;
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
