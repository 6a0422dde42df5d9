#include "vm/memory/allocator.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bytecode/base/guarded.h"

namespace relayvm::vm {

const std::array<uint32_t, Heap::kNumClasses> Heap::kClassBytes = [] {
  std::array<uint32_t, kNumClasses> bytes{};
  for (int i = 0; i < 8; ++i) bytes[i] = 16 * (i + 1);
  for (int i = 8; i < kNumClasses; ++i) bytes[i] = (5 + (i - 8) % 4) << (5 + (i - 8) / 4);
  return bytes;
}();

// Stands for "no current span": never has a free block.
Heap::Span* Heap::EmptySpan() {
  static Span span{};
  return &span;
}

Heap::Heap(std::shared_ptr<MemorySource> source, std::shared_ptr<MemoryBudget> budget)
    : injected_(source != nullptr ? std::move(source) : HeapSource()),
      source_(injected_ != nullptr ? injected_.get() : &SystemPages()),
      budget_(std::move(budget)) {
  bins_.fill({EmptySpan(), nullptr});
  if (budget_ != nullptr) budget_->Join(this);
}

Heap::~Heap() {
  if (budget_ != nullptr) budget_->Return(resident_bytes());
  for (const auto& [block, huge] : huge_) FreePages(block, huge.bytes);
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    FreeChunk(chunks_);
    chunks_ = next;
  }
}
// --- Small blocks ---

size_t Heap::TableBytes(const Chunk* chunk) {
  return sizeof(Chunk) + sizeof(Span) * static_cast<size_t>(chunk->num_granules);
}

// A span for blocks of so many bytes: what a chunk's table leaves of granule 0, or a run of one.
Heap::Span* Heap::TakeSpan(size_t bytes) {
  if (chunks_ == nullptr && !AddChunk(1)) return nullptr;
  Span* first = chunks_->spans;
  const size_t table = TableBytes(chunks_);
  const bool has_room = table + 2 * bytes <= kGranuleBytes;
  if (first->state != State::kInside || !has_room) return TakeRun(1, /*top=*/true);
  first->granules = 1;
  UnpoisonMemory(reinterpret_cast<char*>(chunks_) + table, kGranuleBytes - table);
  return first;
}

// Whether a block of this span can be handed out, by what is free of it and by the limit.
bool Heap::HasBlock(const Span* span) const {
  if (span == EmptySpan()) return false;
  const size_t bytes = ClassBytes(span->size_class);
  const bool is_nursery = span == nursery_;
  if (is_nursery && bytes > limit_ - live_) return false;
  // The nursery ends with the page of its chunk's table.
  const size_t end = is_nursery ? PagesOf(TableBytes(ChunkOf(span))) * kPageBytes : kGranuleBytes;
  return span->free != nullptr || (span->fresh + size_t{1}) * bytes <= end;
}

// An empty one; null without memory.
Heap::Span* Heap::NewSpan(unsigned size_class) {
  constexpr unsigned kLeastNursery = 7, kMostNursery = 19;  // blocks of 128 bytes to 1 KiB
  Span* span = TakeSpan(ClassBytes(size_class));
  if (span == nullptr) {
    refusal_ = Refusal::kSystem;
    return nullptr;
  }
  const bool is_first = span == ChunkOf(span)->spans;
  if (is_first && nursery_ == nullptr && size_class <= kMostNursery) {
    nursery_ = span;
    // Of sizes that any block in it may be aligned by.
    size_class = std::max(size_class, kLeastNursery);
    while (ClassBytes(size_class) % 64 != 0) ++size_class;
  }
  span->size_class = static_cast<uint8_t>(size_class);
  span->free = nullptr;
  span->used = span->fresh = 0;
  if (is_first) {
    // Blocks that the chunk's table has the place of are never handed out.
    const size_t bytes = ClassBytes(size_class);
    span->fresh = static_cast<uint32_t>((TableBytes(ChunkOf(span)) + bytes - 1) / bytes);
  }
  span->state = State::kPartial;
  used_pages_ += span->touched;
  if (!Admit(0, 0)) {
    if (span == nursery_) nursery_ = nullptr;
    ReturnSpan(span);
    return nullptr;
  }
  peak_pages_ = std::max<size_t>(peak_pages_, used_pages_);
  return span;
}

