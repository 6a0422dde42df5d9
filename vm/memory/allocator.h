// Heap: the memory of one invocation.
//
//   chunk  64 MiB of address space, aligned to its size; granule 0 holds a Span for each of its
//          1,024 granules of 64 KiB. From an injected source 8 MiB or what a block needs, aligned
//          likewise
//   span   one granule cut into blocks of one size class (up to 16 KiB): a free list, and a tail
//          never used yet
//   nursery  a span in what the table of the first chunk leaves of its page, where blocks of all sizes up
//          to its own, 128 bytes or more, lie side by side: the few small objects of a run that waits
//          take one page, not one for each size class
//   run    one or more granules for one larger block (up to 64 MiB, with the table); neighbours
//          coalesce when free
//   huge   a mapping of its own
//
// Runs are taken from the bottom of the memory, spans from its top: a span stays long, and between
// two large runs it would keep them from being one when they are free.
//
// Pages of free runs stay resident only while the pages in use plus those kept stay within what
// this run or the one before needed at its peak (and an eighth, and 1 MiB); beyond that the oldest
// free ones go back to the OS. So resident memory follows the pages in use, and equal runs fault
// few pages in again.
//
// Blocks that left as results, and come back between runs, stay likewise while runs go on: from the
// second that follows the one before within a second on. Before that 8 MiB of them stay. A heap
// that is parked or trimmed gives them back, and the system may take those of large blocks when it
// is short of memory. Where more than 8 MiB are kept between runs, of results or of what the last
// run needed, somebody may be told (TellWhenIdle), who gives it back when no run has come for a
// while.
//
// Its limit is that of the whole invocation: what lies elsewhere (stacks, scratch) is charged here.
// It bounds live bytes to the byte. Blocks of many sizes, of which few are left in each span, hold
// more pages than bytes: these, with what is charged and with pages kept, are at most the limit, a
// quarter more, and 3 MiB (kMaxSlackPages), whatever sequence of sizes comes. A block that would
// need more is refused as at the limit.
//
// Heaps of one runtime may share a MemoryBudget: they draw on it where pages come and go, never for
// a block in a span that there is.
//
// Whose it is. From BeginRun to Reset a heap is its owner's; in between, whoever takes it for a
// moment: the owner, threads that free exported blocks, others that need pages of the same budget.
// Who frees a block while it is taken leaves it in a list, which whoever has the heap takes back
// before he leaves.
//
// Otherwise one thread at a time, but for totals(). No locks and no atomics on its paths. Nothing
// throws: where there is no memory for a block, or for what is known of it, it is null; giving back
// takes no memory.
// Tested by allocator_test.cc, memory_budget_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "vm/memory/memory_budget.h"
#include "vm/platform/sanitizers.h"
#include "vm/platform/system_pages.h"
#include "vm/trace/single_writer.h"

namespace relayvm::vm {

struct HeapStats {
  size_t live_bytes = 0;  // in blocks handed out, rounded as they are, and charged
  size_t peak_bytes = 0;  // highest live_bytes since BeginRun()
  // Pages in use or kept, exported ones that are not freed, and what is charged.
  size_t resident_bytes = 0;
  uint64_t allocations = 0;  // since BeginRun()
};
// Over all runs.
struct HeapTotals {
  uint64_t allocations = 0, allocated_bytes = 0;
  size_t live_bytes = 0, peak_bytes = 0, resident_bytes = 0;  // as HeapStats
};

class Heap {
 public:
  static constexpr size_t kMaxSmall = 16 << 10;
  static constexpr size_t kGranuleBytes = 64 << 10;
  static constexpr size_t kChunkBytes = kHeapChunkBytes;
  static constexpr size_t kMaxRunBytes = kChunkBytes - kGranuleBytes;
  // Of an injected source: what is asked for at least, and kept between invocations at most.
  static constexpr size_t kInjectedChunkBytes = kChunkBytes / 8;

  // Why the latest block that was refused in this run was.
  enum class Refusal : uint8_t {
    kNone,     // none was
    kLimit,    // live bytes
    kPages,    // the pages that the limit allows
    kRuntime,  // the budget
    kSystem,   // the system or the source has no more
  };

  // Takes its memory from `source`; null: from the system. `budget` may be null.
  explicit Heap(std::shared_ptr<MemorySource> source = nullptr,
                std::shared_ptr<MemoryBudget> budget = nullptr);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Gives the heap up by its owner. It goes away once the last exported block is freed; until then
  // it holds only those.
  void Orphan();
  // Between invocations: keeps at most `bytes` of free pages resident, and as much of what others
  // free meanwhile.
  void Park(size_t bytes);

