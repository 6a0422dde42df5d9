// Which calls of kernels a TraceSink is told of (TraceSink::kernel_interval). Tested by
// trace_test.cc.
#pragma once

#include <cmath>
#include <cstdint>

namespace relayvm::vm {

// Calls until the next one: each is as likely to be it as any other, whatever a program repeats and
// wherever runs begin, so that the distance is geometric. 0: none will be. `state`: of random
// numbers.
inline uint64_t DistanceToSample(uint32_t interval, uint64_t* state) {
  if (interval <= 1) return interval;
  uint64_t bits = *state += 0x9E3779B97F4A7C15;  // SplitMix64, Steele et al. 2014
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  bits ^= bits >> 31;
  const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;  // in (0, 1)
  return 1 + static_cast<uint64_t>(std::log(uniform) / std::log1p(-1.0 / interval));
}

}  // namespace relayvm::vm
