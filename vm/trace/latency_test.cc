#include "vm/trace/latency.h"

#include <doctest/doctest.h>

namespace relayvm {
namespace {

size_t BucketOf(int64_t ns) {
  LatencyHistogram h;
  h.Add(ns);
  size_t bucket = 0;
  while (h.buckets[bucket] == 0) ++bucket;
  return bucket;
}

TEST_CASE("latency: each bucket begins where the one before ends") {
  CHECK(LatencyHistogram::Bound(0) == 1'000);
  CHECK(LatencyHistogram::Bound(1) == 1'500);
  CHECK(LatencyHistogram::Bound(2) == 2'000);
  CHECK(LatencyHistogram::Bound(3) == 3'000);
  CHECK(LatencyHistogram::Bound(4) == 4'000);
  CHECK(LatencyHistogram::Bound(62) == (int64_t{1} << 32) * 500);
  CHECK(LatencyHistogram::Bound(63) == INT64_MAX);
  CHECK(LatencyHistogram::Bound(SIZE_MAX) == INT64_MAX);
  for (size_t i = 0; i + 1 < LatencyHistogram::kNumBuckets; ++i) {
    CHECK(BucketOf(LatencyHistogram::Bound(i) - 1) == i);
    CHECK(BucketOf(LatencyHistogram::Bound(i)) == i + 1);
  }
  CHECK(BucketOf(INT64_MAX) == 63);
  CHECK(BucketOf(-5) == 0);
}

TEST_CASE("latency: quantiles are bounds of buckets") {
  LatencyHistogram h;
  CHECK(h.Quantile(0.5) == 0);
  for (int i = 0; i < 98; ++i) h.Add(2'500);
  h.Add(1'000'000);
  h.Add(9'000'000);
  CHECK(h.count == 100);
  CHECK(h.sum_ns == 98 * 2'500 + 10'000'000);
  CHECK(h.Quantile(0) == 3'000);
  CHECK(h.Quantile(0.5) == 3'000);
  CHECK(h.Quantile(0.98) == 3'000);
  CHECK(h.Quantile(0.99) == 1'024'000);
  CHECK(h.Quantile(1) == 12'288'000);
}

}  // namespace
}  // namespace relayvm
