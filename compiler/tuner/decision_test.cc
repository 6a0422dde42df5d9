#include "compiler/tuner/decision.h"

#include <doctest/doctest.h>

#include <string>

namespace relayvm::tuner {
namespace {

const std::vector<double> kTen = {10, 10, 10, 10, 10, 10, 10, 10};
std::vector<double> All(double time) { return std::vector<double>(8, time); }

TEST_CASE("faster is what gains more than the least gain and the noise, and loses nowhere") {
  struct Case {
    const char* what;
    std::vector<Series> samples;
    bool faster;
  };
  const std::vector<double> noisy = {10, 11, 10, 11, 10, 11, 10, 11};
  const std::vector<double> spikes = {10, 10, 99, 10, 10, 10, 50, 10};
  const std::vector<Case> cases = {
      {"nothing measured", {}, false},
      {"no turns", {{{}, {}}}, false},
      {"the same", {{kTen, kTen}}, false},
      {"a little", {{kTen, All(9.8)}}, false},
      {"less than counts", {{kTen, All(9.6)}}, false},
      {"clearly", {{kTen, All(9)}}, true},
      {"slower", {{kTen, All(11)}}, false},
      {"at both samples", {{kTen, All(9)}, {kTen, All(8)}}, true},
      {"at one, the other is the same", {{kTen, All(8)}, {kTen, All(10)}}, true},
      {"at one, the other is the same but for less than counts",
       {{kTen, All(8)}, {kTen, All(10.05)}},
       true},
      {"much at one, slower at the other", {{kTen, All(2)}, {kTen, All(10.5)}}, false},
      {"less than twice the noise", {{noisy, All(8.5)}}, false},
      {"more than twice the noise", {{noisy, All(7)}}, true},
      {"a little slower where there is noise, much faster elsewhere",
       {{noisy, All(10.2)}, {kTen, All(5)}},
       true},
      {"slower than the noise that is let through", {{noisy, All(11)}, {kTen, All(5)}}, false},
      {"spikes do not count", {{spikes, All(9)}}, true},
      {"a lucky turn does not count",
       {{kTen, {5, 10.5, 10.5, 10.5, 10.5, 10.5, 10.5, 10.5}}},
       false},
      {"a little at one is too little for both", {{kTen, All(9.2)}, {kTen, All(10)}}, false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    CHECK(IsFaster(c.samples) == c.faster);
  }
}

TEST_CASE("the ratio is the geometric mean of the least times") {
  CHECK(Ratio({{kTen, All(5)}}) == doctest::Approx(0.5));
  CHECK(Ratio({{kTen, All(5)}, {{30, 20}, {50, 40}}}) == doctest::Approx(1));
}

}  // namespace
}  // namespace relayvm::tuner
