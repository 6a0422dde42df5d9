// LatencyHistogram: how long things took, as counts in fixed buckets. Takes no memory; adding is a
// few instructions. Tested by latency_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace relayvm {

struct LatencyHistogram {
  static constexpr size_t kNumBuckets = 64;
  // buckets[i] counts what was below Bound(i), and not below Bound(i - 1).
  std::array<uint64_t, kNumBuckets> buckets{};
  uint64_t count = 0;
  int64_t sum_ns = 0;

  // In nanoseconds: 1 us, 1.5, 2, 3, 4, 6, 8, 12 ... 36 minutes; the last one counts all that is
  // longer.
  static constexpr int64_t Bound(size_t bucket) {
    if (bucket >= kNumBuckets - 1) return INT64_MAX;
    return kHalf * (int64_t{bucket % 2 == 0 ? 2 : 3} << bucket / 2);
  }
  void Add(int64_t ns) {
    const auto halves = static_cast<uint64_t>(std::max<int64_t>(ns, 0) / kHalf);  // of microseconds
    size_t bucket = 0;
    if (halves > 1) {
      const auto power = static_cast<size_t>(std::bit_width(halves) - 1);
      bucket = 2 * power - 1 + (halves >> (power - 1) & 1);
    }
    ++buckets[std::min(bucket, kNumBuckets - 1)];
    ++count;
    sum_ns += std::max<int64_t>(ns, 0);
  }
  // What this part of all, from 0 to 1, did not exceed: the bound of a bucket, so up to 1.5 of it.
  // 0 where there are none.
  int64_t Quantile(double part) const {
    const auto wanted = static_cast<uint64_t>(part * static_cast<double>(count));
    uint64_t below = 0;
    for (size_t i = 0; i < kNumBuckets && count > 0; ++i) {
      below += buckets[i];
      if (below >= std::clamp<uint64_t>(wanted, 1, count)) return Bound(i);
    }
    return 0;
  }

 private:
  static constexpr int64_t kHalf = 500;
};

}  // namespace relayvm