  // Calls on_idle(context), by whoever has the heap, between runs when it keeps more than 8 MiB
  // then; not after Orphan(). It takes no locks that whoever frees exported blocks may hold.
  void TellWhenIdle(void (*on_idle)(void* context), void* context) {
    on_idle_ = on_idle;
    on_idle_context_ = context;
  }
  // What is kept, and since when nothing has been done with it: nanoseconds of the steady clock; 0
  // bytes where it is little. From any thread.
  size_t idle_trimmable_bytes() const;
  int64_t idle_since() const { return idle_since_; }
  // Takes a heap that nobody has, so that its owner waits for TrimTaken, which gives all free pages
  // back; it may be gone then. From any thread.
  bool TakeIfIdle() { return TryTake(); }
  void TrimTaken() {
    ReleaseFree();
    Leave();
  }

  // Starts a run: `limit` bounds live bytes; whether it is the machine's; whether its memory is
  // zero when it gets it (object.h).
  void BeginRun(size_t limit, bool is_machines = false, bool clears = false);
  bool clears() const { return clears_; }
  // Ends it: frees every block but the exported ones, and keeps pages for the next run of this
  // size.
  void Reset();
  // Gives back all pages that are free, and until the next run those that others free.
  void Trim();
  HeapStats stats() const { return {live_, peak_, resident_bytes(), allocations()}; }
  // From any thread.
  HeapTotals totals() const {
    return {allocations_, allocated_bytes_, live_, peak_, resident_bytes()};
  }
  size_t peak_bytes() const { return peak_; }
  size_t resident_bytes() const {
    return (used_pages_ + kept_pages_ + exported_pages_) * kPageBytes + outside_;
  }
  // Between runs: pages that the next one finds.
  size_t idle_bytes() const { return (used_pages_ + kept_pages_) * kPageBytes; }
  size_t page_bytes() const { return (used_pages_ + PagesOf(outside_)) * kPageBytes; }  // in use
  uint64_t allocations() const { return allocations_ - allocations_before_; }
  size_t limit() const { return limit_; }
  bool limit_is_machines() const { return limit_is_machines_; }
  const MemoryBudget* budget() const { return budget_.get(); }
  Refusal refusal() const { return refusal_; }

  // Counts memory that is not the heap's toward the limit, until the run ends; false at the limit.
  bool Charge(size_t bytes) {
    if (!HasRoom(bytes) || !Admit(PagesOf(bytes), bytes)) return false;
    outside_ += bytes;
    CountCharge(bytes);
    refusal_ = Refusal::kNone;  // of more, which the caller can do without
    return true;
  }
  // The same of what TakeLarge gave.
  bool ChargeTaken(size_t bytes) {
    if (!HasRoom(bytes)) return false;
    taken_ += bytes;
    CountCharge(bytes);
    return true;
  }
  void RefundTaken(size_t bytes) {
    taken_ -= bytes;
    live_ -= bytes;
  }

  // 16-byte aligned; 64-byte aligned when `bytes` is a multiple of 64. Null when the limit or the
  // machine's memory is reached. REQUIRES: 0 < bytes <= kMaxSmall.
  [[gnu::always_inline]] void* AllocateSmall(size_t bytes) {
    const unsigned size_class = SizeClass(bytes);
    Span* span = bins_[size_class].current;
    void* block = span->free;
    const size_t counted = ClassBytes(span->size_class);  // the nursery's blocks may be larger
    if (block == nullptr || live_ + counted > limit_) [[unlikely]] {
      return AllocateSmallSlow(size_class);
    }
    span->free = *static_cast<void**>(block);
    UnpoisonMemory(block, ClassBytes(size_class));
    ++span->used;
    Count(counted);
    return block;
  }
  void FreeSmall(void* block) {
    Span* span = SpanOf(block);
    live_ -= ClassBytes(span->size_class);
    *static_cast<void**>(block) = span->free;
    span->free = block;
    PoisonMemory(static_cast<char*>(block) + sizeof(void*),
                 ClassBytes(span->size_class) - sizeof(void*));
    if (--span->used == 0 || span->state == State::kFull) [[unlikely]]
      SpanChanged(span);
  }

  // Page-aligned. REQUIRES: bytes > kMaxSmall (smaller ones waste a granule).
  void* AllocateLarge(size_t bytes);
  void FreeLarge(void* block, size_t bytes);
  // The same without counting it: the owner charges what it uses of it, and frees it before
  // Reset().
  void* TakeLarge(size_t bytes);
  void GiveLarge(void* block, size_t bytes);

