// What this process may have of its machine: the memory and the processors of the machine, or of
// the control groups that it is in (a container's limits; both versions, and each group above).
//
// Reads files; keep what it gives. Thread-safe. Tested by machine_limits_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace relayvm {

struct MachineLimits {
  size_t memory_bytes = 0;
  uint32_t num_processors = 1;  // a part of one counts as one
};

// `root`: where /proc and /sys are, for tests.
MachineLimits ReadMachineLimits(const std::string& root = "");

}  // namespace relayvm
