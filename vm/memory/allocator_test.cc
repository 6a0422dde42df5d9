#include "vm/memory/allocator.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace relayvm::vm {
namespace {

// Owns a heap for a test.
struct TestHeap {
  Heap* heap = new Heap;
  TestHeap() { heap->BeginRun(SIZE_MAX); }
  ~TestHeap() { heap->Orphan(); }
  Heap* operator->() const { return heap; }
};

struct Block {
  char* data;
  size_t bytes;
  char fill;
};

Block Allocate(Heap& heap, size_t bytes, char fill) {
  void* p = bytes <= Heap::kMaxSmall ? heap.AllocateSmall(bytes) : heap.AllocateLarge(bytes);
  REQUIRE(p != nullptr);
  std::memset(p, fill, bytes);
  return {static_cast<char*>(p), bytes, fill};
}
void Free(Heap& heap, const Block& b) {
  if (b.bytes <= Heap::kMaxSmall) return heap.FreeSmall(b.data);
  heap.FreeLarge(b.data, b.bytes);
}
bool Intact(const Block& b) {
  return b.data[0] == b.fill && std::memcmp(b.data, b.data + 1, b.bytes - 1) == 0;
}

TEST_CASE("heap: every size is aligned and of its own") {
  TestHeap heap;
  std::vector<Block> blocks;
  for (size_t bytes = 1; bytes <= Heap::kMaxSmall; bytes += bytes < 300 ? 1 : bytes / 7) {
    blocks.push_back(Allocate(*heap.heap, bytes, static_cast<char>(bytes)));
    CHECK(reinterpret_cast<uintptr_t>(blocks.back().data) % (bytes % 64 == 0 ? 64 : 16) == 0);
  }
  for (size_t bytes : {size_t{16385}, size_t{65536}, size_t{65537}, size_t{1} << 20,
                       Heap::kMaxRunBytes, Heap::kMaxRunBytes + 1}) {
    blocks.push_back(Allocate(*heap.heap, bytes, static_cast<char>(bytes)));
    CHECK(reinterpret_cast<uintptr_t>(blocks.back().data) % 4096 == 0);
  }
  for (const Block& b : blocks) CHECK(Intact(b));
  for (const Block& b : blocks) Free(*heap.heap, b);
  CHECK(heap->stats().live_bytes == 0);
}

TEST_CASE("heap: random allocations and frees keep blocks apart, and all comes back") {
  TestHeap heap;
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) {
    if (blocks.size() > 200 || (!blocks.empty() && random() % 2 == 0)) {
      size_t k = random() % blocks.size();
      REQUIRE(Intact(blocks[k]));
      Free(*heap.heap, blocks[k]);
      blocks[k] = blocks.back();
      blocks.pop_back();
    } else {
      int log = static_cast<int>(random() % 19);
      blocks.push_back(Allocate(*heap.heap, (size_t{1} << log) + random() % (size_t{1} << log),
                                static_cast<char>(random())));
    }
  }
  for (const Block& b : blocks) {
    REQUIRE(Intact(b));
    Free(*heap.heap, b);
  }
  CHECK(heap->stats().live_bytes == 0);
  heap->Trim();
  CHECK(heap->stats().resident_bytes == 0);
}

