// RunCounters: what the runs of a workspace count for RuntimeStats, where the words are explained.
// The thread that runs there writes them, any thread reads. Tested by runtime_stats_test.cc.
#pragma once

#include <array>
#include <cstdint>

#include "vm/trace/runtime_stats.h"
#include "vm/trace/single_writer.h"

namespace relayvm::vm {

struct RunCounters {
  SingleWriter<uint64_t> kernel_calls, host_calls;
  SingleWriter<uint64_t> started, refused, slices;
  SingleWriter<int64_t> run_ns;
  std::array<SingleWriter<uint64_t>, kNumStatusCodes> ended;
  SingleWriter<uint64_t> waits, batch_waits;
  SingleWriter<int64_t> wait_ns, batch_wait_ns;
  SingleWriter<uint64_t> peak_bytes;  // of runs that have ended
  SingleWriter<uint64_t> waiting;     // 1: the run waits
};

}  // namespace relayvm::vm
