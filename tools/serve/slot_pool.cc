#include "tools/serve/slot_pool.h"

#include <sys/mman.h>

#include <cassert>
#include <cstdint>
#include <new>

#include "vm/platform/sanitizers.h"

namespace relayvm::serve {

using vm::PoisonMemory;
using vm::UnpoisonMemory;

namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);

constexpr size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

struct FreeSlot {
  FreeSlot* next;
};

}  // namespace

// At the begin of its memory, which is aligned to its size; slots follow.
struct SlotPool::Slab {
  static constexpr size_t kHeader = 64;
  static Slab* Of(void* slot) {
    const auto address = reinterpret_cast<uintptr_t>(slot);
    return reinterpret_cast<Slab*>(address - address % kSlabBytes);
  }

  FreeSlot* free = nullptr;
  size_t used = 0;
  Slab *previous = nullptr, *next = nullptr;  // of open ones
};

SlotPool::SlotPool(size_t bytes) : slot_bytes_(RoundUp(bytes, kAlignment)) {
  static_assert(sizeof(Slab) <= Slab::kHeader && Slab::kHeader % kAlignment == 0);
  assert(bytes > 0 && bytes <= kMaxBytes);
}

SlotPool::~SlotPool() {
  while (open_ != nullptr) {
    Slab* const slab = open_;
    assert(slab->used == 0);
    Close(slab);
    Unmap(slab);
    --num_slabs_;
  }
  assert(num_slabs_ == 0);
}

void SlotPool::Open(Slab* slab) {
  slab->previous = nullptr;
  slab->next = open_;
  if (open_ != nullptr) open_->previous = slab;
  open_ = slab;
}

void SlotPool::Close(Slab* slab) {
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  (slab->previous != nullptr ? slab->previous->next : open_) = slab->next;
}

SlotPool::Slab* SlotPool::Map() const {
  // The system aligns to pages: what is before and behind the slab goes back.
  constexpr size_t kMapped = 2 * kSlabBytes;
  void* mapped =
      ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const from = static_cast<char*>(mapped);
  char* const begin = reinterpret_cast<char*>(Slab::Of(from + kSlabBytes - 1));
  if (begin > from) ::munmap(from, static_cast<size_t>(begin - from));
  char* const end = begin + kSlabBytes;
  if (end < from + kMapped) ::munmap(end, static_cast<size_t>(from + kMapped - end));
  auto* slab = new (begin) Slab;
  for (char* slot = begin + Slab::kHeader; slot + slot_bytes_ <= end; slot += slot_bytes_) {
    slab->free = new (slot) FreeSlot{slab->free};
    PoisonMemory(slot, slot_bytes_);
  }
  return slab;
}

void SlotPool::Unmap(Slab* slab) {
  UnpoisonMemory(slab, kSlabBytes);
  ::munmap(slab, kSlabBytes);
}

void* SlotPool::Take() {
  const std::lock_guard lock(mutex_);
  if (open_ == nullptr) {
    Open(Map());
    ++num_slabs_;
  }
  Slab* const slab = open_;
  FreeSlot* const slot = slab->free;
  UnpoisonMemory(slot, slot_bytes_);
  slab->free = slot->next;
  ++slab->used;
  if (slab->free == nullptr) Close(slab);
  return slot;
}

void SlotPool::Give(void* slot) noexcept {
  const std::lock_guard lock(mutex_);
  Slab* const slab = Slab::Of(slot);
  const bool was_full = slab->free == nullptr;
  slab->free = new (slot) FreeSlot{slab->free};
  PoisonMemory(slot, slot_bytes_);
  --slab->used;
  if (was_full) Open(slab);
  // One with free slots stays for the next.
  if (slab->used > 0 || (open_ == slab && slab->next == nullptr)) return;
  Close(slab);
  Unmap(slab);
  --num_slabs_;
}

size_t SlotPool::num_slabs() const {
  const std::lock_guard lock(mutex_);
  return num_slabs_;
}

}  // namespace relayvm::serve
