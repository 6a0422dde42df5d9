#include "tools/serve/bench/load.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace relayvm::serve {
namespace {

TEST_CASE("arrivals are in order, within the time, and as many as the rate says") {
  for (const bool is_poisson : {false, true}) {
    const auto arrivals =
        DrawArrivals({.rate = 1000, .seconds = 10, .is_poisson = is_poisson, .seed = 3});
    REQUIRE(arrivals.ok());
    CHECK(std::ranges::is_sorted(*arrivals));
    CHECK(arrivals->back() < 10'000'000'000);
    CHECK(std::abs(static_cast<double>(arrivals->size()) - 10'000) < (is_poisson ? 400 : 2));
    // Poisson's distances vary as much as they are long; the others do not.
    double sum = 0, squares = 0;
    for (size_t i = 1; i < arrivals->size(); ++i) {
      const auto gap = static_cast<double>((*arrivals)[i] - (*arrivals)[i - 1]) / 1e6;
      sum += gap;
      squares += gap * gap;
    }
    const auto count = static_cast<double>(arrivals->size() - 1);
    const double deviation =
        std::sqrt(std::max(squares / count - (sum / count) * (sum / count), 0.0));
    CHECK(std::abs(deviation - (is_poisson ? 1.0 : 0.0)) < 0.06);
  }
  CHECK_FALSE(DrawArrivals({.rate = 0}).ok());
  CHECK_FALSE(DrawArrivals({.rate = 1e9, .seconds = 10}).ok());
}

TEST_CASE("what failed or was not sent took longer than any answer") {
  LoadResult result;
  for (int64_t i = 1; i <= 97; ++i) result.latencies_ns.push_back(i * 1'000'000);
  CHECK(result.percentile_ms(50) == doctest::Approx(49));
  CHECK(result.percentile_ms(100) == doctest::Approx(97));
  result.failed = 1;
  result.unsent = 2;
  CHECK(result.percentile_ms(50) == doctest::Approx(50));
  CHECK(result.percentile_ms(97) == doctest::Approx(97));
  CHECK(std::isinf(result.percentile_ms(98)));
  CHECK(std::isinf(LoadResult().percentile_ms(50)));
}

TEST_CASE("of a bound's requests, those that may be late are those above its percentile") {
  const LatencyBound p99{.percent = 99, .ms = 10};
  for (const auto& [requests, late] : {std::pair{1, 0}, {71, 0}, {100, 1}, {150, 1}, {1000, 10}}) {
    CAPTURE(requests);
    CHECK(p99.most_late(static_cast<uint64_t>(requests)) == static_cast<uint64_t>(late));
    // As many late ones leave the percentile within the bound, one more does not.
    for (const int n : {late, late + 1}) {
      LoadResult result;
      result.latencies_ns.assign(static_cast<size_t>(requests - n), 9'000'000);
      result.latencies_ns.resize(static_cast<size_t>(requests), 11'000'000);
      CHECK((result.percentile_ms(99) <= p99.ms) == (n == late));
    }
  }
  CHECK(p99.least_requests() == doctest::Approx(1000));
  CHECK(p99.most_late(1000) == 10);
  CHECK(LatencyBound{.percent = 50}.least_requests() == doctest::Approx(20));
  CHECK(LatencyBound{.percent = 100}.least_requests() == 1);
  CHECK(LatencyBound{.percent = 100}.most_late(500) == 0);
}

}  // namespace
}  // namespace relayvm::serve
