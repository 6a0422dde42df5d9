#include "tools/serve/metrics.h"

#include <doctest/doctest.h>

namespace relayvm::serve {
namespace {

TEST_CASE("counters and gauges, as Prometheus reads them") {
  Metrics metrics;
  metrics.counter("c_total", "Counts", {{"model", "a\"\\\n"}}).Add(2);
  metrics.counter("c_total", "Counts", {{"model", "a\"\\\n"}}).Add();
  metrics.AddGauge("g", "Is", {}, [] { return 1.5; });
  CHECK(metrics.Text() ==
        "# HELP c_total Counts\n# TYPE c_total counter\nc_total{model=\"a\\\"\\\\\\n\"} 3\n"
        "# HELP g Is\n# TYPE g gauge\ng 1.5\n");
}

TEST_CASE("buckets of a histogram add up") {
  Metrics metrics;
  Histogram& histogram = metrics.histogram("h_seconds", "Took", {{"m", "x"}});
  histogram.Add(0);
  histogram.Add(10'000);
  histogram.Add(10'001);
  histogram.Add(int64_t{3600} * 1'000'000'000);
  CHECK(histogram.count() == 4);
  const std::string text = metrics.Text();
  CHECK(text.find("h_seconds_bucket{m=\"x\",le=\"1e-05\"} 2\n") != std::string::npos);
  CHECK(text.find("h_seconds_bucket{m=\"x\",le=\"2e-05\"} 3\n") != std::string::npos);
  CHECK(text.find("h_seconds_bucket{m=\"x\",le=\"60\"} 3\n") != std::string::npos);
  CHECK(text.find("h_seconds_bucket{m=\"x\",le=\"+Inf\"} 4\n") != std::string::npos);
  CHECK(text.find("h_seconds_count{m=\"x\"} 4\n") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::serve
