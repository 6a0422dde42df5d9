#include "tools/serve/bench/report.h"

#include <doctest/doctest.h>

namespace relayvm::serve {
namespace {

std::vector<LoadResult> Results() {
  LoadResult slow{.rate = 100, .seconds = 2}, fast{.rate = 0, .seconds = 2};
  for (int64_t i = 1; i <= 200; ++i) slow.latencies_ns.push_back(i * 100'000);
  for (int64_t i = 1; i <= 400; ++i) fast.latencies_ns.push_back(i * 10'000);
  fast.failed = 4;
  return {slow, fast};
}

TEST_CASE("a line for each rate") {
  CHECK(LoadCsv(Results()) ==
        "rate,answered,p50_ms,p90_ms,p99_ms,p99.9_ms,max_ms,failed,unsent\n"
        "100,100.000,10.000000,18.000000,19.800000,20.000000,20.000000,0,0\n"
        "max,200.000,2.020000,3.640000,4.000000,inf,inf,4,0\n");
  CHECK(LoadTable(Results()).find("       100      100.0    10.000") != std::string::npos);
}

TEST_CASE("a line for each request") {
  const LoadResult two{
      .rate = 8, .seconds = 1, .failed = 1, .unsent = 1, .latencies_ns = {1'500'000, 20'000'001}};
  CHECK(LoadLatencies({two, {.latencies_ns = {7}}}) ==
        "rate,ms\n8,1.500000\n8,20.000001\n8,inf\n8,inf\nmax,0.000007\n");
}

TEST_CASE("a picture without what has no place in it") {
  for (size_t count = 0; count <= 2; ++count) {
    auto results = Results();
    results.resize(count);
    if (count == 1) results[0].latencies_ns.clear();
    const std::string svg = LoadSvg("a<b & c", results);
    CHECK(svg.starts_with("<svg"));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("a&lt;b &amp; c") != std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
  }
}

}  // namespace
}  // namespace relayvm::serve
