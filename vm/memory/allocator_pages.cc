// Pages: what chunks are made of, what a limit and a budget allow of them, and when they go back.
#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/memory/allocator.h"
#include "vm/platform/address_space.h"

namespace relayvm::vm {
namespace {

constexpr int kPagesPerGranule = Heap::kGranuleBytes / kPageBytes;
// Pages kept beyond the target, so that small programs never give pages back and forth.
constexpr size_t kSlackPages = (1 << 20) / kPageBytes;
// The same where a budget is tight.
constexpr size_t kTightSlackPages = (256 << 10) / kPageBytes;
// Of a heap's first chunk, what is used: 1 MiB.
constexpr size_t kFirstGranules = 16;

}  // namespace

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

// A chunk with a run of at least `granules`. Of the first one a small part is used: its table and
// the first small blocks then share a page.
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

// The free run of at least `granules` at the lowest address, or with `top` the highest, of the
// first kMostLookedAt.
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

// Counts the pages of a taken run as in use, when `bytes` of it will be written; false: they may
// not be.
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
  if (budget_->DrawOrReclaim(bytes)) return true;
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
  for (Heap* heap = heaps_; heap != nullptr; heap = heap->member_.next) {
    if (heap->TakeIfIdle()) heap->TrimTaken();
  }
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
    if (span == nursery_) continue;
    ReturnSpan(span);
    any = true;
  }
  if (nursery_ == nullptr || nursery_->used != 0) return any;
  ReturnSpan(std::exchange(nursery_, nullptr));
  return true;
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

}  // namespace relayvm::vm
