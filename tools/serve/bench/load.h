// Open-loop load: requests leave when a schedule says, whatever the answers take.
//
// A client that waits for an answer before it asks again leaves out what it would have asked
// meanwhile, and finds a slow server fast (coordinated omission). Here arrivals are drawn before,
// and a latency counts from the time that its request was due to the end of its answer, so that
// what waits for a connection counts as what waits at the server does. Tested by load_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/client/http_client.h"

namespace relayvm::serve {

// What latencies are to be: this percentile of all at most so many milliseconds.
struct LatencyBound {
  double percent = 99, ms = 0;

  // Of so many requests, those that may take longer.
  uint64_t most_late(uint64_t requests) const;
  // So many that ten may take longer, lest a crowd of a few or a pause of the machine decides; one
  // where none may. REQUIRES: 0 < percent <= 100.
  double least_requests() const;
};

struct LoadOptions {
  double rate = 100;  // requests a second; 0: each connection asks when it has its answer
  double seconds = 5;
  uint32_t connections = 64;
  bool is_poisson = true;  // else at equal distances
  uint64_t seed = 1;
  // At a rate: ends once too many are late for this to hold; what is due later is left out.
  std::optional<LatencyBound> bound;
};

struct LoadRequest {
  std::string path, body;
  std::vector<std::pair<std::string, std::string>> headers;
};

struct LoadResult {
  double rate = 0;  // as asked for
  double seconds = 0;
  uint64_t failed = 0;  // answers other than 200, and none
  uint64_t unsent = 0;  // due, and not begun when the time was over
  std::string first_failure;
  std::vector<int64_t> latencies_ns;  // of answers of 200, sorted

  double throughput() const {
    return seconds > 0 ? static_cast<double>(latencies_ns.size()) / seconds : 0;
  }
  // Of all that was due: what failed or was not sent is longer than any. Infinite where it is one
  // of these. REQUIRES: 0 < percent <= 100.
  double percentile_ms(double percent) const;
};

inline constexpr double kMaxArrivals = 20e6;

// When requests are due, in nanoseconds from the beginning. REQUIRES: a rate above 0.
// kInvalidArgument above kMaxArrivals of them.
Result<std::vector<int64_t>> DrawArrivals(const LoadOptions& options);

// Sends the requests in turn. Half as long again as `seconds`, and 2 s, is the most that it takes
// before what is not sent is given up. kInvalidArgument; what threads cannot be made for.
Result<LoadResult> RunLoad(const HttpClientOptions& server,
                           const std::vector<LoadRequest>& requests, const LoadOptions& options);

}  // namespace relayvm::serve
