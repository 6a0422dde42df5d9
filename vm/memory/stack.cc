#include "vm/memory/stack.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "vm/memory/allocator.h"
#include "vm/platform/address_space.h"

namespace relayvm::vm {
namespace {
size_t PagesUp(size_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }
}  // namespace

StackRegion::~StackRegion() {
  if (memory_ != nullptr) GiveAddresses(memory_, total_bytes(), kPageBytes, /*guarded=*/true);
}

// The guard, the native stack, the page of both, the VM's stack.
size_t StackRegion::total_bytes() const {
  return static_cast<size_t>(split_ - kNativePart - memory_) + kPageBytes + vm_bytes_;
}

Status StackRegion::Reserve(size_t native_bytes, size_t vm_bytes, size_t least_native) {
  constexpr size_t kMost = SIZE_MAX / 4;
  const size_t asked_native = PagesUp(std::clamp(native_bytes, kPageBytes, kMost));
  const size_t asked_vm = PagesUp(std::clamp(vm_bytes, kPageBytes, kMost));
  if (memory_ != nullptr && asked_native == asked_native_ && asked_vm == asked_vm_)
    return OkStatus();
  native_bytes = asked_native;
  vm_bytes = asked_vm;
  char* memory = nullptr;
  for (size_t part = 1;; part *= 2) {
    memory = TakeAddresses(2 * kPageBytes + native_bytes + vm_bytes, kPageBytes, /*guarded=*/true);
    constexpr size_t kLeastPart = 1024;
    if (memory != nullptr || part == kLeastPart) break;
    // Of a process with a limit, what leaves room for the heap, and for other runs.
    const size_t most = std::min(kMost, AddressLimit() / 8);
    vm_bytes = PagesUp(std::max(asked_vm / kLeastPart, std::min(most, vm_bytes / 2)));
    if (native_bytes > least_native)
      native_bytes = PagesUp(std::max(least_native, std::min(most, native_bytes / 2)));
  }
  if (memory == nullptr) {
    return {
        StatusCode::kResourceExhausted,
        "no address space for stacks of " + std::to_string(asked_native) + " and " +
            std::to_string(asked_vm) +
            " bytes, and not for smaller ones: lower stack_limit or native_stack_bytes, or raise "
            "what the process may have (ulimit -v), or its mappings (vm.max_map_count)"};
  }
  if (memory_ != nullptr) GiveAddresses(memory_, total_bytes(), kPageBytes, /*guarded=*/true);
  memory_ = memory;
  split_ = memory + kPageBytes + native_bytes + kNativePart;
  vm_bytes_ = vm_bytes;
  asked_native_ = asked_native;
  asked_vm_ = asked_vm;
  return OkStatus();
}

const char* StackRegion::advice() const {
  return native_bytes() - kNativePart < asked_native_ || vm_bytes_ < asked_vm_
             ? AddressAdvice()
             : "raise the stack limit";
}

void StackRegion::TrimNative(size_t kept) const {
  if (native_bytes() <= kept) return;
  char* end = split_ - kept;
  end -= reinterpret_cast<uintptr_t>(end) & (kPageBytes - 1);
  if (end > native_bottom()) DropPages(native_bottom(), static_cast<size_t>(end - native_bottom()));
}

void VmStack::Use(const StackRegion& region) {
  if (begin_ != region.split()) kept_ = 0;
  begin_ = end_ = region.split();
  bytes_ = region.vm_bytes();
  region_ = &region;
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
  kept_ = std::max(kept_, static_cast<size_t>(end_ - begin_));
  end_ = begin_;
  Trim(kept);
}

void VmStack::TrimSlow(size_t bytes) {
  char* from = begin_ + bytes;
  from += -reinterpret_cast<uintptr_t>(from) & (kPageBytes - 1);
  char* end = begin_ + kept_;
  if (from < end) DropPages(from, static_cast<size_t>(end - from));
  kept_ = bytes;
}

// --- Arenas ---

// Charges the chunk up to `end`.
bool ArenaStack::Extend(Chunk* chunk, char* end) {
  char* begin = reinterpret_cast<char*>(chunk);
  size_t needed = std::min(PagesUp(static_cast<size_t>(end - begin)), chunk->bytes);
  if (needed <= chunk->charged) return true;
  if (!heap_->ChargeTaken(needed - chunk->charged)) return false;
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
  heap_->RefundTaken(chunk->charged);
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
    if (bytes > SIZE_MAX - kHeaderBytes - kPageBytes) return nullptr;
    const size_t needed = std::max(kMinChunkBytes, bytes + kHeaderBytes);
    // Before there is memory of that size.
    const size_t charged = std::min(PagesUp(bytes + kHeaderBytes), needed);
    if (!heap_->ChargeTaken(charged)) return nullptr;
    chunk = static_cast<Chunk*>(heap_->TakeLarge(needed));
    if (chunk == nullptr) {
      heap_->RefundTaken(charged);
      return nullptr;
    }
    chunk->bytes = needed;
    chunk->charged = charged;
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
