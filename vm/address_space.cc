#include "vm/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "vm/system_pages.h"

namespace relayvm::vm {
namespace {

// Of one mapping: so many bytes, of so many pieces at most.
constexpr size_t kSlabBytes = size_t{16} << 30;
constexpr size_t kMostPieces = 64;  // bits of a word

// Guards that are no mappings of their own, from Linux 6.13 on.
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

bool Guard(char* page) {
  return madvise(page, kPageBytes, MADV_GUARD_INSTALL) == 0 ||
         mprotect(page, kPageBytes, PROT_NONE) == 0;
}

// Pieces of one kind.
class Pool {
 public:
  Pool(size_t bytes, size_t alignment, bool guarded)
      : bytes_(bytes), alignment_(alignment), guarded_(guarded) {}

  char* Take() {
    if (open_.empty() && !Map()) return nullptr;
    Slab& slab = slabs_.at(*open_.begin());
    const int i = std::countr_zero(slab.free);
    char* piece = slab.first + static_cast<size_t>(i) * bytes_;
    if (guarded_ && !Guard(piece)) {
      if (slab.free == slab.all) Unmap(*open_.begin());
      return nullptr;
    }
    slab.free &= slab.free - 1;
    if (slab.free == 0) slab.open = open_.extract(open_.begin());
    return piece;
  }

  void Give(char* piece) {
    auto& [begin, slab] = *std::prev(slabs_.upper_bound(piece));
    const auto i = static_cast<size_t>(piece - slab.first) / bytes_;
    slab.free |= uint64_t{1} << i;
    if (slab.free == slab.all) return Unmap(begin);
    madvise(piece, bytes_, MADV_DONTNEED);
    if (!slab.open.empty()) open_.insert(std::move(slab.open));
  }
  bool is_empty() const { return slabs_.empty(); }

 private:
  struct Slab {
    char* first;  // piece
    size_t bytes;
    uint64_t all, free;  // pieces, by bit
    // Its place in open_, while it is not there: giving a piece back takes no memory.
    std::set<char*>::node_type open;
  };

  bool Map() {
    const size_t wanted = std::clamp<size_t>(kSlabBytes / bytes_, 1, kMostPieces);
    return MapPieces(wanted) || (wanted > 1 && MapPieces(1));
  }

  bool MapPieces(size_t pieces) {
    const size_t slack = alignment_ > kPageBytes ? alignment_ : 0;
    if (bytes_ > (SIZE_MAX - slack) / pieces) return false;
    const size_t total = pieces * bytes_ + slack;
    void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    madvise(memory, total, MADV_NOHUGEPAGE);
    auto* begin = static_cast<char*>(memory);
    char* first = begin + (-reinterpret_cast<uintptr_t>(begin) & (alignment_ - 1));
    const uint64_t all = ~uint64_t{0} >> (kMostPieces - pieces);
    try {
      slabs_.emplace(begin, Slab{first, total, all, all, {}});
      open_.insert(begin);
    } catch (const std::bad_alloc&) {
      Unmap(begin, total);
      return false;
    }
    return true;
  }

  void Unmap(char* begin) { Unmap(begin, slabs_.at(begin).bytes); }
  void Unmap(char* begin, size_t bytes) {
    // Where it would cut a mapping and there may be no more of them, the memory at least goes back.
    if (munmap(begin, bytes) != 0) madvise(begin, bytes, MADV_DONTNEED);
    slabs_.erase(begin);
    open_.erase(begin);
  }

  size_t bytes_, alignment_;
  bool guarded_;
  std::map<char*, Slab> slabs_;  // by their first byte
  std::set<char*> open_;         // those that have free pieces
};

struct Pools {
  std::mutex mutex;
  std::map<std::tuple<size_t, size_t, bool>, Pool> pools;  // under mutex
};

// Never destroyed: heaps may outlive the end of main.
Pools& AllPools() {
  alignas(Pools) static std::byte memory[sizeof(Pools)];
  static Pools& pools = *new (memory) Pools;
  return pools;
}

}  // namespace

char* TakeAddresses(size_t bytes, size_t alignment, bool guarded) {
  Pools& all = AllPools();
  const std::lock_guard lock(all.mutex);
  try {
    const auto pool =
        all.pools.try_emplace({bytes, alignment, guarded}, bytes, alignment, guarded).first;
    char* piece = pool->second.Take();
    if (pool->second.is_empty()) all.pools.erase(pool);
    return piece;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void GiveAddresses(char* memory, size_t bytes, size_t alignment, bool guarded) {
  Pools& all = AllPools();
  const std::lock_guard lock(all.mutex);
  const auto pool = all.pools.find({bytes, alignment, guarded});
  pool->second.Give(memory);
  if (pool->second.is_empty()) all.pools.erase(pool);
}

}  // namespace relayvm::vm
