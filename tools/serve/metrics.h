// Metrics, as Prometheus reads them: counters, gauges and histograms of latencies, each in a family
// with labels.
//
//   Counter& refused = metrics.counter("vmserve_refused_total", "Refused requests", {{"model", "m"}});
//   refused.Add();
//   metrics.Text();
//
// A metric is made once and found again by its name and labels; it lives as long as the Metrics.
// Thread-safe; adding takes no lock. Tested by metrics_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relayvm::serve {

class Counter {
 public:
  void Add(uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// How long things took.
class Histogram {
 public:
  // Upper bounds, in nanoseconds; what is longer is in one more bucket.
  static constexpr std::array<int64_t, 20> kBounds = {
      10'000,        20'000,        50'000,        100'000,        200'000,
      500'000,       1'000'000,     2'000'000,     5'000'000,      10'000'000,
      20'000'000,    50'000'000,    100'000'000,   200'000'000,    500'000'000,
      1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000, 60'000'000'000};

  void Add(int64_t ns);
  uint64_t count() const;
  int64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }
  uint64_t bucket(size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<int64_t> sum_ns_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;
// model="m",code="200"
std::string LabelText(const Labels& labels);

class Metrics {
 public:
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});
  // `value` is asked whenever the metrics are read, by several threads, and must not make metrics.
  void AddGauge(std::string_view name, std::string_view help, const Labels& labels,
                std::function<double()> value);
  // One that ends with its handle: a version of a model.
  std::shared_ptr<const void> AddEndingGauge(std::string_view name, std::string_view help,
                                             const Labels& labels, std::function<double()> value);
  // Whole families that somebody else counts: `append` is called as gauges are.
  void AddText(std::function<void(std::string*)> append);
  // All of them, in Prometheus' text format 0.0.4.
  std::string Text() const;

 private:
  struct Family {
    std::string help;
    std::map<std::string, Counter*> counters;  // by labels, as they are printed
    std::map<std::string, Histogram*> histograms;
    std::map<std::string, std::function<double()>> gauges;
  };
  Family& FamilyOf(std::string_view name, std::string_view help);

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
  std::deque<Counter> counters_;
  std::deque<Histogram> histograms_;
  std::vector<std::function<void(std::string*)>> texts_;
  // Of gauges that end: which handle they are of.
  std::map<std::pair<std::string, std::string>, uint64_t> numbers_;
  uint64_t last_number_ = 0;
};

}  // namespace relayvm::serve
