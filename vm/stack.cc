#include "vm/stack.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vm/allocator.h"

namespace relayvm::vm {
namespace {
size_t PagesUp(size_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }
}  // namespace

VmStack::~VmStack() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

Status VmStack::Reserve(size_t bytes) {
  if (bytes > SIZE_MAX - kPageBytes) bytes = SIZE_MAX - kPageBytes;
  bytes = PagesUp(std::max(bytes, kPageBytes));
  if (bytes == bytes_) return OkStatus();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return {StatusCode::kResourceExhausted,
            "cannot reserve " + std::to_string(bytes) +
                " bytes of address space for the stack; lower stack_limit"};
  }
  if (begin_ != nullptr) munmap(begin_, bytes_);
  begin_ = end_ = static_cast<char*>(memory);
  bytes_ = bytes;
  return OkStatus();
}

VmStack::Growth VmStack::Grow(Heap& heap, const char* end) {
  auto reserved = static_cast<size_t>(begin_ + bytes_ - end_);
  auto needed = static_cast<size_t>(end - end_);
  if (needed > reserved) return Growth::kAtReserve;
  // As much again as there is, so that deep recursion seldom comes here.
  constexpr size_t kMaxStep = 1 << 20;
  needed = PagesUp(needed);
  size_t step = std::min(reserved, std::max(needed, std::min<size_t>(end_ - begin_, kMaxStep)));
  if (!heap.Charge(step)) {
    step = needed;
    if (!heap.Charge(step)) return Growth::kAtLimit;
  }
  end_ += step;
  return Growth::kDone;
}

void VmStack::Clear(size_t kept) {
  auto used = static_cast<size_t>(end_ - begin_);
  if (used > kept) madvise(begin_ + PagesUp(kept), used - PagesUp(kept), MADV_DONTNEED);
  end_ = begin_;
}

// --- Arenas ---

// Charges the chunk up to `end`.
bool ArenaStack::Extend(Chunk* chunk, char* end) {
  char* begin = reinterpret_cast<char*>(chunk);
  size_t needed = std::min(PagesUp(static_cast<size_t>(end - begin)), chunk->bytes);
  if (needed <= chunk->charged) return true;
  if (!heap_->Charge(needed - chunk->charged)) return false;
  chunk->charged = needed;
  return true;
}

// Makes it the current chunk.
void ArenaStack::Enter(Chunk* chunk) {
  chunk_ = chunk;
  first_ = chunk != nullptr ? reinterpret_cast<char*>(chunk) + kHeaderBytes : nullptr;
  end_ = chunk != nullptr ? reinterpret_cast<char*>(chunk) + chunk->charged : nullptr;
}

void ArenaStack::Free(Chunk* chunk) {
  heap_->Refund(chunk->charged);
  heap_->GiveLarge(chunk, chunk->bytes);
}

char* ArenaStack::PushSlow(size_t bytes) {
  if (chunk_ != nullptr) {
    auto room = static_cast<size_t>(reinterpret_cast<char*>(chunk_) + chunk_->bytes - top_);
    if (bytes <= room) {
      if (!Extend(chunk_, top_ + bytes)) return nullptr;
      Enter(chunk_);
      return std::exchange(top_, top_ + bytes);
    }
  }
  Chunk* chunk = std::exchange(spare_, nullptr);
  if (chunk != nullptr && chunk->bytes - kHeaderBytes < bytes) Free(std::exchange(chunk, nullptr));
  if (chunk == nullptr) {
    // An arena as large as a chunk gets a chunk of its own.
    size_t needed = std::max(kMinChunkBytes, bytes + kHeaderBytes);
    if (needed < bytes || !heap_->Charge(kPageBytes)) return nullptr;
    chunk = static_cast<Chunk*>(heap_->TakeLarge(needed));
    if (chunk == nullptr) {
      heap_->Refund(kPageBytes);
      return nullptr;
    }
    chunk->bytes = needed;
    chunk->charged = kPageBytes;
  }
  char* first = reinterpret_cast<char*>(chunk) + kHeaderBytes;
  if (!Extend(chunk, first + bytes)) {
    Free(chunk);
    return nullptr;
  }
  chunk->previous = chunk_;
  chunk->previous_top = top_;
  Enter(chunk);
  top_ = first + bytes;
  return first;
}

void ArenaStack::PopChunk() {
  Chunk* empty = chunk_;
  top_ = empty->previous_top;
  Enter(empty->previous);
  if (spare_ != nullptr) Free(spare_);
  spare_ = empty;
}

void ArenaStack::Clear() {
  while (chunk_ != nullptr) PopChunk();
  if (spare_ != nullptr) Free(std::exchange(spare_, nullptr));
}

}  // namespace relayvm::vm
