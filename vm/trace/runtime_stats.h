// RuntimeStats: what a runtime has done, and holds. Its invocations count as they go, each in
// memory of its own; Runtime::stats() adds that up. Tested by runtime_stats_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bytecode/base/status.h"

namespace relayvm {

inline constexpr size_t kNumStatusCodes = static_cast<size_t>(StatusCode::kInternal) + 1;
inline constexpr size_t kNumBatchSizes = 16;

struct RuntimeStats {
  // --- Since the runtime was made; none of these ever goes down ---

  // Runs: begun; those that had no such function or other inputs, and did not begin; ended, by
  // StatusCode. The time of those that ended, from begin to end.
  uint64_t started = 0, refused = 0;
  std::array<uint64_t, kNumStatusCodes> ended{};
  int64_t run_ns = 0;
  // Times that a thread took up a run.
  uint64_t slices = 0;
  // Calls that runs made: of kernels, batched ones too; of host functions.
  uint64_t kernel_calls = 0, host_calls = 0;
  // Waits that are over, and their time: of host functions that suspended their run; of calls of
  // kernels for others to run with.
  uint64_t waits = 0, batch_waits = 0;
  int64_t wait_ns = 0, batch_wait_ns = 0;
  // Batching: kernels that ran for several calls, those calls, calls that waited and then ran
  // alone. batch_sizes[i] counts the batches of 2^i to 2^(i+1)-1 calls, the last one larger ones
  // too.
  uint64_t batches = 0, batched_calls = 0, lone_calls = 0;
  std::array<uint64_t, kNumBatchSizes> batch_sizes{};
  // Objects and buffers, with the bytes they take.
  uint64_t allocations = 0, allocated_bytes = 0;
  // The most that one run held, as InvocationOptions::memory_limit counts it.
  uint64_t peak_bytes = 0;

  // --- Now ---

  // Runs that have begun and not ended, and how many of them wait.
  uint64_t running = 0, waiting = 0;
  // What runs hold, as InvocationOptions::memory_limit counts it. What its invocations have of the
  // machine's memory: pages behind that, pages kept for the next runs, and those of results of more
  // than 16 KiB that hosts hold; stacks and scratch while they are charged to a run, not what of
  // them is kept for the next one.
  uint64_t live_bytes = 0, resident_bytes = 0;
  // What RuntimeOptions::memory_limit counts; 0 without one. Never above it.
  uint64_t counted_bytes = 0;
  // Of invocations, and idle ones for the next.
  uint64_t workspaces = 0, idle_workspaces = 0;
};

}  // namespace relayvm
