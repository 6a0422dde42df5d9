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

}  // namespace
}  // namespace relayvm::serve