TEST_CASE("heap: a limit is kept to the byte, and null is no harm") {
  TestHeap heap;
  heap->BeginRun(100'000);
  CHECK(heap->AllocateLarge(100'001) == nullptr);
  void* large = heap->AllocateLarge(90'000);  // 90,112 in pages
  REQUIRE(large != nullptr);
  CHECK(heap->AllocateSmall(Heap::kMaxSmall) == nullptr);
  std::vector<void*> small;
  while (void* p = heap->AllocateSmall(64)) small.push_back(p);
  // Those in the nursery have 128 bytes each.
  CHECK(heap->stats().live_bytes == 100'000 - (100'000 - 90'112) % 64);
  CHECK(small.size() > (100'000 - 90'112) / 128);
  CHECK(heap->AllocateLarge(SIZE_MAX - 10) == nullptr);
  heap->FreeLarge(large, 90'000);
  CHECK(heap->AllocateSmall(64) != nullptr);
  CHECK(heap->stats().peak_bytes <= 100'000);
}

TEST_CASE("heap: the first small objects of all sizes are in one page, aligned, and each its own") {
  TestHeap heap;
  for (int run = 0; run < 2; ++run) {
    std::vector<Block> blocks;
    for (const size_t bytes : {48, 128, 16, 64, 96, 32, 112, 80, 64, 1}) {
      blocks.push_back(Allocate(*heap.heap, bytes, static_cast<char>(bytes)));
      CHECK(reinterpret_cast<uintptr_t>(blocks.back().data) % (bytes % 64 == 0 ? 64 : 16) == 0);
    }
    // A chunk of 64 MiB, which the first run needed, has a longer table.
    CHECK(heap->resident_bytes() == (run == 0 ? 4096 : 61'440));
    // Many more: the page is full, and sizes get spans of their own, on both sides of what stays in
    // it.
    while (blocks.size() < 500) {
      const size_t bytes = 1 + blocks.size() * 37 % 1024;
      blocks.push_back(Allocate(*heap.heap, bytes, static_cast<char>(blocks.size())));
    }
    for (size_t i = 1; i < blocks.size(); i += 2) {
      CHECK(Intact(blocks[i]));
      Free(*heap.heap, blocks[i]);
      blocks[i] = Allocate(*heap.heap, 1 + i * 61 % 200, static_cast<char>(i));
    }
    for (const Block& b : blocks) CHECK(Intact(b));
    if (run == 0)
      for (const Block& b : blocks) Free(*heap.heap, b);
    if (run == 0) CHECK(heap->stats().live_bytes == 0);
    heap->Reset();
    CHECK(heap->stats().live_bytes == 0);
    heap->Trim();
    CHECK(heap->resident_bytes() == 0);
    heap->BeginRun(SIZE_MAX);
  }
}

TEST_CASE("heap: where the first small object is larger than the others, they share its page too") {
  TestHeap heap;
  for (const size_t bytes : {320, 128, 64, 192, 16, 300, 256}) {
    const Block block = Allocate(*heap.heap, bytes, 1);
    CHECK(reinterpret_cast<uintptr_t>(block.data) % (bytes % 64 == 0 ? 64 : 16) == 0);
  }
  CHECK(heap->resident_bytes() == 4096);
}

// Makes the pages of a block resident.
Block AllocateTouched(Heap& heap, size_t bytes) {
  void* p = bytes <= Heap::kMaxSmall ? heap.AllocateSmall(bytes) : heap.AllocateLarge(bytes);
  REQUIRE(p != nullptr);
  auto* data = static_cast<char*>(p);
  for (size_t i = 0; i < bytes; i += 4096) data[i] = 1;
  return {data, bytes, 1};
}

// One run of a chain of tensors: each step allocates the next before it frees the last.
void RunChain(Heap& heap, size_t bytes) {
  Block last = AllocateTouched(heap, bytes);
  for (int i = 0; i < 10; ++i) {
    Block next = AllocateTouched(heap, bytes + static_cast<size_t>(i) * 100);
    Free(heap, last);
    last = next;
  }
  Free(heap, last);
}

TEST_CASE("heap: whatever shapes come, resident memory stays near the largest run's") {
  auto resident_after = [](const std::vector<size_t>& sizes) {
    TestHeap heap;
    size_t most = 0;
    for (size_t bytes : sizes) {
      heap->BeginRun(SIZE_MAX);
      RunChain(*heap.heap, bytes);
      most = std::max(most, heap->stats().resident_bytes);
    }
    return most;
  };
  std::mt19937 random(2);
  for (size_t largest : {size_t{1'200'000}, size_t{10'000'000}, size_t{60'000'000}}) {
    CAPTURE(largest);
    std::vector<size_t> sizes;
    int runs = largest > 20'000'000 ? 30 : 300;
    for (int i = 0; i < runs; ++i) sizes.push_back(random() % largest + 1);
    sizes.push_back(largest);
    for (int i = 0; i < runs; ++i) sizes.push_back(random() % largest + 1);
    size_t alone = resident_after({largest});
    CHECK(alone >= 2 * largest);
    CHECK(resident_after(sizes) <= alone + alone / 4 + (1 << 20));
  }
}

TEST_CASE(
    "heap: pages kept for the next run are those that a run needs; small runs give them back") {
  TestHeap heap;
  RunChain(*heap.heap, 8 << 20);
  size_t after_large = heap->stats().resident_bytes;
  CHECK(after_large >= (16 << 20));
  heap->BeginRun(SIZE_MAX);
  RunChain(*heap.heap, 8 << 20);
  CHECK(heap->stats().resident_bytes <= after_large + (2 << 20));
  for (int i = 0; i < 3; ++i) {
    heap->BeginRun(SIZE_MAX);
    RunChain(*heap.heap, 1000);
  }
  CHECK(heap->stats().resident_bytes <= (3 << 20));
}

TEST_CASE("heap: equal runs whose results outlive them fault no pages in") {
  constexpr size_t kLarge = 12 << 20;
  TestHeap heap;
  char* result = nullptr;
  for (int run = 0; run < 10; ++run) {
    heap->BeginRun(SIZE_MAX);
    size_t fresh = 0;
    // Pages that were given back, or never had, are zero.
    auto allocate = [&](size_t bytes) {
      heap->AllocateSmall(48);  // a header beside each block
      auto* block = static_cast<char*>(heap->AllocateLarge(bytes));
      REQUIRE(block != nullptr);
      for (size_t at = 100; at < bytes; at += 4096) fresh += block[at] == 0 ? 1 : 0;
      std::memset(block, 1, bytes);
      return block;
    };
    char* a = allocate(kLarge);
    char* b = allocate(kLarge);
    heap->FreeLarge(a, kLarge);
    char* c = allocate(kLarge / 2);
    heap->FreeLarge(b, kLarge);
    char* d = allocate(kLarge / 7);
    heap->FreeLarge(c, kLarge / 2);
    char* next = allocate(kLarge / 7);
    heap->FreeLarge(d, kLarge / 7);
    heap->Export(next, kLarge / 7);
    heap->Reset();
    // The host holds a result until it has the next one.
    if (result != nullptr) Heap::FreeExported(heap.heap, result, kLarge / 7);
    result = next;
    CHECK(heap->stats().resident_bytes < 3 * kLarge);
    if (run >= 4) CHECK(fresh == 0);
  }
  Heap::FreeExported(heap.heap, result, kLarge / 7);
}

TEST_CASE("heap: resident pages are what stats say") {
  TestHeap heap;
  char* p = static_cast<char*>(heap->AllocateLarge(10 << 20));
  std::memset(p, 1, 10 << 20);
  heap->FreeLarge(p, 10 << 20);
  CHECK(heap->stats().resident_bytes >= (10 << 20));
  heap->Trim();
  CHECK(heap->stats().resident_bytes == 0);
  std::vector<unsigned char> in_core((10 << 20) / 4096);
  REQUIRE(mincore(p, 10 << 20, in_core.data()) == 0);
  size_t pages = 0;
  for (unsigned char page : in_core) pages += page & 1;
  CHECK(pages == 0);
}

TEST_CASE("heap: reset frees all but exported blocks") {
  TestHeap heap;
  std::vector<Block> exported;
  for (size_t bytes : {size_t{20'000}, size_t{3'000'000}, size_t{40'000'000}}) {
    exported.push_back(Allocate(*heap.heap, bytes, 7));
    heap->Export(exported.back().data, bytes);
    Allocate(*heap.heap, bytes, 8);
    Allocate(*heap.heap, 48, 9);
  }
  heap->Reset();
  CHECK(heap->stats().live_bytes == 0);
  for (size_t bytes : {size_t{20'000}, size_t{3'000'000}, size_t{40'000'000}, size_t{48}}) {
    Allocate(*heap.heap, bytes, 10);
  }
  for (const Block& b : exported) CHECK(Intact(b));
  for (const Block& b : exported) Heap::FreeExported(heap.heap, b.data, b.bytes);
  heap->BeginRun(SIZE_MAX);
  heap->Reset();
  heap->Trim();
  CHECK(heap->stats().resident_bytes == 0);
}

TEST_CASE("heap: reset finds every run, whatever lies free between them") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    TestHeap heap;
    std::vector<Block> blocks;
    for (int i = 0; i < 40; ++i) {
      size_t bytes = random() % 3 == 0 ? 1 + random() % Heap::kMaxSmall
                                       : Heap::kMaxSmall + 1 + random() % (size_t{512} << 10);
      blocks.push_back(Allocate(*heap.heap, bytes, static_cast<char>(i)));
    }
    for (const Block& b : blocks) {
      if (random() % 3 == 0) Free(*heap.heap, b);
    }
    heap->Reset();
    CHECK(heap->stats().live_bytes == 0);
    // All is one free run again: two halves of the largest block.
    constexpr size_t kHalf = Heap::kMaxRunBytes / 2 / Heap::kGranuleBytes * Heap::kGranuleBytes;
    void* half = heap->AllocateLarge(kHalf);
    void* rest = heap->AllocateLarge(kHalf - Heap::kGranuleBytes);
    REQUIRE(half != nullptr);
    REQUIRE(rest != nullptr);
    auto chunk_of = [](void* p) { return reinterpret_cast<uintptr_t>(p) / Heap::kChunkBytes; };
    CHECK(chunk_of(half) == chunk_of(rest));
  }
}

TEST_CASE("heap: exported blocks are freed by other threads, before and after the owner is gone") {
  auto* heap = new Heap;
  heap->BeginRun(SIZE_MAX);
  std::vector<Block> blocks;
  for (int i = 0; i < 64; ++i) {
    blocks.push_back(Allocate(*heap, 20'000 + static_cast<size_t>(i) * 5000, 3));
    heap->Export(blocks.back().data, blocks.back().bytes);
  }
  std::thread other([&] {
    for (const Block& b : blocks) Heap::FreeExported(heap, b.data, b.bytes);
  });
  for (int i = 0; i < 100; ++i) {
    heap->BeginRun(SIZE_MAX);
    RunChain(*heap, 50'000);
  }
  heap->Orphan();
  other.join();
}

// --- Pages ---

TEST_CASE("heap: a few blocks left in each span hold no more pages than the limit allows") {
  constexpr size_t kLimit = 16 << 20;
  TestHeap heap;
  for (int run = 0; run < 2; ++run) {
    heap->BeginRun(kLimit);
    size_t most = 0;
    bool refused = false;
    for (size_t bytes = 64; bytes <= Heap::kMaxSmall && !refused; bytes += bytes / 4) {
      // Fills what there is, then frees all but one block a span.
      std::vector<void*> blocks;
      while (heap->stats().live_bytes + bytes * 2 <= kLimit) {
        blocks.push_back(heap->AllocateSmall(bytes));
        refused = blocks.back() == nullptr;
        if (refused) break;
      }
      most = std::max(most, heap->stats().resident_bytes);
      if (refused) break;
      const size_t a_span = Heap::kGranuleBytes / bytes;
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (i % a_span != 0) heap->FreeSmall(blocks[i]);
      }
    }
    CHECK(refused);
    CHECK(heap->refusal() == Heap::Refusal::kPages);
    CHECK(heap->AllocateLarge(4 << 20) == nullptr);
    CHECK(heap->stats().live_bytes < kLimit / 2);
    CHECK(most > kLimit);
    CHECK(most <= kLimit + kLimit / 4 + (3 << 20));
    // All that is charged, or lies in pages, counts.
    CHECK(!heap->Charge(kLimit / 4));
    heap->Reset();
    heap->BeginRun(kLimit);
    CHECK(heap->AllocateLarge(kLimit) != nullptr);
    heap->Reset();
  }
}

TEST_CASE("heap: a limit is reached whatever sizes came before") {
  TestHeap heap;
  // All pages of each granule are resident.
  constexpr size_t kCount = 400;
  for (size_t i = 0; i < kCount; ++i) REQUIRE(heap->AllocateLarge(Heap::kGranuleBytes) != nullptr);
  heap->Reset();
  for (size_t bytes : {size_t{5 * 4096}, size_t{9 * 4096}}) {
    const size_t limit = kCount * bytes;
    heap->BeginRun(limit);
    for (size_t i = 0; i < kCount; ++i) REQUIRE(heap->AllocateLarge(bytes) != nullptr);
    CHECK(heap->AllocateLarge(bytes) == nullptr);
    CHECK(heap->refusal() == Heap::Refusal::kLimit);
    CHECK(heap->stats().resident_bytes <= limit + limit / 4 + (3 << 20));
    heap->Reset();
  }
  for (size_t bytes = 16; bytes <= Heap::kMaxSmall; bytes += bytes / 2) {
    heap->BeginRun(1 << 20);
    while (heap->AllocateSmall(bytes) != nullptr) continue;
    CHECK(heap->refusal() == Heap::Refusal::kLimit);
    CHECK(heap->stats().live_bytes + bytes + bytes / 4 + 16 >= (1 << 20));
    heap->Reset();
  }
}

}  // namespace
}  // namespace relayvm::vm