void* Heap::AllocateSmallSlow(unsigned size_class) {
  if (!HasRoom(ClassBytes(size_class))) return nullptr;
  Bin& bin = bins_[size_class];
  Span* span = bin.current;
  if (!HasBlock(span)) {
    if (span != EmptySpan() && span != nursery_) span->state = State::kFull;
    span = bin.partial;
    if (span != nullptr) {
      bin.partial = span->next;
      if (bin.partial != nullptr) bin.partial->previous = nullptr;
    } else {
      bin.current = EmptySpan();
      if (HasRemote()) DrainRemote();
      const bool suits = nursery_ != nullptr && size_class <= nursery_->size_class;
      span = suits && HasBlock(nursery_) ? nursery_ : NewSpan(size_class);
      // A new nursery may have no room for this one.
      if (span == nursery_ && span != nullptr && !HasBlock(span)) span = NewSpan(size_class);
      if (span == nullptr) return nullptr;
    }
    bin.current = span;
  }
  const size_t bytes = ClassBytes(span->size_class);
  ++span->used;
  void* block = span->free;
  if (block != nullptr) {
    span->free = *static_cast<void**>(block);
    UnpoisonMemory(block, ClassBytes(size_class));
  } else {
    block = MemoryOf(span) + bytes * span->fresh++;
    if (!TouchSpan(span, PagesOf(bytes * span->fresh))) {
      --span->fresh;
      --span->used;
      return nullptr;
    }
  }
  Count(bytes);
  return block;
}

// A block of `span` was freed, and the span was full or is now empty.
void Heap::SpanChanged(Span* span) {
  if (span == nursery_) return;
  Bin& bin = bins_[span->size_class];
  if (bin.current == span) return;  // an empty current span stays, for the next block
  if (span->state == State::kFull) {
    span->state = State::kPartial;
    span->previous = nullptr;
    span->next = bin.partial;
    if (bin.partial != nullptr) bin.partial->previous = span;
    bin.partial = span;
  }
  if (span->used > 0) return;
  (span->previous != nullptr ? span->previous->next : bin.partial) = span->next;
  if (span->next != nullptr) span->next->previous = span->previous;
  ReturnSpan(span);
}

// The first `pages` of a span are about to be written; false: they may not be.
bool Heap::TouchSpan(Span* span, size_t pages) {
  if (pages <= span->touched) return true;
  const size_t more = pages - span->touched;
  if (!Admit(more, more * kPageBytes)) return false;
  used_pages_ += pages - span->touched;
  span->touched = static_cast<uint8_t>(pages);
  peak_pages_ = std::max<size_t>(peak_pages_, used_pages_);
  KeepWithinTarget();
  return true;
}

void Heap::ReturnSpan(Span* span) {
  used_pages_ -= span->touched;
  Chunk* chunk = ChunkOf(span);
  if (span != chunk->spans) return ReturnRun(span);
  // Granule 0: its pages go back, but for those of the table.
  const size_t kept = PagesOf(TableBytes(chunk));
  if (span->touched > kept) {
    source_->Discard(reinterpret_cast<char*>(chunk) + kept * kPageBytes,
                     (span->touched - kept) * kPageBytes);
  }
  GoneBack(span->touched);
  span->touched = 0;
  span->state = State::kInside;
}

// --- Large blocks ---

void* Heap::AllocateLarge(size_t bytes) {
  size_t rounded = PagesOf(bytes) * kPageBytes;
  if (rounded < bytes || !HasRoom(rounded)) {
    refusal_ = Refusal::kLimit;
    return nullptr;
  }
  void* block = TakeLarge(bytes);
  if (block != nullptr) Count(rounded);
  return block;
}

void Heap::FreeLarge(void* block, size_t bytes) {
  live_ -= PagesOf(bytes) * kPageBytes;
  GiveLarge(block, bytes);
}

