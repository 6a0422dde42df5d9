#include "tools/serve/bench/load.h"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/serve/client/remote_model.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxClosed = 20'000'000;  // of a connection that asks as fast as it can

// What the threads share.
struct Load {
  const std::vector<LoadRequest>& requests;
  const std::vector<int64_t>& arrivals;  // none: as fast as it goes
  Clock::time_point start, last_start, end;
  double late_ms = std::numeric_limits<double>::infinity();  // longer ones are late
  uint64_t most_late = std::numeric_limits<uint64_t>::max();
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> num_late{0};

  bool is_lost() const { return num_late.load(std::memory_order_relaxed) > most_late; }
};

struct ThreadResult {
  std::vector<int64_t> latencies_ns;
  uint64_t failed = 0, unsent = 0;
  std::string first_failure;
};

// The milliseconds that it took; infinite where it failed.
double Ask(HttpClient& client, const LoadRequest& asked, Clock::time_point due,
           Clock::time_point end, ThreadResult* result) {
  HttpRequest request;
  request.method = "POST";
  request.path = asked.path;
  request.headers = asked.headers;
  request.body.push_back(std::as_bytes(std::span(asked.body)));
  request.deadline = end;
  const Result<HttpAnswer> answer = client.Send(request);
  if (answer.ok() && answer->status == 200) {
    result->latencies_ns.push_back(std::chrono::nanoseconds(Clock::now() - due).count());
    return static_cast<double>(result->latencies_ns.back()) / 1e6;
  }
  ++result->failed;
  if (result->first_failure.empty())
    result->first_failure = (answer.ok() ? StatusOf(*answer) : answer.status()).message();
  return std::numeric_limits<double>::infinity();
}

// Or until it is lost, soon after that.
void SleepUntil(Clock::time_point due, const Load& load) {
  constexpr auto kLongest = std::chrono::milliseconds(20);
  for (Clock::time_point now; !load.is_lost() && (now = Clock::now()) < due;)
    std::this_thread::sleep_until(std::min(due, now + kLongest));
}

void Work(Load& load, const HttpClientOptions& server, ThreadResult* result) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // sleeps end when they should, to the microsecond
  HttpClient client(server);
  const bool is_closed = load.arrivals.empty();
  for (;;) {
    const size_t i = load.next.fetch_add(1, std::memory_order_relaxed);
    if (is_closed && (Clock::now() >= load.last_start || i >= kMaxClosed)) return;
    if (!is_closed && i >= load.arrivals.size()) return;
    Clock::time_point due = Clock::now();
    if (!is_closed) {
      due = load.start + std::chrono::nanoseconds(load.arrivals[i]);
      SleepUntil(due, load);
      if (load.is_lost()) return;
      if (Clock::now() >= load.last_start) {
        ++result->unsent;
        continue;
      }
    }
    const LoadRequest& asked = load.requests[i % load.requests.size()];
    if (Ask(client, asked, due, load.end, result) > load.late_ms)
      load.num_late.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

uint64_t LatencyBound::most_late(uint64_t requests) const {
  const double within = std::ceil(static_cast<double>(requests) * percent / 100);
  return requests - std::min(static_cast<uint64_t>(std::max(within, 1.0)), requests);
}

double LatencyBound::least_requests() const {
  constexpr double kLate = 10;
  return percent < 100 ? kLate / (1 - percent / 100) : 1;
}

double LoadResult::percentile_ms(double percent) const {
  const double all = static_cast<double>(latencies_ns.size() + failed + unsent);
  if (all == 0) return std::numeric_limits<double>::infinity();
  const auto at = static_cast<size_t>(std::max(std::ceil(all * percent / 100), 1.0)) - 1;
  if (at >= latencies_ns.size()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(latencies_ns[at]) / 1e6;
}

Result<std::vector<int64_t>> DrawArrivals(const LoadOptions& options) {
  if (!(options.rate > 0) || !(options.seconds > 0) ||
      options.rate * options.seconds > kMaxArrivals) {
    return Status(StatusCode::kInvalidArgument,
                  "expected a rate and a time above 0, and 20 million requests at the most");
  }
  std::vector<int64_t> arrivals;
  std::mt19937_64 random(options.seed);
  std::exponential_distribution<double> gap(options.rate);
  for (double at = 0;;) {
    at += options.is_poisson ? gap(random) : 1 / options.rate;
    if (at >= options.seconds) return arrivals;
    arrivals.push_back(static_cast<int64_t>(at * 1e9));
  }
}

Result<LoadResult> RunLoad(const HttpClientOptions& server,
                           const std::vector<LoadRequest>& requests, const LoadOptions& options) {
  constexpr uint32_t kMaxConnections = 4096;
  constexpr double kDay = 86400;
  if (requests.empty() || options.connections == 0 || options.connections > kMaxConnections ||
      !(options.seconds > 0 && options.seconds <= kDay)) {
    return Status(StatusCode::kInvalidArgument,
                  "expected requests, a time of at most a day, and "
                  "1 to 4096 connections");
  }
  std::vector<int64_t> arrivals;
  if (options.rate != 0) {
    RELAYVM_ASSIGN_OR_RETURN(arrivals, DrawArrivals(options));
    if (arrivals.empty()) return LoadResult{.rate = options.rate, .seconds = options.seconds};
  }
  const auto seconds = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  Load load{requests, arrivals, {}, {}, {}};
  if (options.bound && options.rate != 0) {
    load.late_ms = options.bound->ms;
    load.most_late = options.bound->most_late(arrivals.size());
  }
  load.start = Clock::now() + std::chrono::milliseconds(20);
  load.last_start =
      load.start + seconds(options.rate == 0 ? options.seconds : options.seconds * 1.5);
  load.end = load.last_start + std::chrono::seconds(2);
  std::vector<ThreadResult> results(options.connections);
  std::vector<std::thread> threads;
  Status failed;
  for (ThreadResult& result : results) {
    try {
      threads.emplace_back([&load, &server, r = &result] { Work(load, server, r); });
    } catch (const std::system_error& e) {
      failed = {StatusCode::kResourceExhausted, e.what()};
      load.next = std::numeric_limits<size_t>::max() / 2;
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  RELAYVM_RETURN_IF_ERROR(failed);
  LoadResult all;
  all.rate = options.rate;
  const double took = std::chrono::duration<double>(Clock::now() - load.start).count();
  all.seconds = load.is_lost() ? took : std::max(options.seconds, took);
  for (ThreadResult& result : results) {
    all.failed += result.failed;
    all.unsent += result.unsent;
    if (all.first_failure.empty()) all.first_failure = std::move(result.first_failure);
    all.latencies_ns.insert(all.latencies_ns.end(), result.latencies_ns.begin(),
                            result.latencies_ns.end());
  }
  std::ranges::sort(all.latencies_ns);
  return all;
}

}  // namespace relayvm::serve
