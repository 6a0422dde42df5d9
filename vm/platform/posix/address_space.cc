#include "vm/platform/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "vm/platform/process_mutex.h"
#include "vm/platform/system_pages.h"

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
    // One that is in use before one that is not.
    const auto open = std::ranges::find_if(open_, [&](char* begin) { return begin != empty_; });
    char* begin = open != open_.end() ? *open : *open_.begin();
    Slab& slab = slabs_.at(begin);
    const int i = std::countr_zero(slab.free);
    char* piece = slab.first + static_cast<size_t>(i) * bytes_;
    if (guarded_ && !Guard(piece)) {
      if (slab.free == slab.all) empty_ = begin;
      return nullptr;
    }
    if (begin == empty_) empty_ = nullptr;
    slab.free &= slab.free - 1;
    if (slab.free == 0) slab.open = open_.extract(begin);
    return piece;
  }

  void Give(char* piece) {
    auto& [begin, slab] = *std::prev(slabs_.upper_bound(piece));
    const auto i = static_cast<size_t>(piece - slab.first) / bytes_;
    slab.free |= uint64_t{1} << i;
    if (slab.free == slab.all && empty_ != nullptr) return Unmap(begin);
    madvise(piece, bytes_, MADV_DONTNEED);
    if (!slab.open.empty()) open_.insert(std::move(slab.open));
    if (slab.free == slab.all) empty_ = begin;
  }
  bool has_empty() const { return empty_ != nullptr; }
  void UnmapEmpty() {
    if (empty_ != nullptr) Unmap(std::exchange(empty_, nullptr));
  }
  bool has_none() const { return slabs_.empty(); }

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
    size_t mapped = total;
    if (pieces == 1 && slack > 0) {
      // Address space is short, or the piece large.
      const auto before = static_cast<size_t>(first - begin);
      if (before > 0) munmap(begin, before);
      if (slack > before) munmap(first + bytes_, slack - before);
      begin = first;
      mapped = bytes_;
    }
    const uint64_t all = ~uint64_t{0} >> (kMostPieces - pieces);
    try {
      slabs_.emplace(begin, Slab{first, mapped, all, all, {}});
      open_.insert(begin);
    } catch (const std::bad_alloc&) {
      Unmap(begin, mapped);
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
  // One that nobody uses, kept: else a piece that comes and goes would map and unmap one. Or null.
  char* empty_ = nullptr;
};

// Under AddressMutex().
struct Pools {
  using Key = std::tuple<size_t, size_t, bool>;
  std::map<Key, Pool> pools;
  // Of so many kinds an empty slab stays: of stacks, and of chunks. Address space is not endless,
  // and hosts may ask for stacks of any size.
  std::array<Key, 2> kept{};

  // A piece of this pool has been asked for, or given back.
  void Settle(std::map<Key, Pool>::iterator pool) {
    if (pool->second.has_empty() && std::ranges::find(kept, pool->first) == kept.end()) {
      const auto longest = pools.find(kept[1]);
      kept = {pool->first, kept[0]};
      if (longest != pools.end()) Unkeep(longest);
    }
    if (pool->second.has_none()) pools.erase(pool);
  }
  void Unkeep(std::map<Key, Pool>::iterator pool) {
    pool->second.UnmapEmpty();
    if (pool->second.has_none()) pools.erase(pool);
  }
};

// Never destroyed: heaps may outlive the end of main.
Pools& AllPools() {
  alignas(Pools) static std::byte memory[sizeof(Pools)];
  static Pools& pools = *new (memory) Pools;
  return pools;
}

}  // namespace

char* TakeAddresses(size_t bytes, size_t alignment, bool guarded) {
  const std::lock_guard lock(AddressMutex());
  Pools& all = AllPools();  // made under the lock: a fork never finds it half made
  try {
    const auto pool =
        all.pools.try_emplace({bytes, alignment, guarded}, bytes, alignment, guarded).first;
    char* piece = pool->second.Take();
    all.Settle(pool);
    return piece;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

size_t AddressLimit() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : SIZE_MAX;
}

const char* AddressAdvice() { return "raise what address space the process may have (ulimit -v)"; }

void GiveAddresses(char* memory, size_t bytes, size_t alignment, bool guarded) {
  const std::lock_guard lock(AddressMutex());
  Pools& all = AllPools();
  const auto pool = all.pools.find({bytes, alignment, guarded});
  pool->second.Give(memory);
  all.Settle(pool);
}

}  // namespace relayvm::vm
