// The constants of a region: where they are, and copies in the layouts that primitives ask for. The
// first layout that a use of a constant was packed in stays, for later plans to ask for; others
// live as long as a plan holds them. May be called by several threads at once. Tested by
// dnnl_test.cc.
#pragma once

#include <cstdint>
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

class Constants {
 public:
  explicit Constants(std::vector<const void*> data) : data_(std::move(data)) {}
  const void* data(uint32_t index) const { return data_[index]; }
  // The layout that constant `index`, seen as `view`, was packed in first.
  std::optional<MemoryDesc> Preferred(uint32_t index, const MemoryDesc& view) const;
  // The constant in layout `wanted`.
  Result<std::shared_ptr<const Packed>> Pack(uint32_t index, const MemoryDesc& view,
                                             const MemoryDesc& wanted);

 private:
  struct Entry {
    uint32_t index;
    MemoryDesc view, layout;
    std::shared_ptr<const Packed> kept;  // the first of this index and view
    std::weak_ptr<const Packed> packed;
  };
  std::vector<const void*> data_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace relayvm::onednn
