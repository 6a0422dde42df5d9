// Scratch memory of kernels, one block a worker, that grows and stays. One thread at a time, but
// for of() and kept(). Tested by vm/run/limits_test.cc and vm/graph/graph_limits_test.cc.
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
  // Numbers for `count` calls, of which the first is returned: they are about to run.
  uint64_t Begin(uint64_t count) { return (last_call_ += count) - count + 1; }
  // RelayvmKernelEnv::kept of a worker that runs tasks of call `call`. From that worker.
  uint64_t* kept(uint32_t worker, uint64_t call) {
    Block& b = blocks_[worker];
    if (b.call != call) {
      b.call = call;
      b.kept = 0;
    }
    return &b.kept;
  }
  // Frees blocks larger than `bytes`.
  void Trim(size_t bytes);
  size_t bytes() const {
    size_t sum = 0;
    for (const Block& b : blocks_) sum += b.bytes;
    return sum;
  }

 private:
  struct alignas(64) Block {
    void* memory = nullptr;
    size_t bytes = 0;
    uint64_t call = 0, kept = 0;
  };
  void* Allocate(size_t* bytes);
  void Free(Block& block);

  std::vector<Block> blocks_;
  uint64_t last_call_ = 0;
  MemorySource* source_;
};

}  // namespace relayvm::vm
