#include "vm/stack.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "vm/allocator.h"

namespace relayvm::vm {
namespace {
constexpr size_t kPageBytes = 4096;
}  // namespace

VmStack::~VmStack() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

Status VmStack::Reserve(size_t bytes) {
  bytes = (std::max(bytes, kPageBytes) + kPageBytes - 1) & ~(kPageBytes - 1);
  if (bytes == bytes_) return OkStatus();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return {StatusCode::kResourceExhausted,
            "cannot reserve " + std::to_string(bytes) +
                " bytes of address space for the stack; lower stack_limit"};
  }
  if (begin_ != nullptr) munmap(begin_, bytes_);
  begin_ = static_cast<char*>(memory);
  bytes_ = bytes;
  return OkStatus();
}

void VmStack::Trim(size_t used) {
  used = (used + kPageBytes - 1) & ~(kPageBytes - 1);
  if (used < bytes_) madvise(begin_ + used, bytes_ - used, MADV_DONTNEED);
}

char* ArenaStack::PushSlow(size_t bytes) {
  Chunk* chunk = spare_;
  if (chunk != nullptr && chunk->bytes - kHeaderBytes >= bytes) {
    spare_ = nullptr;
  } else {
    // An arena as large as a chunk gets a chunk of its own.
    size_t needed = std::max(kMinChunkBytes, bytes + kHeaderBytes);
    if (needed < bytes) return nullptr;
    chunk = static_cast<Chunk*>(heap_->AllocateLarge(needed));
    if (chunk == nullptr) return nullptr;
    chunk->bytes = needed;
  }
  chunk->previous = chunk_;
  chunk->previous_top = top_;
  chunk_ = chunk;
  first_ = reinterpret_cast<char*>(chunk) + kHeaderBytes;
  top_ = first_ + bytes;
  end_ = reinterpret_cast<char*>(chunk) + chunk->bytes;
  return first_;
}

void ArenaStack::PopChunk() {
  Chunk* empty = chunk_;
  chunk_ = empty->previous;
  top_ = empty->previous_top;
  first_ = chunk_ != nullptr ? reinterpret_cast<char*>(chunk_) + kHeaderBytes : nullptr;
  end_ = chunk_ != nullptr ? reinterpret_cast<char*>(chunk_) + chunk_->bytes : nullptr;
  if (spare_ != nullptr) heap_->FreeLarge(spare_, spare_->bytes);
  spare_ = empty;
}

void ArenaStack::Clear() {
  chunk_ = spare_ = nullptr;
  first_ = top_ = end_ = nullptr;
}

}  // namespace relayvm::vm
