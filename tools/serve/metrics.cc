#include "tools/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace relayvm::serve {

std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text.push_back(',');
    text += name + "=\"";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.push_back('"');
  }
  return text;
}

namespace {

std::string Braces(const std::string& labels) { return labels.empty() ? "" : "{" + labels + "}"; }

void AppendHistogram(const std::string& name, const std::string& labels, const Histogram& histogram,
                     std::string* text) {
  auto out = std::back_inserter(*text);
  const std::string comma = labels.empty() ? "" : labels + ",";
  uint64_t count = 0;
  for (size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    count += histogram.bucket(i);
    fmt::format_to(out, "{}_bucket{{{}le=\"{}\"}} {}\n", name, comma,
                   static_cast<double>(Histogram::kBounds[i]) / 1e9, count);
  }
  count += histogram.bucket(Histogram::kBounds.size());
  fmt::format_to(out, "{}_bucket{{{}le=\"+Inf\"}} {}\n", name, comma, count);
  fmt::format_to(out, "{}_sum{} {}\n", name, Braces(labels),
                 static_cast<double>(histogram.sum_ns()) / 1e9);
  fmt::format_to(out, "{}_count{} {}\n", name, Braces(labels), count);
}

}  // namespace

void Histogram::Add(int64_t ns) {
  const auto* bound = std::lower_bound(kBounds.begin(), kBounds.end(), ns);
  buckets_[static_cast<size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(std::max<int64_t>(ns, 0), std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  uint64_t count = 0;
  for (const auto& bucket : buckets_) count += bucket.load(std::memory_order_relaxed);
  return count;
}

Metrics::Family& Metrics::FamilyOf(std::string_view name, std::string_view help) {
  auto found = families_.find(name);
  if (found == families_.end())
    found = families_.emplace(std::string(name), Family{.help = std::string(help)}).first;
  return found->second;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Counter*& counter = FamilyOf(name, help).counters[LabelText(labels)];
  if (counter == nullptr) counter = &counters_.emplace_back();
  return *counter;
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Histogram*& histogram = FamilyOf(name, help).histograms[LabelText(labels)];
  if (histogram == nullptr) histogram = &histograms_.emplace_back();
  return *histogram;
}

void Metrics::AddGauge(std::string_view name, std::string_view help, const Labels& labels,
                       std::function<double()> value) {
  const std::lock_guard lock(mutex_);
  FamilyOf(name, help).gauges[LabelText(labels)] = std::move(value);
}

std::shared_ptr<const void> Metrics::AddEndingGauge(std::string_view name, std::string_view help,
                                                    const Labels& labels,
                                                    std::function<double()> value) {
  AddGauge(name, help, labels, std::move(value));
  // A newer version of the same labels has the place by then, maybe: its own number tells.
  const std::lock_guard lock(mutex_);
  const uint64_t number = ++last_number_;
  numbers_[{std::string(name), LabelText(labels)}] = number;
  return {static_cast<const void*>(this),
          [this, key = std::pair(std::string(name), LabelText(labels)), number](const void*) {
            const std::lock_guard end(mutex_);
            const auto found = numbers_.find(key);
            if (found == numbers_.end() || found->second != number) return;
            numbers_.erase(found);
            const auto family = families_.find(key.first);
            family->second.gauges.erase(key.second);
            if (family->second.gauges.empty()) families_.erase(family);
          }};
}

void Metrics::AddText(std::function<void(std::string*)> append) {
  const std::lock_guard lock(mutex_);
  texts_.push_back(std::move(append));
}

std::string Metrics::Text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  auto out = std::back_inserter(text);
  for (const auto& [name, family] : families_) {
    const char* const type = !family.gauges.empty()       ? "gauge"
                             : !family.histograms.empty() ? "histogram"
                                                          : "counter";
    fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, type);
    for (const auto& [labels, counter] : family.counters)
      fmt::format_to(out, "{}{} {}\n", name, Braces(labels), counter->value());
    for (const auto& [labels, gauge] : family.gauges)
      fmt::format_to(out, "{}{} {}\n", name, Braces(labels), gauge());
    for (const auto& [labels, histogram] : family.histograms)
      AppendHistogram(name, labels, *histogram, &text);
  }
  for (const auto& append : texts_) append(&text);
  return text;
}

}  // namespace relayvm::serve