void* Heap::TakeLarge(size_t bytes) {
  if (HasRemote()) DrainRemote();
  if (bytes > kMaxRunBytes) return AllocateHuge(PagesOf(bytes) * kPageBytes);
  Span* run =
      TakeRun(static_cast<unsigned>((bytes + kGranuleBytes - 1) / kGranuleBytes), /*top=*/false);
  if (run == nullptr) {
    refusal_ = Refusal::kSystem;
    return nullptr;
  }
  run->fresh = 0;  // not in use yet
  if (!Use(run, bytes)) {
    ReturnRun(run);
    if (budget_ != nullptr) ReleaseFree();  // its own pages too, which nobody could take meanwhile
    return nullptr;
  }
  return MemoryOf(run);
}

void Heap::GiveLarge(void* block, size_t bytes) {
  if (bytes > kMaxRunBytes) {
    FreeHuge(huge_.find(block));
  } else {
    Span* run = SpanOf(block);
    Unuse(run);
    PoisonMemory(block, bytes);
    ReturnRun(run);
  }
  if (budget_ != nullptr && budget_->is_tight()) KeepWithinTarget();
}

void* Heap::AllocateHuge(size_t bytes) {
  // The smallest kept mapping that fits; a tail of more than an eighth goes back, where it can.
  HugeBlock best = huge_.end();
  for (HugeBlock it = huge_.begin(); num_free_huge_ > 0 && it != huge_.end(); ++it) {
    const size_t mapped = it->second.bytes;
    const bool fits = it->second.state == Huge::State::kFree && mapped >= bytes &&
                      (injected_ == nullptr || mapped - bytes <= bytes / 8);
    if (fits && (best == huge_.end() || mapped < best->second.bytes)) best = it;
  }
  if (best != huge_.end()) {
    if (!Admit(PagesOf(bytes), 0)) return nullptr;
    size_t& mapped = best->second.bytes;
    --num_free_huge_;
    kept_pages_ -= PagesOf(mapped);
    if (mapped - bytes > bytes / 8) {
      FreePages(static_cast<char*>(best->first) + bytes, mapped - bytes);
      GoneBack(PagesOf(mapped) - PagesOf(bytes));
      mapped = bytes;
    }
  } else {
    if (!Admit(PagesOf(bytes), bytes)) return nullptr;
    void* block = source_->Allocate(bytes, kPageBytes);
    if (block != nullptr &&
        !HasMemoryFor([&] { best = huge_.emplace(block, Huge{bytes}).first; })) {
      FreePages(block, bytes);
    }
    if (best == huge_.end()) {
      GoneBack(PagesOf(bytes));
      refusal_ = Refusal::kSystem;
      return nullptr;
    }
  }
  Huge& huge = best->second;
  huge.state = Huge::State::kLive;
  UnpoisonMemory(best->first, huge.bytes);
  used_pages_ += PagesOf(huge.bytes);
  peak_pages_ = std::max<size_t>(peak_pages_, used_pages_);
  KeepWithinTarget();
  return best->first;
}

void Heap::FreeHuge(HugeBlock block) {
  assert(block != huge_.end());
  Huge& huge = block->second;
  huge.state = Huge::State::kFree;
  huge.freed = num_freed_huge_++;
  ++num_free_huge_;
  PoisonMemory(block->first, huge.bytes);
  used_pages_ -= PagesOf(huge.bytes);
  kept_pages_ += PagesOf(huge.bytes);
}

Heap::HugeBlock Heap::OldestFreeHuge() {
  HugeBlock oldest = huge_.end();
  for (HugeBlock it = huge_.begin(); it != huge_.end(); ++it) {
    const bool is_free = it->second.state == Huge::State::kFree;
    if (is_free && (oldest == huge_.end() || it->second.freed < oldest->second.freed)) oldest = it;
  }
  return oldest;
}

void Heap::UnmapHuge(HugeBlock block) {
  const size_t bytes = block->second.bytes;
  FreePages(block->first, bytes);
  GoneBack(PagesOf(bytes));
  kept_pages_ -= PagesOf(bytes);
  --num_free_huge_;
  huge_.erase(block);
}

}  // namespace relayvm::vm