  // Hands a large block to someone who may outlive the invocation and free it from any thread.
  void Export(void* block, size_t bytes);
  static void FreeExported(Heap* heap, void* block, size_t bytes);

 private:
  friend class MemoryBudget;
  // Beyond limit and a quarter: a span of each size class that is used in part, and arenas' chunks.
  static constexpr size_t kMaxSlackPages = (3 << 20) / kPageBytes;

  enum class State : uint8_t { kFree, kRun, kExported, kPartial, kFull, kInside };
  // Of a granule; of a run's first granule, and of the last one of a free run (granules only).
  struct Span {
    void* free;
    Span *previous, *next;  // in a list of free runs, or of a bin's partial spans
    Span *older, *newer;    // in the list of free runs with resident pages
    uint32_t used, fresh;  // blocks: handed out, and first never used; of a run, pages of its block
    uint16_t granules;     // of a run
    uint8_t size_class;
    State state;
    uint8_t touched;  // pages of this granule that may be resident: a prefix
  };
  struct Chunk {
    Chunk *previous, *next;
    size_t bytes;
    int num_granules;  // with granule 0
    Span spans[];
  };
  static constexpr int kNumClasses = 36;
  static constexpr int kNumRunBins = 40;
  struct Bin {
    Span* current;
    Span* partial;
  };
  struct RemoteBlock {  // lies in the freed block itself
    RemoteBlock* next;
    size_t bytes;
  };
  // A mapping for one block of more than kMaxRunBytes, from when it is taken to when it goes back.
  struct Huge {
    enum class State : uint8_t { kLive, kExported, kFree };
    size_t bytes;  // mapped
    State state;
    uint64_t freed;  // when, in numbers of huge blocks freed so far
  };
  using HugeBlock = std::map<void*, Huge>::iterator;

  // 16-byte steps up to 128, then four classes a doubling.
  static unsigned SizeClass(size_t bytes) {
    if (bytes <= 128) return static_cast<unsigned>((bytes - 1) >> 4);
    size_t last = bytes - 1;
    int log = std::bit_width(last) - 1;
    return static_cast<unsigned>(8 + (log - 7) * 4 + ((last >> (log - 2)) & 3));
  }
  static const std::array<uint32_t, kNumClasses> kClassBytes;
  static size_t ClassBytes(unsigned size_class) { return kClassBytes[size_class]; }
  static Chunk* ChunkOf(const void* p) {
    size_t offset = reinterpret_cast<uintptr_t>(p) & (kChunkBytes - 1);
    return reinterpret_cast<Chunk*>(static_cast<char*>(const_cast<void*>(p)) - offset);
  }
  static Span* SpanOf(const void* p) {
    return &ChunkOf(p)->spans[(reinterpret_cast<uintptr_t>(p) & (kChunkBytes - 1)) / kGranuleBytes];
  }
  static char* MemoryOf(Span* span);
  static int RunBin(unsigned granules);

