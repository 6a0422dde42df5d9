#include "vm/allocator.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "vm/address_space.h"

namespace relayvm::vm {
namespace {

constexpr int kPagesPerGranule = Heap::kGranuleBytes / kPageBytes;
// Pages kept beyond the target, so that small programs never give pages back and forth.
constexpr size_t kSlackPages = (1 << 20) / kPageBytes;
// The same where a budget is tight.
constexpr size_t kTightSlackPages = (256 << 10) / kPageBytes;
// What is kept more of runs that others free between two runs: the results of one, for the next.
constexpr size_t kIdleRoomPages = (8 << 20) / kPageBytes;

// Of an injected source: what is asked for at least, and kept between invocations at most.
constexpr size_t kInjectedChunkBytes = 8 << 20;

// Of a heap's first chunk, what is used: 1 MiB.
constexpr size_t kFirstGranules = 16;

}  // namespace

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
    : injected_(std::move(source)),
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

void Heap::FreePages(void* memory, size_t bytes) {
  UnpoisonMemory(memory, bytes);
  source_->Free(memory, bytes);
}

void Heap::FreeChunk(Chunk* chunk) {
  if (injected_ != nullptr) return FreePages(chunk, chunk->bytes);
  UnpoisonMemory(chunk, chunk->bytes);
  GiveAddresses(reinterpret_cast<char*>(chunk), kChunkBytes, kChunkBytes, /*guarded=*/false);
}

// --- Runs ---

char* Heap::MemoryOf(Span* span) {
  Chunk* chunk = ChunkOf(span);
  return reinterpret_cast<char*>(chunk) + (span - chunk->spans) * kGranuleBytes;
}

// One bin for each length up to 16 granules, then four a doubling. REQUIRES: 1 granule or more.
int Heap::RunBin(unsigned granules) {
  if (granules == 0) __builtin_unreachable();
  if (granules <= 16) return static_cast<int>(granules) - 1;
  unsigned last = granules - 1;
  int log = 31 - std::countl_zero(last);
  return 16 + (log - 4) * 4 + static_cast<int>((last >> (log - 2)) & 3);
}

size_t Heap::TouchedPages(const Span* first, unsigned granules) const {
  size_t pages = 0;
  for (unsigned i = 0; i < granules; ++i) pages += first[i].touched;
  return pages;
}

void Heap::InsertFree(Span* first, unsigned granules, size_t touched_pages) {
  Span* last = first + granules - 1;
  first->state = last->state = State::kFree;
  first->granules = last->granules = static_cast<uint16_t>(granules);
  int bin = RunBin(granules);
  first->previous = nullptr;
  first->next = runs_[bin];
  if (first->next != nullptr) first->next->previous = first;
  runs_[bin] = first;
  nonempty_runs_ |= uint64_t{1} << bin;
  // While a run is free, `used` of its first span counts its resident pages.
  first->used = static_cast<uint32_t>(touched_pages);
  if (first->used == 0) return;
  kept_pages_ += first->used;
  first->older = newest_;
  first->newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = first;
  newest_ = first;
}

void Heap::RemoveFree(Span* first) {
  int bin = RunBin(first->granules);
  if (first->next != nullptr) first->next->previous = first->previous;
  if (first->previous != nullptr) {
    first->previous->next = first->next;
  } else {
    runs_[bin] = first->next;
    if (first->next == nullptr) nonempty_runs_ &= ~(uint64_t{1} << bin);
  }
  if (first->used == 0) return;
  kept_pages_ -= first->used;
  (first->newer != nullptr ? first->newer->older : newest_) = first->older;
  (first->older != nullptr ? first->older->newer : oldest_) = first->newer;
}

// Frees a run that is in no list, together with its free neighbours.
void Heap::ReturnRun(Span* first) {
  Chunk* chunk = ChunkOf(first);
  unsigned granules = first->granules;
  size_t touched = TouchedPages(first, granules);
  Span* after = first + granules;
  if (after < chunk->spans + chunk->num_granules && after->state == State::kFree) {
    RemoveFree(after);
    granules += after->granules;
    touched += after->used;
  }
  Span* before = first - 1;  // at least granule 0, which is never free
  if (before->state == State::kFree) {
    first = before - before->granules + 1;
    RemoveFree(first);
    granules += first->granules;
    touched += first->used;
  }
  InsertFree(first, granules, touched);
}

// A chunk with a run of at least `granules`. Of the first one a small part is used: its table and the
// first small blocks then share a page.
bool Heap::AddChunk(unsigned granules) {
  size_t bytes = kChunkBytes;
  if (injected_ != nullptr)
    bytes = std::max(kInjectedChunkBytes, (size_t{granules} + 1) * kGranuleBytes);
  void* memory = injected_ != nullptr ? source_->Allocate(bytes, kChunkBytes)
                                      : TakeAddresses(kChunkBytes, kChunkBytes, /*guarded=*/false);
  if (memory == nullptr) return false;
  const bool is_small = injected_ == nullptr && chunks_ == nullptr && granules < kFirstGranules;
  const size_t num_granules = is_small ? kFirstGranules : bytes / kGranuleBytes;
  static_assert(sizeof(Chunk) + sizeof(Span) * (kChunkBytes / kGranuleBytes) <= kGranuleBytes);
  if (injected_ != nullptr) std::memset(memory, 0, sizeof(Chunk) + sizeof(Span) * num_granules);
  auto* chunk = static_cast<Chunk*>(memory);
  chunk->bytes = bytes;
  chunk->num_granules = static_cast<int>(num_granules);
  chunk->next = chunks_;
  if (chunks_ != nullptr) chunks_->previous = chunk;
  chunks_ = chunk;
  chunk->spans[0].state = State::kInside;
  InsertFree(&chunk->spans[1], static_cast<unsigned>(num_granules) - 1, 0);
  return true;
}

// The free run of at least `granules` at the lowest address, or with `top` the highest, of the first
// kMostLookedAt.
Heap::Span* Heap::FindRun(unsigned granules, bool top) {
  constexpr int kMostLookedAt = 64;
  Span* found = nullptr;
  int looked_at = 0;
  const int first_bin = RunBin(granules);
  for (uint64_t bins = nonempty_runs_ >> first_bin << first_bin; bins != 0; bins &= bins - 1) {
    for (Span* s = runs_[std::countr_zero(bins)]; s != nullptr; s = s->next) {
      if (s->granules < granules) continue;
      if (found == nullptr || std::less<>()(s, found) != top) found = s;
      if (++looked_at >= kMostLookedAt) return found;
    }
  }
  return found;
}

// A run of `granules`, in no list and of state kRun; null when there is no memory. Blocks of runs
// are taken from the bottom of the memory, spans of small blocks, which stay long, from its top: so
// the room in the middle stays whole.
Heap::Span* Heap::TakeRun(unsigned granules, bool top) {
  Span* found = FindRun(granules, top);
  if (found == nullptr && AddChunk(granules)) found = FindRun(granules, top);
  if (found == nullptr) return nullptr;
  RemoveFree(found);
  const unsigned rest = found->granules - granules;
  const unsigned touched = found->used;
  Span* taken = top ? found + rest : found;
  // Counting the part taken is cheap; the rest may be long.
  if (rest > 0)
    InsertFree(top ? found : found + granules, rest, touched - TouchedPages(taken, granules));
  taken->granules = static_cast<uint16_t>(granules);
  taken[granules - 1].state = State::kInside;
  taken->state = State::kRun;
  UnpoisonMemory(MemoryOf(taken), granules * kGranuleBytes);
  return taken;
}

// Counts the pages of a taken run as in use, when `bytes` of it will be written; false: they may not be.
bool Heap::Use(Span* first, size_t bytes) {
  const size_t pages = PagesOf(bytes);
  size_t touched = TouchedPages(first, first->granules);
  size_t tail = TailPages(first, pages);
  // Pages behind the block stay resident only where there is room for them.
  const bool is_tight = used_pages_ + PagesOf(outside_) + pages + tail > max_pages_ ||
                        (budget_ != nullptr && budget_->is_tight());
  if (is_tight && tail > 0) {
    touched -= CutTail(first, pages);
    tail = 0;
  }
  const size_t fresh = pages + tail - touched;
  if (!Admit(pages + tail, fresh * kPageBytes)) return false;
  if (fresh > 0) {
    const unsigned last = first->granules - 1U;
    for (unsigned i = 0; i < last; ++i) first[i].touched = kPagesPerGranule;
    first[last].touched = static_cast<uint8_t>(pages + tail - size_t{last} * kPagesPerGranule);
  }
  first->fresh = static_cast<uint32_t>(pages);
  tail_pages_ += tail;
  used_pages_ += pages + tail;
  peak_pages_ = std::max<size_t>(peak_pages_, used_pages_);
  KeepWithinTarget();
  return true;
}

// A run in use is not any more.
void Heap::Unuse(const Span* first) {
  const size_t tail = TailPages(first, first->fresh);
  used_pages_ -= first->fresh + tail;
  tail_pages_ -= tail;
}

// Resident ones behind the block of a run, which ends in the last granule.
size_t Heap::TailPages(const Span* first, size_t pages) {
  const unsigned last = first->granules - 1U;
  const size_t needed = pages - size_t{last} * kPagesPerGranule;
  return std::max<size_t>(first[last].touched, needed) - needed;
}

// Gives them back; how many those were.
size_t Heap::CutTail(Span* first, size_t pages) {
  const size_t tail = TailPages(first, pages);
  if (tail == 0) return 0;
  source_->Discard(MemoryOf(first) + pages * kPageBytes, tail * kPageBytes);
  first[first->granules - 1].touched -= static_cast<uint8_t>(tail);
  GoneBack(tail);
  return tail;
}

// The same of all runs in use.
void Heap::CutTails() {
  if (tail_pages_ == 0) return;
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
    const int first = chunk->spans[0].state == State::kInside ? 1 : 0;
    for (int i = first; i < chunk->num_granules; i += chunk->spans[i].granules) {
      Span* span = &chunk->spans[i];
      if (span->state == State::kRun && span->fresh != 0) used_pages_ -= CutTail(span, span->fresh);
    }
  }
  tail_pages_ = 0;
}

