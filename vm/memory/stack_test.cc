#include "vm/memory/stack.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

TEST_CASE("stack region: reserved address space, kept when the sizes are the same") {
  StackRegion region;
  REQUIRE(region.Reserve(100'000, size_t{1} << 30).ok());
  char* split = region.split();
  CHECK(region.vm_bytes() == (1 << 30));
  CHECK(region.native_bytes() >= 100'000);
  CHECK(region.native_bottom() + region.native_bytes() == split);
  // Both begin in one page, and all of both is there.
  CHECK(reinterpret_cast<uintptr_t>(split) % 64 == 0);
  CHECK((reinterpret_cast<uintptr_t>(split - 1) ^ reinterpret_cast<uintptr_t>(split)) < 4096);
  for (char* p : {region.native_bottom(), split - 1, split, split + region.vm_bytes() - 1}) {
    CHECK(*p == 0);
    *p = 1;
  }
  REQUIRE(region.Reserve(100'000, size_t{1} << 30).ok());
  CHECK(region.split() == split);
  CHECK(*split == 1);
  REQUIRE(region.Reserve(1, 1).ok());
  CHECK(region.vm_bytes() == 4096);
  for (const size_t bytes : {size_t{1} << 60, SIZE_MAX}) {
    CHECK(!region.Reserve(1, bytes).ok());
    CHECK(!region.Reserve(bytes, 1).ok());
  }
  CHECK(region.vm_bytes() == 4096);
  *region.split() = 1;
}

TEST_CASE("stack region: where address space is short, it is smaller, and says so") {
  StackRegion whole;
  REQUIRE(whole.Reserve(100'000, size_t{1} << 20).ok());
  CHECK(std::string(whole.advice()) == "raise the stack limit");
  const pid_t child = fork();
  if (child == 0) {
    std::ifstream file("/proc/self/statm");
    size_t pages = 0;
    constexpr size_t kAsked = (size_t{1} << 30) + (5 << 12);  // no other test's
    file >> pages;
    constexpr size_t kRoom = size_t{400} << 20;
    const rlimit limit{pages * kPageBytes + kRoom, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    StackRegion region, native, none;
    const bool ok = region.Reserve(100'000, kAsked).ok() && region.vm_bytes() >= (1 << 20) &&
                    region.vm_bytes() < kAsked && region.native_bytes() >= 100'000 &&
                    std::string(region.advice()).find("ulimit -v") != std::string::npos &&
                    region.Reserve(100'000, kAsked).ok();
    region.split()[region.vm_bytes() - 1] = *region.native_bottom() = 1;
    const bool native_ok = native.Reserve(kAsked, 1, /*least_native=*/1 << 20).ok() &&
                           native.native_bytes() >= (1 << 20) && native.native_bytes() < kAsked;
    _exit(ok && native_ok && !none.Reserve(kAsked, 1).ok() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("vm stack: grows by pages that the heap is charged for") {
  auto* heap = new Heap;
  heap->BeginRun(100'000);
  StackRegion region;
  REQUIRE(region.Reserve(1, 200'000).ok());
  VmStack stack;
  stack.Use(region);
  CHECK(stack.end() == stack.begin());
  CHECK(stack.Grow(*heap, stack.begin() + 10) == VmStack::Growth::kDone);
  CHECK(stack.end() - stack.begin() == 4096);
  CHECK(stack.Grow(*heap, stack.begin() + 30'000) == VmStack::Growth::kDone);
  stack.begin()[29'999] = 1;
  CHECK(heap->stats().live_bytes == static_cast<size_t>(stack.end() - stack.begin()));
  // Doubling what there is would pass the limit; what is needed does not.
  CHECK(stack.Grow(*heap, stack.begin() + 90'000) == VmStack::Growth::kDone);
  CHECK(stack.Grow(*heap, stack.begin() + 150'000) == VmStack::Growth::kAtLimit);
  CHECK(stack.Grow(*heap, stack.begin() + 300'000) == VmStack::Growth::kAtReserve);
  CHECK(heap->stats().live_bytes <= 100'000);
  stack.begin()[8'191] = 1;
  stack.Clear(8'192);
  CHECK(stack.end() == stack.begin());
  CHECK(stack.begin()[8'191] == 1);
  CHECK(stack.begin()[29'999] == 0);
  heap->Reset();
  CHECK(heap->stats().live_bytes == 0);
  heap->Orphan();
}

TEST_CASE("arenas: aligned, apart, last in first out, and given back") {
  auto* heap = new Heap;
  heap->BeginRun(SIZE_MAX);
  ArenaStack arenas(heap);
  struct Arena {
    char* data;
    size_t bytes;
    char fill;
  };
  std::vector<Arena> active;
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    if (!active.empty() && (random() % 5 < 2 || i > 4000)) {
      const Arena& a = active.back();
      REQUIRE(a.data[0] == a.fill);
      REQUIRE(std::memcmp(a.data, a.data + 1, a.bytes - 1) == 0);
      arenas.Pop(a.data);
      active.pop_back();
      continue;
    }
    size_t bytes = 64 * (1 + random() % (i % 50 == 0 ? 20000 : 100));
    char* data = arenas.Push(bytes);
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(data) % 64 == 0);
    std::memset(data, static_cast<char>(i), bytes);
    active.push_back({data, bytes, static_cast<char>(i)});
  }
  while (!active.empty()) {
    arenas.Pop(active.back().data);
    active.pop_back();
  }
  CHECK(heap->stats().live_bytes <= (2 << 20));  // one spare chunk
  arenas.Clear();
  heap->Reset();
  CHECK(arenas.Push(64) != nullptr);
  arenas.Clear();
  heap->Reset();
  heap->BeginRun(1 << 20);
  CHECK(arenas.Push(2 << 20) == nullptr);
  CHECK(heap->stats().live_bytes == 0);
  char* small = arenas.Push(64);
  CHECK(heap->stats().live_bytes == 4096);
  char* more = arenas.Push(8000);
  CHECK(heap->stats().live_bytes == 8192);
  arenas.Pop(more);
  arenas.Pop(small);
  CHECK(arenas.Push(SIZE_MAX & ~size_t{63}) == nullptr);
  arenas.Clear();
  heap->Orphan();
}

// Remembers the largest piece that was asked for.
struct LargestAsked : MemorySource {
  void* Allocate(size_t bytes, size_t alignment) override {
    largest = std::max(largest, bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void Free(void* memory, size_t /*bytes*/) override { std::free(memory); }
  size_t largest = 0;
};

TEST_CASE("arena stack: what passes the limit is never asked for") {
  auto source = std::make_shared<LargestAsked>();
  auto* heap = new Heap(source);
  heap->BeginRun(10 << 20);
  ArenaStack arenas(heap);
  for (const size_t bytes : {size_t{11} << 20, size_t{1} << 40, SIZE_MAX - 63}) {
    CHECK(arenas.Push(bytes) == nullptr);
    CHECK(source->largest == 0);
    CHECK(heap->stats().live_bytes == 0);
  }
  char* arena = arenas.Push(64);
  REQUIRE(arena != nullptr);
  arenas.Pop(arena);
  arenas.Clear();
  CHECK(heap->stats().live_bytes == 0);
  heap->Orphan();
}

}  // namespace
}  // namespace relayvm::vm