  [[gnu::always_inline]] void Count(size_t bytes) {
    live_ += bytes;
    if (live_ > peak_) peak_ = live_;
    ++allocations_;
    allocated_bytes_ += bytes;
  }
  bool HasRoom(size_t bytes) {
    if (live_ <= limit_ && bytes <= limit_ - live_) return true;
    refusal_ = Refusal::kLimit;
    return false;
  }
  void CountCharge(size_t bytes) {
    live_ += bytes;
    peak_ = std::max<size_t>(peak_, live_);
  }
  ~Heap();
  // Whether so many more pages may be in use, of which `fresh` bytes are drawn on the budget.
  bool Admit(size_t pages, size_t fresh) {
    const bool within = used_pages_ + PagesOf(outside_) + pages <= max_pages_;
    return (within && budget_ == nullptr) || AdmitSlow(pages, fresh);
  }
  bool AdmitSlow(size_t pages, size_t fresh);
  bool Draw(size_t bytes);
  void GoneBack(size_t pages) {
    if (budget_ != nullptr) budget_->Return(pages * kPageBytes);
  }
  void* AllocateSmallSlow(unsigned size_class);
  bool HasBlock(const Span* span) const;
  Span* NewSpan(unsigned size_class);
  void SpanChanged(Span* span);
  void ReturnSpan(Span* span);
  bool TouchSpan(Span* span, size_t pages);
  bool ReturnEmptySpans();
  Span* FindRun(unsigned granules, bool top);
  Span* TakeRun(unsigned granules, bool top);
  Span* TakeSpan(size_t bytes);
  static size_t TableBytes(const Chunk* chunk);
  bool AddChunk(unsigned granules);
  void FreeEmptyChunks(size_t kept_bytes);
  void FreePages(void* memory, size_t bytes);
  void FreeChunk(Chunk* chunk);
  // `touched_pages` is the sum of `touched` over the granules.
  void InsertFree(Span* first, unsigned granules, size_t touched_pages);
  void RemoveFree(Span* first);
  void ReturnRun(Span* first);
  bool Use(Span* first, size_t bytes);
  void Unuse(const Span* first);
  static size_t TailPages(const Span* first, size_t pages);
  size_t CutTail(Span* first, size_t pages);
  void CutTails();
  size_t TouchedPages(const Span* first, unsigned granules) const;
  void Purge(Span* first, size_t pages);
  size_t TargetPages() const;
  void KeepWithinTarget();
  void ReleaseFree();
  void FreeBlocks();
  void* AllocateHuge(size_t bytes);
  void FreeHuge(HugeBlock block);
  HugeBlock OldestFreeHuge();
  void UnmapHuge(HugeBlock block);  // a free one
  bool TryTake();
  void Take();
  void Hold();
  void LetGo();
  void Leave();
  void TellIdle();
  bool HasRemote() const { return remote_.load(std::memory_order_relaxed) > kTaken; }
  void DrainRemote();
  void TakeBack(RemoteBlock* remote);
  void Offer(void* block, size_t bytes);
  void ShedIdle();
  static Span* EmptySpan();

  std::shared_ptr<MemorySource> injected_;  // null: the system
  MemorySource* source_;
  std::shared_ptr<MemoryBudget> budget_;  // may be null
  struct Member {
    Heap *previous, *next;
  } member_{};  // of the budget's heaps; under its mutex
  SingleWriter<size_t> live_, peak_;
  SingleWriter<size_t> outside_;  // charged, of memory elsewhere
  size_t taken_ = 0;              // charged, of TakeLarge's
  size_t limit_ = SIZE_MAX, max_pages_ = SIZE_MAX;
  Refusal refusal_ = Refusal::kNone;
  bool limit_is_machines_ = false;
  SingleWriter<uint64_t> allocations_, allocated_bytes_;  // of all runs
  uint64_t allocations_before_ = 0;                       // this one
  std::array<Bin, kNumClasses> bins_;
  Span* nursery_ = nullptr;  // the current one of any bins up to its class, in no list
  std::array<Span*, kNumRunBins> runs_{};
  uint64_t nonempty_runs_ = 0;  // bit by bin
  Span *oldest_ = nullptr, *newest_ = nullptr;
  Chunk* chunks_ = nullptr;
  std::map<void*, Huge> huge_;  // by their first bytes; free ones are resident
  size_t num_free_huge_ = 0;
  uint64_t num_freed_huge_ = 0;  // so far
  // Pages of 4 KiB: in use, free but resident, and of exported blocks; the highest use in this run
  // and the one before; those of runs in use that their blocks do not need.
  SingleWriter<size_t> used_pages_, kept_pages_, exported_pages_;
  size_t peak_pages_ = 0, previous_peak_pages_ = 0;
  size_t tail_pages_ = 0;
  bool has_purged_ = false;  // since chunks were last looked at

  // Between runs: free pages, and empty chunks of an injected source, that are kept at most.
  size_t idle_kept_pages_ = 0, idle_chunk_bytes_ = 0;
  bool has_shed_ = false;       // more came back since the last run than was kept
  bool keeps_results_ = false;  // runs go on: what results of one held, the next one needs
  int64_t ended_at_ = 0;        // the last run of large results, in nanoseconds
  bool running_ = false;        // from BeginRun to Reset
  bool clears_ = false;         // this run's memory
  void (*on_idle_)(void* context) = nullptr;
  void* on_idle_context_ = nullptr;
  SingleWriter<int64_t> idle_since_;
  bool held_ = false;                  // the owner has taken it; his alone
  std::atomic<size_t> references_{1};  // the owner and exported blocks
  // Zero: nobody has the heap. Else kTaken, and the first of a list of blocks freed meanwhile.
  static constexpr uintptr_t kTaken = 1;
  std::atomic<uintptr_t> remote_{0};
};

struct OrphanHeap {
  void operator()(Heap* heap) const { heap->Orphan(); }
};
using OwnedHeap = std::unique_ptr<Heap, OrphanHeap>;

}  // namespace relayvm::vm
