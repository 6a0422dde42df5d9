#include "tools/serve/slot_pool.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace relayvm::serve {
namespace {

constexpr size_t kBytes = 2000;
constexpr size_t kInSlab = SlotPool::kSlabBytes / 2016;  // less the slab's own

TEST_CASE("slots are apart, and a slab that is empty goes back but for one") {
  SlotPool pool(kBytes);
  CHECK(pool.num_slabs() == 0);
  std::set<char*> slots;
  while (slots.size() < 10 * kInSlab) {
    char* const slot = static_cast<char*>(pool.Take());
    CHECK(reinterpret_cast<uintptr_t>(slot) % alignof(std::max_align_t) == 0);
    std::memset(slot, static_cast<int>(slots.size()), kBytes);
    CHECK(slots.insert(slot).second);
  }
  for (auto i = slots.begin(); std::next(i) != slots.end(); ++i)
    CHECK(static_cast<size_t>(*std::next(i) - *i) >= kBytes);
  const size_t most = pool.num_slabs();
  CHECK(most >= 10);
  CHECK(most <= 11);
  // Most of each go: those that are left hold their slabs.
  std::vector<char*> left;
  size_t at = 0;
  for (char* slot : slots) {
    if (at++ % kInSlab == 0) {
      left.push_back(slot);
    } else {
      pool.Give(slot);
    }
  }
  CHECK(pool.num_slabs() <= most);
  CHECK(pool.num_slabs() >= 10);
  // What is free is taken first.
  for (size_t i = 0; i < 9 * (kInSlab - 1); ++i) left.push_back(static_cast<char*>(pool.Take()));
  CHECK(pool.num_slabs() <= most);
  for (char* slot : left) pool.Give(slot);
  CHECK(pool.num_slabs() == 1);
  pool.Give(pool.Take());
  CHECK(pool.num_slabs() == 1);
}

TEST_CASE("an allocator takes from the heap what is larger than a slot") {
  SlotPool pool(kBytes);
  {
    std::vector<char, SlotAllocator<char>> bytes{SlotAllocator<char>(pool)};
    bytes.reserve(pool.slot_bytes() + 1);
    CHECK(pool.num_slabs() == 0);
    std::vector<int, SlotAllocator<int>> fits{bytes.get_allocator()};
    fits.reserve(pool.slot_bytes() / sizeof(int));
    CHECK(pool.num_slabs() == 1);
    CHECK(fits.get_allocator() == bytes.get_allocator());
  }
  CHECK(pool.num_slabs() == 1);
}

TEST_CASE("threads take and give each other's slots") {
  SlotPool pool(kBytes);
  std::vector<void*> shared;
  std::mutex mutex;
  const auto work = [&](unsigned seed) {
    for (unsigned i = 0; i < 5000; ++i) {
      seed = seed * 1664525 + 1013904223;
      const std::lock_guard lock(mutex);
      if (seed >> 31 != 0 || shared.empty()) {
        shared.push_back(pool.Take());
      } else {
        pool.Give(shared.back());
        shared.pop_back();
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  for (void* slot : shared) pool.Give(slot);
  CHECK(pool.num_slabs() <= 1);
}

}  // namespace
}  // namespace relayvm::serve