// --- The limit of pages, and the budget ---

bool Heap::AdmitSlow(size_t pages, size_t fresh) {
  auto within = [&] { return used_pages_ + PagesOf(outside_) + pages <= max_pages_; };
  if (!within()) {
    CutTails();
    if (!within()) ReturnEmptySpans();
    if (!within()) {
      refusal_ = Refusal::kPages;
      return false;
    }
  }
  return budget_ == nullptr || Draw(fresh);
}

bool Heap::Draw(size_t bytes) {
  if (budget_->Draw(bytes)) return true;
  // What is free here, then what is free in heaps that nobody uses.
  if (HasRemote()) DrainRemote();
  CutTails();
  ReleaseFree();
  if (budget_->Draw(bytes)) return true;
  budget_->ReclaimIdle();
  if (budget_->Draw(bytes)) return true;
  refusal_ = Refusal::kRuntime;
  return false;
}

void MemoryBudget::Join(Heap* heap) {
  const std::lock_guard lock(mutex_);
  heap->member_ = {nullptr, heaps_};
  if (heaps_ != nullptr) heaps_->member_.previous = heap;
  heaps_ = heap;
}

void MemoryBudget::Part(Heap* heap) {
  const std::lock_guard lock(mutex_);
  const auto [previous, next] = heap->member_;
  (previous != nullptr ? previous->member_.next : heaps_) = next;
  if (next != nullptr) next->member_.previous = previous;
}

