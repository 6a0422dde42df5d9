// SlotPool: memory for many things of one size, in slabs that go back to the system as they become
// empty. The heap keeps what connections had: the small states of sockets, which Asio keeps for the
// next ones, lie between, one in nearly every page. Thread-safe. Tested by slot_pool_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace relayvm::serve {

class SlotPool {
 public:
  // Slots of `bytes`, rounded up to what any type is aligned to. REQUIRES: 0 < bytes <= kMaxBytes.
  explicit SlotPool(size_t bytes);
  // REQUIRES: all slots were given back.
  ~SlotPool();
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  static constexpr size_t kSlabBytes = 64 << 10;
  static constexpr size_t kMaxBytes = kSlabBytes / 4;

  size_t slot_bytes() const { return slot_bytes_; }
  // Throws std::bad_alloc.
  void* Take();
  void Give(void* slot) noexcept;
  // Of kSlabBytes each.
  size_t num_slabs() const;

 private:
  struct Slab;
  Slab* Map() const;
  static void Unmap(Slab* slab);
  void Open(Slab* slab);
  void Close(Slab* slab);

  const size_t slot_bytes_;
  mutable std::mutex mutex_;
  Slab* open_ = nullptr;  // a list of those with free slots
  size_t num_slabs_ = 0;
};

// Takes from a pool what fits in a slot, and from the heap what does not. The pool is borrowed.
template <typename T>
class SlotAllocator {
 public:
  using value_type = T;
  explicit SlotAllocator(SlotPool& pool) : pool_(&pool) {}
  template <typename Other>
  SlotAllocator(const SlotAllocator<Other>& other) : pool_(&other.pool()) {}  // NOLINT: rebinds

  T* allocate(size_t count) {
    if (count <= pool_->slot_bytes() / sizeof(T)) return static_cast<T*>(pool_->Take());
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* p, size_t count) noexcept {
    if (count <= pool_->slot_bytes() / sizeof(T)) return pool_->Give(p);
    std::allocator<T>().deallocate(p, count);
  }
  SlotPool& pool() const { return *pool_; }
  template <typename Other>
  bool operator==(const SlotAllocator<Other>& other) const {
    return pool_ == &other.pool();
  }

 private:
  static_assert(alignof(T) <= alignof(std::max_align_t));
  SlotPool* pool_;
};

}  // namespace relayvm::serve
