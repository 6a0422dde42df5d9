// What heaps keep of what comes back, and the budget of several.
#include "vm/memory/memory_budget.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

// --- What comes back, and when ---

// malloc's memory, which only whole blocks go back to.
class CountingSource : public MemorySource {
 public:
  void* Allocate(size_t bytes, size_t alignment) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
    live += bytes;
    return memory;
  }
  void Free(void* memory, size_t bytes) override {
    live -= bytes;
    std::free(memory);
  }
  std::atomic<size_t> live{0};
};
constexpr size_t kInjectedChunk = 8 << 20;
constexpr size_t kHuge = Heap::kMaxRunBytes + 4096;

// A block that has left; not written, so that it costs nothing.
void* AllocateExported(Heap& heap, size_t bytes) {
  void* block = heap.AllocateLarge(bytes);
  REQUIRE(block != nullptr);
  heap.Export(block, bytes);
  return block;
}

TEST_CASE(
    "heap: a huge block goes back where it is freed between runs, or when the owner is gone") {
  auto source = std::make_shared<CountingSource>();
  auto* heap = new Heap(source);
  for (const char* when : {"in a run", "between runs", "trimmed", "parked", "orphaned"}) {
    CAPTURE(when);
    const std::string_view at = when;
    heap->BeginRun(SIZE_MAX);
    void* huge = AllocateExported(*heap, kHuge);
    void* small = AllocateExported(*heap, 20'000);
    CHECK(heap->stats().live_bytes == 0);
    CHECK(heap->stats().resident_bytes >= kHuge + 20'000);
    if (at != "in a run") heap->Reset();
    if (at == "trimmed") heap->Trim();
    if (at == "parked") heap->Park(1 << 20);
    if (at == "orphaned") heap->Orphan();
    CHECK(source->live >= kHuge);
    Heap::FreeExported(heap, huge, kHuge);
    if (at == "in a run") {
      CHECK(heap->stats().resident_bytes >= kHuge);  // the run may need it again
      CHECK(AllocateExported(*heap, kHuge) == huge);
      Heap::FreeExported(heap, huge, kHuge);
      heap->Reset();
      heap->Trim();
    }
    CHECK(source->live <= kInjectedChunk);
    if (at != "orphaned") CHECK(heap->stats().resident_bytes < (2 << 20));
    Heap::FreeExported(heap, small, 20'000);
  }
  CHECK(source->live == 0);
}

TEST_CASE("heap: of runs that others free between runs some stay, none when trimmed or orphaned") {
  constexpr size_t kBlock = 1 << 20, kCount = 64;
  for (const bool injected : {false, true}) {
    CAPTURE(injected);
    auto source = std::make_shared<CountingSource>();
    auto* heap = new Heap(injected ? source : nullptr);
    auto export_all = [&] {
      heap->BeginRun(SIZE_MAX);
      std::vector<void*> blocks;
      while (blocks.size() < kCount) blocks.push_back(heap->AllocateLarge(kBlock));
      for (void* block : blocks) heap->Export(block, kBlock);
      heap->Reset();
      return blocks;
    };
    for (const char* when : {"between runs", "trimmed", "parked"}) {
      CAPTURE(when);
      const std::string_view at = when;
      const std::vector<void*> blocks = export_all();
      if (at == "trimmed") heap->Trim();
      if (at == "parked") heap->Park(1 << 20);
      CHECK(heap->stats().resident_bytes >= kCount * kBlock);
      std::thread other([&] {
        for (void* block : blocks) Heap::FreeExported(heap, block, kBlock);
      });
      other.join();
      const size_t most = at == "trimmed" ? 0 : at == "parked" ? 1 << 20 : 8 << 20;
      CHECK(heap->stats().resident_bytes <= most);
      CHECK(source->live <= (at == "trimmed" ? 0 : 2 * kInjectedChunk));
    }
    const std::vector<void*> blocks = export_all();
    heap->Orphan();
    for (void* block : blocks) {
      if (block == blocks.back()) CHECK(source->live <= kInjectedChunk);
      Heap::FreeExported(heap, block, kBlock);
    }
    CHECK(source->live == 0);
  }
}

TEST_CASE("heap: what results held stays while runs go on, within what a run needs") {
  constexpr size_t kCount = 4;
  for (const size_t bytes : {size_t{20} << 20, kHuge}) {
    for (const bool injected : {false, true}) {
      CAPTURE(bytes);
      CAPTURE(injected);
      auto source = std::make_shared<CountingSource>();
      auto* heap = new Heap(injected ? source : nullptr);
      std::vector<void*> results;
      const auto run = [&] {
        heap->BeginRun(SIZE_MAX);
        results.push_back(AllocateExported(*heap, bytes));
        heap->Reset();
      };
      const auto drop = [&] {
        Heap::FreeExported(heap, results.back(), bytes);
        results.pop_back();
      };
      run();
      drop();  // another run may never come
      CHECK(heap->stats().resident_bytes <= kInjectedChunk);
      run();
      drop();
      CHECK(heap->stats().resident_bytes >= bytes);
      run();  // takes what is there
      CHECK(heap->stats().resident_bytes <= bytes + bytes / 8 + (1 << 20));
      // However many results there were, as much stays as one run needs. Of an injected source's
      // chunks those stay that were taken last, which may be the ones whose pages went back first.
      while (results.size() < kCount) run();
      while (!results.empty()) drop();
      if (!injected) CHECK(heap->stats().resident_bytes >= bytes);
      CHECK(heap->stats().resident_bytes <= bytes + bytes / 8 + (1 << 20));
      run();
      heap->Park(1 << 20);
      drop();
      CHECK(heap->stats().resident_bytes <= 1 << 20);
      for (int i = 0; i < 3; ++i) {
        run();
        drop();
      }
      CHECK(heap->stats().resident_bytes >= bytes);
      heap->Trim();
      CHECK(heap->stats().resident_bytes == 0);
      CHECK(source->live == 0);
      heap->Orphan();
    }
  }
}

TEST_CASE("heap: pages that results held count toward the budget of all, and others get them") {
  constexpr size_t kResult = 20 << 20;
  auto budget = std::make_shared<MemoryBudget>(64 << 20);
  auto *idle = new Heap(nullptr, budget), *busy = new Heap(nullptr, budget);
  for (int i = 0; i < 3; ++i) {
    idle->BeginRun(SIZE_MAX);
    void* result = AllocateExported(*idle, kResult);
    idle->Reset();
    Heap::FreeExported(idle, result, kResult);
  }
  CHECK(idle->stats().resident_bytes >= kResult);
  CHECK(budget->drawn() >= kResult);
  busy->BeginRun(SIZE_MAX);
  void* all = busy->AllocateLarge(60 << 20);
  CHECK(all != nullptr);
  CHECK(idle->stats().resident_bytes < kResult);
  busy->Reset();
  busy->Orphan();
  idle->Orphan();
  CHECK(budget->drawn() == 0);
}

// --- A budget of several heaps ---

OwnedHeap HeapOn(const std::shared_ptr<MemoryBudget>& budget,
                 const std::shared_ptr<MemorySource>& source = nullptr) {
  OwnedHeap heap(new Heap(source, budget));
  heap->BeginRun(SIZE_MAX);
  return heap;
}

TEST_CASE("heap: a budget counts pages in use, kept, exported, and what is charged") {
  constexpr size_t kMiB = 1 << 20;
  auto budget = std::make_shared<MemoryBudget>(64 * kMiB);
  void* result = nullptr;
  Heap* orphan = nullptr;
  {
    OwnedHeap a = HeapOn(budget), b = HeapOn(budget);
    auto is_exact = [&] {
      return budget->drawn() == a->stats().resident_bytes + b->stats().resident_bytes;
    };
    CHECK(a->AllocateSmall(100) != nullptr);
    CHECK(is_exact());
    void* block = a->AllocateLarge(20 * kMiB);
    result = a->AllocateLarge(2 * kMiB);
    a->Export(result, 2 * kMiB);
    CHECK(b->Charge(10 * kMiB));
    CHECK(is_exact());
    CHECK(budget->drawn() >= 32 * kMiB);
    CHECK(b->AllocateLarge(40 * kMiB) == nullptr);
    CHECK(b->refusal() == Heap::Refusal::kRuntime);
    CHECK(!b->Charge(40 * kMiB));
    CHECK(is_exact());
    // What a run has freed it may need again; where nothing runs, others have it.
    a->FreeLarge(block, 20 * kMiB);
    CHECK(b->AllocateLarge(40 * kMiB) == nullptr);
    a->Reset();
    CHECK(a->stats().resident_bytes > 20 * kMiB);
    CHECK(b->AllocateLarge(40 * kMiB) != nullptr);
    CHECK(a->stats().resident_bytes == 2 * kMiB);
    CHECK(is_exact());
    // Its own first of all.
    b->Reset();
    b->BeginRun(SIZE_MAX);
    CHECK(b->AllocateLarge(60 * kMiB) != nullptr);
    CHECK(is_exact());
    b->Reset();
    a->Park(kMiB);
    orphan = a.get();
  }
  CHECK(budget->drawn() == 2 * kMiB);
  Heap::FreeExported(orphan, result, 2 * kMiB);
  CHECK(budget->drawn() == 0);
}

TEST_CASE("heap: heaps of many threads keep to a budget, and all of it comes back") {
  constexpr size_t kLimit = 48 << 20;
  for (const bool injected : {false, true}) {
    auto budget = std::make_shared<MemoryBudget>(kLimit);
    auto source = std::make_shared<CountingSource>();
    std::atomic<size_t> refused{0};
    std::atomic<bool> exceeded{false};
    {
      std::vector<OwnedHeap> heaps;
      for (int i = 0; i < 3; ++i) {
        heaps.push_back(HeapOn(budget, injected ? source : nullptr));
        heaps.back()->Reset();
      }
      auto run = [&](Heap& heap, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<void*, size_t>> results;
        for (int turn = 0; turn < 30; ++turn) {
          heap.BeginRun(SIZE_MAX);
          for (int i = 0; i < 100; ++i) {
            const size_t bytes = size_t{1} << (random() % 26);
            void* block = nullptr;
            if (bytes <= Heap::kMaxSmall) {
              block = heap.AllocateSmall(bytes);
            } else if (random() % 8 == 0) {
              if (!heap.Charge(bytes)) ++refused;
              continue;
            } else {
              block = heap.AllocateLarge(bytes);
            }
            if (block == nullptr) ++refused;
            if (block == nullptr || bytes <= Heap::kMaxSmall) continue;
            if (random() % 4 == 0) {
              heap.Export(block, bytes);
              results.emplace_back(block, bytes);
            } else if (random() % 2 == 0) {
              heap.FreeLarge(block, bytes);
            }
          }
          if (budget->drawn() > kLimit) exceeded = true;
          heap.Reset();
          for (const auto& [block, bytes] : results) Heap::FreeExported(&heap, block, bytes);
          results.clear();
        }
      };
      std::vector<std::thread> threads;
      for (size_t i = 0; i < heaps.size(); ++i) {
        threads.emplace_back([&, i] { run(*heaps[i], static_cast<unsigned>(i)); });
      }
      for (std::thread& thread : threads) thread.join();
      size_t resident = 0;
      for (const OwnedHeap& heap : heaps) resident += heap->stats().resident_bytes;
      CHECK(budget->drawn() == resident);
      // As good as new.
      heaps[0]->BeginRun(SIZE_MAX);
      CHECK(heaps[0]->AllocateLarge(kLimit) != nullptr);
      heaps[0]->Reset();
    }
    CHECK(refused > 0);
    CHECK(!exceeded);
    CHECK(budget->drawn() == 0);
    CHECK(source->live == 0);
  }
}

}  // namespace
}  // namespace relayvm::vm
