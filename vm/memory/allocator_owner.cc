// Whose a heap is: a run of the program, who frees what the host holds, or nobody.
#include <cassert>
#include <new>

#include "bytecode/base/threads.h"
#include "vm/memory/allocator.h"
#include "vm/platform/clock.h"

namespace relayvm::vm {
namespace {

// What is kept more of runs that others free between two runs: the results of one, for the next.
constexpr size_t kIdleRoomPages = (8 << 20) / kPageBytes;
// Runs that begin so soon after the one before go on: what its results held is kept for them.
constexpr int64_t kGoesOnNanoseconds = 1'000'000'000;

}  // namespace

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
    heap->TellIdle();
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
  while (!TryTake()) YieldThread();
}

void Heap::Hold() {
  if (!held_) Take();
  held_ = true;
}

// Where nobody else may come, it stays the owner's: that is a short run's way. REQUIRES: !running_.
void Heap::LetGo() {
  const bool alone = budget_ == nullptr && references_.load(std::memory_order_acquire) == 1;
  if (alone && HasRemote()) {
    DrainRemote();
    ShedIdle();
  }
  if (alone && kept_pages_ <= kIdleRoomPages) return;
  TellIdle();
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
    TellIdle();
    none_freed = kTaken;
  }
}

size_t Heap::idle_trimmable_bytes() const {
  return kept_pages_ > kIdleRoomPages ? kept_pages_ * kPageBytes : 0;
}

void Heap::TellIdle() {
  if (on_idle_ == nullptr || kept_pages_ <= kIdleRoomPages) return;
  idle_since_ = NowNanoseconds();
  on_idle_(on_idle_context_);
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
      if (keeps_results_ && !running_) Offer(remote, block->second.bytes);
      FreeHuge(block);
    } else {
      Span* run = SpanOf(remote);
      exported_pages_ -= TouchedPages(run, run->granules);
      if (keeps_results_ && !running_) Offer(remote, remote->bytes);
      ReturnRun(run);
    }
    remote = next;
  }
}

// A large block is kept for a run that may never come: the system may have its pages when it is
// short of memory, until they are written again.
void Heap::Offer(void* block, size_t bytes) {
  if (injected_ == nullptr && PagesOf(bytes) > kIdleRoomPages)
    OfferPages(block, PagesOf(bytes) * kPageBytes);
}

// Between runs, when blocks have come back.
void Heap::ShedIdle() {
  KeepWithinTarget();
  while (kept_pages_ > idle_kept_pages_ && (num_free_huge_ > 0 || oldest_ != nullptr)) {
    has_shed_ = true;
    if (num_free_huge_ > 0) {
      UnmapHuge(OldestFreeHuge());
    } else {
      Purge(oldest_, kept_pages_ - idle_kept_pages_);
    }
  }
  FreeEmptyChunks(idle_chunk_bytes_);
}

// --- Runs of the program ---

void Heap::BeginRun(size_t limit, bool is_machines, bool clears) {
  Hold();
  clears_ = clears;
  running_ = true;
  limit_ = limit;
  limit_is_machines_ = is_machines;
  const size_t pages = limit / kPageBytes;
  max_pages_ = pages + pages / 4 + kMaxSlackPages;
  refusal_ = Refusal::kNone;
  allocations_before_ = allocations_;
  if (has_shed_ || keeps_results_) {
    keeps_results_ = NowNanoseconds() - ended_at_ < kGoesOnNanoseconds;
    has_shed_ = false;
  }
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
  nursery_ = nullptr;
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
  if (keeps_results_) idle_kept_pages_ = std::max(idle_kept_pages_, TargetPages());
  if (keeps_results_ || exported_pages_ > kIdleRoomPages) ended_at_ = NowNanoseconds();
  idle_chunk_bytes_ = (idle_kept_pages_ - kIdleRoomPages) * kPageBytes + kInjectedChunkBytes;
  running_ = false;
  LetGo();
}

void Heap::Trim() {
  Hold();
  if (HasRemote()) DrainRemote();
  ReleaseFree();
  if (running_) return;
  idle_kept_pages_ = idle_chunk_bytes_ = 0;
  has_shed_ = keeps_results_ = false;
  LetGo();
}

void Heap::Park(size_t bytes) {
  assert(!running_);
  Hold();
  idle_kept_pages_ = bytes / kPageBytes;
  idle_chunk_bytes_ = kInjectedChunkBytes;
  has_shed_ = keeps_results_ = false;
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
  running_ = keeps_results_ = false;
  idle_kept_pages_ = idle_chunk_bytes_ = 0;
  on_idle_ = nullptr;
  LetGo();
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace relayvm::vm