void MemoryBudget::ReclaimIdle() {
  const std::lock_guard lock(mutex_);
  for (Heap* heap = heaps_; heap != nullptr; heap = heap->member_.next) heap->TrimIfIdle();
}

// --- Giving pages back ---

// At least `pages` of a free run, or all it has. From its end: its beginning is taken first.
void Heap::Purge(Span* first, size_t pages) {
  RemoveFree(first);
  const unsigned granules = first->granules;
  size_t dropped = 0;
  unsigned from = granules;
  while (from > 0 && dropped < std::min<size_t>(pages, first->used)) {
    --from;
    dropped += first[from].touched;
    first[from].touched = 0;
  }
  source_->Discard(MemoryOf(first + from), (granules - from) * kGranuleBytes);
  GoneBack(dropped);
  has_purged_ = true;
  InsertFree(first, granules, first->used - dropped);
}

// That may be in use or kept.
size_t Heap::TargetPages() const {
  const size_t peak = std::max(peak_pages_, previous_peak_pages_);
  size_t target =
      std::min(peak + peak / 8 + kSlackPages, max_pages_ - std::min(max_pages_, PagesOf(outside_)));
  if (budget_ != nullptr && budget_->is_tight())
    target = std::min(target, used_pages_ + kTightSlackPages);
  return target;
}

