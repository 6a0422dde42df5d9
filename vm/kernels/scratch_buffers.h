// Scratch memory of kernels, one block a worker, that grows and stays. One thread at a time, but
// for of(). Tested by vm/run/limits_test.cc and vm/graph/graph_limits_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/memory/memory_source.h"

namespace relayvm::vm {

class ScratchBuffers {
 public:
  // Takes its memory from `source` (borrowed); null: malloc's.
  explicit ScratchBuffers(uint32_t num_workers, MemorySource* source = nullptr)
      : blocks_(num_workers), source_(source) {}
  ~ScratchBuffers();
  ScratchBuffers(const ScratchBuffers&) = delete;
  ScratchBuffers& operator=(const ScratchBuffers&) = delete;

  // At least `bytes` for each of the first `workers`; false when there is no memory.
  bool Reserve(size_t bytes, uint32_t workers);
  // 64-byte aligned; null before the first Reserve.
  void* of(uint32_t worker) const { return blocks_[worker].memory; }
  // Frees blocks larger than `bytes`.
  void Trim(size_t bytes);
  size_t bytes() const {
    size_t sum = 0;
    for (const Block& b : blocks_) sum += b.bytes;
    return sum;
  }

 private:
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  void* Allocate(size_t* bytes);
  void Free(Block& block);

  std::vector<Block> blocks_;
  MemorySource* source_;
};

}  // namespace relayvm::vm
