// The constants of a region: where they are, and copies in the layouts that primitives ask for. The
// first layout that a use of a constant was packed in stays, for later plans to ask for; others
// live as long as a plan holds them. May be called by several threads at once. Tested by
// dnnl_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vm/engines/dnnl/onednn.h"

namespace relayvm::onednn {

// Memory aligned to 64 bytes.
class AlignedBytes {
 public:
  static Result<AlignedBytes> Make(uint64_t bytes);
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* data) const;
  };
  std::unique_ptr<void, Free> data_;
};

struct Packed {
  AlignedBytes bytes;
  Memory memory;
};

// What is written anew of constants, such as rows of weights in another order. `key` tells it among
// those of a region; `write` fills the bytes of a row-major tensor.
struct Written {
  uint64_t key;
  std::function<void(void*)> write;
};

class Constants {
 public:
  explicit Constants(std::vector<const void*> data) : data_(std::move(data)) {}
  const void* data(uint32_t index) const { return data_[index]; }
  // The layout that constant `index`, seen as `view`, was packed in first.
  std::optional<MemoryDesc> Preferred(uint32_t index, const MemoryDesc& view) const;
  // The constant in layout `wanted`.
  Result<std::shared_ptr<const Packed>> Pack(uint32_t index, const MemoryDesc& view,
                                             const MemoryDesc& wanted);
  // The same of what is written.
  std::optional<MemoryDesc> Preferred(const Written& written, const MemoryDesc& view) const;
  Result<std::shared_ptr<const Packed>> Pack(const Written& written, const MemoryDesc& view,
                                             const MemoryDesc& wanted);

 private:
  using MakeFn = std::function<Result<std::shared_ptr<const Packed>>()>;
  std::optional<MemoryDesc> PreferredOf(uint64_t index, const MemoryDesc& view) const;
  Result<std::shared_ptr<const Packed>> Find(uint64_t index, const MemoryDesc& view,
                                             const MemoryDesc& wanted, const MakeFn& make);

  struct Entry {
    uint64_t index;  // of a constant, or kWritten and a key
    MemoryDesc view, layout;
    std::shared_ptr<const Packed> kept;  // the first of this index and view
    std::weak_ptr<const Packed> packed;
  };
  std::vector<const void*> data_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace relayvm::onednn