void Heap::KeepWithinTarget() {
  const size_t target = TargetPages();
  while (used_pages_ + kept_pages_ > target) {
    if (num_free_huge_ > 0) {
      UnmapHuge(OldestFreeHuge());
    } else if (oldest_ != nullptr) {
      Purge(oldest_, used_pages_ + kept_pages_ - target);
    } else if (!ReturnEmptySpans()) {
      return;
    }
  }
}

// Frees the spans that were kept though no block of theirs is in use; false when there are none.
bool Heap::ReturnEmptySpans() {
  bool any = false;
  for (Bin& bin : bins_) {
    Span* span = bin.current;
    if (span == EmptySpan() || span->used != 0) continue;
    bin.current = EmptySpan();
    ReturnSpan(span);
    any = true;
  }
  return any;
}

void Heap::ReleaseFree() {
  ReturnEmptySpans();
  while (num_free_huge_ > 0) UnmapHuge(OldestFreeHuge());
  while (oldest_ != nullptr) Purge(oldest_, SIZE_MAX);
  FreeEmptyChunks(0);
}

// Gives chunks back to an injected source, which cannot take pages alone, but for `kept_bytes`.
void Heap::FreeEmptyChunks(size_t kept_bytes) {
  if (injected_ == nullptr) return;
  Chunk* next = nullptr;
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = next) {
    next = chunk->next;
    Span* first = &chunk->spans[1];
    if (first->state != State::kFree || first->granules != chunk->num_granules - 1 ||
        chunk->spans[0].state != State::kInside) {
      continue;
    }
    if (chunk->bytes <= kept_bytes) {
      kept_bytes -= chunk->bytes;
      continue;
    }
    GoneBack(first->used);
    RemoveFree(first);
    (chunk->previous != nullptr ? chunk->previous->next : chunks_) = next;
    if (next != nullptr) next->previous = chunk->previous;
    FreeChunk(chunk);
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

void* Heap::AllocateSmallSlow(unsigned size_class) {
  size_t bytes = ClassBytes(size_class);
  if (!HasRoom(bytes)) return nullptr;
  Bin& bin = bins_[size_class];
  Span* span = bin.current;
  if (span == EmptySpan() || span->fresh * bytes + bytes > kGranuleBytes) {
    if (span != EmptySpan()) span->state = State::kFull;
    span = bin.partial;
    if (span != nullptr) {
      bin.partial = span->next;
      if (bin.partial != nullptr) bin.partial->previous = nullptr;
    } else {
      bin.current = EmptySpan();
      if (HasRemote()) DrainRemote();
      span = TakeSpan(bytes);
      if (span == nullptr) {
        refusal_ = Refusal::kSystem;
        return nullptr;
      }
      span->size_class = static_cast<uint8_t>(size_class);
      span->free = nullptr;
      span->used = span->fresh = 0;
      if (span == ChunkOf(span)->spans) {
        // Blocks that the chunk's table has the place of are never handed out.
        span->fresh = static_cast<uint32_t>((TableBytes(ChunkOf(span)) + bytes - 1) / bytes);
      }
      span->state = State::kPartial;
      used_pages_ += span->touched;
      if (!Admit(0, 0)) {
        ReturnSpan(span);
        return nullptr;
      }
      peak_pages_ = std::max<size_t>(peak_pages_, used_pages_);
    }
    bin.current = span;
  }
  ++span->used;
  void* block = span->free;
  if (block != nullptr) {
    span->free = *static_cast<void**>(block);
    UnpoisonMemory(block, bytes);
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
    if (block != nullptr) {
      try {
        best = huge_.emplace(block, Huge{bytes}).first;
      } catch (const std::bad_alloc&) {
        FreePages(block, bytes);
      }
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

// --- Exported blocks ---

void Heap::Export(void* block, size_t bytes) {
  references_.fetch_add(1, std::memory_order_relaxed);
  live_ -= PagesOf(bytes) * kPageBytes;
  if (bytes > kMaxRunBytes) {
    Huge& huge = huge_.find(block)->second;
    huge.state = Huge::State::kExported;
    used_pages_ -= PagesOf(huge.bytes);
    exported_pages_ += PagesOf(huge.bytes);
    return;
  }
  Span* run = SpanOf(block);
  Unuse(run);
  exported_pages_ += TouchedPages(run, run->granules);
  run->state = State::kExported;
}

void Heap::FreeExported(Heap* heap, void* block, size_t bytes) {
  auto* remote = new (block) RemoteBlock{nullptr, bytes};
  uintptr_t seen = heap->remote_.load(std::memory_order_relaxed);
  for (;;) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer and a bit are one atomic word
    remote->next = reinterpret_cast<RemoteBlock*>(seen & ~kTaken);
    const uintptr_t wanted =
        seen == 0 ? kTaken : reinterpret_cast<uintptr_t>(block) | kTaken;  // blocks are aligned
    if (heap->remote_.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
      break;
    }
  }
  if (seen == 0) {
    heap->TakeBack(remote);
    heap->ShedIdle();
    heap->Leave();
  }
  if (heap->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete heap;
}

bool Heap::TryTake() {
  uintptr_t nobody = 0;
  return remote_.compare_exchange_strong(nobody, kTaken, std::memory_order_acquire,
                                         std::memory_order_relaxed);
}

// Who has it meanwhile gives pages back, and no more.
void Heap::Take() {
  while (!TryTake()) std::this_thread::yield();
}

void Heap::Hold() {
  if (!held_) Take();
  held_ = true;
}

// Where nobody else may come, it stays the owner's: that is a short run's way. REQUIRES: !running_.
void Heap::LetGo() {
  if (budget_ == nullptr && references_.load(std::memory_order_acquire) == 1) {
    if (!HasRemote()) return;
    DrainRemote();
    return ShedIdle();
  }
  held_ = false;
  Leave();
}

// REQUIRES: !running_.
void Heap::Leave() {
  uintptr_t none_freed = kTaken;
  while (!remote_.compare_exchange_strong(none_freed, 0, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    DrainRemote();
    ShedIdle();
    none_freed = kTaken;
  }
}

void Heap::TrimIfIdle() {
  if (!TryTake()) return;
  ReleaseFree();
  Leave();
}

void Heap::DrainRemote() {
  const uintptr_t list = remote_.exchange(kTaken, std::memory_order_acquire);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer and a bit are one atomic word
  TakeBack(reinterpret_cast<RemoteBlock*>(list & ~kTaken));
}

void Heap::TakeBack(RemoteBlock* remote) {
  while (remote != nullptr) {
    RemoteBlock* next = remote->next;
    if (remote->bytes > kMaxRunBytes) {
      const HugeBlock block = huge_.find(remote);
      const size_t pages = PagesOf(block->second.bytes);
      exported_pages_ -= pages;
      used_pages_ += pages;
      FreeHuge(block);
      // Between runs it may be long until somebody needs one of this size.
      if (!running_) UnmapHuge(block);
    } else {
      Span* run = SpanOf(remote);
      exported_pages_ -= TouchedPages(run, run->granules);
      ReturnRun(run);
    }
    remote = next;
  }
}

// Between runs, when blocks have come back.
void Heap::ShedIdle() {
  KeepWithinTarget();
  while (kept_pages_ > idle_kept_pages_ && oldest_ != nullptr)
    Purge(oldest_, kept_pages_ - idle_kept_pages_);
  FreeEmptyChunks(idle_chunk_bytes_);
}

// --- Runs of the program ---

void Heap::BeginRun(size_t limit) {
  Hold();
  running_ = true;
  limit_ = limit;
  const size_t pages = limit / kPageBytes;
  max_pages_ = pages + pages / 4 + kMaxSlackPages;
  refusal_ = Refusal::kNone;
  allocations_before_ = allocations_;
  if (HasRemote()) DrainRemote();
  peak_ = live_;
  previous_peak_pages_ = peak_pages_;
  peak_pages_ = used_pages_;
  KeepWithinTarget();
}

void Heap::FreeBlocks() {
  live_ -= taken_ + outside_;
  taken_ = 0;
  if (budget_ != nullptr) budget_->Return(outside_);
  outside_ = 0;
  if (live_ == 0) return;
  bins_.fill({EmptySpan(), nullptr});
  for (Chunk* chunk = chunks_; chunk != nullptr; chunk = chunk->next) {
    int next = 0;
    for (int i = chunk->spans[0].state == State::kInside ? 1 : 0; i < chunk->num_granules;
         i = next) {
      Span* span = &chunk->spans[i];
      next = i + span->granules;
      // Returning this run makes one of it and a free run behind, whose own size is lost then.
      if (next < chunk->num_granules && chunk->spans[next].state == State::kFree) {
        next += chunk->spans[next].granules;
      }
      bool small = span->state == State::kPartial || span->state == State::kFull;
      if (!small && span->state != State::kRun) continue;
      if (small) {
        ReturnSpan(span);
      } else {
        Unuse(span);
        ReturnRun(span);
      }
    }
  }
  for (HugeBlock it = huge_.begin(); it != huge_.end(); ++it) {
    if (it->second.state == Huge::State::kLive) FreeHuge(it);
  }
  live_ = 0;
}

void Heap::Reset() {
  const bool any = live_ > taken_ + outside_ || HasRemote();
  FreeBlocks();
  if (HasRemote()) DrainRemote();
  if (any) KeepWithinTarget();
  if (!running_) return;
  if (has_purged_) {
    has_purged_ = false;
    FreeEmptyChunks(TargetPages() * kPageBytes + kInjectedChunkBytes);
  }
  idle_kept_pages_ = kept_pages_ + kIdleRoomPages;
  idle_chunk_bytes_ = kept_pages_ * kPageBytes + kInjectedChunkBytes;
  running_ = false;
  LetGo();
}

void Heap::Trim() {
  Hold();
  if (HasRemote()) DrainRemote();
  ReleaseFree();
  if (running_) return;
  idle_kept_pages_ = idle_chunk_bytes_ = 0;
  LetGo();
}

void Heap::Park(size_t bytes) {
  assert(!running_);
  Hold();
  idle_kept_pages_ = bytes / kPageBytes;
  idle_chunk_bytes_ = kInjectedChunkBytes;
  if (kept_pages_ > idle_kept_pages_) {
    ReleaseFree();
  } else {
    FreeEmptyChunks(idle_chunk_bytes_);
  }
  LetGo();
}

void Heap::Orphan() {
  if (budget_ != nullptr) budget_->Part(this);
  Hold();
  if (HasRemote()) DrainRemote();
  FreeBlocks();
  ReleaseFree();
  running_ = false;
  idle_kept_pages_ = idle_chunk_bytes_ = 0;
  LetGo();
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace relayvm::vm
